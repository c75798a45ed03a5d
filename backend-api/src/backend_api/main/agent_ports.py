"""What the agent stands on, by subject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend_api.agent.tool import Tool
from backend_api.computers.application.link_file import LinkFile
from backend_api.conversations.domain.kept_calls import KeptCalls
from backend_api.conversations.domain.titles import Titles
from backend_api.conversations.ports import EventLog, RunLedger, SessionRepository, SessionStream, Transcripts
from backend_api.kit.notifier import Notifier
from backend_api.main.sandboxes import SandboxPorts
from backend_api.module import Parts
from backend_api.settings.application.effective_settings import OpenEffectiveSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversations:
    """Where runs and what was said in them are kept."""

    ledger: RunLedger
    log: EventLog
    stream: SessionStream
    notifier: Notifier
    sessions: SessionRepository
    titles: Titles
    transcripts: Transcripts
    kept_calls: KeptCalls


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPorts:
    """All of it."""

    conversations: Conversations
    effective_settings: OpenEffectiveSettings
    sandbox: SandboxPorts
    modules: Parts
    link_file: LinkFile
    custom_tools: Sequence[Tool] = ()
    secrets: Sequence[str] = ()
    """What must not be read in anything that is kept of model calls."""
