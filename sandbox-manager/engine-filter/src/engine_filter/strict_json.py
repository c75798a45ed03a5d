"""JSON that every reader understands alike.

The engine's decoder takes `privileged` for `Privileged`, the Kelvin sign for a `k`, and the last of two equal names.
The filter must judge the same body that the engine reads, so such bodies are refused, and the forwarded one is written
anew from the judged one.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn, cast

from engine_filter.refusals import Refused

Json = dict[str, Any]

MAX_DEPTH = 12
_INT64 = 2**63


def loads(text: bytes) -> Json:
    """The object. Raises `Refused`."""
    try:
        value: Any = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_no_number,
            parse_float=_no_number,
        )
    except (ValueError, RecursionError) as error:
        raise Refused("the body is no JSON", 400) from error
    if not isinstance(value, dict):
        raise Refused("the body is no JSON object", 400)
    _plain(value, MAX_DEPTH)
    return cast("Json", value)


def dumps(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def _unique(pairs: list[tuple[str, Any]]) -> Json:
    seen: set[str] = set()
    for name, _ in pairs:
        if not name.isascii() or not name.isprintable():
            raise Refused("a name in the body is not plain ASCII", 400)
        if name.lower() in seen:
            raise Refused(f"{name[:80]} is there twice", 400)
        seen.add(name.lower())
    return dict(pairs)


def _no_number(text: str) -> NoReturn:
    raise Refused(f"{text[:40]} is no whole number", 400)


def _plain(value: Any, depth: int) -> None:
    if depth < 0:
        raise Refused("the body is nested too deep", 400)
    if isinstance(value, str):
        if "\0" in value or not _is_unicode(value):
            raise Refused("a text in the body has characters no text has", 400)
    elif isinstance(value, int):
        if not -_INT64 <= value < _INT64:
            raise Refused("a number in the body is too large", 400)
    elif isinstance(value, dict):
        for one in cast("Json", value).values():
            _plain(one, depth - 1)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            _plain(one, depth - 1)


def _is_unicode(value: str) -> bool:
    """False where half of a pair stands alone."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
