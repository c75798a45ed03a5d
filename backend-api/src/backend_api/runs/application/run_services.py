"""What all runs of a worker share."""

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
from backend_api.conversations.domain.kept_calls import KeptCalls, KeptCallsOfSession
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
    """Nobody writes any."""
    del session_id, user_id


async def _no_tasks(session_id: SessionId, user_id: UserId, board: TaskBoard) -> None:
    del session_id, user_id, board


async def _no_result(session_id: SessionId, user_id: UserId, called: ToolCalled, output: str) -> None:
    """Nobody writes any."""
    del session_id, user_id, called, output


@asynccontextmanager
async def no_mcp_tools(
    lease: Lease, journal: RunJournal, preset: Preset, context_window: int
) -> AsyncGenerator[Sequence[Tool]]:
    """There is no such server."""
    del lease, journal, preset, context_window
    yield ()


async def no_commands(session_id: SessionId) -> None:
    """Nothing runs in the background."""
    del session_id


def _no_title(session_id: SessionId) -> None:
    """Nobody finds any."""
    del session_id


@dataclass(frozen=True, slots=True, kw_only=True)
class RunServices:
    """Everything one run needs, shared by all runs of a worker."""

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
    """Those that sub-agents may be of."""
    effective_settings: OpenEffectiveSettings | None = None
    """What users have set; None: they can't."""
    write_transcript: Callable[[SessionId, UserId], Awaitable[str | None]] = _no_transcript
    write_result: Callable[[SessionId, UserId, ToolCalled, str], Awaitable[str | None]] = _no_result
    mirror_tasks: Callable[[SessionId, UserId, TaskBoard], Awaitable[None]] = _no_tasks
    mirror_team: MirrorTeam = no_mirror
    """Both write into the workspace of a session of a user what has changed, as far as that can be done."""
    request_end_of_commands: Callable[[SessionId], Awaitable[object]] = no_commands
    """Asked for as a run ends that was stopped: what it began in the background after the stop came ends, too."""
    want_title: Callable[[SessionId], None] = _no_title
    """Told where a run ended whose session is to have a better title."""
    mcp_tools: Callable[[Lease, RunJournal, Preset, int], AbstractAsyncContextManager[Sequence[Tool]]] = no_mcp_tools
    """Those of MCP servers that a run's agents have by this preset; connections are open for the length of a block."""
    keep_sandbox: KeepSandbox = no_sandbox
    keep_sandbox_every_s: float = EVERY_S
    """A run that has called for its sandbox keeps it until it ends, or waits for a person."""
    mask: Mask = field(default_factory=Mask)
    """What is hidden of model calls that are stored."""
    kept_calls: KeptCalls | None = None
    """What bounds them; None: nothing."""
    histories: Histories = field(default_factory=Histories)
    pictures: PictureCache = field(default_factory=PictureCache)

    def journal(self, lease: Lease, stream: RunStream, history: History) -> RunJournal:
        """That of a run, which stores calls of models where its session wants that."""
        options = self.presets.layered(self.defaults, lease.options).options
        mask, kept = self.mask if options.enable_tracing else None, None
        if self.kept_calls is not None:
            kept = KeptCallsOfSession(self.kept_calls, lease.run.session_id, lease.run.user_id)
        return RunJournal(lease, self.ledger, self.log, stream, history, mask=mask, kept=kept)
