"""How a run ends."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.domain.agent.events import RunEnd, StoredPayload


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How the loop ended. `code` is the stable code of an error event, None where nothing went wrong; `said` is what
    is stored together with the end."""

    status: RunEnd
    reason: str | None = None
    code: str | None = None
    retryable: bool = False
    said: tuple[StoredPayload, ...] = ()
