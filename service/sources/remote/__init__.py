"""Remote files as sources: the transports that request them, and what is done with any of them."""
