"""Re-encrypting the private keys of targets under the current key, after a rotation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from backend_api.settings.application.resealing import ResealingMessages, SealedRecord, reseal
from backend_api.settings.ports import SecretBox
from backend_api.targets.ports import SealedTargets

MESSAGES = ResealingMessages(
    store_away="keys of remote hosts were not checked",
    resealed="keys of remote hosts were re-encrypted with the first SECRETS_KEY",
    unreadable=(
        "SECRETS_KEY does not decrypt the keys of all remote hosts that users stored. They are kept, and not used: add "
        "the key they were stored with after the current one."
    ),
)


@dataclass(frozen=True, slots=True)
class ResealTargets:
    """Runs `reseal` on all private keys of targets."""

    store: SealedTargets
    box: SecretBox

    async def __call__(self) -> None:
        await reseal(self._records(), self.box, MESSAGES)

    async def _records(self) -> AsyncIterator[SealedRecord]:
        async for target in self.store.sealed_under_other_key(self.box.key_id or ""):
            if target.sealed is not None:
                yield SealedRecord(target.sealed, target.bound_to, partial(self.store.reseal, target))
