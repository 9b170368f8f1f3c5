"""Loading: the files of a data set become checked records, and those become tables. Only here are data files opened."""
