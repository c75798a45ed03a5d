"""Reading an opened link: its visible events, page by page or live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field

from backend_api.agent.events import Event, RunFinished
from backend_api.agent.new_events import Body
from backend_api.agent.path import Path
from backend_api.agent.shown_order import WORK_TYPES, mark_of
from backend_api.conversations.application.follow_events import FollowEvents
from backend_api.conversations.domain.entity import Session
from backend_api.conversations.domain.errors import EventBodyNotFoundError, SessionNotFoundError
from backend_api.conversations.ports import EventLog
from backend_api.identity.application.connection_auth import ConnectionAuth
from backend_api.identity.domain.entity import AccessClaims
from backend_api.kit.ids import SessionId, UserId
from backend_api.sharing.application.owner_account import OwnerAccount
from backend_api.sharing.application.owner_mask import OwnerMask
from backend_api.sharing.domain.entity import Share, ShareId
from backend_api.sharing.domain.errors import TooManyReadersError
from backend_api.sharing.domain.shown import Fields, shown_body, shown_fields
from backend_api.sharing.ports import Shares

PAGE_BYTES = 1_000_000
READERS_OF_A_SHARE = 50
READERS_IN_ALL = 500
"""The most live streams in this process."""
CHECK_S = 0.3
"""A link that was revoked, or whose owner was disabled, can be read for no longer than this, in seconds."""
LOOKED_AT = 200
"""The most events before the end of a run in which its last work is looked for."""
MAX_BODY_BYTES = 1_000_000
"""The longest text beside an event; the rest is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPage:
    """Visible events, the number of the last event that was examined, and whether there are more."""

    items: list[Fields]
    last_seq: int
    has_more: bool


class Readers:
    """Live streams of links in this process."""

    def __init__(self) -> None:
        self._of: dict[ShareId, int] = {}

    @contextmanager
    def place(self, share: Share, clock: Callable[[], float]) -> Generator[ConnectionAuth]:
        """Occupy a place for the length of the block; the stream is ended when the link expires. Raises
        `TooManyReadersError` on entering."""
        share_id = share.id
        mine = self._of.get(share_id, 0)
        if mine >= READERS_OF_A_SHARE or sum(self._of.values()) >= READERS_IN_ALL:
            raise TooManyReadersError(
                "Too many people are following this conversation. Try again later.", retry_after_s=30
            )
        self._of[share_id] = mine + 1
        # Nobody is logged in: the stream itself looks whether the link holds.
        until = None if share.expires_at is None else share.expires_at.timestamp()
        claims = AccessClaims(user_id=UserId(f"share:{share_id}"), family="", token_version=0, expires_at=until)
        auth = ConnectionAuth(claims, clock)
        try:
            yield auth
        finally:
            auth.release()
            self._of[share_id] -= 1
            if not self._of[share_id]:
                del self._of[share_id]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadShared:
    """Reads for a caller who has opened the link (`OpenShare`)."""

    shares: Shares
    log: EventLog
    owner: OwnerAccount
    owner_mask: OwnerMask
    follow: FollowEvents
    clock: Callable[[], float]
    readers: Readers = field(default_factory=Readers)

    @staticmethod
    def last_seq(share: Share, session: Session) -> int:
        """The number of the last visible event."""
        return share.through_seq if share.mode == "snapshot" else session.last_seq

    async def title(self, share: Share, session: Session) -> str:
        """The title as of the snapshot, or the current one."""
        if share.mode == "snapshot":
            return share.title
        return (await self.owner_mask(share.user_id)).text(session.title)

    async def page(self, share: Share, session: Session, *, after: int, limit: int) -> SharedPage:
        """The next events after a number."""
        last = self.last_seq(share, session)
        path = await self.log.path(session.id, up_to=last)
        is_more = after < last
        events = (
            await self.log.read(session.id, after=after, limit=limit, most=PAGE_BYTES, path=path) if is_more else []
        )
        events = [event for event in events if (event.seq or 0) <= last]
        shown = [fields for event in events if (fields := await self._shown(share, event, path)) is not None]
        hiding = await self.owner_mask(share.user_id)
        items = await asyncio.to_thread(lambda: [hiding.value(fields) for fields in shown])
        seen = (events[-1].seq or 0) if events else max(after, last)
        return SharedPage(items=items, last_seq=seen, has_more=seen < last)

    async def body(self, share: Share, session: Session, seq: int) -> Body:
        """The long output of a visible event. Raises `EventBodyNotFoundError`."""
        last = self.last_seq(share, session)
        is_within = 0 < seq <= last and (await self.log.path(session.id, up_to=last)).has(seq)
        events = await self.log.read(session.id, after=seq - 1, limit=1) if is_within else []
        if not events or events[0].seq != seq or shown_body(events[0], share.include) is None:
            raise EventBodyNotFoundError("This event has no body.")
        body = await self.log.body(session.id, seq)
        if not body.media_type.startswith("text/"):
            return body
        hiding = await self.owner_mask(share.user_id)
        text = body.content[:MAX_BODY_BYTES].decode("utf-8", "replace")
        return Body(content=(await asyncio.to_thread(hiding.text, text)).encode(), media_type=body.media_type)

    async def stream(self, share: Share, session: Session, after: int) -> AsyncGenerator[Fields | None]:
        """Events of a live link from a number on, as they are stored, and None while nothing happens. Text that is
        being written comes once it is complete, as a secret in it is only recognised then. Ends when the link is
        revoked or expires, its owner is disabled, or the conversation or the owner is deleted; the stream of a snapshot
        ends with its last event."""
        hiding = await self.owner_mask(share.user_id)
        path = await self.log.path(session.id, up_to=self.last_seq(share, session))
        loop = asyncio.get_running_loop()
        looked_at = float("-inf")
        async with aclosing(self.follow(session.id, session.user_id, after)) as followed:
            try:
                async for event in followed:
                    if loop.time() - looked_at >= CHECK_S:
                        if not await self._holds(share):
                            return
                        looked_at = loop.time()
                    if event is None:
                        yield None
                        continue
                    if share.mode == "snapshot" and (event.seq or 0) > share.through_seq:
                        return
                    is_shown = event.seq is not None and path.has(event.seq)
                    fields = await self._shown(share, event, path) if is_shown else None
                    yield None if fields is None else hiding.value(fields)
            except SessionNotFoundError:
                return

    async def _shown(self, share: Share, event: Event, path: Path) -> Fields | None:
        """The visible fields of an event. The end of a run that was stopped stands below what the run did, also where
        that is left out: with it goes up to where the run had read (`seen_seq`)."""
        fields = shown_fields(event, share.include, share.file_names)
        is_stop = isinstance(event.payload, RunFinished) and event.payload.status == "stopped"
        if fields is None or not is_stop or {"tools", "thinking"} <= share.include:
            return fields
        session_id, before = SessionId(event.session_id), event.seq or 0
        last = await self.log.read_back(session_id, before=before, limit=LOOKED_AT, most=PAGE_BYTES, path=path)
        marks = [mark for one in last if one.run_id == event.run_id and (mark := mark_of(one)) is not None]
        seen = next((mark.seen_seq for mark in reversed(marks) if mark.type in WORK_TYPES), 0)
        return {**fields, "seen_seq": seen}

    async def archive(self, share: Share) -> AsyncIterator[bytes]:
        """The archive of its files, piece by piece for as long as the link holds."""
        async for piece in self.shares.archive(share.id):
            if not await self._holds(share):
                return
            yield piece

    async def _holds(self, share: Share) -> bool:
        if share.is_over(self.clock()) or not await self.shares.is_there(share.id):
            return False
        return await self.owner.holds(share)
