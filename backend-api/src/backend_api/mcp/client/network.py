"""Networks for connecting to servers: those of the deployment may have private addresses, those of users may not."""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from backend_api.kit.untrusted.rules import FetchRules
from backend_api.mcp.domain.entity import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The network for servers of one source."""

    transport: httpx.AsyncBaseTransport
    rules: FetchRules


@dataclass(frozen=True, slots=True, kw_only=True)
class Networks:
    """The networks for both sources."""

    shared: Network
    own: Network

    def of(self, source: Source) -> Network:
        """The network for servers of this source."""
        return self.shared if source == "deployment" else self.own
