"""DuckDuckGo's plain HTML page: search without a key."""

from __future__ import annotations

import asyncio
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

from backend_api.kit.untrusted.api_client import ApiClient
from backend_api.web.search.provider import Hit, SearchUnavailableError, hit_of
from backend_api.web.search.search_request import ask

ADDRESS = "https://html.duckduckgo.com/html/"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
CAPTCHA = "DuckDuckGo asks for a captcha. Wait, or set a key of another provider."


class DuckDuckGoSearch:
    name = "duckduckgo"

    def __init__(self, http: ApiClient, *, address: str = ADDRESS) -> None:
        self._http = http
        self._address = address

    async def search(self, query: str, *, limit: int) -> list[Hit]:
        headers = {"User-Agent": BROWSER}
        response = await ask(self._http, "POST", self._address, "DuckDuckGo", headers=headers, data={"q": query})
        # Not decoded by its declared encoding, which may be any that Python has.
        page = response.content.decode("utf-8", "replace")
        if response.status == 202:
            raise SearchUnavailableError(CAPTCHA)
        if response.status >= 400:
            raise SearchUnavailableError(f"DuckDuckGo responded with status {response.status}.")
        # Not on the event loop: parsing a page of nothing but tags takes seconds.
        return (await asyncio.to_thread(_hits, page))[:limit]


def _hits(page: str) -> list[Hit]:
    parser = _ResultPage()
    try:
        parser.feed(page)
    except AssertionError as error:
        # The library asserts that a page's declarations are valid.
        raise SearchUnavailableError("DuckDuckGo sent a response in an unexpected format.") from error
    if parser.asks_captcha:
        raise SearchUnavailableError(CAPTCHA)
    return parser.hits()


class _ResultPage(HTMLParser):
    """Collects `a.result__a` and `.result__snippet`, and finds `.anomaly-modal__…` and `#challenge-form`."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._results: list[dict[str, str]] = []
        self._field: str | None = None
        self._tag = ""
        self.asks_captcha = False
        """Whether the page has a captcha, recognised by its elements: the query is repeated in the text, which proves
        nothing."""

    def hits(self) -> list[Hit]:
        said = [hit_of(one["title"], one["url"], one.get("snippet", "")) for one in self._results]
        return [hit for hit in said if hit is not None]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        classes = (values.get("class") or "").split()
        if values.get("id") == "challenge-form" or any(name.startswith("anomaly-modal") for name in classes):
            self.asks_captcha = True
        if tag == "a" and "result__a" in classes:
            self._results.append({"title": "", "url": _target(values.get("href") or "")})
            self._field, self._tag = "title", tag
        elif "result__snippet" in classes and self._results:
            self._results[-1]["snippet"] = ""
            self._field, self._tag = "snippet", tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._tag:
            self._field = None

    def handle_data(self, data: str) -> None:
        if self._field is not None:
            self._results[-1][self._field] += data


def _target(href: str) -> str:
    """The page behind the redirect; advertisements (`y.js`) have none."""
    try:
        parts = urlsplit(href if "//" in href else f"https:{href}")
    except ValueError:
        return ""
    if parts.path.endswith("y.js"):
        return ""
    wanted = parse_qs(parts.query).get("uddg")
    return wanted[0] if wanted else href
