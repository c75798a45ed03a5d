"""Messages and the runs that answer them, as a module of the gateway, and sessions for them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.application.cancel_job import CancelJob
from backend_api.conversations.application.check_attachments import CheckAttachments
from backend_api.conversations.application.compact_session import CompactSession
from backend_api.conversations.application.create_session import CreateSession
from backend_api.conversations.application.follow_events import FollowEvents
from backend_api.conversations.application.follow_run import FollowRun
from backend_api.conversations.application.get_job import GetJob
from backend_api.conversations.application.resume_run import ResumeRun
from backend_api.conversations.application.send_message import SendMessage
from backend_api.conversations.application.session_rules import OptionRules
from backend_api.conversations.application.session_targets import NO_TARGETS, SessionTargets
from backend_api.conversations.application.stop_run import NO_BACKGROUND_WORK, BackgroundWork, StopRun
from backend_api.conversations.http import jobs, messages, session_socket
from backend_api.conversations.ports import EventLog, RunLedger, SessionRepository, SessionStream, Slots, Waits
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import UserId
from backend_api.kit.notifier import Notifier
from backend_api.module import Module, Parts


@asynccontextmanager
async def open_messages(
    *,
    sessions: SessionRepository,
    ledger: RunLedger,
    waits: Waits,
    log: EventLog,
    stream: SessionStream,
    notifier: Notifier,
    limiter: RateLimiter,
    limits: Limits,
    rules_of: Callable[[UserId], Awaitable[OptionRules]],
    check_attachments: CheckAttachments,
    follow_events: FollowEvents,
    slots: Slots | None = None,
    stop_commands: BackgroundWork = NO_BACKGROUND_WORK,
    session_targets: SessionTargets = NO_TARGETS,
) -> AsyncGenerator[Parts]:
    """Its ports are the use cases of its routes. `slots` are those of workers, to which runs are handed at once."""
    send_message = SendMessage(ledger, stream, notifier, limiter, limits, check_attachments, slots)
    stop_run, get_job = StopRun(sessions, ledger, log, stream, notifier, stop_commands), GetJob(ledger)
    yield Parts(
        ports={
            "create_session": CreateSession(sessions, rules_of, limiter, limits, session_targets),
            "send_message": send_message,
            "follow_run": FollowRun(send_message, follow_events),
            "stop_run": stop_run,
            "resume_run": ResumeRun(ledger, stream, notifier, limiter, limits),
            "compact_session": CompactSession(ledger, stream, notifier, limiter, limits),
            "answer_wait": AnswerWait(waits, stream, notifier),
            "get_job": get_job,
            "cancel_job": CancelJob(get_job, stop_run),
        }
    )


MESSAGES = Module(
    name="messages",
    description="Messages and the runs that answer them.",
    routes=[messages.router, jobs.router, session_socket.router],
    is_busy=True,
    tags={"runs": "Messages and the work that answers them."},
    open=open_messages,
)
