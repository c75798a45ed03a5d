"""The use cases of workspaces, wired."""

from __future__ import annotations

from datetime import timedelta

from sandbox_manager.application.delete_sandbox import DeleteSandbox
from sandbox_manager.application.delete_snapshot import DeleteSnapshot
from sandbox_manager.application.remove_workspace import RemoveWorkspace
from sandbox_manager.application.restore_snapshot import RestoreSnapshot
from sandbox_manager.application.take_snapshot import SnapshotLimits, TakeSnapshot
from sandbox_manager.application.tend_workspaces import TendWorkspaces
from sandbox_manager.application.workspace_work import WorkspaceWork
from sandbox_manager.bootstrap.settings import WorkspaceSettings
from sandbox_manager.domain.ports import RuntimeHost, SandboxRecords
from sandbox_manager.domain.workspace import ArchiveBounds
from sandbox_manager.interfaces.http.use_cases import WorkspaceCases

_MIB = 1024 * 1024


def workspace_cases(
    settings: WorkspaceSettings, work: WorkspaceWork, registry: SandboxRecords, delete: DeleteSandbox, host: RuntimeHost
) -> WorkspaceCases:
    """Everything that is done with the files of a session as a whole."""
    allowed = settings.snapshots
    bounds = ArchiveBounds(max_bytes=allowed["mb"] * _MIB)
    limits = SnapshotLimits(max_count=allowed["count"], max_bytes=allowed["total-mb"] * _MIB, bounds=bounds)
    remove = RemoveWorkspace(work, registry, delete, timedelta(seconds=settings.cleanup_delay_s), host.place)
    return WorkspaceCases(
        work=work,
        take_snapshot=TakeSnapshot(work, limits),
        restore=RestoreSnapshot(work, registry, delete, bounds),
        delete=DeleteSnapshot(work),
        remove=remove,
        tend=TendWorkspaces(work, remove),
    )
