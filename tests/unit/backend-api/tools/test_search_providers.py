"""Which provider searches, what it is sent, and what is told of its answer."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from respx import MockRouter

from backend_api.kit.ids import UserId
from backend_api.kit.untrusted.api_client import ApiClient, api_client
from backend_api.main.runtime import plan
from backend_api.main.settings import SettingsError, load_settings
from backend_api.settings.application.open_settings import bound_to
from backend_api.settings.domain.table import SEARCH_KEYS, KeyedSearch
from backend_api.web.search.brave import BraveSearch
from backend_api.web.search.custom import CustomSearch
from backend_api.web.search.duckduckgo import DuckDuckGoSearch
from backend_api.web.search.provider import (
    Hit,
    SearchKeyError,
    SearchLimitError,
    SearchProvider,
    SearchUnavailableError,
)
from backend_api.web.search.registry import (
    OWN,
    SearchSettingError,
    SearchSettings,
    check_search,
    search_provider,
    user_keys,
)
from backend_api.web.search.search_request import DEADLINE_S, MAX_BYTES
from backend_api.web.search.searxng import SearxngSearch
from backend_api.web.search.serper import SerperSearch
from backend_api.web.search.tavily import TavilySearch
from backend_api.web.search.user_search import SearchKeyTrials, UserSearch
from support.memory.store import MemoryStore
from support.memory.user_settings import MemorySettingsStore
from support.user_settings import settings_parts

GOOD = "Zk3vXq81LmN0pRtYw7uBcD5eFgH2iJ4a"
HIT = Hit(title="T", url="https://t", snippet="s")


Build = Callable[[ApiClient], SearchProvider]
KEYED: dict[str, Build] = {
    "tavily": lambda http: TavilySearch(http, "key-1"),
    "brave": lambda http: BraveSearch(http, "key-1"),
    "serper": lambda http: SerperSearch(http, "key-1"),
    "custom": lambda http: CustomSearch(http, "https://search.example/find?site=a", "key-1"),
}


async def test_brave_is_asked_and_read(respx_mock: MockRouter, http: ApiClient) -> None:
    asked = respx_mock.get("https://api.search.brave.com/res/v1/web/search", headers={"x-subscription-token": "key-1"})
    asked.respond(json={"web": {"results": [{"title": "T", "url": "https://t", "description": "s"}]}})
    assert await BraveSearch(http, "key-1").search("two  words " * 40, limit=3) == [HIT]
    sent = asked.calls.last.request.url.params
    assert (len(sent["q"].split()), sent["count"]) == (50, "3")


async def test_brave_says_that_nothing_was_found_by_leaving_it_out(respx_mock: MockRouter, http: ApiClient) -> None:
    respx_mock.route().respond(json={"type": "search"})
    assert await BraveSearch(http, "key-1").search("q", limit=3) == []


async def test_serper_is_asked_and_read(respx_mock: MockRouter, http: ApiClient) -> None:
    respx_mock.post(
        "https://google.serper.dev/search", headers={"x-api-key": "key-1"}, json={"q": "q", "num": 3}
    ).respond(json={"organic": [{"title": "T", "link": "https://t", "snippet": "s"}]})
    assert await SerperSearch(http, "key-1").search("q", limit=3) == [HIT]


async def test_searxng_is_asked_below_its_own_address_and_read(respx_mock: MockRouter, http: ApiClient) -> None:
    respx_mock.get(url="http://searxng:8080/of/search?q=a%26b&format=json").respond(
        json={"results": [{"title": "T", "url": "https://t", "content": "s"}] * 5}
    )
    assert await SearxngSearch(http, "http://searxng:8080/of/").search("a&b", limit=2) == [HIT, HIT]


RESULTS = """<input name="q" value="{query}"><a class="result__a" href="https://t">T {query}</a>
<a class="result__snippet">s</a>"""
CAPTCHAS = (
    '<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html"></form>',
    '<div class="modal anomaly-modal__mask"><div class="anomaly-modal__title">Unfortunately, bots</div></div>',
)


@pytest.mark.parametrize("query", ["the anomaly of the South Atlantic", "anomaly-modal__mask", "challenge-form"])
async def test_what_is_searched_for_makes_no_captcha_of_a_page(
    respx_mock: MockRouter, http: ApiClient, query: str
) -> None:
    respx_mock.route().respond(text=RESULTS.format(query=query))
    assert [hit.url for hit in await DuckDuckGoSearch(http).search(query, limit=5)] == ["https://t"]


@pytest.mark.parametrize(("status", "page"), [(202, ""), *((200, page) for page in CAPTCHAS)])
async def test_a_page_that_asks_for_a_captcha_is_told_as_that(
    respx_mock: MockRouter, http: ApiClient, status: int, page: str
) -> None:
    respx_mock.route().respond(status, text=f"<html>{page}</html>")
    with pytest.raises(SearchUnavailableError, match="captcha"):
        await DuckDuckGoSearch(http).search("otters", limit=5)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (httpx.Response(403), "search.formats"),
        (httpx.Response(200, json={"results": [], "unresponsive_engines": [["a", "timeout"]]}), "engines answered"),
        (httpx.Response(200, text="<html>"), "unexpected"),
    ],
)
async def test_what_is_wrong_with_a_searxng_is_said(
    respx_mock: MockRouter, http: ApiClient, answer: httpx.Response, words: str
) -> None:
    respx_mock.route().mock(answer)
    with pytest.raises(SearchUnavailableError, match=words):
        await SearxngSearch(http, "http://searxng:8080").search("q", limit=2)


@pytest.mark.parametrize("key", ["key-1", ""])
async def test_a_server_of_ones_own_is_asked_as_documented(respx_mock: MockRouter, http: ApiClient, key: str) -> None:
    asked = respx_mock.post("https://search.example/find?site=a", json={"query": "q", "max_results": 3})
    asked.respond(json={"results": [{"title": "T", "url": "https://t", "snippet": "s"}]})
    assert await CustomSearch(http, "https://search.example/find?site=a", key).search("q", limit=3) == [HIT]
    assert asked.calls.last.request.headers.get("authorization") == ("Bearer key-1" if key else None)


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (401, SearchKeyError),
        (403, SearchKeyError),
        (429, SearchLimitError),
        (402, SearchLimitError),
        (500, SearchUnavailableError),
        (304, SearchUnavailableError),
    ],
)
async def test_what_is_wrong_is_told_without_the_key(
    respx_mock: MockRouter, http: ApiClient, name: str, status: int, fault: type[Exception]
) -> None:
    respx_mock.route().respond(status, text="no: key-1")
    with pytest.raises(SearchUnavailableError) as told:
        await KEYED[name](http).search("q", limit=2)
    assert type(told.value) is fault
    assert "key-1" not in told.value.detail
    assert "key-1" not in repr(KEYED[name](http))


async def test_what_providers_say_of_keys_in_their_own_way_is_understood(
    respx_mock: MockRouter, http: ApiClient
) -> None:
    respx_mock.get().respond(422, json={"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}})
    respx_mock.post().respond(400, json={"message": "Not enough credits"})
    with pytest.raises(SearchKeyError):
        await BraveSearch(http, "key-1").search("q", limit=1)
    with pytest.raises(SearchLimitError):
        await SerperSearch(http, "key-1").search("q", limit=1)


ALL = {
    "tavily_api_key": "k",
    "brave_api_key": "k",
    "serper_api_key": "k",
    "searxng_url": "http://s:8080",
    "custom_search_url": "https://c/find",
}


async def test_the_first_that_is_set_searches_and_else_the_one_that_needs_nothing() -> None:
    given = dict(ALL)
    async with api_client(whole_s=DEADLINE_S, body_bytes=MAX_BYTES) as http:
        for name in ("tavily", "brave", "serper", "searxng", "custom", "duckduckgo"):
            found = search_provider(SearchSettings(**given), http)
            assert found is not None
            assert found.name == name
            named = search_provider(SearchSettings(search_provider=name, **ALL), http)
            assert named is not None
            assert named.name == name
            if given:
                del given[next(iter(given))]
        assert search_provider(SearchSettings(search_provider="none", **ALL), http) is None


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"search_provider": "altavista"}, "SEARCH_PROVIDER=altavista is unknown"),
        ({"search_provider": ""}, "SEARCH_PROVIDER"),
        *(({"search_provider": name}, f"needs {key}") for name, key in (("brave", "BRAVE_API_KEY"),)),
        ({"search_provider": "tavily", "brave_api_key": "k"}, "needs TAVILY_API_KEY"),
        ({"search_provider": "serper"}, "needs SERPER_API_KEY"),
        ({"search_provider": "searxng"}, "needs SEARXNG_URL"),
        ({"search_provider": "custom", "custom_search_api_key": "k"}, "needs CUSTOM_SEARCH_URL"),
        ({"serper_api_key": "schl\u00fcssel"}, "SERPER_API_KEY"),
        ({"custom_search_api_key": "a b"}, "CUSTOM_SEARCH_API_KEY"),
        *(
            ({"searxng_url": url}, "SEARXNG_URL")
            for url in (
                "searxng:8080",
                "ftp://s",
                "http://",
                "http://s:x",
                "http://a b",
                "http://anna:pw@s",
                "http://[",
            )
        ),
        ({"custom_search_url": "file:///etc"}, "CUSTOM_SEARCH_URL"),
    ],
)
def test_wrong_settings_of_search_are_named(given: dict[str, str], named: str) -> None:
    with pytest.raises(SearchSettingError, match=named):
        check_search(SearchSettings(**given))


@pytest.mark.parametrize(
    ("name", "value"), [("SEARCH_PROVIDER", "altavista"), ("SEARCH_PROVIDER", "brave"), ("SEARXNG_URL", "searxng")]
)
def test_they_stop_the_start_before_anything_is_opened(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv("JWT_SECRET_KEY", GOOD)
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=name):
        plan(load_settings())


def test_a_provider_may_be_written_in_capitals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JWT_SECRET_KEY", GOOD)
    monkeypatch.setenv("SEARCH_PROVIDER", " DuckDuckGo ")
    assert plan(load_settings())


def test_users_keys_are_for_what_the_deployment_lets_choose() -> None:
    assert user_keys("auto") == ("tavily", "brave", "serper")
    assert user_keys("brave") == ("brave",)
    assert [user_keys(name) for name in ("searxng", "custom", "duckduckgo", "none")] == [()] * 4
    assert set(OWN) == set(SEARCH_KEYS)


async def test_of_several_keys_of_a_user_the_first_that_is_asked_searches_for_that_user_alone(
    respx_mock: MockRouter, http: ApiClient
) -> None:
    store = MemorySettingsStore(MemoryStore())
    parts = settings_parts(store)
    asked = respx_mock.post(headers={"x-api-key": "serper-of-anna"}).respond(json={"organic": []})

    async def keep(user: str, provider: KeyedSearch) -> None:
        name = SEARCH_KEYS[provider].name
        sealed = parts.box.seal(f"{provider}-of-{user}", bound_to=bound_to(UserId(user), name))
        await store.change(UserId(user), name, sealed)

    own = UserSearch(parts.open_settings, http)
    assert await own.of("anna") is None
    await keep("anna", "serper")
    await keep("bert", "brave")
    for keys in (own, UserSearch(parts.open_settings, http, ("serper",))):
        found = await keys.of("anna")
        assert found is not None
        await found.search("q", limit=1)
    assert await UserSearch(parts.open_settings, http, ("brave",)).of("anna") is None
    assert await UserSearch(parts.open_settings, http, ()).of("anna") is None
    await keep("anna", "tavily")
    found = await own.of("anna")
    assert found is not None
    assert found.name == "tavily"
    assert asked.call_count == 2


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (httpx.Response(200, json={"results": [], "organic": [], "web": {"results": []}}), "ok"),
        (httpx.Response(401), "wrong_key"),
        (httpx.Response(429), "limit"),
        (httpx.Response(500), "unreachable"),
        (httpx.Response(200, text="no JSON"), "unreachable"),
    ],
)
@pytest.mark.parametrize("provider", SEARCH_KEYS)
async def test_a_key_is_tried_with_one_search(
    respx_mock: MockRouter, http: ApiClient, provider: KeyedSearch, answer: httpx.Response, outcome: str
) -> None:
    asked = respx_mock.route().mock(answer)
    found = await SearchKeyTrials(http)(provider, "key-1")
    assert (found.outcome, asked.call_count) == (outcome, 1)
    assert bool(found.detail) == (outcome != "ok")
    assert "key-1" not in found.detail
