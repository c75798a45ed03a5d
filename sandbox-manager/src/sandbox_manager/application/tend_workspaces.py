"""The reconciler's part for workspaces."""

from __future__ import annotations

from dataclasses import dataclass, field

from sandbox_manager.application.fan_out import FanOut, Piece
from sandbox_manager.application.remove_workspace import RemoveWorkspace
from sandbox_manager.application.workspace_work import WorkspaceWork
from sandbox_manager.domain.workspace import Workspace

_LONGEST_S = 400.0
"""Longer than packing or mending an archive may take."""


@dataclass(frozen=True, slots=True)
class TendWorkspaces:
    """One sweep: repairs the work of managers that died, and removes workspaces whose time has come."""

    work: WorkspaceWork
    remove: RemoveWorkspace
    each: FanOut = field(
        default_factory=lambda: FanOut(trouble="workspace not tended", at_once=4, deadline_s=_LONGEST_S)
    )

    async def __call__(self) -> None:
        due = await self.work.records.due(self.work.clock.now())
        await self.each(self._piece(one) for one in due)

    def _piece(self, workspace: Workspace) -> Piece:
        return Piece(workspace.session_id, {"session_id": workspace.session_id}, lambda: self._tend(workspace))

    async def _tend(self, workspace: Workspace) -> None:
        if await self.remove.is_elsewhere(workspace.session_id):
            return
        if workspace.remove_at is not None and workspace.remove_at <= self.work.clock.now():
            await self.remove.finish(workspace)
        else:
            await self.work.settle(workspace.session_id, workspace.user_id)
