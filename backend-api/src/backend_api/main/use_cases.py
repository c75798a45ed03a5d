"""What the routes may call: built once by the wiring, frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from backend_api.agent.tool import ToolSpec
from backend_api.computers.application.issue_ticket import IssueTicket
from backend_api.computers.application.link_file import LinkFile
from backend_api.computers.application.open_screen import OpenScreen
from backend_api.computers.application.restore_snapshot import RestoreSnapshot
from backend_api.computers.application.take_snapshot import TakeSnapshot
from backend_api.computers.application.upload_files import UploadFiles
from backend_api.computers.domain import FileLinks
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.application.cancel_job import CancelJob
from backend_api.conversations.application.compact_session import CompactSession
from backend_api.conversations.application.create_session import CreateSession
from backend_api.conversations.application.delete_session import DeleteSession
from backend_api.conversations.application.follow_events import FollowEvents
from backend_api.conversations.application.follow_run import FollowRun
from backend_api.conversations.application.follow_sessions import FollowSessions
from backend_api.conversations.application.get_job import GetJob
from backend_api.conversations.application.mark_read import MarkRead
from backend_api.conversations.application.own_sandbox import OwnSandbox
from backend_api.conversations.application.read_model_request import ReadModelRequest
from backend_api.conversations.application.read_usage import ReadUsage
from backend_api.conversations.application.resume_run import ResumeRun
from backend_api.conversations.application.send_message import SendMessage
from backend_api.conversations.application.session_rules import OptionRules
from backend_api.conversations.application.stop_run import StopRun
from backend_api.conversations.application.stream_slots import StreamSlots
from backend_api.conversations.application.update_session import UpdateSession
from backend_api.conversations.domain.jobs import RunRecords
from backend_api.conversations.ports import EventLog, SessionRepository
from backend_api.kit.http.ports import Metrics, Probe, no_metrics
from backend_api.sandboxes.domain.snapshots import Snapshots
from backend_api.sandboxes.ports import Sandboxes, Workspace
from backend_api.settings.application.change_setting import ChangeSetting
from backend_api.settings.application.effective_settings import OpenEffectiveSettings
from backend_api.settings.application.read_settings import ReadSettings
from backend_api.settings.application.try_key import TryKey
from backend_api.settings.application.try_search_key import TrySearchKey


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCases:
    """The application, ready to be called."""

    create_session: CreateSession
    update_session: UpdateSession
    delete_session: DeleteSession
    sessions: SessionRepository
    mark_read: MarkRead
    send_message: SendMessage
    stop_run: StopRun
    resume_run: ResumeRun
    compact_session: CompactSession
    answer_wait: AnswerWait
    run_records: RunRecords
    get_job: GetJob
    cancel_job: CancelJob
    follow_events: FollowEvents
    follow_run: FollowRun
    follow_sessions: FollowSessions
    stream_slots: StreamSlots
    log: EventLog
    read_model_request: ReadModelRequest
    read_usage: ReadUsage
    own_sandbox: OwnSandbox
    sandboxes: Sandboxes
    workspace: Workspace
    upload_files: UploadFiles
    snapshots: Snapshots
    take_snapshot: TakeSnapshot
    restore_snapshot: RestoreSnapshot
    link_file: LinkFile
    links: FileLinks
    issue_ticket: IssueTicket
    open_screen: OpenScreen
    rules: OptionRules
    effective_settings: OpenEffectiveSettings
    read_settings: ReadSettings
    change_setting: ChangeSetting
    try_key: TryKey
    try_search_key: TrySearchKey
    ports: Mapping[str, object]
    """Of the modules, by which their routes know them."""
    tools: tuple[ToolSpec, ...]
    required: Mapping[str, Probe] = field(default_factory=dict[str, Probe])
    optional: Mapping[str, Probe] = field(default_factory=dict[str, Probe])
    metrics: Metrics = no_metrics


def ports_by_name(use_cases: UseCases) -> dict[str, object]:
    """What routes know by name, of the gateway and of its modules."""
    named = {field.name: getattr(use_cases, field.name) for field in fields(use_cases)}
    return named | dict(use_cases.ports)
