"""What is stored in one step of the stream."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from backend_api.agent.events import BodyPart, BodyReference, StoredPayload, agent_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    content: bytes
    media_type: str
    parts: Sequence[BodyPart] = ()

    def reference(self) -> BodyReference:
        """What stands of it in its event."""
        digest = hashlib.blake2b(self.content, digest_size=16).hexdigest()
        return BodyReference(size=len(self.content), media_type=self.media_type, digest=digest, parts=[*self.parts])


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A stored payload with the long body that stands beside it, if any, and what the model reads of a result where
    that is not its preview."""

    payload: StoredPayload
    body: Body | None = None
    output: str | None = None

    @property
    def seen_seq(self) -> int:
        """The last of the person's messages the model had read when it said this; 0 where it read none of them."""
        return 0 if agent_of(self.payload) is not None else getattr(self.payload, "seen_seq", 0)
