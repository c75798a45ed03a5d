"""Conversations that others may read, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.conversations.application.follow_events import FollowEvents
from backend_api.conversations.application.session_heads import SessionHeads
from backend_api.conversations.mongo.event_log import MongoEventLog
from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.identity.application.limits import Limits
from backend_api.identity.passwords import Argon2Passwords
from backend_api.identity.ports import RateLimiter, Users
from backend_api.kit.masking import Mask
from backend_api.kit.mongo.database import Database
from backend_api.module import Module, Parts
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.sharing.application.export_session import ExportSession
from backend_api.sharing.application.make_share import MakeShare
from backend_api.sharing.application.open_share import OpenShare
from backend_api.sharing.application.owner_account import OwnerAccount
from backend_api.sharing.application.owner_mask import OwnerMask
from backend_api.sharing.application.read_shared import CHECK_S, ReadShared
from backend_api.sharing.http import exports, public, shares
from backend_api.sharing.mongo.documents import DOCUMENTS
from backend_api.sharing.mongo.shares import MongoShares
from backend_api.sharing.ports import NameRecords, PrintTalk


class SharingSettings(BaseSettings):
    """Settings of the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    enable_sharing: bool = True


@asynccontextmanager
async def open_sharing(
    *,
    settings: SharingSettings,
    database: Database,
    sessions: SessionRepository,
    stream: SessionStream,
    mask: Mask,
    open_settings: OpenSettings,
    users: Users,
    limiter: RateLimiter,
    limits: Limits,
    clock: Callable[[], float],
    print_talk: PrintTalk | None = None,
    name_records: NameRecords | None = None,
) -> AsyncGenerator[Parts]:
    """Open sharing. Ports: `shares`, the use cases that make, open and read links, and `export_session`."""
    log, stored = MongoEventLog(database), MongoShares()
    passwords, owner_mask, owner = Argon2Passwords(), OwnerMask(mask, open_settings), OwnerAccount(users)
    make = MakeShare(
        shares=stored,
        sessions=sessions,
        passwords=passwords,
        owner_mask=owner_mask,
        limiter=limiter,
        limits=limits,
        clock=clock,
        is_enabled=settings.enable_sharing,
    )
    follow = FollowEvents(sessions, log, stream, SessionHeads(log), CHECK_S)
    yield Parts(
        ports={
            "shares": stored,
            "make_share": make,
            "open_share": OpenShare(
                shares=stored,
                sessions=sessions,
                owner=owner,
                passwords=passwords,
                limiter=limiter,
                limits=limits,
                clock=clock,
                is_enabled=settings.enable_sharing,
            ),
            "read_shared": ReadShared(
                shares=stored, log=log, owner=owner, owner_mask=owner_mask, follow=follow, clock=clock
            ),
            "export_session": ExportSession(
                sessions=sessions,
                log=log,
                owner_mask=owner_mask,
                open_settings=open_settings,
                print_talk=print_talk,
                name_records=name_records,
            ),
        }
    )


SHARING = Module(
    name="sharing",
    description="Links by which others read a conversation, and conversations as files.",
    settings=SharingSettings,
    documents=DOCUMENTS,
    routes=[shares.router, public.router, exports.router],
    open=open_sharing,
)
