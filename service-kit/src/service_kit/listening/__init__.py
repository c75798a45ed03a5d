"""Bounds of our servers: what a peer may send, the time it may take, and the number of connections."""
