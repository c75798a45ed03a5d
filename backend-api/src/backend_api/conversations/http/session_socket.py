"""A session over a WebSocket: its events down, the client's commands up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from backend_api.agent.events import Event
from backend_api.conversations.application.event_json import dump, event_fields
from backend_api.conversations.application.follow_events import FollowEvents
from backend_api.conversations.application.stream_slots import StreamSlots
from backend_api.conversations.http.session_commands import SocketCommands, carry_out, socket_commands
from backend_api.conversations.http.session_frames import FRAMES, AuthFrame, Saying
from backend_api.conversations.ports import SessionRepository
from backend_api.identity.application.authenticate import Authenticate, Caller
from backend_api.identity.application.connection_auth import ConnectionAuth
from backend_api.identity.domain.entity import User
from backend_api.kit import measures
from backend_api.kit.errors import DomainError, InvalidError, LimitError, SlowReaderError, UnauthenticatedError
from backend_api.kit.http.close_codes import TOO_SLOW, TRY_AGAIN, close_code, end_code
from backend_api.kit.http.ports import port
from backend_api.kit.http.trust import trust_peer
from backend_api.kit.ids import SessionId
from backend_api.kit.stored_time import format_time
from service_kit.bounded_json import has_at_most
from service_kit.problems import MAX_ERROR_CHARACTERS

router = APIRouter()
logger = logging.getLogger(__name__)

AUTH_DEADLINE_S = 5.0
SEND_DEADLINE_S = 35.0
MAX_FRAME_CHARACTERS = 1_500_000
MOST_VALUES = 2_000
_BEARER = "bearer."
_MAX_SEQ = 2**53
_MAX_DIGITS = 32


@dataclass(frozen=True, slots=True)
class _Calls:
    """The use cases that a socket needs."""

    authenticate: Authenticate
    sessions: SessionRepository
    follow_events: FollowEvents
    stream_slots: StreamSlots
    commands: SocketCommands


async def _calls(
    authenticate: Annotated[Authenticate, port("authenticate")],
    sessions: Annotated[SessionRepository, port("sessions")],
    follow_events: Annotated[FollowEvents, port("follow_events")],
    stream_slots: Annotated[StreamSlots, port("stream_slots")],
    commands: Annotated[SocketCommands, Depends(socket_commands)],
) -> _Calls:
    return _Calls(authenticate, sessions, follow_events, stream_slots, commands)


@router.websocket("/api/sessions/{session_id}/ws")
async def session_socket(
    socket: WebSocket, session_id: str, calls: Annotated[_Calls, Depends(_calls)], after: Annotated[str, Query()] = "0"
) -> None:
    """Authenticates, then follows and listens until either side ends."""
    offered: list[str] = socket.scope.get("subprotocols", [])
    bearer = next((name for name in offered if name.startswith(_BEARER)), None)
    await socket.accept(subprotocol=bearer)
    conversation = _Conversation(socket, calls, SessionId(session_id))
    code = 1000
    try:
        caller = await conversation.authenticate(bearer)
        trust_peer(socket)
        code = await conversation.hold(caller, _number(after))
    except DomainError as error:
        logger.info("session socket closed", extra={"session_id": session_id, "code": error.code})
        code = close_code(error)
    except WebSocketDisconnect:
        return
    await conversation.close(code)


def _number(after: str) -> int:
    if not (after.isascii() and after.isdecimal()) or len(after) > _MAX_DIGITS or int(after) > _MAX_SEQ:
        raise InvalidError("`after` is the number of an event.", field="query.after")
    return int(after)


class _Conversation:
    def __init__(self, socket: WebSocket, calls: _Calls, session_id: SessionId) -> None:
        self._socket = socket
        self._calls = calls
        self._session_id = session_id

    async def authenticate(self, bearer: str | None) -> Caller:
        """Authenticates by header, by subprotocol, or by the first frame; in local mode without any of them."""
        kind, _, token = self._socket.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return await self._calls.authenticate(token.strip())
        if bearer is not None:
            return await self._calls.authenticate(bearer.removeprefix(_BEARER))
        if self._calls.authenticate.is_local:
            return await self._calls.authenticate(None)
        try:
            async with asyncio.timeout(AUTH_DEADLINE_S):
                frame = await self._receive()
        except (TimeoutError, InvalidError) as error:
            raise UnauthenticatedError("The first frame must be an auth frame.") from error
        if not isinstance(frame, AuthFrame):
            raise UnauthenticatedError("The first frame must be an auth frame.")
        return await self._calls.authenticate(frame.token)

    async def hold(self, caller: Caller, after: int) -> int:
        """Serves the socket, and returns the close code of what ended first."""
        user = caller.user
        await self._calls.sessions.get(self._session_id, user.id)
        events = self._calls.follow_events(self._session_id, user.id, after)
        with self._calls.stream_slots.claim_slot(caller.claims, "ws") as auth:
            tasks = {
                asyncio.create_task(self._forward(events)),
                asyncio.create_task(self._read_frames(user, auth)),
            }
            try:
                await asyncio.wait({*tasks, auth.ended}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                results = await asyncio.gather(*tasks, return_exceptions=True)
                await events.aclose()
        for result in results:
            if isinstance(result, SlowReaderError | TimeoutError):
                measures.SLOW_READERS.labels("ws").inc()
                return TOO_SLOW
            if isinstance(result, Exception):
                raise result
        return end_code(auth.ended) if auth.ended.done() else TRY_AGAIN

    async def _forward(self, events: AsyncGenerator[Event | None]) -> None:
        async for event in events:
            if event is not None:
                await self._send(event_fields(event))

    async def _read_frames(self, user: User, auth: ConnectionAuth) -> None:
        while True:
            try:
                frame = await self._receive()
                if isinstance(frame, AuthFrame):
                    auth.renew((await self._calls.authenticate(frame.token)).claims)
                    continue
                answer = await carry_out(frame, self._calls.commands, self._session_id, user.id)
            except DomainError as error:
                answer = self._error(error)
            if answer is not None:
                await self._send(answer)

    async def _receive(self) -> Saying:
        """The next frame. Raises `InvalidError` for an invalid one, `WebSocketDisconnect` at the end."""
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1005))
        text = message.get("text")
        if text is None:
            raise InvalidError("A frame must be text.", field="frame")
        if len(text) > MAX_FRAME_CHARACTERS:
            raise InvalidError("This frame is too long.", field="frame")
        if not has_at_most(text.encode("utf-8", "surrogatepass"), MOST_VALUES):
            raise InvalidError("This frame has too many values or is nested too deeply.", field="frame")
        try:
            return FRAMES.validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            field = ".".join(str(part) for part in first["loc"]) or "frame"
            raise InvalidError(str(first["msg"])[:MAX_ERROR_CHARACTERS], field=field[:MAX_ERROR_CHARACTERS]) from error

    def _error(self, error: DomainError) -> dict[str, Any]:
        return {
            "seq": None,
            "type": "error",
            "at": format_time(datetime.now(UTC)),
            "session_id": self._session_id,
            "run_id": None,
            "text": error.detail,
            "code": error.code,
            "retryable": error.retryable,
            "field": error.field if isinstance(error, InvalidError) else None,
            "retry_after_ms": error.retry_after_s * 1000 if isinstance(error, LimitError) else None,
        }

    async def _send(self, fields: dict[str, Any]) -> None:
        async with asyncio.timeout(SEND_DEADLINE_S):
            await self._socket.send_text(dump(fields))

    async def close(self, code: int) -> None:
        try:
            async with asyncio.timeout(1.0):
                await self._socket.close(code)
        except (RuntimeError, WebSocketDisconnect, TimeoutError):
            logger.debug("socket was closed before")
