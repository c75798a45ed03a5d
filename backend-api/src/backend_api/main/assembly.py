"""Use cases over ports: the same assembly for the real adapters and for the fakes."""

from __future__ import annotations

from typing import cast

from backend_api.computers.application.issue_ticket import IssueTicket
from backend_api.computers.application.link_file import LinkFile
from backend_api.computers.application.open_screen import OpenScreen
from backend_api.computers.application.restore_snapshot import RestoreSnapshot
from backend_api.computers.application.take_snapshot import TakeSnapshot
from backend_api.computers.application.upload_files import UploadFiles
from backend_api.computers.domain import Controls
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.application.cancel_job import CancelJob
from backend_api.conversations.application.check_attachments import CheckAttachments
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
from backend_api.conversations.application.session_heads import SessionHeads
from backend_api.conversations.application.session_targets import NO_TARGETS
from backend_api.conversations.application.stop_run import NO_BACKGROUND_WORK, StopRun
from backend_api.conversations.application.stream_slots import StreamSlots
from backend_api.conversations.application.update_session import UpdateSession
from backend_api.identity.application.connection_auth import AuthenticatedConnections
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.main.gateway_ports import Policy, Ports
from backend_api.main.use_cases import UseCases
from backend_api.settings.application.change_setting import ChangeSetting
from backend_api.settings.application.read_settings import ReadSettings
from backend_api.settings.application.try_key import TryKey
from backend_api.settings.application.try_search_key import TrySearchKey, no_trials
from backend_api.settings.application.user_rules import UserRules
from backend_api.settings.domain.table import DEFAULT_MODEL


def assemble(ports: Ports, policy: Policy) -> UseCases:
    """Hand every use case its ports."""
    limiter = cast("RateLimiter", ports.modules.ports["limiter"])
    limits = ports.modules.required("limits", Limits)
    own_sandbox = OwnSandbox(ports.sessions, ports.sandboxes)
    rules = ports.rules
    attached = CheckAttachments(own_sandbox, ports.workspace, rules.has_sandbox)
    send_message = SendMessage(ports.ledger, ports.stream, ports.notifier, limiter, limits, attached, ports.slots)
    heads = SessionHeads(ports.log, policy.poll_s)
    follow_events = FollowEvents(ports.sessions, ports.log, ports.stream, heads, policy.poll_s)
    connections = ports.modules.required("connections", AuthenticatedConnections)
    slots = StreamSlots(policy.streams_per_user, connections)
    stop_commands = ports.modules.port("stop_commands", NO_BACKGROUND_WORK)
    stop_run = StopRun(ports.sessions, ports.ledger, ports.log, ports.stream, ports.notifier, stop_commands)
    get_job = GetJob(ports.ledger)
    own = ports.own
    rules_of = UserRules(own.open_effective_settings, rules)
    return UseCases(
        create_session=CreateSession(
            ports.sessions, rules_of, limiter, limits, ports.modules.port("session_targets", NO_TARGETS)
        ),
        update_session=UpdateSession(ports.sessions, ports.stream, rules_of, limiter, limits),
        delete_session=DeleteSession(ports.sessions, ports.ledger, ports.notifier, ports.sandboxes),
        sessions=ports.sessions,
        mark_read=MarkRead(ports.markers),
        send_message=send_message,
        stop_run=stop_run,
        resume_run=ResumeRun(ports.ledger, ports.stream, ports.notifier, limiter, limits),
        compact_session=CompactSession(ports.ledger, ports.stream, ports.notifier, limiter, limits),
        answer_wait=AnswerWait(ports.waits, ports.stream, ports.notifier),
        run_records=ports.run_records,
        get_job=get_job,
        cancel_job=CancelJob(get_job, stop_run),
        follow_events=follow_events,
        follow_run=FollowRun(send_message, follow_events),
        follow_sessions=FollowSessions(ports.sessions, ports.feed, policy.poll_s),
        stream_slots=slots,
        log=ports.log,
        read_usage=ReadUsage(ports.spending, ports.clock),
        read_model_request=ReadModelRequest(ports.sessions, ports.log),
        own_sandbox=own_sandbox,
        sandboxes=ports.sandboxes,
        workspace=ports.workspace,
        upload_files=UploadFiles(own_sandbox, ports.workspace, ports.log, ports.stream, limiter, limits),
        snapshots=ports.snapshots,
        take_snapshot=TakeSnapshot(ports.sessions, ports.snapshots),
        restore_snapshot=RestoreSnapshot(ports.sessions, ports.snapshots, ports.log, ports.stream),
        link_file=LinkFile(own_sandbox, ports.workspace, ports.links),
        links=ports.links,
        issue_ticket=IssueTicket(ports.sessions, ports.tickets, limiter, limits),
        open_screen=OpenScreen(
            ports.tickets,
            connections,
            slots,
            own_sandbox,
            ports.screens,
            ports.modules.port("controls", cast("Controls | None", None)),
        ),
        effective_settings=own.open_effective_settings,
        read_settings=ReadSettings(
            own.open_settings, own.box, own.catalogues, own.base_urls, own.deployment, own.search_keys
        ),
        change_setting=ChangeSetting(
            store=own.store,
            box=own.box,
            open_settings=own.open_settings,
            catalogues=own.catalogues,
            base_urls=own.base_urls,
            tools=ports.tools,
            search_keys=own.search_keys,
            deployment_model=str(own.deployment.values.get(DEFAULT_MODEL.name) or ""),
            limiter=limiter,
            limits=limits,
        ),
        ports=ports.modules.ports,
        try_key=TryKey(
            open_settings=own.open_settings,
            catalogues=own.catalogues,
            base_urls=own.base_urls,
            limiter=limiter,
            limits=limits,
        ),
        try_search_key=TrySearchKey(
            open_settings=own.open_settings,
            trials=ports.modules.port("search_trials", no_trials),
            search_keys=own.search_keys,
            limiter=limiter,
            limits=limits,
        ),
        tools=ports.tools,
        rules=rules,
        required=ports.required,
        optional=ports.optional,
        metrics=ports.metrics,
    )
