"""Changes of sandboxes as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from starlette.responses import StreamingResponse

from sandbox_manager.domain.errors import DomainError
from sandbox_manager.domain.ports import Change
from sandbox_manager.interfaces.http.service_token import require_service_token
from sandbox_manager.interfaces.http.to_wire import to_wire
from sandbox_manager.interfaces.http.use_cases import Wired

_BEAT_S = 10.0
_LONGEST_S = 3600.0
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

router = APIRouter(prefix="/sandboxes", tags=["sandboxes"], dependencies=[Depends(require_service_token)])
_Mark = Annotated[str | None, Query(max_length=1024, pattern=r"^[A-Za-z0-9]+$")]
_LastMark = Annotated[str | None, Header(max_length=1024, pattern=r"^[A-Za-z0-9]+$")]


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}, 404: {}},
)
async def events(wired: Wired, after: _Mark = None, last_event_id: _LastMark = None) -> StreamingResponse:
    """Every change of a sandbox, by whichever manager, from now or after the last one that was read."""
    stack = AsyncExitStack()
    changes = await stack.enter_async_context(wired.follow(last_event_id or after))
    return StreamingResponse(_frames(stack, changes), media_type="text/event-stream", headers=_HEADERS)


async def _frames(stack: AsyncExitStack, changes: AsyncIterator[Change]) -> AsyncIterator[str]:
    """The stream's frames. It ends with the database's answers, or after an hour; readers continue after their last
    mark."""
    until = asyncio.get_running_loop().time() + _LONGEST_S
    async with stack:
        yield ": following\n\n"
        upcoming = asyncio.ensure_future(anext(changes))
        try:
            while asyncio.get_running_loop().time() < until:
                done, _ = await asyncio.wait({upcoming}, timeout=_BEAT_S)
                if not done:
                    yield ": beat\n\n"
                    continue
                change = upcoming.result()
                yield f"id: {change.mark}\nevent: sandbox\ndata: {to_wire(change.sandbox).model_dump_json()}\n\n"
                upcoming = asyncio.ensure_future(anext(changes))
        except (DomainError, StopAsyncIteration):
            return
        finally:
            upcoming.cancel()
            await asyncio.wait({upcoming})
