"""Brave: search with a key."""

from __future__ import annotations

from dataclasses import dataclass, field

from backend_api.kit.untrusted.api_client import ApiClient
from backend_api.web.search.answers import check_status, hits_of, inside, members_of
from backend_api.web.search.provider import Hit, SearchKeyError
from backend_api.web.search.search_request import ask

ADDRESS = "https://api.search.brave.com"
MOST_WORDS = 50
"""The most words of a query; the provider refuses more."""
_WRONG_KEY = b"SUBSCRIPTION_TOKEN_INVALID"


@dataclass(frozen=True, slots=True)
class BraveSearch:
    http: ApiClient
    key: str = field(repr=False)
    address: str = ADDRESS
    key_name: str = "BRAVE_API_KEY"
    name: str = "brave"

    async def search(self, query: str, *, limit: int) -> list[Hit]:
        asked = {"q": " ".join(query.split()[:MOST_WORDS]), "count": limit, "text_decorations": False}
        headers = {"Accept": "application/json", "X-Subscription-Token": self.key}
        address = f"{self.address}/res/v1/web/search"
        response = await ask(self.http, "GET", address, "Brave", headers=headers, params=asked)
        if response.status == 422 and _WRONG_KEY in response.content:
            raise SearchKeyError(f"Brave refuses the key. Check {self.key_name}.")
        check_status(response, "Brave", key_name=self.key_name)
        found = members_of(response, "Brave")
        # The field is missing if nothing was found.
        results: object = inside(found["web"], "results") if "web" in found else []
        return hits_of(results, "Brave", limit=limit, snippet="description")
