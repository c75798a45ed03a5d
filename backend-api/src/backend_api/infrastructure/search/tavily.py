"""Tavily: search with a key."""

from __future__ import annotations

from typing import Any

import httpx

from backend_api.infrastructure.search.bounded_search import post
from backend_api.infrastructure.search.provider import Hit, SearchUnavailableError

ADDRESS = "https://api.tavily.com"


class TavilySearch:
    name = "tavily"

    def __init__(self, http: httpx.AsyncClient, key: str, *, address: str = ADDRESS) -> None:
        self._http = http
        self._key = key
        self._address = address

    async def search(self, query: str, *, limit: int) -> list[Hit]:
        body = {"query": query, "max_results": limit, "search_depth": "basic"}
        headers = {"Authorization": f"Bearer {self._key}"}
        response = await post(self._http, f"{self._address}/search", "Tavily", headers=headers, json=body)
        if response.status_code in (401, 403):
            raise SearchUnavailableError("Tavily refuses the key. Check TAVILY_API_KEY.")
        if response.status_code in (429, 432, 433):
            raise SearchUnavailableError("Tavily's limit is reached.")
        if response.is_error:
            raise SearchUnavailableError(f"Tavily answered {response.status_code}.")
        try:
            results: list[dict[str, Any]] = response.json()["results"]
            return [
                Hit(
                    title=str(hit.get("title") or hit["url"]),
                    url=str(hit["url"]),
                    snippet=str(hit.get("content", ""))[:500],
                )
                for hit in results[:limit]
            ]
        except (ValueError, KeyError, TypeError) as error:
            raise SearchUnavailableError("Tavily answered something unexpected.") from error
