"""The visible Chrome, driven over its own control protocol."""
