"""One module for each mechanism of HTTP that works through header fields."""
