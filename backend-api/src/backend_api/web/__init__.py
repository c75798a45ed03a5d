"""Search and reading of web pages."""
