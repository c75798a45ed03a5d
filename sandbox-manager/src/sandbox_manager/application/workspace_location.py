"""The place of a session's files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from sandbox_manager.domain.ports import SandboxRecords
from sandbox_manager.domain.sandbox import ANY_PLACE


async def is_elsewhere(registry: SandboxRecords, place: Callable[[], Awaitable[str]], session_id: str) -> bool:
    """Whether the session's sandboxes ran at an engine this manager does not have."""
    places = {one.place for one in await registry.find(session_id=session_id)} - {"", ANY_PLACE}
    return bool(places) and await place() not in places
