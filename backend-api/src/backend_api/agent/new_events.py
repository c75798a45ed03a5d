"""Items that are stored in one step of the stream."""

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
        """The reference to the body in its event."""
        digest = hashlib.blake2b(self.content, digest_size=16).hexdigest()
        return BodyReference(size=len(self.content), media_type=self.media_type, digest=digest, parts=[*self.parts])


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """A stored payload with its long body, if it has one, and `output`, the text the model reads of a result if that is
    not the preview."""

    payload: StoredPayload
    body: Body | None = None
    output: str | None = None

    @property
    def seen_seq(self) -> int:
        """The number of the last user message the model had read by then; 0 if it had read none."""
        return 0 if agent_of(self.payload) is not None else getattr(self.payload, "seen_seq", 0)
