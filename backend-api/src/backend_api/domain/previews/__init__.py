"""Opened ports of a session's computer. What a browser is shown through one is its preview, as in `PREVIEW_DOMAIN`."""
