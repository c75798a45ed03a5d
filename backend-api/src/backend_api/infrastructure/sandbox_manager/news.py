"""`NewsSource`: the manager's changes of sandboxes, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx
from pydantic import ValidationError

from backend_api.domain.agent.events import Notice, SandboxState, SandboxUpdated
from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.sandbox.errors import ComputerUnavailableError
from backend_api.domain.sandbox.news import ComputerNews, DiskNews, NewsMarks
from contracts.sandboxes import Sandbox, SandboxList, SandboxStatus

SILENT_FOR_S = 30.0
"""The manager says something at least every ten."""
GENERATION = 1_000_000
DISK_CODE = "computer.disk"
_FILLING_PERCENT = 80
_UNREACHABLE = "The sandbox manager does not tell what happens to computers."
_TOLD: dict[SandboxStatus, SandboxState] = {
    SandboxStatus.READY: "ready",
    SandboxStatus.PAUSED: "paused",
    SandboxStatus.GONE: "gone",
}


class ManagerNews:
    """Goes on after the last change any gateway read, at whichever manager answers. Where that is no longer known
    there, all computers are looked at as they are."""

    def __init__(self, http: httpx.AsyncClient, marks: NewsMarks) -> None:
        self._http = http
        self._marks = marks
        self._mark: str | None = None
        self._is_lost = False

    @asynccontextmanager
    async def follow(self) -> AsyncGenerator[AsyncIterator[ComputerNews | DiskNews]]:
        timeout = httpx.Timeout(5.0, read=SILENT_FOR_S)
        mark = None if self._is_lost else self._mark or await self._marks.load()
        headers = {"Last-Event-ID": mark} if mark else {}
        try:
            async with self._http.stream("GET", "/sandboxes/events", headers=headers, timeout=timeout) as response:
                if response.status_code == 404:
                    self._is_lost = True
                if not response.is_success:
                    raise ComputerUnavailableError(_UNREACHABLE)
                yield self._news(response)
        except httpx.TransportError as error:
            raise ComputerUnavailableError(_UNREACHABLE) from error

    async def _news(self, response: httpx.Response) -> AsyncIterator[ComputerNews | DiskNews]:
        mark = None
        if self._is_lost:
            async for news in self._as_they_are():
                yield news
            self._is_lost, self._mark = False, None
        async for line in response.aiter_lines():
            name, _, value = line.partition(": ")
            if name == "id":
                mark = value
            elif name == "data":
                for news in _news_of(value):
                    yield news
                self._mark = mark
                if mark is not None:
                    await self._marks.store(mark)

    async def _as_they_are(self) -> AsyncIterator[ComputerNews | DiskNews]:
        response = await self._http.get("/sandboxes")
        if not response.is_success:
            raise ComputerUnavailableError(_UNREACHABLE)
        for sandbox in SandboxList.model_validate_json(response.content).items:
            for news in _told(sandbox):
                yield news


def _news_of(told: str) -> Iterator[ComputerNews | DiskNews]:
    try:
        sandbox = Sandbox.model_validate_json(told)
    except ValidationError:
        return
    yield from _told(sandbox)


def _told(sandbox: Sandbox) -> Iterator[ComputerNews | DiskNews]:
    """Nothing of what whoever waits for the computer tells anyway."""
    status = _TOLD.get(sandbox.status)
    if status is None:
        return
    session_id, order = SessionId(sandbox.session_id), sandbox.generation * GENERATION
    is_ready = sandbox.status is SandboxStatus.READY
    end = sandbox.expires_at if sandbox.notice is None else min(sandbox.expires_at, sandbox.idle_expires_at)
    yield ComputerNews(
        session_id=session_id,
        order=order + sandbox.revision,
        event=SandboxUpdated(
            status=status,
            reason=sandbox.notice or sandbox.reason,
            expires_at=None if sandbox.status is SandboxStatus.GONE else end,
            has_desktop=sandbox.has_desktop,
        ),
        is_warning=sandbox.notice is not None,
        worth_telling=not is_ready or sandbox.notice is not None,
    )
    if sandbox.disk_notice is not None:
        # A manager of before levels were told has but the text.
        code = DISK_CODE if sandbox.disk_fill is None else f"{DISK_CODE}_{sandbox.disk_fill}"
        params: dict[str, str | int] = {"percent": _FILLING_PERCENT, "limit": sandbox.disk_limit_mb}
        event = Notice(text=sandbox.disk_notice, code=code, params=params if sandbox.disk_fill else {})
        yield DiskNews(session_id=session_id, order=order + sandbox.disk_revision, event=event)
