"""Chunks of a chat completion with whole messages in the place of deltas: each of all so far, or of what is new."""

from __future__ import annotations

from dataclasses import dataclass, field

from backend_api.models.openai.reasoning_details import REASONING
from backend_api.models.wire.added import Json

_TEXTS = ("content", *REASONING)


@dataclass(slots=True)
class _Text:
    """One text of a message; `told` where it may be one that grows."""

    told: str = ""
    grows: bool | None = None
    """None where that is not clear yet."""
    repeats: int = 0
    """How often the first one came again by then: it is a piece each time, or does not grow."""

    def changes(self, text: str) -> str:
        """What the next one adds."""
        if self.grows is False or not text:
            return text
        if not self.told:
            self.told = text
            return text
        if text.startswith(self.told):
            added = text[len(self.told) :]
            self.told = text
            if added:
                self.grows = True
            elif self.grows is None:
                self.repeats += 1
            return added
        if self.grows and self.told.startswith(text):
            return ""
        again = self.told * self.repeats if self.grows is None else ""
        self.grows = False
        return again + text


@dataclass(slots=True)
class WholeMessages:
    """Those of one answer."""

    _texts: dict[str, _Text] = field(default_factory=dict[str, _Text])

    def changes(self, message: Json) -> Json:
        """The next one with what is new alone."""
        new = {
            name: self._texts.setdefault(name, _Text()).changes(text)
            for name in _TEXTS
            if isinstance(text := message.get(name), str)
        }
        return message | new
