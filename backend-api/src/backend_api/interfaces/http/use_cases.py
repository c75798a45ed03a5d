"""What the routes may call: built once by the wiring, frozen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import HTTPConnection

from backend_api.application.background.read_commands import ReadCommands
from backend_api.application.background.stop_commands import StopCommands
from backend_api.application.conversation.answer_slots import AnswerSlots
from backend_api.application.conversation.answer_wait import AnswerWait
from backend_api.application.conversation.compact_session import CompactSession
from backend_api.application.conversation.create_session import CreateSession
from backend_api.application.conversation.delete_session import DeleteSession
from backend_api.application.conversation.follow_events import FollowEvents
from backend_api.application.conversation.follow_run import FollowRun
from backend_api.application.conversation.follow_sessions import FollowSessions
from backend_api.application.conversation.mark_read import MarkRead
from backend_api.application.conversation.read_model_request import ReadModelRequest
from backend_api.application.conversation.read_state import ReadState
from backend_api.application.conversation.read_usage import ReadUsage
from backend_api.application.conversation.resume_run import ResumeRun
from backend_api.application.conversation.send_message import SendMessage
from backend_api.application.conversation.session_rules import OptionRules
from backend_api.application.conversation.stop_run import StopRun
from backend_api.application.conversation.stream_slots import StreamSlots
from backend_api.application.conversation.update_session import UpdateSession
from backend_api.application.files.link_file import LinkFile
from backend_api.application.files.own_sandbox import OwnSandbox
from backend_api.application.files.restore_snapshot import RestoreSnapshot
from backend_api.application.files.take_snapshot import TakeSnapshot
from backend_api.application.files.upload_files import UploadFiles
from backend_api.application.identity.authenticate import Authenticate
from backend_api.application.identity.change_password import ChangePassword
from backend_api.application.identity.connection_auth import AuthenticatedConnections
from backend_api.application.identity.log_in import LogIn
from backend_api.application.identity.log_out import LogOut
from backend_api.application.identity.refresh import Refresh
from backend_api.application.identity.register import Register
from backend_api.application.jobs.cancel_job import CancelJob
from backend_api.application.jobs.get_job import GetJob
from backend_api.application.mcp.change_servers import ChangeMcpServers
from backend_api.application.mcp.list_tools import ListMcpTools
from backend_api.application.mcp.sign_in_server import SignInMcpServer
from backend_api.application.previews.issue_address import IssueAddress
from backend_api.application.previews.open_port import ClosePort, OpenPort
from backend_api.application.previews.reach_port import ReachPort
from backend_api.application.sandbox.issue_ticket import IssueTicket
from backend_api.application.sandbox.open_screen import OpenScreen
from backend_api.application.schedules.change_schedules import CreateSchedule, UpdateSchedule
from backend_api.application.schedules.fire_schedules import RunSchedule
from backend_api.application.settings.change_setting import ChangeSetting
from backend_api.application.settings.effective_settings import OpenEffectiveSettings
from backend_api.application.settings.read_settings import ReadSettings
from backend_api.application.settings.try_key import TryKey
from backend_api.application.settings.try_search_key import TrySearchKey
from backend_api.application.skills.add_skill import AddSkill
from backend_api.application.skills.delete_skill import DeleteSkill
from backend_api.application.skills.install_skill import InstallSkill
from backend_api.application.skills.own_skills import OwnSkills
from backend_api.application.subagents.change_kind import ChangeKind
from backend_api.application.subagents.read_kinds import ReadKinds
from backend_api.domain.agent.tools import ToolSpec
from backend_api.domain.conversation.jobs import RunRecords
from backend_api.domain.conversation.ports import EventLog, SessionRepository
from backend_api.domain.identity.ports import Users
from backend_api.domain.previews.ports import OpenedPorts
from backend_api.domain.sandbox.ports import Sandboxes, Workspace
from backend_api.domain.sandbox.snapshots import Snapshots
from backend_api.domain.sandbox.tickets import FileLinks
from backend_api.domain.schedules.ports import Schedules
from backend_api.domain.skills.entity import MAX_ARCHIVE_BYTES

Probe = Callable[[], Awaitable[None]]
"""Returns when the dependency answers; raises when it does not."""

Metrics = Callable[[], Awaitable[bytes]]
"""What was counted, as Prometheus reads it."""


async def no_metrics() -> bytes:
    """Nothing is counted."""
    return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCases:
    """The application, ready to be called."""

    register: Register
    log_in: LogIn
    refresh: Refresh
    change_password: ChangePassword
    log_out: LogOut
    connections: AuthenticatedConnections
    authenticate: Authenticate
    users: Users
    create_session: CreateSession
    update_session: UpdateSession
    delete_session: DeleteSession
    sessions: SessionRepository
    read_state: ReadState
    mark_read: MarkRead
    send_message: SendMessage
    stop_run: StopRun
    read_commands: ReadCommands
    stop_commands: StopCommands
    resume_run: ResumeRun
    compact_session: CompactSession
    answer_wait: AnswerWait
    schedules: Schedules
    create_schedule: CreateSchedule
    update_schedule: UpdateSchedule
    run_schedule: RunSchedule
    run_records: RunRecords
    get_job: GetJob
    cancel_job: CancelJob
    follow_events: FollowEvents
    follow_run: FollowRun
    follow_sessions: FollowSessions
    stream_slots: StreamSlots
    answer_slots: AnswerSlots
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
    opened_ports: OpenedPorts
    open_port: OpenPort
    close_port: ClosePort
    issue_address: IssueAddress
    reach_port: ReachPort
    rules: OptionRules
    effective_settings: OpenEffectiveSettings
    read_settings: ReadSettings
    change_setting: ChangeSetting
    try_key: TryKey
    try_search_key: TrySearchKey
    own_skills: OwnSkills
    add_skill: AddSkill
    install_skill: InstallSkill
    delete_skill: DeleteSkill
    ports: Mapping[str, object]
    """Of the modules, by which their routes know them."""
    change_mcp_servers: ChangeMcpServers
    sign_in_mcp_server: SignInMcpServer
    list_mcp_tools: ListMcpTools
    read_kinds: ReadKinds
    change_kind: ChangeKind
    tools: tuple[ToolSpec, ...]
    required: Mapping[str, Probe] = field(default_factory=dict[str, Probe])
    optional: Mapping[str, Probe] = field(default_factory=dict[str, Probe])
    metrics: Metrics = no_metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions:
    """What the edge itself must know."""

    is_local: bool = False
    allowed_hosts: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    user_content_origin: str = ""
    public_url: str = ""
    preview_domain: str = ""
    metrics_token: str = ""
    follows_traces: bool = False
    max_body_bytes: int = 2 * 1024 * 1024
    max_upload_bytes: int = 10 * 1024 * 1024
    max_files: int = 50
    max_skill_bytes: int = MAX_ARCHIVE_BYTES
    max_bibliography_bytes: int = 48 * 1024 * 1024
    frontend: Path | None = None
    heartbeat_s: float = 15.0
    run_wait_s: float = 3600.0


def use_cases_of(connection: HTTPConnection) -> UseCases:
    """For other dependencies to call: as a dependency of their own it is resolved once more a request."""
    return cast("UseCases", connection.app.state.use_cases)


# Coroutines, as the framework calls plain functions in a thread.
async def _use_cases(connection: HTTPConnection) -> UseCases:
    return use_cases_of(connection)


async def _options(connection: HTTPConnection) -> WebOptions:
    return cast("WebOptions", connection.app.state.options)


Calls = Annotated[UseCases, Depends(_use_cases)]
Options = Annotated[WebOptions, Depends(_options)]
