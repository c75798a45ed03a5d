"""A module for each format, with `open_document(data)`; only that of the document at hand is loaded."""
