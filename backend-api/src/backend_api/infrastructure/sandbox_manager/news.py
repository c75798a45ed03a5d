"""`NewsSource`: the manager's changes of sandboxes, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import httpx
from pydantic import ValidationError

from backend_api.domain.agent.events import SandboxState, SandboxUpdated
from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.sandbox.errors import ComputerUnavailableError
from backend_api.domain.sandbox.news import ComputerNews
from contracts.sandboxes import Sandbox, SandboxStatus

SILENT_FOR_S = 30.0
"""The manager says something at least every ten."""
GENERATION = 1_000_000
_UNREACHABLE = "The sandbox manager does not tell what happens to computers."
_TOLD: dict[SandboxStatus, SandboxState] = {
    SandboxStatus.READY: "ready",
    SandboxStatus.PAUSED: "paused",
    SandboxStatus.GONE: "gone",
}


class ManagerNews:
    """Goes on after the last change it read, at whichever manager answers."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._mark: str | None = None

    @asynccontextmanager
    async def follow(self) -> AsyncGenerator[AsyncIterator[ComputerNews]]:
        timeout = httpx.Timeout(5.0, read=SILENT_FOR_S)
        headers = {"Last-Event-ID": self._mark} if self._mark else {}
        try:
            async with self._http.stream("GET", "/sandboxes/events", headers=headers, timeout=timeout) as response:
                if response.status_code == 404:
                    self._mark = None
                if not response.is_success:
                    raise ComputerUnavailableError(_UNREACHABLE)
                yield self._news(response)
        except httpx.TransportError as error:
            raise ComputerUnavailableError(_UNREACHABLE) from error

    async def _news(self, response: httpx.Response) -> AsyncIterator[ComputerNews]:
        mark = None
        async for line in response.aiter_lines():
            name, _, value = line.partition(": ")
            if name == "id":
                mark = value
            elif name == "data":
                news = _news_of(value)
                if news is not None:
                    yield news
                self._mark = mark


def _news_of(told: str) -> ComputerNews | None:
    """None for what whoever waits for the computer tells anyway."""
    try:
        sandbox = Sandbox.model_validate_json(told)
    except ValidationError:
        return None
    status = _TOLD.get(sandbox.status)
    if status is None:
        return None
    is_ready = sandbox.status is SandboxStatus.READY
    end = sandbox.expires_at if sandbox.notice is None else min(sandbox.expires_at, sandbox.idle_expires_at)
    return ComputerNews(
        session_id=SessionId(sandbox.session_id),
        order=sandbox.generation * GENERATION + sandbox.revision,
        event=SandboxUpdated(
            status=status,
            reason=sandbox.notice or sandbox.reason,
            expires_at=None if sandbox.status is SandboxStatus.GONE else end,
            has_desktop=sandbox.has_desktop,
        ),
        is_warning=sandbox.notice is not None,
        worth_telling=not is_ready or sandbox.notice is not None,
    )
