"""The live picture: a bridge between a WebSocket and the X server's unix socket."""
