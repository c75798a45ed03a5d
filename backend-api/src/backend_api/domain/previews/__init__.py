"""Opened ports of a session's sandbox. What a browser is shown through one is its preview, as in `PREVIEW_DOMAIN`."""
