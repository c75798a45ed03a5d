"""A user's access to a session's sandbox, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from backend_api.computers.application.issue_ticket import IssueTicket
from backend_api.computers.application.link_file import LinkFile
from backend_api.computers.application.open_screen import OpenScreen
from backend_api.computers.application.publish_changes import PublishSandboxChanges
from backend_api.computers.application.restore_snapshot import RestoreSnapshot
from backend_api.computers.application.take_snapshot import TakeSnapshot
from backend_api.computers.application.upload_files import UploadFiles
from backend_api.computers.domain import ScreenTicket
from backend_api.computers.file_links import JwtFileLinks
from backend_api.computers.http import files, sandbox, screen, snapshots
from backend_api.computers.mongo import MongoSandboxChangeLog
from backend_api.computers.tools import LinkSigner, SignedLink
from backend_api.conversations.application.check_attachments import CheckAttachments
from backend_api.conversations.application.session_rules import OptionRules
from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.conversations.application.stream_slots import StreamSlots
from backend_api.conversations.ports import EventLog, SessionRepository, SessionStream
from backend_api.identity.application.connection_auth import AuthenticatedConnections
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database
from backend_api.kit.redis.client import Redis
from backend_api.kit.redis.tickets import RedisTickets
from backend_api.kit.signed_tokens import Signing
from backend_api.module import Module, Parts, Task
from backend_api.sandboxes.domain.changes import SandboxChangeSource
from backend_api.sandboxes.domain.snapshots import Snapshots
from backend_api.sandboxes.ports import Sandboxes, Screens, Workspace


@asynccontextmanager
async def open_session_sandboxes(
    *,
    database: Database,
    redis: Redis,
    clock: Callable[[], float],
    signing: Signing,
    link_origin: str,
    connections: AuthenticatedConnections,
    limiter: RateLimiter,
    limits: Limits,
    sessions: SessionRepository,
    log: EventLog,
    stream: SessionStream,
    stream_slots: StreamSlots,
    sandboxes: Sandboxes,
    workspace: Workspace,
    snapshots: Snapshots,
    screens: Screens,
    rules: OptionRules,
    sandbox_changes: SandboxChangeSource | None = None,
) -> AsyncGenerator[Parts]:
    """Open the module. The ports are the use cases of the routes, `session_sandbox`, `check_attachments`, and
    `sign_link`, with which agents link files; the task stores the sandbox changes that the manager reports."""
    session_sandbox, tickets = SessionSandbox(sessions, sandboxes), RedisTickets(redis, "ticket", ScreenTicket)
    links = JwtFileLinks(signing.secret, algorithm=signing.algorithm, clock=clock)
    of_agents = LinkFile(SessionSandbox(sessions, sandboxes, queue_s=None), workspace, links)
    tasks: dict[str, Task] = {}
    if sandbox_changes is not None:
        publish = PublishSandboxChanges(sandbox_changes, MongoSandboxChangeLog(database), stream)
        tasks["sandbox-changes"] = publish.publish_until_cancelled
    yield Parts(
        ports={
            "session_sandbox": session_sandbox,
            "check_attachments": CheckAttachments(session_sandbox, workspace, rules.has_sandbox),
            "sign_link": _link_signer(of_agents, link_origin),
            "links": links,
            "link_file": LinkFile(session_sandbox, workspace, links),
            "upload_files": UploadFiles(session_sandbox, workspace, log, stream, limiter, limits),
            "take_snapshot": TakeSnapshot(sessions, snapshots),
            "restore_snapshot": RestoreSnapshot(sessions, snapshots, log, stream),
            "issue_ticket": IssueTicket(sessions, tickets, limiter, limits),
            "tickets": tickets,
            "open_screen": OpenScreen(tickets, connections, stream_slots, session_sandbox, screens),
        },
        gateway_tasks=tasks,
    )


def _link_signer(link_file: LinkFile, origin: str) -> LinkSigner:
    async def sign(session_id: str, user_id: str, path: str, *, expires_s: int) -> SignedLink:
        link = await link_file(SessionId(session_id), UserId(user_id), path, expires_s)
        return SignedLink(url=f"{origin}/api/files/{link.token}", expires_at=link.expires_at)

    return sign


SESSION_SANDBOXES = Module(
    name="computers",
    description="What a person sees and does of a conversation's computer.",
    routes=[files.router, snapshots.router, sandbox.router, screen.router],
    tags={
        "files": "The workspace of a session.",
        "computer": "The desktop, live, and who controls it.",
    },
    open=open_session_sandboxes,
)
