"""Exclusive work on a workspace's files, over all managers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from sandbox_manager.domain.errors import (
    DomainError,
    ElsewhereError,
    EngineUnavailableError,
    NotFoundError,
    RegistryUnavailableError,
)
from sandbox_manager.domain.ports import Clock
from sandbox_manager.domain.sandbox import Identity
from sandbox_manager.domain.workspace import (
    Work,
    WorkKind,
    Workspace,
    WorkspaceArchives,
    WorkspaceBusyError,
    WorkspaceRecords,
)

_log = logging.getLogger(__name__)

WORK_LEASE = timedelta(seconds=30)
_HEARTBEAT_S = 5.0
_LOOK_S = 0.25
_ATTEMPTS = 20
_LOST = "The work on these files stalled and was taken over. Try again in a moment."


async def _never_elsewhere(_: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class WorkspaceWork:
    """Hold a workspace while its files are packed, exchanged or removed as a whole.

    The record is written first. Work of a dead manager is found by its lease, and repaired before anything else is
    done. A sandbox starts only while there is no restore.
    """

    records: WorkspaceRecords
    archives: WorkspaceArchives
    clock: Clock
    owner: str
    is_elsewhere: Callable[[str], Awaitable[bool]] = _never_elsewhere
    lease: timedelta = WORK_LEASE
    heartbeat_s: float = _HEARTBEAT_S

    async def get(self, session_id: str, user_id: str) -> Workspace:
        """The record, also of an untouched workspace. Raises `NotFoundError` for another user's."""
        known = await self.records.get(session_id)
        if known is not None and known.user_id != user_id:
            raise NotFoundError("There is no such workspace.")
        return known or Workspace(session_id=session_id, user_id=user_id)

    async def change(self, session_id: str, user_id: str, move: Callable[[Workspace], Workspace]) -> Workspace:
        """Apply a move to the newest record until it is stored."""
        for _ in range(_ATTEMPTS):
            changed = move(await self.get(session_id, user_id))
            if await self.records.save(changed):
                return replace(changed, version=changed.version + 1)
        raise RegistryUnavailableError(
            "The workspace's record was changed by other requests at the same time; try again."
        )

    @contextlib.asynccontextmanager
    async def hold(self, session_id: str, user_id: str, kind: WorkKind, snapshot_id: str) -> AsyncGenerator[Workspace]:
        """The workspace, held until the block ends. Raises `WorkspaceBusyError`, `ElsewhereError`.

        After a failed restore the files are repaired; if that fails too the hold lapses and the next sweep tries. A
        block whose hold lapsed, or may have, is cancelled and raises `EngineUnavailableError`: the next holder repairs
        the workspace.
        """
        owner = self._new_owner(f"{snapshot_id}/{kind}")

        def begin(now: Workspace) -> Workspace:
            work = Work(kind=kind, snapshot_id=snapshot_id, owner=owner, until=self.clock.now() + self.lease)
            if now.remove_at is not None:
                raise NotFoundError("The session of these files was deleted.")
            begun = now.begun(work)
            if begun is None:
                raise WorkspaceBusyError(
                    "The files of this session are being saved or restored. Try again in a moment."
                )
            return begun

        if await self.is_elsewhere(session_id):
            raise ElsewhereError
        await self.settle(session_id, user_id)
        began = asyncio.get_running_loop().time()
        held = await self.change(session_id, user_id, begin)
        async with self._renewing(session_id, user_id, owner, began) as keeping:
            try:
                yield held
            except BaseException:
                if not keeping.limit.expired():
                    if kind is WorkKind.RESTORE:
                        await self.archives.mend(session_id, user_id)
                    await keeping.end()
                raise
            else:
                await keeping.end()

    async def settle(self, session_id: str, user_id: str) -> None:
        """Finish the work of a dead manager; work in progress is left alone.

        If that fails the work stays on the record, so that no sandbox starts on half-replaced files.
        """
        known = await self.get(session_id, user_id)
        work, now = known.work, self.clock.now()
        if work is None or work.until > now:
            return
        began = asyncio.get_running_loop().time()
        mending = replace(work, owner=self._new_owner("mend"), until=now + self.lease)
        if not await self.records.save(replace(known, work=mending)):
            return
        async with self._renewing(session_id, user_id, mending.owner, began) as keeping:
            _log.warning("interrupted workspace work mended", extra={"session_id": session_id, "kind": work.kind.value})
            if work.kind is WorkKind.RESTORE:
                await self.archives.mend(session_id, user_id)
            if work.kind is WorkKind.PACK and all(one.id != work.snapshot_id for one in known.snapshots):
                await self.archives.drop(session_id, user_id, work.snapshot_id)
            await keeping.end()

    async def ready_to_start(self, identity: Identity) -> None:
        """Return once there is no restore in progress; the caller sets the deadline."""
        while True:
            known = await self.records.get(identity.session_id)
            if known is None or known.work is None or known.work.kind is not WorkKind.RESTORE:
                return
            if known.work.until <= self.clock.now():
                await self.settle(identity.session_id, identity.user_id)
            else:
                await asyncio.sleep(_LOOK_S)

    def _new_owner(self, what: str) -> str:
        """An owner name for one call, so that a leftover of an earlier call neither renews nor ends the next hold."""
        return f"{self.owner}/{what}/{secrets.token_hex(8)}"

    @contextlib.asynccontextmanager
    async def _renewing(self, session_id: str, user_id: str, owner: str, began: float) -> AsyncGenerator[_Hold]:
        """Renew the hold, requested at `began` of the loop's time, until the block has returned.

        Once it lapsed, or may have, the block is cancelled, and raises `EngineUnavailableError`.
        """
        limit = asyncio.timeout_at(began + self.lease.total_seconds())
        renewing = asyncio.create_task(self._renew(session_id, user_id, owner, limit), name=f"workspace-{session_id}")

        async def end() -> None:
            await _cancel(renewing)
            await self.change(session_id, user_id, lambda now: now.ended(owner))

        try:
            async with limit:
                yield _Hold(limit, end)
        except TimeoutError as error:
            if limit.expired():
                raise EngineUnavailableError(_LOST) from error
            raise
        finally:
            await _cancel(renewing)

    async def _renew(self, session_id: str, user_id: str, owner: str, limit: asyncio.Timeout) -> None:
        """Move the limit with each renewal; one that is not known to be stored moves nothing.

        A block that was cancelled may take minutes to return, and is at the files until then: it is renewed for as
        long, unless another manager has the workspace.
        """

        def renewed(now: Workspace) -> Workspace:
            if now.work is None or now.work.owner != owner:
                raise _LostError
            return replace(now, work=replace(now.work, until=self.clock.now() + self.lease))

        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self.heartbeat_s)
            began = loop.time()
            try:
                await self.change(session_id, user_id, renewed)
            except _LostError:
                if not limit.expired():
                    limit.reschedule(began)
                return
            except DomainError:
                continue
            except Exception:  # noqa: BLE001 - whatever it was, the files are still worked at
                _log.exception("workspace work not renewed", extra={"session_id": session_id})
                continue
            if not limit.expired():
                limit.reschedule(began + self.lease.total_seconds())


@dataclass(frozen=True, slots=True)
class _Hold:
    """`limit` has expired when the hold was lost, or may have been; `end` gives it back."""

    limit: asyncio.Timeout
    end: Callable[[], Awaitable[None]]


class _LostError(Exception):
    """Another manager has the workspace."""


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})
