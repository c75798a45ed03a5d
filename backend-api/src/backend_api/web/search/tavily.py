"""Tavily: search with a key."""

from __future__ import annotations

from dataclasses import dataclass, field

from backend_api.kit.untrusted.api_client import ApiClient
from backend_api.web.search.answers import check_status, hits_of, members_of
from backend_api.web.search.provider import Hit
from backend_api.web.search.search_request import ask

ADDRESS = "https://api.tavily.com"


@dataclass(frozen=True, slots=True)
class TavilySearch:
    http: ApiClient
    key: str = field(repr=False)
    address: str = ADDRESS
    key_name: str = "TAVILY_API_KEY"
    name: str = "tavily"

    async def search(self, query: str, *, limit: int) -> list[Hit]:
        body = {"query": query, "max_results": limit, "search_depth": "basic"}
        headers = {"Authorization": f"Bearer {self.key}"}
        response = await ask(self.http, "POST", f"{self.address}/search", "Tavily", headers=headers, json=body)
        check_status(response, "Tavily", key_name=self.key_name, limits=(432, 433))
        return hits_of(members_of(response, "Tavily").get("results"), "Tavily", limit=limit, snippet="content")
