"""The life of a serving process: start, workers, sockets, signals, logging, draining."""
