"""Chunks of a chat completion that hold whole messages instead of deltas: the whole text so far, or only the new
part."""

from __future__ import annotations

from dataclasses import dataclass, field

from backend_api.models.openai.reasoning_details import REASONING
from backend_api.models.wire.extra_fields import Json

_TEXTS = ("content", *REASONING)


@dataclass(slots=True)
class _Text:
    """One text of a message; `text` is the text so far while it may be a growing one."""

    text: str = ""
    grows: bool | None = None
    """Whether each message has the whole text so far; None until that is clear."""
    repeats: int = 0
    """How often the first text has been repeated: either each repetition is a piece, or the text does not grow."""

    def changes(self, text: str) -> str:
        """The new part of the next text."""
        if self.grows is False or not text:
            return text
        if not self.text:
            self.text = text
            return text
        if text.startswith(self.text):
            added = text[len(self.text) :]
            self.text = text
            if added:
                self.grows = True
            elif self.grows is None:
                self.repeats += 1
            return added
        if self.grows and self.text.startswith(text):
            return ""
        again = self.text * self.repeats if self.grows is None else ""
        self.grows = False
        return again + text


@dataclass(slots=True)
class WholeMessages:
    """The messages of one answer."""

    _texts: dict[str, _Text] = field(default_factory=dict[str, _Text])

    def changes(self, message: Json) -> Json:
        """The next message reduced to what is new."""
        new = {
            name: self._texts.setdefault(name, _Text()).changes(text)
            for name in _TEXTS
            if isinstance(text := message.get(name), str)
        }
        return message | new
