"""The services that all runs of a worker share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

from backend_api.agent.capability import Capability
from backend_api.agent.catalogue import ModelCatalogue
from backend_api.agent.events import ToolCalled
from backend_api.agent.model import MAX_OUTPUT_TOKENS
from backend_api.agent.options import NO_OPTIONS, Options
from backend_api.agent.preset import Preset, Presets
from backend_api.agent.subagent_kinds import BUILT_IN_KINDS, Kinds
from backend_api.agent.tasks import TaskBoard
from backend_api.agent.tool import Tool
from backend_api.conversations.domain.entity import Lease
from backend_api.conversations.domain.model_call_quota import ModelCallQuota, SessionCallQuota
from backend_api.conversations.ports import EventLog, RunLedger, SessionRepository, SessionStream
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.masking import Mask
from backend_api.kit.notifier import Notifier
from backend_api.runs.application.histories import Histories, History
from backend_api.runs.application.pictures import PictureCache
from backend_api.runs.application.run_journal import RunJournal
from backend_api.runs.application.run_stream import RunStream
from backend_api.runs.application.sandbox_keeper import EVERY_S, KeepSandbox, no_sandbox
from backend_api.runs.application.team_run import MirrorTeam, TeamTiming, no_mirror
from backend_api.settings.application.effective_settings import OpenEffectiveSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Bounds of a run. A lease lapses `lease_s` after the last heartbeat."""

    max_output_tokens: int = MAX_OUTPUT_TOKENS
    max_attempts: int = 3
    lease_s: float = 10.0
    heartbeat_s: float = 2.5
    team: TeamTiming = field(default_factory=TeamTiming)


async def _no_transcript(session_id: SessionId, user_id: UserId) -> None:
    """Write no transcript."""
    del session_id, user_id


async def _no_tasks(session_id: SessionId, user_id: UserId, board: TaskBoard) -> None:
    del session_id, user_id, board


async def _no_result(session_id: SessionId, user_id: UserId, called: ToolCalled, output: str) -> None:
    """Write no result."""
    del session_id, user_id, called, output


@asynccontextmanager
async def no_mcp_tools(
    lease: Lease, journal: RunJournal, preset: Preset, context_window: int
) -> AsyncGenerator[Sequence[Tool]]:
    """Offer no MCP tools, as there are no servers."""
    del lease, journal, preset, context_window
    yield ()


async def no_commands(session_id: SessionId) -> None:
    """Do nothing, as no command runs in the background."""
    del session_id


def _no_title(session_id: SessionId) -> None:
    """Ask for no title."""
    del session_id


@dataclass(frozen=True, slots=True, kw_only=True)
class RunServices:
    """The services one run needs, shared by all runs of a worker."""

    ledger: RunLedger
    log: EventLog
    stream: SessionStream
    notifier: Notifier
    sessions: SessionRepository
    catalogue: ModelCatalogue
    """The deployment's models."""
    capabilities: Sequence[Capability]
    options: RunOptions
    clock: Callable[[], datetime]
    new_id: Callable[[str], str]
    defaults: Options = NO_OPTIONS
    """The deployment's layer of options."""
    presets: Presets = field(default_factory=Presets)
    kinds: Kinds = BUILT_IN_KINDS
    """The kinds of sub-agents."""
    effective_settings: OpenEffectiveSettings | None = None
    """The settings of users; None if users have no settings."""
    write_transcript: Callable[[SessionId, UserId], Awaitable[str | None]] = _no_transcript
    write_result: Callable[[SessionId, UserId, ToolCalled, str], Awaitable[str | None]] = _no_result
    mirror_tasks: Callable[[SessionId, UserId, TaskBoard], Awaitable[None]] = _no_tasks
    mirror_team: MirrorTeam = no_mirror
    """Both write a changed state into the workspace of a user's session, as far as possible."""
    request_end_of_commands: Callable[[SessionId], Awaitable[object]] = no_commands
    """Called when a stopped run ends: commands that it began in the background after the stop are ended too."""
    want_title: Callable[[SessionId], None] = _no_title
    """Called when a run ends whose session is to have a better title."""
    mcp_tools: Callable[[Lease, RunJournal, Preset, int], AbstractAsyncContextManager[Sequence[Tool]]] = no_mcp_tools
    """The MCP tools that a run's agents have under a preset; connections are open for the length of a block."""
    keep_sandbox: KeepSandbox = no_sandbox
    keep_sandbox_every_s: float = EVERY_S
    """Interval of `keep_sandbox`, in seconds: a run that has used its sandbox keeps it until it ends or waits for a
    person."""
    mask: Mask = field(default_factory=Mask)
    """The secrets masked in stored model calls."""
    model_call_quota: ModelCallQuota | None = None
    """The bound on stored model calls; None for no bound."""
    histories: Histories = field(default_factory=Histories)
    pictures: PictureCache = field(default_factory=PictureCache)

    def journal(self, lease: Lease, stream: RunStream, history: History) -> RunJournal:
        """The journal of a run, which stores model calls if its session has tracing on."""
        options = self.presets.layered(self.defaults, lease.options).options
        mask, kept = self.mask if options.enable_tracing else None, None
        if self.model_call_quota is not None:
            kept = SessionCallQuota(self.model_call_quota, lease.run.session_id, lease.run.user_id)
        return RunJournal(lease, self.ledger, self.log, stream, history, mask=mask, kept=kept)
