"""Tavily: search with a key."""

from __future__ import annotations

from typing import Any

import httpx

from backend_api.infrastructure.search.bounded_search import post
from backend_api.infrastructure.search.provider import Hit, SearchUnavailableError, hit_of

ADDRESS = "https://api.tavily.com"


class TavilySearch:
    name = "tavily"

    def __init__(
        self, http: httpx.AsyncClient, key: str, *, address: str = ADDRESS, key_name: str = "TAVILY_API_KEY"
    ) -> None:
        self._http = http
        self._key = key
        self._address = address
        self._key_name = key_name

    async def search(self, query: str, *, limit: int) -> list[Hit]:
        body = {"query": query, "max_results": limit, "search_depth": "basic"}
        headers = {"Authorization": f"Bearer {self._key}"}
        response = await post(self._http, f"{self._address}/search", "Tavily", headers=headers, json=body)
        if response.status_code in (401, 403):
            raise SearchUnavailableError(f"Tavily refuses the key. Check {self._key_name}.")
        if response.status_code in (429, 432, 433):
            raise SearchUnavailableError("Tavily's limit is reached.")
        if response.is_error:
            raise SearchUnavailableError(f"Tavily answered {response.status_code}.")
        try:
            results: list[dict[str, Any]] = response.json()["results"]
            said = [
                hit_of(str(one.get("title") or one["url"]), str(one["url"]), str(one.get("content", "")))
                for one in results[:limit]
            ]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise SearchUnavailableError("Tavily answered something unexpected.") from error
        return [hit for hit in said if hit is not None]
