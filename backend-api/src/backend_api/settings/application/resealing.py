"""Re-encrypting sealed records under the current key, after a rotation."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from backend_api.kit.errors import StoreUnavailableError
from backend_api.settings.domain.entity import Sealed
from backend_api.settings.domain.errors import SecretUnreadableError
from backend_api.settings.ports import SecretBox

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SealedRecord:
    """A sealed text as it is stored. `put` replaces it; False if it has changed meanwhile."""

    sealed: Sealed
    bound_to: str
    put: Callable[[Sealed], Awaitable[bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResealingMessages:
    """Log messages: the store was away, some records were sealed anew, some can't be opened."""

    store_away: str
    resealed: str
    unreadable: str


async def reseal(records: AsyncIterator[SealedRecord], box: SecretBox, messages: ResealingMessages) -> None:
    """Seal the records anew, once at a start. Those that can't be opened stay as they are, and a log message names the
    setting to correct."""
    resealed = unreadable = 0
    try:
        async for record in records:
            try:
                text = box.open(record.sealed, bound_to=record.bound_to)
            except SecretUnreadableError:
                unreadable += 1
                continue
            resealed += await record.put(box.seal(text, bound_to=record.bound_to))
    except StoreUnavailableError as error:
        logger.warning(messages.store_away, extra={"reason": error.detail})
    if resealed:
        logger.info(messages.resealed, extra={"count": resealed})
    if unreadable:
        logger.error(messages.unreadable, extra={"count": unreadable})
