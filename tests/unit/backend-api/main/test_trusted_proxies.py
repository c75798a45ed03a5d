from __future__ import annotations

from typing import Any, cast

import pytest
from starlette.types import Receive, Scope, Send

from backend_api.kit.listening import trusted_proxies
from backend_api.kit.listening.trusted_proxies import TrustedProxies, addresses_of


class Behind:
    """An application behind proxies, and what it takes for the caller."""

    def __init__(self, *trusted: str, **names: str) -> None:
        self.names = names
        self.seen: list[str] = []
        self.app = TrustedProxies(self._answer, trusted, self._resolve)

    async def _resolve(self, name: str) -> set[str]:
        return {self.names[name]} if name in self.names else set()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.seen.append(scope["client"][0])

    async def caller(self, peer: str) -> str:
        """Whom a request from this peer is taken to come from, when it says 203.0.113.9."""
        scope = {"type": "http", "client": (peer, 1), "headers": [(b"x-forwarded-for", b"203.0.113.9")]}
        await self.app(scope, cast("Any", None), cast("Any", None))
        return self.seen[-1]


async def test_a_proxy_known_by_its_name_is_believed_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusted_proxies, "AGAIN_S", 0.0)
    behind = Behind("frontend")
    assert await behind.caller("172.20.0.5") == "172.20.0.5"
    behind.names["frontend"] = "172.20.0.5"
    assert await behind.caller("172.20.0.5") == "203.0.113.9"
    assert await behind.caller("172.20.0.6") == "172.20.0.6"
    behind.names["frontend"] = "172.20.0.6"
    assert await behind.caller("172.20.0.6") == "203.0.113.9"
    assert await behind.caller("172.20.0.5") == "172.20.0.5"


@pytest.mark.parametrize("trusted", ["10.1.2.3", "10.1.0.0/16", "*"])
async def test_addresses_networks_and_everybody_need_no_name(trusted: str) -> None:
    assert await Behind(trusted).caller("10.1.2.3") == "203.0.113.9"


async def test_names_are_asked_for_once_in_a_while() -> None:
    behind = Behind("frontend", frontend="10.0.0.1")
    assert await behind.caller("10.0.0.1") == "203.0.113.9"
    behind.names["frontend"] = "10.0.0.2"
    assert await behind.caller("10.0.0.2") == "10.0.0.2"


async def test_a_name_is_looked_up_by_the_machine() -> None:
    assert "127.0.0.1" in await addresses_of("localhost")
    assert await addresses_of("no-such-name.invalid") == set()
