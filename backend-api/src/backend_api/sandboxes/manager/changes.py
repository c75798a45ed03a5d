"""`SandboxChangeSource`: the manager's changes of sandboxes, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager

from pydantic import ValidationError

from backend_api.agent.events import Notice, SandboxState, SandboxUpdated
from backend_api.kit.ids import SessionId
from backend_api.sandboxes.domain.changes import ChangeCursor, DiskWarning, SandboxChange
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.sandboxes.manager.rest import BOUNDS, parse
from contracts.sandboxes import Sandbox as WireSandbox
from contracts.sandboxes import SandboxList
from contracts.sandboxes import SandboxStatus as WireStatus
from service_kit.bounded_http import BoundedHttp, Bounds, StreamedAnswer, TransportError

SILENT_FOR_S = 30.0
"""The manager sends something at least every ten."""
GENERATION = 1_000_000
DISK_CODE = "computer.disk"
_FILLING_PERCENT = 80
_LINE_BYTES = 64 * 1024
_STREAM = Bounds(body_bytes=2**30, head_s=SILENT_FOR_S, silent_s=SILENT_FOR_S)
"""After a gigabyte it is opened anew."""
_UNREACHABLE = "The sandbox manager's stream of changes can't be reached."
_SHOWN: dict[WireStatus, SandboxState] = {
    WireStatus.READY: "ready",
    WireStatus.PAUSED: "paused",
    WireStatus.GONE: "gone",
}
_OVER: dict[WireStatus, SandboxState] = {WireStatus.GONE: "gone", WireStatus.FAILED: "failed"}


class ManagerSandboxChanges:
    """Continues after the last change that any gateway has read, with whichever manager answers. If the manager no
    longer knows that change, the present state of all sandboxes is read."""

    def __init__(self, http: BoundedHttp, cursor: ChangeCursor) -> None:
        self._http = http
        self._cursor = cursor
        self._last: str | None = None
        self._is_lost = False

    @asynccontextmanager
    async def subscribe(self) -> AsyncGenerator[AsyncIterator[SandboxChange | DiskWarning]]:
        cursor = None if self._is_lost else self._last or await self._cursor.load()
        headers = {"Last-Event-ID": cursor} if cursor else {}
        try:
            async with self._http.stream("GET", "/sandboxes/events", _STREAM, headers=headers) as response:
                if response.status == 404:
                    self._is_lost = True
                if not response.is_success:
                    raise SandboxUnavailableError(_UNREACHABLE)
                yield self._changes(response)
        except TransportError as error:
            raise SandboxUnavailableError(_UNREACHABLE) from error

    async def _changes(self, answer: StreamedAnswer) -> AsyncIterator[SandboxChange | DiskWarning]:
        cursor = None
        if self._is_lost:
            for sandbox in await self._list():
                for change in _changes_of(sandbox, sandbox):
                    yield change
            self._is_lost, self._last = False, None
        async for line in answer.lines(_LINE_BYTES):
            name, _, value = line.decode("utf-8", "replace").partition(": ")
            if name == "id":
                cursor = value
            elif name == "data":
                async for change in self._changes_in(value):
                    yield change
                self._last = cursor
                if cursor is not None:
                    await self._cursor.store(cursor)

    async def _changes_in(self, line: str) -> AsyncIterator[SandboxChange | DiskWarning]:
        try:
            sandbox = WireSandbox.model_validate_json(line)
        except ValidationError:
            return
        now = sandbox
        if sandbox.was_never_there:
            now = next(iter(await self._list(session_id=sandbox.session_id)), sandbox)
        for change in _changes_of(sandbox, now):
            yield change

    async def _list(self, **whose: str) -> list[WireSandbox]:
        response = await self._http.ask("GET", "/sandboxes", BOUNDS, params=whose)
        if not response.is_success:
            raise SandboxUnavailableError(_UNREACHABLE)
        return parse(SandboxList, response).items


def _changes_of(sandbox: WireSandbox, now: WireSandbox) -> Iterator[SandboxChange | DiskWarning]:
    """The changes to report, without those that the code which waits for the sandbox reports itself. `now` is the
    session's sandbox at present."""
    if sandbox.was_never_there:
        yield from _end_abandoned_start(sandbox, now)
        return
    status = _SHOWN.get(sandbox.status)
    if status is None:
        return
    session_id, order = SessionId(sandbox.session_id), sandbox.generation * GENERATION
    is_ready = sandbox.status is WireStatus.READY
    end = sandbox.expires_at if sandbox.notice is None else min(sandbox.expires_at, sandbox.idle_expires_at)
    yield SandboxChange(
        session_id=session_id,
        order=order + sandbox.revision,
        event=SandboxUpdated(
            status=status,
            reason=sandbox.notice or sandbox.reason,
            expires_at=None if sandbox.status is WireStatus.GONE else end,
            has_desktop=sandbox.has_desktop,
        ),
        is_warning=sandbox.notice is not None,
        worth_telling=not is_ready or sandbox.notice is not None,
    )
    if sandbox.disk_notice is not None:
        # A manager from before warning levels sends only the text.
        code = DISK_CODE if sandbox.disk_fill is None else f"{DISK_CODE}_{sandbox.disk_fill}"
        params: dict[str, str | int] = {"percent": _FILLING_PERCENT, "limit": sandbox.disk_limit_mb}
        event = Notice(text=sandbox.disk_notice, code=code, params=params if sandbox.disk_fill else {})
        yield DiskWarning(session_id=session_id, order=order + sandbox.disk_revision, event=event)


def _end_abandoned_start(sandbox: WireSandbox, now: WireSandbox) -> Iterator[SandboxChange]:
    """The end of an abandoned start: the state before it applies again, unless another start was requested since."""
    status: SandboxState | None = "none" if now.was_never_there else _OVER.get(now.status)
    if status is not None:
        yield SandboxChange(
            session_id=SessionId(sandbox.session_id),
            order=sandbox.generation * GENERATION + sandbox.revision,
            event=SandboxUpdated(status=status, reason=None if status == "none" else now.reason),
            takes_back_start=True,
        )
