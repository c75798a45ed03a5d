"""The type of a transport's streams. It is private in the protocol's package, and only this file names it."""

from __future__ import annotations

from mcp.client._transport import TransportStreams

__all__ = ["TransportStreams"]
