"""The gateway with fake sources of papers, and a user who writes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from support.gateway import Gateway, run_gateway
from support.research.fake_sources import Fakes, fake_sources
from support.servers import Server, emptied_database_name

__all__ = ["emptied_database_name"]


@dataclass(frozen=True, slots=True)
class Studio:
    gateway: Gateway
    fakes: Fakes
    anna: dict[str, str]

    async def ask(
        self, method: str, path: str = "", body: Any = None, *, etag: str = "", **more: Any
    ) -> httpx.Response:
        """Below `/api/writing`, unless it begins so."""
        url = path if path.startswith("/api/") else f"/api/writing{path}"
        headers = self.anna | ({"If-Match": f'"{etag}"'} if etag else {})
        return await self.gateway.client.request(method, url, json=body, headers=headers, timeout=120, **more)

    async def done(self, method: str, path: str = "", body: Any = None, *, etag: str = "") -> Any:
        answer = await self.ask(method, path, body, etag=etag)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    async def begin(self, *titles: str, **settings: Any) -> dict[str, Any]:
        project = await self.done("POST", "", {"title": "A study", **settings})
        path = f"/{project['id']}/outline"
        outline = {"outline": [{"title": title} for title in titles]}
        return await self.done("PUT", path, outline, etag=project["outline_etag"])

    async def write(self, project: dict[str, Any], text: str, at: int = 0) -> dict[str, Any]:
        section = project["sections"][at]
        path = f"/{project['id']}/sections/{section['id']}"
        return await self.done("PUT", path, {"text": text}, etag=section["etag"])

    async def keep(self, paper_id: str) -> str:
        """The id of its record."""
        return (await self.done("POST", "/api/corpus", {"id": paper_id}))["record"]["id"]

    async def cite(self, project: dict[str, Any], paper_id: str) -> str:
        """The key of the paper."""
        record_id = await self.keep(paper_id)
        changed = await self.done("POST", f"/{project['id']}/bibliography", {"record_id": record_id})
        return next(one["key"] for one in changed["bibliography"] if one["record_id"] == record_id)


@pytest.fixture
async def studio(mongo_server: Server, redis_server: Server, mongo_database_name: str) -> AsyncGenerator[Studio]:
    async with fake_sources() as fakes:
        urls = {name: url for name, url in fakes.urls.items() if name != "files"}
        async with run_gateway(
            mongo_server.uri, mongo_database_name, redis_server.uri, fetch_hosts=fakes.hosts, source_urls=urls
        ) as gateway:
            yield Studio(gateway, fakes, await gateway.user("anna"))
