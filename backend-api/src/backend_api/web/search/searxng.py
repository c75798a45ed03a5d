"""SearXNG: a server of the deployment's own that queries several engines."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.kit.untrusted.api_client import ApiClient
from backend_api.web.search.answers import check_status, hits_of, members_of
from backend_api.web.search.provider import Hit, SearchUnavailableError
from backend_api.web.search.search_request import ask


@dataclass(frozen=True, slots=True)
class SearxngSearch:
    """`address` is that of its page."""

    http: ApiClient
    address: str
    name: str = "searxng"

    async def search(self, query: str, *, limit: int) -> list[Hit]:
        asked = {"q": query, "format": "json"}
        headers = {"Accept": "application/json"}
        address = f"{self.address.rstrip('/')}/search"
        response = await ask(self.http, "GET", address, "SearXNG", headers=headers, params=asked)
        if response.status == 403:
            raise SearchUnavailableError("SearXNG does not return JSON: add `json` to search.formats in its settings.")
        check_status(response, "SearXNG", key_name="SEARXNG_URL")
        found = members_of(response, "SearXNG")
        hits = hits_of(found.get("results"), "SearXNG", limit=limit, snippet="content")
        if not hits and found.get("unresponsive_engines"):
            raise SearchUnavailableError("None of SearXNG's engines answered.")
        return hits
