"""Give a session its one sandbox."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field
from datetime import timedelta

from sandbox_manager.application.change import change_sandbox
from sandbox_manager.application.clean_sandbox import CleanSandbox
from sandbox_manager.application.launch_sandbox import LEASE, Launcher
from sandbox_manager.domain.errors import (
    ConflictError,
    EngineUnavailableError,
    TotalLimitError,
    UserLimitError,
)
from sandbox_manager.domain.ports import Clock, Runtime, SandboxRegistry
from sandbox_manager.domain.sandbox import Cleanup, Identity, Sandbox, Status

_ATTEMPTS = 5
_RETRY_AFTER_S = 30
_GIVEN_UP = "Its place was needed for another conversation. It comes back, with its files, when it is used."


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many sandboxes may live, and for how long. One that nobody used for `spare` gives its place to another
    session of the same user."""

    max_per_user: int
    max_total: int
    hard: timedelta
    idle: timedelta
    spare: timedelta = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """`is_new` is False when the session already had a living sandbox."""

    sandbox: Sandbox
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSandbox:
    """Answer the living sandbox of a session, or begin a new one, one generation up.

    Returns before the sandbox is ready. Raises `UserLimitError`, `TotalLimitError`, `EngineUnavailableError`,
    `ConflictError` when the session belongs to somebody else.
    """

    registry: SandboxRegistry
    runtime: Runtime
    clock: Clock
    launcher: Launcher
    clean: CleanSandbox
    limits: Limits
    check_deadline_s: float = 5.0
    admission: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def __call__(self, session_id: str, user_id: str) -> Created:
        for _ in range(_ATTEMPTS):
            known = await self.registry.find(session_id=session_id)
            if any(one.identity.user_id != user_id for one in known):
                raise ConflictError("This session belongs to another user.")
            holder = next((one for one in known if one.occupied), None)
            if holder is not None and holder.lives:
                return Created(sandbox=holder, is_new=False)
            if holder is not None:
                await self.clean(holder)
                continue
            await self._check_engine()
            await self._make_room(user_id)
            generation = max((one.identity.generation for one in known), default=0) + 1
            sandbox = self._new(session_id, user_id, generation)
            async with self.admission:
                await self._check_limits(user_id)
                added = await self.registry.add(sandbox)
            if added:
                self.launcher.launch(sandbox)
                return Created(sandbox=sandbox, is_new=True)
        raise EngineUnavailableError("The session's last sandbox is still being removed; try again in a moment.")

    async def _check_engine(self) -> None:
        try:
            async with asyncio.timeout(self.check_deadline_s):
                await self.runtime.check()
        except TimeoutError as error:
            raise EngineUnavailableError("The engine that runs sandboxes does not answer; try again later.") from error

    async def _make_room(self, user_id: str) -> None:
        """A user at the limit gives up the computer unused for the longest time, its workspace kept."""
        own = await self.registry.find(user_id=user_id, occupied=True)
        if len(own) < self.limits.max_per_user:
            return
        unused_since = self.clock.now() - self.limits.spare
        spare = [
            one for one in own if one.status is Status.READY and one.idle_expires_at - self.limits.idle <= unused_since
        ]
        if not spare:
            return
        chosen = min(spare, key=lambda one: one.idle_expires_at)

        def give_up(now: Sandbox) -> Sandbox | None:
            return now.retired(_GIVEN_UP, Cleanup.KEEP_WORKSPACE) if now.version == chosen.version else None

        given_up = await change_sandbox(self.registry, chosen.id, give_up)
        if given_up is not None:
            await self.clean(given_up)

    async def _check_limits(self, user_id: str) -> None:
        occupied = await self.registry.find(occupied=True)
        own = sum(1 for one in occupied if one.identity.user_id == user_id)
        if own >= self.limits.max_per_user:
            raise UserLimitError(
                f"You already have {own} running computers, as many as allowed. Delete a session or wait until one "
                "has been idle long enough.",
                retry_after_s=_RETRY_AFTER_S,
            )
        if len(occupied) >= self.limits.max_total:
            raise TotalLimitError(
                "All computers of this deployment are in use. Try again in a while.", retry_after_s=_RETRY_AFTER_S
            )

    def _new(self, session_id: str, user_id: str, generation: int) -> Sandbox:
        now = self.clock.now()
        return Sandbox(
            identity=Identity(
                sandbox_id=secrets.token_hex(8), session_id=session_id, user_id=user_id, generation=generation
            ),
            runtime=self.runtime.name,
            status=Status.STARTING,
            created_at=now,
            expires_at=now + self.limits.hard,
            idle_expires_at=now + min(self.limits.idle, self.limits.hard),
            lease_owner=self.launcher.owner,
            lease_until=now + LEASE,
        )
