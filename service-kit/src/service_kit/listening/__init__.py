"""How our services listen: what a peer may send, how long it may take, and how many may be connected."""
