"""Tables of texts: a header, then rows, whatever the file that they are read from."""
