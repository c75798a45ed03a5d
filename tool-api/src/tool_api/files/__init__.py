"""The files panel's routes: list, preview, download, upload."""
