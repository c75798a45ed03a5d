"""Give a session its one sandbox."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, replace
from datetime import timedelta

from sandbox_manager.application import measures
from sandbox_manager.application.admission import Admission
from sandbox_manager.application.clean_sandbox import CleanSandbox
from sandbox_manager.application.presence import Presence
from sandbox_manager.application.renew_sandbox import RenewSandbox
from sandbox_manager.domain.configuration import Configuration, Configurations
from sandbox_manager.domain.errors import (
    ConflictError,
    DomainError,
    EngineUnavailableError,
    ImageMissingError,
    SandboxOverError,
)
from sandbox_manager.domain.ports import Clock, RuntimeHost, SandboxRecords
from sandbox_manager.domain.sandbox import ANY_PLACE, Identity, Sandbox, Status

_ATTEMPTS = 5
_WAKES_IN_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """`is_new` is False when the session already had a living sandbox."""

    sandbox: Sandbox
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSandbox:
    """Return the living sandbox of a session, resumed if it was paused, or begin a new one, one generation up.

    Returns before the sandbox is ready; it is queued while there is no room, or while the user has as many running as
    allowed, and starts at the place of the session's files. `orphan_after` is how long that place may be without
    managers. `image` and `size` are names of `configurations`, empty for the default; a living sandbox keeps its own.
    Raises `ImageNotAllowedError`, `SizeNotAllowedError`, `ImageMissingError`, `UserQueueLimitError`, `TotalLimitError`,
    `EngineUnavailableError`, `ConflictError` when the session belongs to somebody else.
    """

    registry: SandboxRecords
    runtime: RuntimeHost
    clock: Clock
    clean: CleanSandbox
    renew: RenewSandbox
    admission: Admission
    presence: Presence
    configurations: Configurations
    orphan_after: timedelta = timedelta(minutes=10)
    check_deadline_s: float = 5.0

    async def __call__(self, session_id: str, user_id: str, *, image: str = "", size: str = "") -> Created:
        outcome = "failed"
        try:
            created = await self._create(session_id, user_id, image, size)
            outcome = "new" if created.is_new else "known"
            return created
        except DomainError as error:
            outcome = error.code
            raise
        finally:
            measures.CREATES.labels(outcome).inc()

    async def _create(self, session_id: str, user_id: str, image: str, size: str) -> Created:
        for _ in range(_ATTEMPTS):
            known = await self.registry.find(session_id=session_id)
            if any(one.identity.user_id != user_id for one in known):
                raise ConflictError("This session belongs to another user.")
            holder = next((one for one in known if one.occupied), None)
            if holder is not None and holder.is_alive:
                kept = await self._renew_or_none(holder)
                if kept is not None:
                    return Created(sandbox=kept, is_new=False)
                continue
            if holder is not None:
                await self.clean(holder)
                continue
            generation = max((one.identity.generation for one in known), default=0) + 1
            configuration = self.configurations.choose(image, size)
            wanted = replace(
                self._new_sandbox(session_id, user_id, generation, await self._home(known)), configuration=configuration
            )
            is_pools = not known and configuration.is_default
            sandbox = await self.admission.claim(wanted) if is_pools else None
            if sandbox is None:
                await self._check_engine(configuration)
                await self.admission.make_room(user_id, coming=configuration.places)
                sandbox = await self.admission.request(wanted, from_pool=is_pools)
            if sandbox is not None:
                return Created(sandbox=await self._wait_until_awake(sandbox), is_new=True)
        raise EngineUnavailableError("The conversation's last computer is still being removed; try again in a moment.")

    async def _wait_until_awake(self, sandbox: Sandbox) -> Sandbox:
        """Wait for a sandbox claimed from the pool, which is ready before a second request could be made."""
        if sandbox.endpoint is None:
            return sandbox
        ready = await self.admission.launcher.ready(sandbox.id, _WAKES_IN_S)
        return ready or await self.registry.get(sandbox.id) or sandbox

    async def _renew_or_none(self, holder: Sandbox) -> Sandbox | None:
        if holder.status not in (Status.QUEUED, Status.PAUSED):
            return holder
        try:
            return await self.renew(holder.id)
        except SandboxOverError:
            return None

    async def _check_engine(self, configuration: Configuration) -> None:
        try:
            async with asyncio.timeout(self.check_deadline_s):
                await self.runtime.check()
                trouble = configuration.image and await self.runtime.image_trouble(configuration.image)
                if trouble:
                    raise ImageMissingError(trouble)
        except TimeoutError as error:
            raise EngineUnavailableError(
                "The engine that runs the computers does not answer; try again later."
            ) from error

    async def _home(self, known: list[Sandbox]) -> str:
        """The place of the session's files; empty, which means any, if no manager was there for `orphan_after`."""
        last = next((one for one in known if one.place not in ("", ANY_PLACE)), None)
        if last is None:
            return ""
        within = self.orphan_after if last.runtime == self.runtime.name else timedelta()
        is_kept = last.place == await self.runtime.place() or await self.presence.is_kept(last.place, within=within)
        return last.place if is_kept else ""

    def _new_sandbox(self, session_id: str, user_id: str, generation: int, place: str) -> Sandbox:
        now, limits = self.clock.now(), self.admission.limits
        return Sandbox(
            identity=Identity(
                sandbox_id=secrets.token_hex(8), session_id=session_id, user_id=user_id, generation=generation
            ),
            runtime=self.runtime.name,
            status=Status.QUEUED,
            place=place,
            created_at=now,
            expires_at=now + limits.hard,
            idle_expires_at=now + min(limits.idle, limits.hard),
            asked_at=now,
        )
