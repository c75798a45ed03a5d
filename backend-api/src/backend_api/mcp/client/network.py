"""How servers of one origin are connected to: those of the deployment may be private, those of users may not."""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from backend_api.kit.untrusted.rules import FetchRules
from backend_api.mcp.domain.entity import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Of one origin."""

    transport: httpx.AsyncBaseTransport
    rules: FetchRules


@dataclass(frozen=True, slots=True, kw_only=True)
class Networks:
    """Of both."""

    shared: Network
    own: Network

    def of(self, source: Source) -> Network:
        """Of servers of this origin."""
        return self.shared if source == "deployment" else self.own
