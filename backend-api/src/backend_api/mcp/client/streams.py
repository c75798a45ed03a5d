"""What a transport of the protocol's package is made of. Its name is private there: only this file knows it."""

from __future__ import annotations

from mcp.client._transport import TransportStreams

__all__ = ["TransportStreams"]
