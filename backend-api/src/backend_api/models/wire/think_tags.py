"""Thinking that a server leaves in the text between tags, because it has no parser for its model's reasoning.

Only tags at the beginning of an answer count; later ones are text about tags. Some prompts end with the opening tag, so
that the answer has only the closing one; all before it is thinking then, unless the tag is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from backend_api.agent.model import Part, TextPart, ThinkingPart, ThoughtSoFarPart, UsagePart

_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning", "mm:think", "seed:think")
_TAGS = {
    **{f"<{name}{space}>": f"</{name}>" for name in _NAMES for space in ("", " ")},
    "[think]": "[/think]",
    "◁think▷": "◁/think▷",
}
_CLOSING = tuple(_TAGS.values())
_ALL = (*_TAGS, *_CLOSING)
_FROM, _CHANNEL = "<|start|>assistant", "<|channel|>{}<|message|>"
_CLOSING_OF = {
    **_TAGS,
    _CHANNEL.format("analysis"): "<|end|>",
    _FROM + _CHANNEL.format("analysis"): "<|end|>",
    "<|start_thinking|>": "<|end_thinking|>",
}
"""The closing tag of each opening one, including the marks of gpt-oss and Cohere's models, whose closing marks also
follow other texts."""
_OF_TEXT = (_CHANNEL.format("final"), _FROM + _CHANNEL.format("final"), "<|start_response|>")
"""Marks of those models before the answer's text."""
_FIRST_ALL = (*_CLOSING_OF, *_CLOSING, *_OF_TEXT)


def _pattern(tags: Iterable[str]) -> re.Pattern[str]:
    # ASCII only: some other letters have these as their capital or small form.
    return re.compile("|".join(map(re.escape, tags)), re.IGNORECASE | re.ASCII)


_ANY, _FIRST = _pattern(_ALL), _pattern(_FIRST_ALL)
_PATTERN_OF = {tag: _pattern([tag]) for tag in _CLOSING_OF.values()}
_SPACE = re.compile(r"\s*")
_LONGEST = max(map(len, _FIRST_ALL))
_BEGINNINGS = frozenset(tag[:length] for tag in _FIRST_ALL for length in range(1, len(tag)))
_MAX_HELD = 1_000
"""The most white space, in characters, held before an answer begins."""
_QUOTES = tuple("\"'`“‘「『«(（")


class ThinkTags:
    """Separates thinking from text in one answer, piece by piece. `_read` is the current state's reader: given a text
    and a position, it returns the parts it read and the position to continue from."""

    def __init__(self) -> None:
        self._read = self._begin
        self._held = ""
        """Text that may be the beginning of a tag."""
        self._said: list[str] = []
        self._closing = ""
        self._is_thought = False
        """Whether thinking was found already."""

    def parts(self, parts: Sequence[Part], *, is_end: bool = False) -> Sequence[Part]:
        """The parts, with tagged text turned into thinking. Text that may be a tag is held for the next piece."""
        if self._read == self._pass and not self._held:
            return parts
        if len(parts) == 1 and self._is_plain(parts[0]):
            return parts
        found: list[Part] = []
        for part in parts:
            if isinstance(part, TextPart) and part.text:
                found += self._read_all(part.text)
                continue
            if not isinstance(part, (TextPart, UsagePart)):
                found += self._released()
                self._is_thought = self._is_thought or (isinstance(part, ThinkingPart) and bool(part.text))
            found.append(part)
        return [*found, *self._released()] if is_end else found

    def _is_plain(self, part: Part) -> bool:
        """Whether it is text in the middle of an answer with nothing that could be a tag. It is checked for each
        delta."""
        if self._held or self._read != self._watch or not isinstance(part, TextPart):
            return False
        text = part.text
        if "<" in text or "[" in text or "◁" in text:
            return False
        self._said.append(text)
        return True

    def _read_all(self, piece: str) -> list[Part]:
        text, self._held = self._held + piece, ""
        found: list[Part] = []
        at = 0
        while at < len(text):
            parts, at = self._read(text, at)
            found += parts
        return found

    def _begin(self, text: str, at: int) -> tuple[list[Part], int]:
        """Reads the beginning of an answer, before any text."""
        space = _SPACE.match(text, at)
        start = space.end() if space is not None else at
        if self._is_thought:
            at = start
        is_begun = len(text) - start >= _LONGEST or (start < len(text) and text[start:].lower() not in _BEGINNINGS)
        if not is_begun and start - at <= _MAX_HELD:
            self._held = text[at:]
            return [], len(text)
        found = _FIRST.match(text, start)
        if found is None or (found[0].lower() in _CLOSING and not self._is_thought):
            # A closing tag right at the beginning also counts as a single one.
            self._read = self._pass if self._is_thought else self._watch
            return [], at
        if found[0].lower() in (*_CLOSING, *_OF_TEXT):
            return [], found.end()
        self._closing = _CLOSING_OF[found[0].lower()]
        self._read = self._think
        return [], found.end()

    def _think(self, text: str, at: int) -> tuple[list[Part], int]:
        """Reads thinking up to the closing tag."""
        found = _PATTERN_OF[self._closing].search(text, at)
        if found is None:
            thought, self._held = _split_tag(text[at:], (self._closing,))
            return [ThinkingPart(thought)] if thought else [], len(text)
        self._read, self._is_thought = self._begin, True
        thought = text[at : found.start()]
        return [ThinkingPart(thought)] if thought else [], found.end()

    def _watch(self, text: str, at: int) -> tuple[list[Part], int]:
        """Reads text in which a closing tag without an opening one may follow."""
        found = _ANY.search(text, at)
        if found is None:
            said, self._held = _split_tag(text[at:], _ALL)
            return self._spoken(said), len(text)
        if found.end() == len(text):
            # The next text shows whether it is in the middle of a sentence.
            self._held = text[found.start() :]
            return self._spoken(text[at : found.start()]), len(text)
        return self._judged(text, at, found)

    def _judged(self, text: str, at: int, found: re.Match[str]) -> tuple[list[Part], int]:
        before, next_one = text[at : found.start()], text[found.end() : found.end() + 1]
        is_closing = found[0].lower() in _CLOSING
        if not is_closing or self._is_thought or _is_quoted("".join((*self._said, before)), next_one):
            self._read, self._said = self._pass, []
            return [TextPart(text[at:])], len(text)
        self._read, self._is_thought = self._begin, True
        spoken = [*self._spoken(before), ThoughtSoFarPart()] if self._said or before else []
        self._said = []
        return spoken, found.end()

    def _spoken(self, text: str) -> list[Part]:
        if not text:
            return []
        self._said.append(text)
        return [TextPart(text)]

    def _pass(self, text: str, at: int) -> tuple[list[Part], int]:
        return [TextPart(text[at:])], len(text)

    def _released(self) -> list[Part]:
        """Returns the held text, since no more text follows it directly."""
        held, self._held = self._held, ""
        if not held:
            return []
        if self._read == self._think:
            return [ThinkingPart(held)]
        if self._read == self._watch and (found := _ANY.fullmatch(held)) is not None:
            return self._judged(held, 0, found)[0]
        return [] if self._is_thought and not held.strip() else [TextPart(held)]


def _split_tag(text: str, tags: tuple[str, ...]) -> tuple[str, str]:
    """The text, and its end if that may be the beginning of one of these tags."""
    for at in range(max(0, len(text) - _LONGEST + 1), len(text)):
        if text[at] in "<[◁" and any(tag.startswith(text[at:].lower()) for tag in tags):
            return text[:at], text[at:]
    return text, ""


def _is_quoted(before: str, after: str) -> bool:
    """Whether a tag here is quoted: in code, in quotation marks, or in the middle of a sentence."""
    line = before.rpartition("\n")[2]
    if before.count("```") % 2 or line.count("`") % 2 or before.endswith(_QUOTES):
        return True
    return before.endswith((" ", "\t")) and after.startswith((" ", "\t"))
