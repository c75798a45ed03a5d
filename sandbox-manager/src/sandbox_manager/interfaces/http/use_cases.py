"""The use cases behind the routes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from sandbox_manager.application.create_sandbox import CreateSandbox
from sandbox_manager.application.delete_sandbox import DeleteSandbox
from sandbox_manager.application.delete_snapshot import DeleteSnapshot
from sandbox_manager.application.follow_changes import FollowChanges
from sandbox_manager.application.get_sandbox import GetSandbox
from sandbox_manager.application.list_sandboxes import ListSandboxes
from sandbox_manager.application.mint_token import MintToken
from sandbox_manager.application.pause_sandbox import PauseSandbox, ResumeSandbox
from sandbox_manager.application.read_choices import ReadChoices
from sandbox_manager.application.read_stats import ReadStats
from sandbox_manager.application.reconcile import Reconcile
from sandbox_manager.application.remove_workspace import RemoveWorkspace
from sandbox_manager.application.renew_sandbox import RenewSandbox
from sandbox_manager.application.restore_snapshot import RestoreSnapshot
from sandbox_manager.application.take_snapshot import TakeSnapshot
from sandbox_manager.application.tend_workspaces import TendWorkspaces
from sandbox_manager.application.workspace_work import WorkspaceWork


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceCases:
    """Use cases on the files of a session as a whole."""

    work: WorkspaceWork
    take_snapshot: TakeSnapshot
    restore: RestoreSnapshot
    delete: DeleteSnapshot
    remove: RemoveWorkspace
    tend: TendWorkspaces


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCases:
    """Everything the manager can do, wired. `dependencies` are the checks `/readyz` names."""

    create: CreateSandbox
    choices: ReadChoices
    get: GetSandbox
    list: ListSandboxes
    renew: RenewSandbox
    pause: PauseSandbox
    resume: ResumeSandbox
    mint: MintToken
    delete: DeleteSandbox
    reconcile: Reconcile
    workspaces: WorkspaceCases
    follow: FollowChanges
    stats: ReadStats
    service_token: str
    dependencies: dict[str, Callable[[], Awaitable[None]]]
    metrics: Callable[[], Awaitable[bytes]]
    metrics_token: str = ""


Wiring = Callable[[], AbstractAsyncContextManager[UseCases]]


async def _use_cases(request: Request) -> AsyncIterator[UseCases]:
    yield request.app.state.use_cases


Wired = Annotated[UseCases, Depends(_use_cases)]
