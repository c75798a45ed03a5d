"""Who names an address, or answers at one, leads the server nowhere but to public pages; on sockets of loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path

import pytest

from backend_api.kit.untrusted import guarded_network
from backend_api.kit.untrusted.errors import AddressRefusedError, FetchFailedError
from backend_api.kit.untrusted.guarded_client import FetchLimits, GuardedClient, guarded_client
from backend_api.kit.untrusted.resolver import SystemResolver
from backend_api.kit.untrusted.rules import FetchRules, allowed_hosts
from support.sites import PUBLIC, LoopbackNetwork, Names, Site, certified, site

LIMITS = FetchLimits(body_bytes=64 * 1024, whole_s=10.0)
PAGE = b"200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nhello"
OTHER = "198.41.0.5"


def to(location: str, status: str = "302 Found") -> bytes:
    return f"{status}\r\nLocation: {location}\r\n\r\n".encode()


@asynccontextmanager
async def fetching(
    running: Site, names: dict[str, list[list[str]]]
) -> AsyncGenerator[tuple[GuardedClient, LoopbackNetwork, Names]]:
    network, resolve = LoopbackNetwork(running.port), Names(names)
    async with guarded_client(FetchRules(), resolve=resolve, network=network) as client, asyncio.timeout(20):
        yield client, network, resolve


async def test_a_page_is_fetched_from_the_address_that_was_checked_and_under_its_name() -> None:
    async with site({"/a?b=1": PAGE}) as running:
        async with fetching(running, {"page.example": [[PUBLIC]]}) as (client, network, resolve):
            fetched = await client.get("http://page.example/a?b=1#c", LIMITS)
    assert (fetched.url, fetched.status, fetched.media_type) == ("http://page.example/a?b=1", 200, "text/plain")
    assert (fetched.charset, fetched.content) == ("utf-8", b"hello")
    assert network.dialled == [(PUBLIC, 80)]
    assert resolve.asked == ["page.example"]
    assert "host: page.example\r\n" in running.asked[0].lower()


async def test_the_certificate_must_be_of_the_name_whatever_address_it_has(tmp_path: Path) -> None:
    server, trusting = certified(tmp_path, "page.example")
    names, rules = Names({"page.example": [[PUBLIC]], "evil.example": [[PUBLIC]]}), FetchRules()
    async with site({"/": PAGE}, server) as running, asyncio.timeout(20):
        network = LoopbackNetwork(running.port)
        async with guarded_client(rules, resolve=names, network=network, certificates=trusting) as client:
            assert (await client.get("https://page.example/", LIMITS)).content == b"hello"
            with pytest.raises(FetchFailedError):
                await client.get("https://evil.example/", LIMITS)
        async with guarded_client(rules, resolve=names, network=network) as distrusting:
            with pytest.raises(FetchFailedError):
                await distrusting.get("https://page.example/", LIMITS)
    assert len(running.asked) == 1
    assert {port for _, port in network.dialled} == {443}


@pytest.mark.parametrize(
    "answer", [["10.0.0.1"], [PUBLIC, "127.0.0.1"], ["::1"], ["::ffff:198.41.0.4"], ["fe80::1%eth0"]]
)
async def test_a_name_of_a_private_address_is_refused_before_anything_is_sent(answer: list[str]) -> None:
    async with site({"/": PAGE}) as running:
        async with fetching(running, {"page.example": [answer]}) as (client, network, _):
            with pytest.raises(AddressRefusedError, match="not public"):
                await client.get("http://page.example/", LIMITS)
    assert (network.dialled, running.connected) == ([], 0)


INNER = [
    *(
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/",
        "http://[::ffff:7f00:1]/",
        "http://0x7f.1/",
        "//10.0.0.1/",
    ),
    *(
        "http://inner.example/",
        "http://redis/",
        "http://page.example:6379/",
        "ftp://page.example/",
        "file:///etc/passwd",
    ),
    *("http://anna:x@page.example/", "http://page.example./", "http://2130706433/", "https://localhost/"),
]
REDIRECTS = ["301 There", "302 There", "303 There", "307 There", "308 There"]


@pytest.mark.parametrize(("location", "status"), list(zip(INNER, cycle(REDIRECTS), strict=False)))
async def test_a_redirect_leads_to_no_address_that_would_be_refused(location: str, status: str) -> None:
    names = {"page.example": [[PUBLIC]], "inner.example": [["10.0.0.1"]]}
    async with site({"/": to(location, status)}) as running:
        async with fetching(running, names) as (client, network, _):
            with pytest.raises(AddressRefusedError):
                await client.get("http://page.example/", LIMITS)
    assert network.dialled == [(PUBLIC, 80)]


async def test_each_redirect_is_resolved_and_checked_anew() -> None:
    answers = {"/": to("http://other.example/b"), "/b": to("/c"), "/c": PAGE}
    async with site(answers) as running:
        async with fetching(running, {"page.example": [[PUBLIC]], "other.example": [[OTHER]]}) as (client, network, _):
            fetched = await client.get("http://page.example/", LIMITS)
    assert (fetched.url, fetched.content) == ("http://other.example/c", b"hello")
    assert network.dialled == [(PUBLIC, 80), (OTHER, 80), (OTHER, 80)]


async def test_a_name_that_changes_its_address_between_two_answers_gains_nothing() -> None:
    async with site({"/": to("/again"), "/again": PAGE}) as running:
        async with fetching(running, {"page.example": [[PUBLIC], ["127.0.0.1"]]}) as (client, network, resolve):
            with pytest.raises(AddressRefusedError):
                await client.get("http://page.example/", LIMITS)
    # What the second answer says is neither used for the first connection nor connected to.
    assert (network.dialled, resolve.asked) == ([(PUBLIC, 80)], ["page.example"] * 2)


async def test_redirects_end() -> None:
    async with site({"/": to("/")}) as running:
        async with fetching(running, {"page.example": [[PUBLIC]]}) as (client, _, _):
            with pytest.raises(FetchFailedError, match="5 times"):
                await client.get("http://page.example/", LIMITS)
    assert len(running.asked) == 6


async def test_of_the_addresses_of_a_name_the_next_is_tried_where_one_does_not_answer() -> None:
    class HalfDead(LoopbackNetwork):
        async def connect_tcp(self, host: str, port: int, *rest: object, **more: object):  # type: ignore[override]
            if host == PUBLIC:
                self.dialled.append((host, port))
                raise guarded_network.httpcore.ConnectError("refused")
            return await super().connect_tcp(host, port)

    async with site({"/": PAGE}) as running:
        network = HalfDead(running.port)
        names = Names({"page.example": [[PUBLIC, OTHER]], "dead.example": [[PUBLIC] * 9]})
        async with guarded_client(FetchRules(), resolve=names, network=network) as client:
            assert (await client.get("http://page.example/", LIMITS)).content == b"hello"
            with pytest.raises(FetchFailedError, match="reached"):
                await client.get("http://dead.example/", LIMITS)
    assert len(network.dialled) == 2 + guarded_network.MOST_TRIED


async def test_a_host_of_the_deployment_is_fetched_from_and_what_it_redirects_to_is_checked() -> None:
    async with site({"/": PAGE, "/on": to("http://127.0.0.1:1/")}) as running, asyncio.timeout(20):
        rules = FetchRules(allowed_hosts([f"127.0.0.1:{running.port}"]))
        async with guarded_client(rules) as client:
            assert (await client.get(f"http://127.0.0.1:{running.port}/", LIMITS)).content == b"hello"
            with pytest.raises(AddressRefusedError):
                await client.get(f"http://127.0.0.1:{running.port}/on", LIMITS)


async def test_the_system_says_of_its_own_names_that_they_are_private() -> None:
    resolver = SystemResolver()
    try:
        assert set(await resolver("localhost", 80)) <= {"127.0.0.1", "::1"}
    finally:
        resolver.close()


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with site({"/": PAGE}) as running, site({}) as elsewhere:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{elsewhere.port}")
        async with fetching(running, {"page.example": [[PUBLIC]]}) as (client, _, _):
            assert (await client.get("http://page.example/", LIMITS)).content == b"hello"
    assert elsewhere.asked == []


async def test_a_proxy_of_the_deployment_gets_the_names_of_public_hosts_alone() -> None:
    async with site({"http://page.example/a": PAGE}) as proxy, asyncio.timeout(20):
        async with guarded_client(FetchRules(), proxy=f"http://anna:pw@127.0.0.1:{proxy.port}") as client:
            assert (await client.get("http://page.example/a", LIMITS)).content == b"hello"
            for url in ("http://10.0.0.1/", "http://redis/", "http://page.example:8080/", "http://a.internal/"):
                with pytest.raises(AddressRefusedError):
                    await client.get(url, LIMITS)
            with pytest.raises(FetchFailedError):
                await client.get("https://page.example/", LIMITS)
    assert [head.split("\r\n")[0] for head in proxy.asked] == [
        "GET http://page.example/a HTTP/1.1",
        "CONNECT page.example:443 HTTP/1.1",
    ]
    assert all("proxy-authorization: basic" in head.lower() for head in proxy.asked)
