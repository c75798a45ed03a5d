"""Folders of skills in a session's sandbox: uploaded before the first call after a skill was read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from backend_api.kit.errors import DomainError
from backend_api.kit.ids import UserId
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.skills.application.user_skills import UserSkills
from backend_api.skills.domain.entity import ROOT
from backend_api.skills.ports import SkillArchives, SkillFolders
from service_kit.amounts import duration_text

logger = logging.getLogger(__name__)

WITHIN_S = 20.0
"""Time limit for each skill, in seconds."""
MAX_REMEMBERED = 5_000
MISSING = "[The folder {root}/{name} of a skill that was read is missing: {reason}]"


@dataclass(slots=True)
class _Attempts:
    """The skills that were uploaded, or failed, in one generation of a session's sandbox."""

    generation: int
    names: set[str] = field(default_factory=set[str])


class PlaceSkills:
    """The log shows which skills a session has read; which of them are in a sandbox is remembered only here, so a
    worker that takes a run over, and any that finds a rebuilt sandbox, uploads them again. A failed one is reported, is
    not tried again until it is read again, and does not stop the others."""

    def __init__(
        self, own: UserSkills, archives: SkillArchives, folders: SkillFolders, *, within_s: float = WITHIN_S
    ) -> None:
        self._own = own
        self._archives = archives
        self._folders = folders
        self._within_s = within_s
        self._attempts: dict[str, _Attempts] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, sandbox: Sandbox, user_id: str, names: Sequence[str]) -> list[str]:
        """Upload the skills; returns messages for the agent about those that failed."""
        if not names:
            return []
        lock = self._locks.setdefault(sandbox.session_id, asyncio.Lock())
        async with lock:
            tried = self._attempts_of(sandbox)
            faults: list[str] = []
            for name in names:
                if name not in tried.names:
                    fault = await self._upload(sandbox, UserId(user_id), name)
                    tried.names.add(name)
                    faults += [fault] if fault else []
            return faults

    def forget(self, session_id: str, name: str) -> None:
        """Upload it again next time: it was read again, and may have changed."""
        if (tried := self._attempts.get(session_id)) is not None:
            tried.names.discard(name)

    def _attempts_of(self, sandbox: Sandbox) -> _Attempts:
        found = self._attempts.pop(sandbox.session_id, None)
        if found is None or found.generation != sandbox.generation:
            found = _Attempts(sandbox.generation)
        while len(self._attempts) >= MAX_REMEMBERED:
            del self._attempts[next(iter(self._attempts))]
        self._attempts[sandbox.session_id] = found
        return found

    async def _upload(self, sandbox: Sandbox, user_id: UserId, name: str) -> str | None:
        try:
            async with asyncio.timeout(self._within_s):
                skill = await self._own.get(user_id, name)
                archive = await asyncio.to_thread(self._archives.packed, skill)
                await self._folders.put(sandbox, name, archive)
        except DomainError as error:
            reason = error.detail
        except TimeoutError:
            reason = f"writing it took longer than {duration_text(self._within_s)}."
        else:
            return None
        fields = {"session_id": sandbox.session_id, "skill": name, "reason": reason}
        logger.warning("a skill's folder could not be copied into a sandbox", extra=fields)
        return MISSING.format(root=ROOT, name=name, reason=reason)
