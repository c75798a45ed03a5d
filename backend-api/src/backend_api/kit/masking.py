"""Masks secrets in stored model calls: the deployment's own, and whatever looks like one."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote

MASKED = "[masked]"
MIN_CHARACTERS = 8
"""Shorter secrets, such as a key of `none`, occur in any text."""


@dataclass(frozen=True, slots=True)
class _SecretPattern:
    """A pattern for secrets. Any text that matches contains one of the `signs`, in lower case: searching for these
    first takes a tenth of the time."""

    signs: tuple[str, ...]
    pattern: re.Pattern[str]
    instead: str | Callable[[re.Match[str]], str] = MASKED


_TOKEN = re.compile(r"\beyJ")


def _without_token(found: re.Match[str]) -> str:
    token = _TOKEN.search(found[0])
    return found[0] if token is None else f"{found[0][: token.start()]}{MASKED}"


_LOOKS = (
    _SecretPattern(
        ("bearer", "basic"),
        re.compile(r"\b(bearer|basic)(\s+)(?=[^\s\"']*[\d=])[A-Za-z0-9._~+/=-]{12,}", re.IGNORECASE),
        rf"\1\2{MASKED}",
    ),
    _SecretPattern(("sk-", "sk_", "pk-", "pk_", "rk-", "rk_"), re.compile(r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}")),
    _SecretPattern(
        ("gh", "glpat-", "hf_", "tvly-", "xox", "npm_"),
        re.compile(r"\b(?:gh[pousr]_|github_pat_|glpat-|hf_|tvly-|xox[abeprs]-|npm_)[A-Za-z0-9_-]{16,}"),
    ),
    _SecretPattern(("akia", "asia", "aiza"), re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{35}")),
    # Anchored at the beginning of a word: otherwise each `-eyJ` in a long word would scan the rest of it.
    _SecretPattern(
        ("eyj",),
        re.compile(r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]*?\beyJ)[A-Za-z0-9_-]{11,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
        _without_token,
    ),
    _SecretPattern(
        ("private key",),
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    ),
    _SecretPattern(("://",), re.compile(r"(://[^\s/:@]{0,100}:)[^\s/@]{1,200}(?=@)"), rf"\1{MASKED}"),
)
_GIVEN = re.compile(r"([:=]\s{0,3}[\"']?)(?=[^\s\"',;:=]*\d)[^\s\"',;:=]{8,}")
_SECRET_BEFORE = re.compile(
    r"(?:api[_-]?key|secret(?:[_-]?key)?|access[_-]?(?:key|token)|auth[_-]?token|passw(?:or)?d|pwd)[\"']?\s{0,3}$",
    re.IGNORECASE,
)
_LONGEST_NAME = 20
_SECRET_NAME = re.compile(r"(?i)^(?:.*[_-])?(?:api_?-?key|secret|token|passw(?:or)?d|authorization|cookie)$")


_DEPTH = 4
_HEAD = 64
"""The characters by which a long secret is recognised; they are masked with as much of the rest as follows. Comparing
all of it at each place would take far longer on a text that nearly contains it again and again."""


class Mask:
    """Masks `secrets`, those of the deployment, in any form they may take in a text."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._all = set[str]()
        self._known: re.Pattern[str] | None = None
        self.add(*secrets)

    def add(self, *secrets: str) -> None:
        """Masks these as well from now on."""
        fresh = {form for secret in secrets if len(secret) >= MIN_CHARACTERS for form in _forms(secret)} - self._all
        if fresh:
            self._all |= fresh
            self._known = re.compile(_alternatives(self._all, _DEPTH))

    def known(self, text: str) -> str:
        """The text with these secrets masked, but not others that look like one."""
        return text if self._known is None else self._known.sub(MASKED, text)

    def text(self, text: str) -> str:
        """The text with all secrets masked."""
        text = self.known(text)
        small = text.lower()
        for look in _LOOKS:
            if any(sign in small for sign in look.signs):
                text = look.pattern.sub(look.instead, text)
        # Searched for by the value, as the name may be anywhere.
        return _GIVEN.sub(_without_value, text)

    def value(self, value: Any) -> Any:
        """Masks all texts in a JSON value; a value whose name marks it as a secret is masked whole."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(name): self._mask_field(name, one) for name, one in cast("dict[str, Any]", value).items()}
        if isinstance(value, (list, tuple)):
            return [self.value(one) for one in cast("list[Any]", value)]
        return value

    def _mask_field(self, name: str, value: Any) -> Any:
        return MASKED if isinstance(value, str) and value and _SECRET_NAME.match(name) else self.value(value)


def _without_value(found: re.Match[str]) -> str:
    before = found.string[max(found.start() - _LONGEST_NAME, 0) : found.start()]
    return f"{found[1]}{MASKED}" if _SECRET_BEFORE.search(before) else found[0]


def _alternatives(texts: Iterable[str], depth: int) -> str:
    """A pattern for any of the texts, longest match first. It branches by the first characters: a plain list of
    hundreds would be tried one by one at each place of a text."""
    size = 1 if depth else _HEAD
    branches: dict[str, set[str]] = {}
    for text in texts:
        branches.setdefault(text[:size], set()).add(text[size:])
    # Longest first; the empty one ends here.
    firsts = sorted(branches, key=len, reverse=True)
    if not depth:
        return f"(?:{'|'.join(re.escape(first) + _longest_tail(branches[first]) for first in firsts)})"
    parts = [re.escape(first) + (_alternatives(branches[first], depth - 1) if first else "") for first in firsts]
    return f"(?:{'|'.join(parts)})"


def _longest_tail(texts: Iterable[str]) -> str:
    """A pattern for the longest of these that follows, if any."""
    rests = [re.escape(text) for text in sorted(texts, key=len, reverse=True) if text]
    return f"(?:{'|'.join(rests)})?" if rests else ""


def _forms(secret: str) -> Iterable[str]:
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield quote(secret, safe="")
    yield b64encode(secret.encode()).decode().rstrip("=")
