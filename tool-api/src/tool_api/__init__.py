"""The one door of a sandbox: shell, files, browser and screen, for whoever holds a token for it."""

__version__ = "0.1.0"
