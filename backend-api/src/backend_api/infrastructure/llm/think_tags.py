"""Thinking that a server leaves in the text, between tags: those without a parser for their model's reasoning.

Only tags at the beginning of an answer count, as what comes later is written about them. Some prompts end with the
opening tag, so that the answer has the closing one alone; all before it was thought then, unless it is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from backend_api.domain.agent.model import Part, TextPart, ThinkingPart, ThoughtSoFarPart, UsagePart

_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning", "mm:think", "seed:think")
_CLOSING_OF = {f"<{name}>": f"</{name}>" for name in _NAMES} | {"[think]": "[/think]", "◁think▷": "◁/think▷"}
_OPENING, _CLOSING = tuple(_CLOSING_OF), tuple(_CLOSING_OF.values())
_ALL = (*_OPENING, *_CLOSING)
_ANY = re.compile("|".join(map(re.escape, _ALL)), re.IGNORECASE)
_LONGEST = max(map(len, _ALL))
_BEGINNINGS = frozenset(tag[:length] for tag in _ALL for length in range(1, len(tag)))
_QUOTES = tuple("\"'`“‘「『«(（")


class ThinkTags:
    """Tells thinking from text in one answer, piece by piece. `_read` is what reads the next piece of text by now."""

    def __init__(self) -> None:
        self._read = self._begin
        self._held = ""
        """What may be the beginning of a tag."""
        self._said: list[str] = []
        self._closing = ""
        self._is_thought = False
        """Whether it is known where its thinking stands."""

    def parts(self, parts: Sequence[Part], *, is_end: bool = False) -> Sequence[Part]:
        """These, with thinking as such. What may be a tag waits for the next piece."""
        if self._read == self._pass and not self._held:
            return parts
        if len(parts) == 1 and self._is_plain(parts[0]):
            return parts
        found: list[Part] = []
        for part in parts:
            if isinstance(part, TextPart) and part.text:
                found += self._read(part.text)
                continue
            if not isinstance(part, (TextPart, UsagePart)):
                found += self._released()
                self._is_thought = self._is_thought or (isinstance(part, ThinkingPart) and bool(part.text))
            found.append(part)
        return [*found, *self._released()] if is_end else found

    def _is_plain(self, part: Part) -> bool:
        """Whether it is text in the middle of an answer with nothing that could be a tag: looked at once a delta."""
        if self._held or self._read != self._watch or not isinstance(part, TextPart):
            return False
        text = part.text
        if "<" in text or "[" in text or "◁" in text:
            return False
        self._said.append(text)
        return True

    def _begin(self, text: str) -> list[Part]:
        """Before anything was said."""
        held = self._held + text
        start = held.lstrip()
        if not start or start.lower() in _BEGINNINGS:
            self._held = held
            return []
        self._held = ""
        found = _ANY.match(start)
        if found is None or (found[0].lower() in _CLOSING and not self._is_thought):
            # A closing tag of nothing is one that stands alone, too.
            self._read = self._pass if self._is_thought else self._watch
            return self._read(start if self._is_thought else held)
        if found[0].lower() in _CLOSING:
            return self._begin(start[found.end() :])
        self._closing = _CLOSING_OF[found[0].lower()]
        self._read = self._think
        return self._think(start[found.end() :])

    def _think(self, text: str) -> list[Part]:
        """Up to the closing tag."""
        thought = self._held + text
        self._held = ""
        at = thought.lower().find(self._closing)
        if at < 0:
            thought, self._held = _split_tag(thought, (self._closing,))
            return [ThinkingPart(thought)] if thought else []
        self._read, self._is_thought = self._begin, True
        before, after = thought[:at], thought[at + len(self._closing) :]
        return [*([ThinkingPart(before)] if before else []), *self._begin(after)]

    def _watch(self, text: str) -> list[Part]:
        """In the text, where the closing tag may come that stands alone."""
        said = self._held + text
        self._held = ""
        found = _ANY.search(said)
        if found is None:
            said, self._held = _split_tag(said, _ALL)
            return self._spoken(said)
        if found.end() == len(said):
            # What follows says whether it stands in the middle of a sentence.
            self._held = said[found.start() :]
            return self._spoken(said[: found.start()])
        return self._judged(said, found)

    def _judged(self, said: str, found: re.Match[str]) -> list[Part]:
        before, after = said[: found.start()], said[found.end() :]
        is_closing = found[0].lower() in _CLOSING
        if not is_closing or self._is_thought or _is_quoted("".join((*self._said, before)), after):
            self._read, self._said = self._pass, []
            return [TextPart(said)]
        self._read, self._is_thought = self._begin, True
        spoken = [*self._spoken(before), ThoughtSoFarPart()] if self._said or before else []
        self._said = []
        return [*spoken, *self._begin(after)]

    def _spoken(self, text: str) -> list[Part]:
        if not text:
            return []
        self._said.append(text)
        return [TextPart(text)]

    def _pass(self, text: str) -> list[Part]:
        return [TextPart(text)] if text else []

    def _released(self) -> list[Part]:
        """What is held, as no more text follows it at once."""
        held, self._held = self._held, ""
        if not held:
            return []
        if self._read == self._think:
            return [ThinkingPart(held)]
        if self._read == self._watch and (found := _ANY.fullmatch(held)) is not None:
            return self._judged(held, found)
        return [] if self._is_thought and not held.strip() else [TextPart(held)]


def _split_tag(text: str, tags: tuple[str, ...]) -> tuple[str, str]:
    """The text, and its end where that may be the beginning of one of these tags."""
    for at in range(max(0, len(text) - _LONGEST + 1), len(text)):
        if text[at] in "<[◁" and any(tag.startswith(text[at:].lower()) for tag in tags):
            return text[:at], text[at:]
    return text, ""


def _is_quoted(before: str, after: str) -> bool:
    """Whether a tag between these is written about: in code, in quotation marks, or in the middle of a sentence."""
    line = before.rpartition("\n")[2]
    if before.count("```") % 2 or line.count("`") % 2 or before.endswith(_QUOTES):
        return True
    return before.endswith((" ", "\t")) and after.startswith((" ", "\t"))
