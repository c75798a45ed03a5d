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

import httpx
from pydantic import ValidationError

from backend_api.domain.sandbox.entity import Sandbox, SandboxStatus, Scope
from backend_api.domain.sandbox.errors import SandboxLimitError, SandboxUnavailableError
from backend_api.infrastructure.passing_on import pass_on
from contracts.errors import Problem
from contracts.sandboxes import EndpointToken, SandboxList
from contracts.sandboxes import Sandbox as WireSandbox
from contracts.sandboxes import SandboxStatus as WireStatus

START_DEADLINE_S = 120.0
RETRY_S = 60
REACH_FOR_S = 15.0
"""A manager that is being replaced is back by then, or another one answers. Every call to it may be repeated."""
PASSING = frozenset({"registry_unavailable", "sandbox_busy"})
LONG_POLL_MS = 10_000
KEEP_ALIVE_EVERY_S = 20.0
BELIEVE_FOR_S = 20.0
RENEW_TOKEN_BEFORE_S = 30.0
TOKEN_TTL_S = 300
LEAVE_S = 2.0
LOOK_S = 5.0
"""A page that opens waits no longer for what a manager says that hangs."""
MAX_CACHED = 2_000
_UNREACHED = "The service that runs the computers can't be reached. Try again in a moment."


@dataclass(frozen=True, slots=True)
class _Believed:
    sandbox: Sandbox
    until: float


class SandboxManagerClient:
    """The manager of this deployment. What it said is believed for a short while; `forget` ends that at once."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        *,
        clock: Callable[[], float] = time.monotonic,
        reach_for_s: float = REACH_FOR_S,
        look_s: float = LOOK_S,
    ) -> None:
        self._http = http
        self._clock = clock
        self._reach_for_s = reach_for_s
        self._look_s = look_s
        self._sandboxes: dict[str, _Believed] = {}
        self._tokens: dict[tuple[str, int, frozenset[Scope]], EndpointToken] = {}
        self._kept_alive: dict[str, float] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def ensure(self, session_id: str, user_id: str) -> Sandbox:
        believed = self._sandboxes.get(session_id)
        if believed is not None and self._clock() < believed.until:
            return believed.sandbox
        lock = self._locks.setdefault(session_id, asyncio.Lock())
        async with lock:
            believed = self._sandboxes.get(session_id)
            if believed is not None and self._clock() < believed.until:
                return believed.sandbox
            sandbox = _sandbox(await self._ready(session_id, user_id))
            _bound(self._sandboxes)
            self._sandboxes[session_id] = _Believed(sandbox, self._clock() + BELIEVE_FOR_S)
            return sandbox

    async def status(self, session_id: str) -> SandboxStatus:
        try:
            async with asyncio.timeout(self._look_s):
                return await self._looked_at(session_id)
        except TimeoutError as error:
            raise SandboxUnavailableError(_UNREACHED) from error

    async def _looked_at(self, session_id: str) -> SandboxStatus:
        found = await self._find(session_id, reach_for_s=0.0)
        if not found:
            return SandboxStatus(status="none")
        sandbox = max(found, key=lambda one: one.generation)
        if sandbox.status is WireStatus.QUEUED:
            response = await self._send("GET", f"/sandboxes/{sandbox.id}")  # this one knows its place in the line
            sandbox = WireSandbox.model_validate_json(response.content) if response.is_success else sandbox
        return _status(sandbox)

    async def renew(self, session_id: str) -> SandboxStatus:
        for sandbox in await self._find(session_id):
            response = await self._send("POST", f"/sandboxes/{sandbox.id}/renew")
            if response.status_code in (404, 409):
                self.forget_session(session_id)
            _raise_for(response)
            return _status(WireSandbox.model_validate_json(response.content))
        raise SandboxUnavailableError("There is no computer to keep running. Start it first.")

    async def keep_alive(self, session_id: str) -> None:
        now = self._clock()
        believed = self._sandboxes.get(session_id)
        if now - self._kept_alive.get(session_id, -KEEP_ALIVE_EVERY_S) < KEEP_ALIVE_EVERY_S:
            return
        _bound(self._kept_alive)
        self._kept_alive[session_id] = now
        ids = (
            [believed.sandbox.id]
            if believed
            else [sandbox.id for sandbox in await self._find(session_id, reach_for_s=0.0)]
        )
        for identifier in ids:
            response = await self._send("POST", f"/sandboxes/{identifier}/renew", reach_for_s=0.0)
            if response.status_code in (404, 409):
                self.forget_session(session_id)
            else:
                _raise_for(response)

    async def delete(self, session_id: str, user_id: str) -> None:
        _raise_for(await self._send("DELETE", f"/workspaces/{session_id}", params={"user_id": user_id}))
        self.forget_session(session_id)

    async def token(self, sandbox: Sandbox, scopes: Iterable[Scope]) -> EndpointToken:
        """An endpoint token, from the cache until shortly before it ends. Raises `SandboxUnavailableError`."""
        wanted = frozenset(scopes)
        key = (sandbox.id, sandbox.generation, wanted)
        cached = self._tokens.get(key)
        if cached is not None and (cached.expires_at - datetime.now(UTC)).total_seconds() > RENEW_TOKEN_BEFORE_S:
            return cached
        body = {"scopes": sorted(scope.value for scope in wanted), "ttl_s": TOKEN_TTL_S}
        response = await self._send("POST", f"/sandboxes/{sandbox.id}/tokens", json=body)
        if response.status_code in (404, 409):
            self.forget(sandbox)
        _raise_for(response)
        token = EndpointToken.model_validate_json(response.content)
        if token.generation != sandbox.generation:
            self.forget(sandbox)
            raise SandboxUnavailableError("The computer was rebuilt in the meantime. Try again.")
        _bound(self._tokens)
        self._tokens[key] = token
        return token

    def forget(self, sandbox: Sandbox) -> None:
        """Believe nothing of this sandbox any more: its endpoint refused or did not answer."""
        self._sandboxes.pop(sandbox.session_id, None)
        for key in [key for key in self._tokens if key[0] == sandbox.id]:
            del self._tokens[key]

    async def _ready(self, session_id: str, user_id: str) -> WireSandbox:
        """A start that failed for a passing reason, such as the end of the manager that made it, is begun once more."""
        sandbox = await self._started(session_id, user_id)
        if sandbox.status is not WireStatus.READY and sandbox.retryable:
            sandbox = await self._started(session_id, user_id)
        if sandbox.status is not WireStatus.READY:
            raise SandboxUnavailableError(sandbox.reason or f"The computer is {sandbox.status.value}.")
        return sandbox

    async def _started(self, session_id: str, user_id: str) -> WireSandbox:
        deadline = self._clock() + START_DEADLINE_S
        response = await self._send("POST", "/sandboxes", json={"session_id": session_id, "user_id": user_id})
        _raise_for(response)
        sandbox = WireSandbox.model_validate_json(response.content)
        try:
            return await self._past_waiting(sandbox, deadline)
        except asyncio.CancelledError:
            await self._leave_line(session_id)
            raise

    async def _leave_line(self, session_id: str) -> None:
        """Nobody waits any more: the place in the line is given up, a sandbox that got its turn is not."""
        with contextlib.suppress(SandboxUnavailableError, TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                for sandbox in await self._find(session_id, reach_for_s=0.0):
                    if sandbox.status is WireStatus.QUEUED:
                        params = {"only_queued": "true"}
                        await self._send("DELETE", f"/sandboxes/{sandbox.id}", reach_for_s=0.0, params=params)

    async def _past_waiting(self, sandbox: WireSandbox, deadline: float) -> WireSandbox:
        while sandbox.status in (WireStatus.QUEUED, WireStatus.STARTING):
            if sandbox.status is WireStatus.QUEUED:
                deadline = self._clock() + START_DEADLINE_S  # how long it may stand in line is the manager's to say
            elif self._clock() >= deadline:
                raise SandboxUnavailableError(f"The computer did not start within {START_DEADLINE_S:g} s.")
            response = await self._send("GET", f"/sandboxes/{sandbox.id}", params={"wait_ms": str(LONG_POLL_MS)})
            _raise_for(response)
            sandbox = WireSandbox.model_validate_json(response.content)
        return sandbox

    async def _find(self, session_id: str, *, reach_for_s: float | None = None) -> list[WireSandbox]:
        params = {"session_id": session_id}
        response = await self._send("GET", "/sandboxes", reach_for_s=reach_for_s, params=params)
        _raise_for(response)
        return SandboxList.model_validate_json(response.content).items

    async def _send(self, method: str, path: str, *, reach_for_s: float | None = None, **fields: Any) -> httpx.Response:
        loop = asyncio.get_running_loop()
        until = loop.time() + (self._reach_for_s if reach_for_s is None else reach_for_s)
        pause = 0.05
        while True:
            try:
                response = await self._http.request(method, path, **fields)
                if loop.time() >= until or not _is_passing(response):
                    return response
            except httpx.TransportError as error:
                if loop.time() >= until:
                    raise SandboxUnavailableError(_UNREACHED) from error
            await asyncio.sleep(pause)
            pause = min(pause * 2, 1.0)

    def forget_session(self, session_id: str) -> None:
        """Believe nothing of a session's sandbox any more."""
        believed = self._sandboxes.get(session_id)
        if believed is not None:
            self.forget(believed.sandbox)


def manager_http(url: str, token: str) -> httpx.AsyncClient:
    """The client's connection pool; longer than one long poll, shorter than a person waits."""
    return httpx.AsyncClient(
        base_url=url,
        headers={"Authorization": f"Bearer {token}"},
        timeout=httpx.Timeout(LONG_POLL_MS / 1000 + 20.0, connect=5.0),
        trust_env=False,
        event_hooks={"request": [pass_on]},
    )


def _sandbox(sandbox: WireSandbox) -> Sandbox:
    return Sandbox(
        id=sandbox.id,
        session_id=sandbox.session_id,
        generation=sandbox.generation,
        has_desktop=sandbox.has_desktop,
        has_network=sandbox.has_network,
        expires_at=sandbox.expires_at,
    )


def _is_passing(response: httpx.Response) -> bool:
    if response.status_code != 503:
        return False
    try:
        return Problem.model_validate_json(response.content).code in PASSING
    except ValidationError:
        return False


def _status(sandbox: WireSandbox) -> SandboxStatus:
    return SandboxStatus(
        status="starting" if sandbox.status is WireStatus.QUEUED else sandbox.status.value,
        reason=sandbox.reason,
        retryable=sandbox.retryable,
        has_desktop=sandbox.has_desktop,
        expires_at=sandbox.expires_at,
        ends_at=min(sandbox.idle_expires_at, sandbox.expires_at),
        queue_position=sandbox.queue_position,
        notice=sandbox.notice,
    )


def _raise_for(response: httpx.Response) -> None:
    if response.is_success:
        return
    try:
        detail = Problem.model_validate_json(response.content).detail
    except ValidationError:
        detail = f"The service that runs the computers answered {response.status_code}."
    if response.status_code == 429:
        after = response.headers.get("retry-after", "")
        raise SandboxLimitError(detail, retry_after_s=int(after) if after.isdecimal() and len(after) < 6 else RETRY_S)
    raise SandboxUnavailableError(detail)


def _bound(cache: dict[Any, Any]) -> None:
    while len(cache) >= MAX_CACHED:
        del cache[next(iter(cache))]
