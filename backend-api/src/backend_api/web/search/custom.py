"""A search server of the deployment's own.

It receives `{"query": text, "max_results": number}` by POST, with `Authorization: Bearer <key>` if there is a key, and
returns `{"results": [{"title": text, "url": text, "snippet": text}]}`, best first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from backend_api.kit.untrusted.api_client import ApiClient
from backend_api.web.search.answers import check_status, hits_of, members_of
from backend_api.web.search.provider import Hit
from backend_api.web.search.search_request import ask

_NAME = "The search server"


@dataclass(frozen=True, slots=True)
class CustomSearch:
    http: ApiClient
    address: str
    key: str = field(default="", repr=False)
    name: str = "custom"

    async def search(self, query: str, *, limit: int) -> list[Hit]:
        headers = {"Accept": "application/json", **({"Authorization": f"Bearer {self.key}"} if self.key else {})}
        body = {"query": query, "max_results": limit}
        response = await ask(self.http, "POST", self.address, _NAME, headers=headers, json=body)
        check_status(response, _NAME, key_name="CUSTOM_SEARCH_API_KEY")
        return hits_of(members_of(response, _NAME).get("results"), _NAME, limit=limit, snippet="snippet")
