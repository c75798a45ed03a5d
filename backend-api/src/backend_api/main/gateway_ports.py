"""What the gateway stands on, and what the deployment chose for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from backend_api.agent.options import NO_OPTIONS, Options
from backend_api.agent.preset import Presets
from backend_api.agent.tool import ToolSpec
from backend_api.computers.domain import FileLinks, Tickets
from backend_api.conversations.application.session_rules import OptionRules
from backend_api.conversations.domain.feed import ReadMarkers, SessionFeed
from backend_api.conversations.domain.jobs import RunRecords
from backend_api.conversations.domain.spending import Spending
from backend_api.conversations.ports import (
    EventLog,
    RunLedger,
    SessionRepository,
    SessionStream,
    Slots,
    Transcripts,
    Waits,
)
from backend_api.kit.http.ports import Metrics, Probe, no_metrics
from backend_api.kit.notifier import Notifier
from backend_api.main.user_settings import UserSettingsParts
from backend_api.module import Parts
from backend_api.sandboxes.domain.snapshots import Snapshots
from backend_api.sandboxes.ports import Sandboxes, Screens, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Everything the gateway stands on."""

    sessions: SessionRepository
    ledger: RunLedger
    waits: Waits
    run_records: RunRecords
    log: EventLog
    transcripts: Transcripts
    spending: Spending
    markers: ReadMarkers
    feed: SessionFeed
    stream: SessionStream
    notifier: Notifier
    sandboxes: Sandboxes
    workspace: Workspace
    snapshots: Snapshots
    screens: Screens
    tickets: Tickets
    links: FileLinks
    own: UserSettingsParts
    modules: Parts
    """What modules have for their own routes, and for others."""
    tools: tuple[ToolSpec, ...]
    rules: OptionRules
    """Of the deployment."""
    slots: Slots | None = None
    required: Mapping[str, Probe] = field(default_factory=dict[str, Probe])
    optional: Mapping[str, Probe] = field(default_factory=dict[str, Probe])
    metrics: Metrics = no_metrics
    clock: Callable[[], float] = time.time


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the deployment chose."""

    poll_s: float = 1.0
    streams_per_user: int = 50
    options: Options = NO_OPTIONS
    """Of every session, where it chose nothing else."""
    presets: Presets = field(default_factory=Presets)
