"""Sessions, their events, streams, titles and usage."""
