"""`Sandboxes` and endpoint tokens from the sandbox manager over its REST contract."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from weakref import WeakValueDictionary

from backend_api.kit.ids import SessionId
from backend_api.sandboxes.domain.choices import USUAL, SandboxConfiguration
from backend_api.sandboxes.domain.entity import Sandbox, SandboxStatus, Scope
from backend_api.sandboxes.domain.errors import SandboxQueuedError, SandboxUnavailableError
from backend_api.sandboxes.manager.bounded_cache import make_room
from backend_api.sandboxes.manager.rest import (
    LONG_POLL_MS,
    REACH_FOR_S,
    UNREACHED,
    ask_manager,
    parse,
    raise_for,
)
from backend_api.sandboxes.manager.start_announcer import Announce, StartAnnouncer, unannounced
from backend_api.sandboxes.ports import ConfigurationOf
from contracts.sandboxes import EndpointToken, SandboxList
from contracts.sandboxes import Sandbox as WireSandbox
from contracts.sandboxes import SandboxStatus as WireStatus
from service_kit.amounts import duration_text
from service_kit.bounded_http import Answer, BoundedHttp

START_DEADLINE_S = 120.0
KEEP_ALIVE_EVERY_S = 20.0
BELIEVE_FOR_S = 20.0
RENEW_TOKEN_BEFORE_S = 30.0
TOKEN_TTL_S = 300
LEAVE_S = 2.0
LOOK_S = 5.0
"""The longest time in seconds that opening a page waits for a manager that does not answer."""
MAX_CACHED = 2_000


@dataclass(frozen=True, slots=True)
class _Believed:
    sandbox: Sandbox
    until: float


async def always_usual(session_id: str) -> SandboxConfiguration:
    """The default configuration, as there is nothing to choose."""
    del session_id
    return USUAL


class SandboxManagerClient:
    """The manager of this deployment. Its answers are cached for a short while; `forget` drops them at once. A start,
    its place in the queue, and its outcome are announced.

    A caller that waits without limit gives up its place in the queue when cancelled. One that waits for `queue_s` does
    not: the manager drops a place that nobody asks for within half a minute, so a caller that asks again in time keeps
    it.
    """

    def __init__(
        self,
        http: BoundedHttp,
        *,
        announce: Announce = unannounced,
        configuration_of: ConfigurationOf = always_usual,
        clock: Callable[[], float] = time.monotonic,
        reach_for_s: float = REACH_FOR_S,
        look_s: float = LOOK_S,
    ) -> None:
        self._http = http
        self._configuration_of = configuration_of
        self._clock = clock
        self._reach_for_s = reach_for_s
        self._look_s = look_s
        self._sandboxes: dict[str, _Believed] = {}
        self._tokens: dict[tuple[str, int, frozenset[Scope]], EndpointToken] = {}
        self._kept_alive: dict[str, float] = {}
        self._announcer = StartAnnouncer(announce, self.status, clock)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def ensure(self, session_id: str, user_id: str, *, queue_s: float | None = None) -> Sandbox:
        if (sandbox := self._cached(session_id)) is not None:
            return sandbox
        lock = self._locks.setdefault(session_id, asyncio.Lock())
        until = None if queue_s is None else self._clock() + queue_s
        await self._acquire_turn(lock, session_id, queue_s)
        starting = asyncio.ensure_future(self._start(session_id, user_id, until))
        # A cancelled call gives up its place in the queue before the next call asks for another.
        starting.add_done_callback(lambda _: lock.release())
        try:
            return await self._announcer.announce_start(SessionId(session_id), starting)
        finally:
            starting.cancel()

    async def running(self, session_id: str) -> Sandbox | None:
        """See `RunningSandboxes`."""
        if (sandbox := self._cached(session_id)) is not None:
            return sandbox
        usable = (WireStatus.READY, WireStatus.PAUSED)
        try:
            async with asyncio.timeout(self._look_s):
                found = [one for one in await self._find(session_id, reach_for_s=0.0) if one.status in usable]
        except TimeoutError as error:
            raise SandboxUnavailableError(UNREACHED) from error
        if not found:
            return None
        newest = max(found, key=lambda one: one.generation)
        if newest.status is WireStatus.PAUSED:
            # A request for another token wakes it.
            self.forget(_sandbox(newest))
            return _sandbox(newest)
        make_room(self._sandboxes, MAX_CACHED)
        self._sandboxes[session_id] = _Believed(_sandbox(newest), self._clock() + BELIEVE_FOR_S)
        return _sandbox(newest)

    async def _acquire_turn(self, lock: asyncio.Lock, session_id: str, queue_s: float | None) -> None:
        """Take the lock, or raise `SandboxQueuedError` if its holder is in the queue for longer than `queue_s`."""
        while True:
            try:
                async with asyncio.timeout(queue_s):
                    await lock.acquire()
            except TimeoutError:
                seen = await self.status(session_id)
                if seen.queue_position is not None:
                    raise SandboxQueuedError(seen.queue_reason) from None
            else:
                return

    def _cached(self, session_id: str) -> Sandbox | None:
        believed = self._sandboxes.get(session_id)
        return believed.sandbox if believed is not None and self._clock() < believed.until else None

    async def _start(self, session_id: str, user_id: str, queue_until: float | None) -> Sandbox:
        if (sandbox := self._cached(session_id)) is None:
            sandbox = _sandbox(await self._start_until_ready(session_id, user_id, queue_until))
            make_room(self._sandboxes, MAX_CACHED)
            self._sandboxes[session_id] = _Believed(sandbox, self._clock() + BELIEVE_FOR_S)
        return sandbox

    async def status(self, session_id: str) -> SandboxStatus:
        try:
            async with asyncio.timeout(self._look_s):
                return await self._find_status(session_id)
        except TimeoutError as error:
            raise SandboxUnavailableError(UNREACHED) from error

    async def _find_status(self, session_id: str) -> SandboxStatus:
        found = await self._find(session_id, reach_for_s=0.0)
        if not found:
            return SandboxStatus(status="none")
        sandbox = max(found, key=lambda one: one.generation)
        if sandbox.status is WireStatus.QUEUED:
            response = await self._send("GET", f"/sandboxes/{sandbox.id}")  # this one knows its place in the line
            sandbox = parse(WireSandbox, response) if response.is_success else sandbox
        return _status(sandbox)

    async def renew(self, session_id: str) -> SandboxStatus:
        for sandbox in await self._find(session_id):
            response = await self._send("POST", f"/sandboxes/{sandbox.id}/renew")
            if response.status in (404, 409):
                self.forget_session(session_id)
            raise_for(response)
            return _status(parse(WireSandbox, response))
        raise SandboxUnavailableError("There is no computer to keep running. Start it first.")

    async def keep_alive(self, session_id: str) -> None:
        now = self._clock()
        believed = self._sandboxes.get(session_id)
        if now - self._kept_alive.get(session_id, -KEEP_ALIVE_EVERY_S) < KEEP_ALIVE_EVERY_S:
            return
        make_room(self._kept_alive, MAX_CACHED)
        self._kept_alive[session_id] = now
        ids = (
            [believed.sandbox.id]
            if believed
            else [sandbox.id for sandbox in await self._find(session_id, reach_for_s=0.0)]
        )
        for identifier in ids:
            response = await self._send("POST", f"/sandboxes/{identifier}/renew", reach_for_s=0.0)
            if response.status in (404, 409):
                self.forget_session(session_id)
            else:
                raise_for(response)

    async def delete(self, session_id: str, user_id: str) -> None:
        raise_for(await self._send("DELETE", f"/workspaces/{session_id}", params={"user_id": user_id}))
        self.forget_session(session_id)
        self._announcer.forget(SessionId(session_id))

    async def token(self, sandbox: Sandbox, scopes: Iterable[Scope]) -> EndpointToken:
        """An endpoint token, cached until shortly before it expires. Raises `SandboxUnavailableError`."""
        wanted = frozenset(scopes)
        key = (sandbox.id, sandbox.generation, wanted)
        cached = self._tokens.get(key)
        if cached is not None and (cached.expires_at - datetime.now(UTC)).total_seconds() > RENEW_TOKEN_BEFORE_S:
            return cached
        body = {"scopes": sorted(scope.value for scope in wanted), "ttl_s": TOKEN_TTL_S}
        response = await self._send("POST", f"/sandboxes/{sandbox.id}/tokens", json=body)
        if response.status in (404, 409):
            self.forget(sandbox)
        raise_for(response)
        token = parse(EndpointToken, response)
        if token.generation != sandbox.generation:
            self.forget(sandbox)
            raise SandboxUnavailableError("The computer was rebuilt in the meantime. Try again.")
        make_room(self._tokens, MAX_CACHED)
        self._tokens[key] = token
        return token

    def forget(self, sandbox: Sandbox) -> None:
        """Drop all that is cached of this sandbox: its endpoint refused or did not answer."""
        self._sandboxes.pop(sandbox.session_id, None)
        for key in [key for key in self._tokens if key[0] == sandbox.id]:
            del self._tokens[key]

    async def _start_until_ready(self, session_id: str, user_id: str, queue_until: float | None) -> WireSandbox:
        """Start it; a start that failed for a passing reason, such as a manager that was shut down, is tried once
        more."""
        sandbox, may_repeat = await self._start_once(session_id, user_id, queue_until)
        if may_repeat:
            sandbox, _ = await self._start_once(session_id, user_id, queue_until)
        if sandbox.status is not WireStatus.READY:
            raise SandboxUnavailableError(sandbox.reason or f"The computer is {sandbox.status.value}.")
        return sandbox

    async def _start_once(self, session_id: str, user_id: str, queue_until: float | None) -> tuple[WireSandbox, bool]:
        """The sandbox once it no longer starts, and whether another start may help."""
        deadline = self._clock() + START_DEADLINE_S
        chosen = await self._configuration_of(session_id)
        names = {"image": chosen.image, "size": chosen.size}
        # A manager that knows no choices gets the request it knows.
        body = {"session_id": session_id, "user_id": user_id} | {key: name for key, name in names.items() if name}
        asking = asyncio.create_task(self._send("POST", "/sandboxes", json=body))
        try:
            response = await asyncio.shield(asking)
            raise_for(response)
            return await self._wait_for_start(parse(WireSandbox, response), deadline, queue_until)
        except asyncio.CancelledError:
            if queue_until is None:
                await self._leave_queue(session_id, asking)
            asking.cancel()
            raise

    async def _leave_queue(self, session_id: str, asking: asyncio.Task[Answer]) -> None:
        """Give up the place in the queue, even one that was only just requested, as nobody waits any more; a sandbox
        that has left the queue is kept."""
        with contextlib.suppress(SandboxUnavailableError, TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await asking
                for sandbox in await self._find(session_id, reach_for_s=0.0):
                    if sandbox.status is WireStatus.QUEUED:
                        params = {"only_queued": "true"}
                        await self._send("DELETE", f"/sandboxes/{sandbox.id}", reach_for_s=0.0, params=params)

    async def _wait_for_start(
        self, sandbox: WireSandbox, deadline: float, queue_until: float | None
    ) -> tuple[WireSandbox, bool]:
        before = sandbox.status
        while sandbox.status in (WireStatus.QUEUED, WireStatus.STARTING):
            wait_ms = LONG_POLL_MS
            if sandbox.status is WireStatus.QUEUED:
                deadline = self._clock() + START_DEADLINE_S  # how long it may stand in line is the manager's to say
                if queue_until is not None:
                    left_ms = int((queue_until - self._clock()) * 1000)
                    if left_ms <= 0:
                        raise SandboxQueuedError(sandbox.queue_reason)
                    wait_ms = min(wait_ms, left_ms)
            elif self._clock() >= deadline:
                raise SandboxUnavailableError(f"The computer did not start within {duration_text(START_DEADLINE_S)}.")
            before = sandbox.status
            response = await self._send("GET", f"/sandboxes/{sandbox.id}", params={"wait_ms": str(wait_ms)})
            raise_for(response)
            sandbox = parse(WireSandbox, response)
        waited_in_vain = before is WireStatus.QUEUED and sandbox.status is WireStatus.FAILED
        return sandbox, sandbox.status is not WireStatus.READY and sandbox.retryable and not waited_in_vain

    async def _find(self, session_id: str, *, reach_for_s: float | None = None) -> list[WireSandbox]:
        params = {"session_id": session_id}
        response = await self._send("GET", "/sandboxes", reach_for_s=reach_for_s, params=params)
        raise_for(response)
        return parse(SandboxList, response).items

    async def _send(self, method: str, path: str, *, reach_for_s: float | None = None, **fields: Any) -> Answer:
        reach_for_s = self._reach_for_s if reach_for_s is None else reach_for_s
        return await ask_manager(self._http, method, path, reach_for_s=reach_for_s, **fields)

    def forget_session(self, session_id: str) -> None:
        """Drop all that is cached of a session's sandbox."""
        believed = self._sandboxes.get(session_id)
        if believed is not None:
            self.forget(believed.sandbox)


def _sandbox(sandbox: WireSandbox) -> Sandbox:
    return Sandbox(
        id=sandbox.id,
        session_id=sandbox.session_id,
        generation=sandbox.generation,
        has_desktop=sandbox.has_desktop,
        has_network=sandbox.has_network,
        expires_at=sandbox.expires_at,
    )


def _status(sandbox: WireSandbox) -> SandboxStatus:
    if sandbox.was_never_there:
        return SandboxStatus(status="none")
    return SandboxStatus(
        status="starting" if sandbox.status is WireStatus.QUEUED else sandbox.status.value,
        generation=sandbox.generation,
        reason=sandbox.reason,
        retryable=sandbox.retryable,
        has_desktop=sandbox.has_desktop,
        expires_at=sandbox.expires_at,
        ends_at=min(sandbox.idle_expires_at, sandbox.expires_at),
        queue_position=sandbox.queue_position,
        queue_reason=sandbox.queue_reason,
        notice=sandbox.notice,
    )
