"""The worker that drives runs and the task that writes titles, as a module of the gateway."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime

from backend_api.agent.capability import Capability
from backend_api.agent.options import Options
from backend_api.agent.preset import Preset, Presets
from backend_api.agent.subagent_kinds import BUILT_IN_KINDS, Kinds
from backend_api.agent.tool import Tool
from backend_api.conversations.application.agent_files import AgentFiles
from backend_api.conversations.application.announced_slots import RemoteSlots
from backend_api.conversations.application.mirror_tasks import WITHIN_S, MirrorTasks
from backend_api.conversations.application.mirror_team import MirrorTeam
from backend_api.conversations.application.write_result import WriteResult
from backend_api.conversations.application.write_transcript import WriteTranscript
from backend_api.conversations.domain.entity import Lease
from backend_api.conversations.domain.model_call_quota import ModelCallQuota
from backend_api.conversations.domain.titles import Titles
from backend_api.conversations.ports import EventLog, RunLedger, SessionRepository, SessionStream, Transcripts
from backend_api.kit.ids import SessionId
from backend_api.kit.masking import Mask
from backend_api.kit.notifier import Notifier
from backend_api.models.catalogue import Catalogue
from backend_api.module import Module, Parts, Task
from backend_api.runs.application.histories import Histories
from backend_api.runs.application.run_journal import RunJournal
from backend_api.runs.application.run_services import RunOptions, RunServices, no_commands, no_mcp_tools
from backend_api.runs.application.session_traces import SessionTraces
from backend_api.runs.application.title_sessions import TitleSessions
from backend_api.runs.application.worker import Worker
from backend_api.sandboxes.ports import Sandboxes, Workspace
from backend_api.settings.application.effective_settings import OpenEffectiveSettings


@asynccontextmanager
async def open_worker(
    *,
    clock: Callable[[], float],
    mask: Mask,
    notifier: Notifier,
    use_background_jobs: bool,
    catalogue: Catalogue,
    presets: Presets,
    session_defaults: Options,
    effective_settings: OpenEffectiveSettings,
    ledger: RunLedger,
    log: EventLog,
    stream: SessionStream,
    sessions: SessionRepository,
    titles: Titles,
    transcripts: Transcripts,
    model_call_quota: ModelCallQuota,
    sandboxes: Sandboxes,
    workspace: Workspace,
    agent_capabilities: Sequence[Capability],
    mirror_tasks: MirrorTasks,
    max_output_tokens: int,
    max_concurrent_runs: int,
    kinds: Kinds = BUILT_IN_KINDS,
    request_end_of_commands: Callable[[SessionId], Awaitable[object]] = no_commands,
    mcp_tools: Callable[[Lease, RunJournal, Preset, int], AbstractAsyncContextManager[Sequence[Tool]]] = no_mcp_tools,
) -> AsyncGenerator[Parts]:
    """Open the worker. Ports: `worker` and `title_sessions`, which the opener runs, and `slots`, to which messages hand
    their runs: slots of this worker or, with background jobs, those that workers announce."""

    def now() -> datetime:
        return datetime.fromtimestamp(clock(), UTC)

    files, histories = AgentFiles(sandboxes, workspace), Histories()
    title_sessions = TitleSessions(
        titles=titles,
        transcripts=transcripts,
        stream=stream,
        catalogue=catalogue,
        effective_settings=effective_settings,
        histories=histories,
        traces=SessionTraces(log=log, stream=stream, histories=histories, mask=mask, model_call_quota=model_call_quota),
        defaults=session_defaults,
        presets=presets,
    )
    services = RunServices(
        ledger=ledger,
        log=log,
        stream=stream,
        notifier=notifier,
        sessions=sessions,
        catalogue=catalogue,
        capabilities=agent_capabilities,
        options=RunOptions(max_output_tokens=max_output_tokens),
        clock=now,
        new_id=_new_id,
        defaults=session_defaults,
        presets=presets,
        mask=mask,
        model_call_quota=model_call_quota,
        effective_settings=effective_settings,
        kinds=kinds,
        write_transcript=WriteTranscript(log, files, now),
        write_result=WriteResult(files),
        mirror_tasks=mirror_tasks,
        mirror_team=MirrorTeam(AgentFiles(sandboxes, workspace, within_s=WITHIN_S)),
        request_end_of_commands=request_end_of_commands,
        want_title=title_sessions.want,
        mcp_tools=mcp_tools,
        keep_sandbox=sandboxes.keep_alive,
        histories=histories,
    )
    worker = Worker(
        name=f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}",
        services=services,
        max_concurrent_runs=max_concurrent_runs,
        announces=use_background_jobs,
    )
    announced = RemoteSlots(notifier, ledger, model=catalogue.default().id)
    listening: dict[str, Task] = {"announced-slots": announced.listen} if use_background_jobs else {}
    yield Parts(
        ports={
            "worker": worker,
            "title_sessions": title_sessions,
            "slots": announced if use_background_jobs else worker,
        },
        gateway_tasks=listening,
    )


def _new_id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex}"


WORKER = Module(name="worker", description="What works on runs.", open=open_worker)
