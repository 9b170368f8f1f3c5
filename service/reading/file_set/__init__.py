"""The files of a data set: where they are stored, their names, manifest and signature."""
