"""Edit a message, regenerate an answer, undo, and branch a new conversation off a message."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from backend_api.agent.events import (
    BranchDeleted,
    Event,
    MessageCompleted,
    MessageUser,
    MessageWithdrawn,
    PathCause,
    PathSelected,
    RunQueued,
)
from backend_api.branches.domain import (
    AttachmentGoneError,
    BranchBeginsError,
    BranchGrewError,
    BranchShownError,
    Fork,
    MessageNotFoundError,
    NotEditableError,
    RequestDiffersError,
    RequestRepeatedError,
    RunActiveError,
    Tree,
    title_of_branch,
)
from backend_api.branches.ports import BranchStore, Selection
from backend_api.conversations.application.check_attachments import CheckAttachments
from backend_api.conversations.domain.entity import MAX_MESSAGE_CHARACTERS, RunId, Session, SessionStatus
from backend_api.conversations.domain.errors import MessageTooLongError, SessionNotFoundError
from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.invisible_characters import is_blank
from backend_api.kit.notifier import Notifier, Topic
from backend_api.kit.stored_time import to_millisecond

_NO_MESSAGE = "There is no such message in this conversation, or it was deleted with its branch."
_COPY_WAITS_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Pauses between looks whether another request has copied all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A new version of a message. `attachments` of None keeps those it had; with `run` it is answered at once."""

    text: str
    run: bool
    attachments: tuple[str, ...] | None = None
    client_message_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchResult:
    """The result: the last message, and the run that answers it, None if none does."""

    message_id: str
    run_id: RunId | None
    seq: int
    duplicate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Forks:
    """Forks of the path shown, and the messages they name."""

    forks: Sequence[Fork]
    said: Mapping[int, MessageUser | MessageCompleted]


@dataclass(frozen=True, slots=True, kw_only=True)
class Branches:
    """Actions on the conversation's path. The former path stays, and can be shown again; files and other effects stay
    as they are.

    Each raises `SessionNotFoundError` and, if it is given a message, `MessageNotFoundError`; an action that selects
    another path raises `RunActiveError` while a run of the session has not ended.
    """

    sessions: SessionRepository
    store: BranchStore
    stream: SessionStream
    notifier: Notifier
    limiter: RateLimiter
    limits: Limits
    check_attachments: CheckAttachments
    now: Callable[[], datetime]

    async def edit(self, session_id: SessionId, user_id: UserId, message_id: str, edit: Edit) -> BranchResult:
        """Replace a message by another version. Raises `NotEditableError`, `AttachmentGoneError`, `InvalidError`,
        `MessageTooLongError`, `MessageDiffersError`, `LimitError`."""
        await self.sessions.get(session_id, user_id)
        event, tree = await self._find(session_id, message_id)
        before = event.payload
        if not isinstance(before, MessageUser):
            raise NotEditableError("Only a message of yours can be changed. Have an answer made again instead.")
        attachments = tuple(before.attachments) if edit.attachments is None else edit.attachments
        _check_text(edit.text, attachments)
        await self.limiter.hit(f"messages:{user_id}", limit=self.limits.messages_per_minute, window_s=60)
        await self._check_files(session_id, user_id, attachments)
        said = MessageUser(
            message_id=uuid.uuid4().hex,
            text=edit.text,
            attachments=list(attachments),
            client_message_id=edit.client_message_id,
        )
        selected = _selected(tree.before(event.seq or 0), "edit", message_id)
        run_for = said.message_id if edit.run else None
        events = await self._select(
            session_id, user_id, Selection(selected=selected, message=said, run_for=run_for), tree
        )
        return _branch_result(events)

    async def regenerate(
        self, session_id: SessionId, user_id: UserId, message_id: str, request_id: str | None = None
    ) -> BranchResult:
        """Have the message answered once more; an answer stands for the message it answers. Asked for again under the
        same `request_id` it is done once. Raises `LimitError`, `RequestDiffersError`."""
        await self.sessions.get(session_id, user_id)
        event, tree = await self._find(session_id, message_id)
        asked = tree.question_of(event.seq or 0)
        if not asked:
            raise MessageNotFoundError("Nothing was asked before this answer.")
        asked_id = (await self.store.messages(session_id, [asked]))[asked].message_id
        selected = _selected(tree.until(asked), "regenerate", message_id, request_id)
        if (done := await self._done_before(session_id, selected)) is not None:
            return _regenerated(done, asked_id, asked, duplicate=True)
        await self.limiter.hit(f"messages:{user_id}", limit=self.limits.messages_per_minute, window_s=60)
        try:
            events = await self._select(session_id, user_id, Selection(selected=selected, run_for=asked_id), tree)
        except (RunActiveError, RequestRepeatedError):
            # The same request may have been done meanwhile.
            if (done := await self._done_before(session_id, selected)) is None:
                raise
            return _regenerated(done, asked_id, asked, duplicate=True)
        return _regenerated(events, asked_id, asked)

    async def undo(
        self, session_id: SessionId, user_id: UserId, message_id: str, request_id: str | None = None
    ) -> MessageUser:
        """Go back to before a message of the person's, and return that message. One that is not shown is undone
        already, and nothing changes. Raises `RequestDiffersError`."""
        await self.sessions.get(session_id, user_id)
        event, tree = await self._find(session_id, message_id)
        if not isinstance(event.payload, MessageUser):
            raise NotEditableError("Only a message of yours can be undone, and with it all that follows.")
        selected = _selected(tree.before(event.seq or 0), "undo", message_id, request_id)
        done = await self._done_before(session_id, selected)
        if done is not None or not tree.shown.has(event.seq or 0):
            return event.payload
        try:
            await self._select(session_id, user_id, Selection(selected=selected), tree)
        except RequestRepeatedError:
            await self._done_before(session_id, selected)
        return event.payload

    async def withdraw(self, session_id: SessionId, user_id: UserId, message_id: str) -> None:
        """Take a message back that the agent has not read; one that was taken back stays so. Raises `MessageReadError`
        once it was read, and `NotEditableError`."""
        await self.sessions.get(session_id, user_id)
        event = await self.store.message(session_id, message_id)
        if event is None:
            raise MessageNotFoundError(_NO_MESSAGE)
        if not isinstance(event.payload, MessageUser):
            raise NotEditableError("Only a message of yours can be taken back.")
        withdrawn = MessageWithdrawn(message_id=message_id, at_seq=event.seq or 0)
        events = await self.store.withdraw(session_id, user_id, event, withdrawn)
        if events:
            await self.stream.append(session_id, events)

    async def _done_before(self, session_id: SessionId, wanted: PathSelected) -> Sequence[Event] | None:
        """The events of the same request if it is done, whose answer the client did not get."""
        if wanted.client_request_id is None:
            return None
        events = await self.store.requested(session_id, wanted.client_request_id)
        if not events:
            return None
        done = events[0].payload
        is_same = isinstance(done, PathSelected) and (done.cause, done.message_id) == (wanted.cause, wanted.message_id)
        if not is_same:
            raise RequestDiffersError(
                "A different request was already made with this client_request_id. Use a new one for each request."
            )
        return events

    async def show(self, session_id: SessionId, user_id: UserId, message_id: str) -> bool:
        """Show the newest path that has this message; False if it is shown already."""
        await self.sessions.get(session_id, user_id)
        event, tree = await self._find(session_id, message_id)
        ranges = tree.newest_with(event.seq or 0)
        if ranges is None:
            return False
        await self._select(session_id, user_id, Selection(selected=_selected(ranges, "select", message_id)), tree)
        return True

    async def forks(self, session_id: SessionId, user_id: UserId) -> Forks:
        """The places where the path shown has other branches."""
        await self.sessions.get(session_id, user_id)
        forks = (await self.store.tree(session_id)).forks()
        named = {seq for fork in forks for seq in (fork.after_seq, *(one.seq for one in fork.children)) if seq}
        return Forks(forks=forks, said=await self.store.messages(session_id, sorted(named)))

    async def delete(self, session_id: SessionId, user_id: UserId, message_id: str, messages: int | None) -> int:
        """Delete a message that is not shown and all that follow it: they can't be shown any more. Returns their
        number. Raises `BranchShownError`, and `BranchGrewError` if that is not the number given."""
        await self.sessions.get(session_id, user_id)
        event, tree = await self._find(session_id, message_id)
        seq = event.seq or 0
        if tree.shown.has(seq):
            raise BranchShownError("This message is on the path that is shown. Show another one first.")
        count = tree.count(seq)
        if messages is not None and messages != count:
            raise BranchGrewError(f"This branch has {count} messages by now. Look at it again before you delete it.")
        deleted = BranchDeleted(message_id=message_id, at_seq=seq, messages=count)
        await self.stream.append(session_id, await self.store.delete(session_id, deleted))
        return count

    async def branch(
        self, session_id: SessionId, user_id: UserId, message_id: str, request_id: str | None = None
    ) -> Session:
        """Begin a new conversation, with a computer of its own, with the events up to a message. Asked for again under
        the same `request_id` it is the one that was begun. Raises `RunActiveError` for a message of the current turn,
        `SessionQuotaError`, `LimitError`, `BranchBeginsError`."""
        source = await self.sessions.get(session_id, user_id)
        target_id = _target_id(session_id, message_id, request_id)
        if request_id is not None and await self.store.is_begun(target_id):
            return await self._wait_for_branch(target_id, user_id)
        event, tree = await self._find(session_id, message_id)
        if event.run_id is not None and event.run_id == source.active_run_id:
            raise RunActiveError("This turn is not over. Stop it first, or wait for its end.")
        await self.limiter.hit(f"sessions:{user_id}", limit=self.limits.sessions_per_minute, window_s=60)
        last = event.seq or 0
        ranges = tree.until(last)
        if not isinstance(event.payload, MessageUser) and event.run_id is not None:
            end = await self.store.end_of_run(session_id, event.run_id, last)
            with_end = tree.until(end) if end is not None else ranges
            ranges = with_end if tree.last_message(with_end) == last else ranges
        at = to_millisecond(self.now())
        target = replace(
            source,
            id=target_id,
            title=title_of_branch(source.title),
            status=SessionStatus.IDLE,
            active_run_id=None,
            sandbox=None,
            created_at=at,
            updated_at=at,
            active_at=at,
        )
        try:
            await self.store.copy(source, target, ranges, at_most=self.limits.sessions_in_all)
        except RequestRepeatedError:
            return await self._wait_for_branch(target_id, user_id)
        return await self.sessions.get(target.id, user_id)

    async def _wait_for_branch(self, target_id: SessionId, user_id: UserId) -> Session:
        """The conversation that the same request begins, once all is copied."""
        for pause_s in _COPY_WAITS_S:
            try:
                return await self.sessions.get(target_id, user_id)
            except SessionNotFoundError:
                await asyncio.sleep(pause_s)
        raise BranchBeginsError("The new conversation is being made. Try again in a moment.")

    async def _find(self, session_id: SessionId, message_id: str) -> tuple[Event, Tree]:
        event = await self.store.message(session_id, message_id)
        if event is None:
            raise MessageNotFoundError(_NO_MESSAGE)
        tree = await self.store.tree(session_id)
        if not tree.has_message(event.seq or 0):
            raise MessageNotFoundError(_NO_MESSAGE)
        return event, tree

    async def _check_files(self, session_id: SessionId, user_id: UserId, paths: Sequence[str]) -> None:
        try:
            await self.check_attachments(session_id, user_id, paths)
        except InvalidError as error:
            raise AttachmentGoneError(
                f"{error.detail} Attach the file again, or send the message without it (`attachments`)."
            ) from error

    async def _select(self, session_id: SessionId, user_id: UserId, selection: Selection, tree: Tree) -> list[Event]:
        selection = replace(selection, last_user=tree.last_user(selection.selected.path))
        events = await self.store.select(session_id, user_id, selection)
        if isinstance(events[-1].payload, RunQueued):
            await self.notifier.notify(Topic.RUN_QUEUED, events[-1].run_id or "")
        if isinstance(events[0].payload, PathSelected):
            await self.stream.append(session_id, events)
        return events


def _selected(path: list[list[int]], cause: PathCause, message_id: str, request_id: str | None = None) -> PathSelected:
    return PathSelected(path=path, cause=cause, message_id=message_id, client_request_id=request_id)


def _target_id(source: SessionId, message_id: str, request_id: str | None) -> SessionId:
    """Always the same for the same request."""
    if request_id is None:
        return SessionId(uuid.uuid4().hex)
    named = "\0".join((source, message_id, request_id))
    return SessionId(hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:32])


def _regenerated(events: Sequence[Event], asked_id: str, asked: int, *, duplicate: bool = False) -> BranchResult:
    return BranchResult(message_id=asked_id, run_id=RunId(events[-1].run_id or ""), seq=asked, duplicate=duplicate)


def _branch_result(events: Sequence[Event]) -> BranchResult:
    """The result of an edit, or of the same edit sent before."""
    said = next(event for event in events if isinstance(event.payload, MessageUser))
    assert isinstance(said.payload, MessageUser)
    return BranchResult(
        message_id=said.payload.message_id,
        run_id=RunId(said.run_id) if said.run_id else None,
        seq=said.seq or 0,
        duplicate=len(events) == 1,
    )


def _check_text(text: str, attachments: Sequence[str]) -> None:
    if is_blank(text) and not attachments:
        raise InvalidError("The message would be empty. Write what the agent is to read.", field="body.text")
    if len(text) > MAX_MESSAGE_CHARACTERS:
        raise MessageTooLongError(f"A message has at most {MAX_MESSAGE_CHARACTERS} characters.")
