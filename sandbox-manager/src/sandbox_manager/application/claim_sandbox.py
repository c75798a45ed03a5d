"""Give a booted sandbox of the pool to the session that wants one."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from sandbox_manager.application.clean_sandbox import CleanSandbox, log_fields
from sandbox_manager.domain.errors import DomainError
from sandbox_manager.domain.ports import Runtime
from sandbox_manager.domain.sandbox import Sandbox, Started

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ClaimSandbox:
    """Wake a claimed sandbox and give its workspace to the session; the record says whose it is already.

    Answers None when that did not work: nothing of it is left then, and the same record is to be started anew. Its door
    takes the first token of the session as the claim. Raises `EngineUnavailableError` when it can't be removed either.
    """

    runtime: Runtime
    clean: CleanSandbox
    deadline_s: float = 5.0

    async def __call__(self, sandbox: Sandbox) -> Started | None:
        if sandbox.door is None:
            return None
        try:
            async with asyncio.timeout(self.deadline_s):
                trouble = await asyncio.gather(
                    self.runtime.hand_over(sandbox.identity),
                    self.runtime.resume(sandbox.identity),
                    return_exceptions=True,
                )
        except TimeoutError as error:
            trouble = [error]
        for error in trouble:
            if error is None:
                continue
            if not isinstance(error, DomainError | TimeoutError):
                raise error
            fields = {**log_fields(sandbox.identity), "reason": str(error) or "it took too long"}
            _log.warning("claim failed, started anew", extra=fields)
            await self.clean.remove(sandbox.identity, keep_workspace=True)
            return None
        return Started(door=sandbox.door, has_desktop=sandbox.has_desktop, has_network=sandbox.has_network)
