"""One module for each mechanism of HTTP that lives in header fields."""
