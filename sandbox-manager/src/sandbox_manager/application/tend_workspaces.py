"""The reconciler's part for workspaces."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from sandbox_manager.application.remove_workspace import RemoveWorkspace
from sandbox_manager.application.workspace_work import WorkspaceWork
from sandbox_manager.domain.errors import DomainError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TendWorkspaces:
    """One sweep: work whose manager died is mended, workspaces whose time has come are removed."""

    work: WorkspaceWork
    remove: RemoveWorkspace

    async def __call__(self) -> None:
        for workspace in await self.work.records.due(self.work.clock.now()):
            try:
                if await self.remove.is_elsewhere(workspace.session_id):
                    continue
                await self.work.settle(workspace.session_id, workspace.user_id)
                if workspace.remove_at is not None and workspace.remove_at <= self.work.clock.now():
                    await self.remove.finish(workspace)
            except DomainError as error:
                fields = {"session_id": workspace.session_id, "reason": error.detail}
                _log.warning("workspace not tended", extra=fields)
