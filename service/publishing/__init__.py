"""Publishing: from a source of data to the snapshot that a process serves."""
