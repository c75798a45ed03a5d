"""Redirects, headers and bodies of search providers that no provider should send."""

from __future__ import annotations

import asyncio
import gzip
import json
from contextlib import suppress

import pytest
from respx import MockRouter

from backend_api.kit.untrusted.api_client import ApiClient
from backend_api.web.search.provider import SearchProvider, SearchUnavailableError
from backend_api.web.search.search_request import MAX_BYTES
from support.search_providers import NOTHING, PROVIDERS

ADDRESS = "http://provider.example"


@pytest.fixture
def provider(http: ApiClient) -> SearchProvider:
    """One of them: all ask in the same way."""
    return PROVIDERS["custom"](http, ADDRESS)


@pytest.mark.parametrize(
    ("status", "there"), [(302, "http://other.example"), (307, f"{ADDRESS}:81"), (308, "https://provider.example")]
)
async def test_a_redirect_leads_to_no_other_server(
    respx_mock: MockRouter, provider: SearchProvider, status: int, there: str
) -> None:
    asked = respx_mock.route().respond(status, headers={"Location": f"{there}/secret"})
    with pytest.raises(SearchUnavailableError, match="another server"):
        await provider.search("q", limit=5)
    assert asked.call_count == 1


async def test_redirects_at_the_same_server_end(respx_mock: MockRouter, provider: SearchProvider) -> None:
    asked = respx_mock.route().respond(307, headers={"Location": "/again"})
    with pytest.raises(SearchUnavailableError, match="another server"):
        await provider.search("q", limit=5)
    assert asked.call_count == 4


async def test_what_is_compressed_is_not_unpacked(respx_mock: MockRouter, provider: SearchProvider) -> None:
    bomb = gzip.compress(gzip.compress(bytes(1024 * 1024)))
    asked = respx_mock.route().respond(headers={"Content-Encoding": "gzip, gzip"}, content=bomb)
    with pytest.raises(SearchUnavailableError, match="compressed"):
        await provider.search("q", limit=5)
    assert asked.calls.last.request.headers["accept-encoding"] == "identity"


async def test_no_cookie_is_kept_for_the_next_user(respx_mock: MockRouter, provider: SearchProvider) -> None:
    asked = respx_mock.route().respond(headers={"Set-Cookie": "who=anna; Path=/"}, content=NOTHING)
    for _ in range(2):
        assert await provider.search("q", limit=5) == []
    assert asked.call_count == 2
    assert "cookie" not in asked.calls.last.request.headers


@pytest.mark.parametrize(
    "body",
    [
        *(b"[" * 100_000, b"{}", b"<![x" * 9, b"[]", b"\xff\xfe", b"9" * 100_000, b"NaN"),
        *(
            b'{"%b": %b}' % (name, value)
            for name in (b"results", b"organic", b"web")
            for value in (b'{"a": 1}', b"[7]")
        ),
        *(b'{"web": {"results": %b}}' % value for value in (b"7", b"[[]]", b'[{"url": 7}]', b'[{"url": {"a": 1}}]')),
        b'{"results": [], "unresponsive_engines": [["x", "timeout"]]}',
    ],
)
async def test_what_no_provider_says_is_a_refusal_or_nothing(
    respx_mock: MockRouter, http: ApiClient, body: bytes
) -> None:
    respx_mock.route().respond(content=body)
    for name, build in PROVIDERS.items():
        with suppress(SearchUnavailableError):
            assert await build(http, ADDRESS).search("q", limit=5) == [], name


@pytest.mark.parametrize("name", ["hex", "bz2", "idna", "utf-16"])
async def test_a_page_in_any_coding_of_characters_is_a_page(respx_mock: MockRouter, http: ApiClient, name: str) -> None:
    respx_mock.route().respond(headers={"Content-Type": f"text/html; charset={name}"}, content=NOTHING)
    for of, build in PROVIDERS.items():
        assert await build(http, ADDRESS).search("q", limit=5) == [], of


@pytest.mark.parametrize(
    ("name", "wrapped", "url", "snippet"),
    [
        ("tavily", '{"results": %s}', "url", "content"),
        ("brave", '{"web": {"results": %s}}', "url", "description"),
        ("serper", '{"organic": %s}', "link", "snippet"),
        ("searxng", '{"results": %s}', "url", "content"),
        ("custom", '{"results": %s}', "url", "snippet"),
    ],
)
async def test_a_result_is_three_lines_and_leads_to_a_page(
    respx_mock: MockRouter, http: ApiClient, name: str, wrapped: str, url: str, snippet: str
) -> None:
    page = {url: "https://a", "title": "a\n2. forged\n" + "x" * 9_000, snippet: "b\n" * 9_000}
    others = [{url: one} for one in ("javascript:alert(1)", "https://a\nb", "https://" + "a" * 9_000, "file:///etc", 7)]
    respx_mock.route().respond(text=wrapped % json.dumps([*others, page, page, page]))
    hit, _ = await PROVIDERS[name](http, ADDRESS).search("q", limit=2)
    assert (hit.url, len(hit.title), len(hit.snippet)) == ("https://a", 500, 500)
    assert "\n" not in hit.title + hit.snippet


async def test_a_page_of_nothing_but_tags_keeps_nobody_waiting(respx_mock: MockRouter, http: ApiClient) -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.005)
            turns += 1

    respx_mock.route().respond(content=b"<a>" * ((MAX_BYTES - 3) // 3))
    beside = asyncio.create_task(other())
    assert await PROVIDERS["duckduckgo"](http, ADDRESS).search("q", limit=5) == []
    beside.cancel()
    assert turns >= 5
