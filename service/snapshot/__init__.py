"""What is served now: how it is published to the processes of a run, and followed by each."""
