"""Shared parts of the Python services: errors, bounded reading, listening, logs, metrics, traces."""
