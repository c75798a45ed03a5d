"""The route that searches messages and titles."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query

from backend_api.identity.http.caller import ONE_PLACE, CurrentCaller
from backend_api.kit.errors import InvalidError
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, Time
from backend_api.search.application import SearchMessages
from backend_api.search.domain import Kind

router = APIRouter(prefix="/api/search", tags=["search"])

MOST_QUERY_CHARACTERS = 2_000
_Q = "Words, all of which a message has; the last one may be the beginning of a word. No character is an operator."


class FoundBody(AnswerBody):
    """`kind` is `title`, or the author of the message, `user` or `agent`; for a title `message_id` and `seq` are null.
    The page shows a message at `/s/{session_id}#m-{message_id}`."""

    session_id: str
    title: str
    message_id: str | None
    seq: int | None
    at: Time
    kind: Kind
    snippet: str


class FoundPageBody(AnswerBody):
    """Best first. `is_complete` is false while older messages are being indexed: repeat the search to find more."""

    items: list[FoundBody]
    next_cursor: str | None
    is_complete: bool


@router.get("", dependencies=[ONE_PLACE])
async def search(
    caller: CurrentCaller,
    search_messages: Annotated[SearchMessages, port("search_messages")],
    q: Annotated[str, Query(max_length=MOST_QUERY_CHARACTERS, pattern=r"^[^\x00]*$", description=_Q)] = "",
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
    cursor: Annotated[str | None, Query(max_length=20)] = None,
) -> FoundPageBody:
    """Search the caller's messages, the agents' answers to them, and titles. Only the first page has titles."""
    found = await search_messages(caller.user.id, q, limit=limit, before=_time_of(cursor))
    older = found.older_than
    return FoundPageBody(
        items=[FoundBody.model_validate(one) for one in found.items],
        next_cursor=None if older is None else str(round(older.timestamp() * 1000)),
        is_complete=found.is_complete,
    )


def _time_of(cursor: str | None) -> datetime | None:
    if cursor is None:
        return None
    try:
        return datetime.fromtimestamp(int(cursor) / 1000, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidError("The cursor is invalid. Use one that a page returned.", field="query.cursor") from error
