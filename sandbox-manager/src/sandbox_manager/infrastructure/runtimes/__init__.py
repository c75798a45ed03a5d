"""Runtimes of sandboxes; one conformance suite covers all."""
