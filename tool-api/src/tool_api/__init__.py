"""The one endpoint of a sandbox: shell, files, browser and screen, for callers with a token for it."""

__version__ = "0.1.0"
