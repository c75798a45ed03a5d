"""Globs, matched in time linear in the path, whatever the pattern: no regular expression that could go back."""

from __future__ import annotations

from dataclasses import dataclass, field

_MOST_SIGNS_KEPT = 4096


@dataclass(slots=True)
class Glob:
    """A pattern as a machine whose state is one number, a bit for each place in the pattern that may be reached.

    `?`, `*` and `[...]` stay inside a name, `**` goes through folders; a pattern without a slash matches names at any
    depth. A state of zero means that nothing that goes on from there matches.
    """

    pattern: str
    _literals: dict[str, int] = field(default_factory=dict[str, int], init=False)
    _classes: list[tuple[int, _Class]] = field(default_factory=list["tuple[int, _Class]"], init=False)
    _any_sign: int = field(default=0, init=False)
    _inside_name: int = field(default=0, init=False)
    _everywhere: int = field(default=0, init=False)
    _folder_ends: int = field(default=0, init=False)
    _stars: int = field(default=0, init=False)
    _gates: int = field(default=0, init=False)
    _accepting: int = field(default=0, init=False)
    _moves: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]], init=False)

    def __post_init__(self) -> None:
        pattern = self.pattern.removeprefix("./")
        bit = 1
        for token in _tokens(pattern if "/" in pattern else f"**/{pattern}"):
            bit = self._add(token, bit)
        self._accepting = bit

    @property
    def start(self) -> int:
        """The state before the first sign of a path."""
        return self._skip(1)

    def follow(self, state: int, text: str) -> int:
        """The state after some more signs of a path."""
        for sign in text:
            if not state:
                return 0
            take, stay = self._moves.get(sign) or self._transition(sign)
            state = self._skip((state & take) << 1 | state & stay)
        return state

    def accepts(self, state: int) -> bool:
        """Whether a path that led to this state matches."""
        return bool(state & self._accepting)

    def matches(self, path: str) -> bool:
        return self.accepts(self.follow(self.start, path))

    def _add(self, token: str | _Class, bit: int) -> int:
        """Give a token its places, from this bit on; answers the bit after them."""
        if token == "**/":
            # No folder, which leads past both places; or any way to the end of one.
            self._gates |= bit
            self._everywhere |= bit << 1
            self._folder_ends |= bit << 1
            return bit << 2
        if isinstance(token, _Class):
            self._classes.append((bit, token))
        elif token == "**":
            self._everywhere |= bit
            self._stars |= bit
        elif token == "*":
            self._inside_name |= bit
            self._stars |= bit
        elif token == "?":
            self._any_sign |= bit
        else:
            self._literals[token] = self._literals.get(token, 0) | bit
        return bit << 1

    def _skip(self, state: int) -> int:
        """With all places reached without a sign; a gate may stand before a star, and nothing else of them in a row."""
        gates = state & self._gates
        state |= gates << 1 | gates << 2
        return state | (state & self._stars) << 1

    def _transition(self, sign: str) -> tuple[int, int]:
        """Which places a sign leads on from, and at which it stays."""
        take, stay = self._literals.get(sign, 0), self._everywhere
        if sign == "/":
            take |= self._folder_ends
        else:
            take |= self._any_sign
            stay |= self._inside_name
            for bit, signs in self._classes:
                take |= bit if signs.holds(sign) else 0
        if len(self._moves) < _MOST_SIGNS_KEPT:
            self._moves[sign] = take, stay
        return take, stay


@dataclass(frozen=True, slots=True)
class _Class:
    """Signs in brackets: ranges, and whether all others are meant."""

    ranges: tuple[tuple[str, str], ...]
    is_negated: bool

    def holds(self, sign: str) -> bool:
        return any(first <= sign <= last for first, last in self.ranges) is not self.is_negated


def _tokens(pattern: str) -> list[str | _Class]:
    found: list[str | _Class] = []
    at = 0
    while at < len(pattern):
        token, length = _token(pattern, at)
        at += length
        if token in ("*", "**", "**/") and found and found[-1] in ("*", "**", "**/"):
            token = _merge(str(found.pop()), str(token), found)
        found.append(token)
    return found


def _merge(before: str, token: str, found: list[str | _Class]) -> str:
    """One token for two that go through folders or names in a row, as far as they can be one."""
    if before == token:
        return token
    if before == "**/" and token == "*":
        found.append(before)
        return token
    return "**"


def _token(pattern: str, at: int) -> tuple[str | _Class, int]:
    for token in ("**/", "**"):
        if pattern.startswith(token, at):
            return token, len(token)
    if pattern[at] == "[":
        end = pattern.find("]", at + 2)
        body = pattern[at + 1 : end]
        if end > 0 and "/" not in body and (signs := _class(body)) is not None:
            return signs, end + 1 - at
    return pattern[at], 1


def _class(body: str) -> _Class | None:
    """What stands in brackets; None when it means nothing, and the brackets are signs like others."""
    signs = body.removeprefix("!")
    ranges: list[tuple[str, str]] = []
    at = 0
    while at < len(signs):
        last = signs[at + 2] if signs[at + 1 : at + 2] == "-" and at + 2 < len(signs) else signs[at]
        if last < signs[at]:
            return None
        ranges.append((signs[at], last))
        at += 3 if signs[at + 1 : at + 2] == "-" and at + 2 < len(signs) else 1
    return _Class(tuple(ranges), body.startswith("!")) if ranges else None
