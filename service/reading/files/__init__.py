"""The files of a data set: which they are, what each is, and the records in them."""
