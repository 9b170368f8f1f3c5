"""The life of a process that serves: start, workers, sockets, signals, logs, drain."""
