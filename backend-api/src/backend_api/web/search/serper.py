"""Serper: Google's results, with a key."""

from __future__ import annotations

from dataclasses import dataclass, field

from backend_api.kit.untrusted.api_client import ApiClient
from backend_api.web.search.answers import check_status, hits_of, members_of
from backend_api.web.search.provider import Hit, SearchLimitError
from backend_api.web.search.search_request import ask

ADDRESS = "https://google.serper.dev"
_NOTHING_LEFT = b"not enough credits"


@dataclass(frozen=True, slots=True)
class SerperSearch:
    http: ApiClient
    key: str = field(repr=False)
    address: str = ADDRESS
    key_name: str = "SERPER_API_KEY"
    name: str = "serper"

    async def search(self, query: str, *, limit: int) -> list[Hit]:
        headers = {"X-API-KEY": self.key}
        body = {"q": query, "num": limit}
        response = await ask(self.http, "POST", f"{self.address}/search", "Serper", headers=headers, json=body)
        if response.status == 400 and _NOTHING_LEFT in response.content.lower():
            raise SearchLimitError("Serper's limit is reached.")
        check_status(response, "Serper", key_name=self.key_name)
        results = members_of(response, "Serper").get("organic")
        return hits_of(results, "Serper", limit=limit, url="link", snippet="snippet")
