"""Hides secrets in what is kept of model calls: those the deployment has, and whatever looks like one."""

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
"""Shorter ones, such as a key of `none`, are found in any text."""


@dataclass(frozen=True, slots=True)
class _SecretPattern:
    """What looks like a secret. One of the `signs`, in small letters, is in any text that has it: looking for these
    takes a tenth of the time."""

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
    # From where a word begins: from each of many `-eyJ` in a long one all the rest of it would be looked through.
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
"""Characters by which a long secret is known: where these stand, they are hidden with what else of it follows. Were all
of it compared at each place of a text, one that nearly holds it again and again would take its length times as long."""


class Mask:
    """`secrets` are those the deployment has, in whatever form they may stand in a text."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._all = set[str]()
        self._known: re.Pattern[str] | None = None
        self.add(*secrets)

    def add(self, *secrets: str) -> None:
        """These from now on as well."""
        fresh = {form for secret in secrets if len(secret) >= MIN_CHARACTERS for form in _forms(secret)} - self._all
        if fresh:
            self._all |= fresh
            self._known = re.compile(_alternatives(self._all, _DEPTH))

    def known(self, text: str) -> str:
        """The text without those secrets, whatever else looks like one."""
        return text if self._known is None else self._known.sub(MASKED, text)

    def text(self, text: str) -> str:
        """The text without secrets."""
        text = self.known(text)
        small = text.lower()
        for look in _LOOKS:
            if any(sign in small for sign in look.signs):
                text = look.pattern.sub(look.instead, text)
        # Found by what comes after the name, as a name may stand at any place.
        return _GIVEN.sub(_without_value, text)

    def value(self, value: Any) -> Any:
        """The same of all texts in a JSON value; one whose name says that it is a secret is masked whole."""
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
    """A pattern of each of them, the longest that fits. Branched by its first characters: of a plain list of hundreds
    each would be tried at each place of a text."""
    size = 1 if depth else _HEAD
    branches: dict[str, set[str]] = {}
    for text in texts:
        branches.setdefault(text[:size], set()).add(text[size:])
    # The one that ends here is the shortest.
    firsts = sorted(branches, key=len, reverse=True)
    if not depth:
        return f"(?:{'|'.join(re.escape(first) + _longest_tail(branches[first]) for first in firsts)})"
    parts = [re.escape(first) + (_alternatives(branches[first], depth - 1) if first else "") for first in firsts]
    return f"(?:{'|'.join(parts)})"


def _longest_tail(texts: Iterable[str]) -> str:
    """A pattern of the longest of them that follows, if one does."""
    rests = [re.escape(text) for text in sorted(texts, key=len, reverse=True) if text]
    return f"(?:{'|'.join(rests)})?" if rests else ""


def _forms(secret: str) -> Iterable[str]:
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield quote(secret, safe="")
    yield b64encode(secret.encode()).decode().rstrip("=")
