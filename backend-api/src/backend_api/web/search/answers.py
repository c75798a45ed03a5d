"""Parsing of providers' JSON answers, which may contain anything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

from backend_api.web.search.provider import (
    Hit,
    SearchKeyError,
    SearchLimitError,
    SearchUnavailableError,
    hit_of,
)
from service_kit.bounded_http import Answer


def check_status(response: Answer, provider: str, *, key_name: str, limits: Sequence[int] = ()) -> None:
    """Check the status. `limits` are this provider's own statuses for a reached limit. Raises
    `SearchUnavailableError`."""
    if response.status in (401, 403):
        raise SearchKeyError(f"{provider} refuses the key. Check {key_name}.")
    if response.status in (402, 429, *limits):
        raise SearchLimitError(f"{provider}'s limit is reached.")
    if not response.is_success:
        raise SearchUnavailableError(f"{provider} responded with status {response.status}.")


def members_of(response: Answer, provider: str) -> dict[str, Any]:
    """The members of a JSON object. Raises `SearchUnavailableError`."""
    try:
        found: object = json.loads(response.content)
    except (ValueError, RecursionError) as error:
        raise _malformed(provider) from error
    if not isinstance(found, dict):
        raise _malformed(provider)
    return cast("dict[str, Any]", found)


def inside(found: object, name: str) -> object:
    """The member of this name; None if there is none, or the value is no object."""
    return cast("dict[str, object]", found).get(name) if isinstance(found, dict) else None


def hits_of(results: object, provider: str, *, limit: int, url: str = "url", snippet: str) -> list[Hit]:
    """The first results that are pages; `url` and `snippet` are the provider's names of these fields. Raises
    `SearchUnavailableError` if the value is no list."""
    if not isinstance(results, list):
        raise _malformed(provider)
    found = _hits(cast("list[object]", results), url, snippet)
    return [hit for hit, _ in zip(found, range(limit), strict=False)]


def _hits(results: Sequence[object], url: str, snippet: str) -> Iterator[Hit]:
    for one in results:
        if not isinstance(one, dict):
            continue
        fields = cast("dict[str, object]", one)
        address = _text(fields.get(url))
        hit = hit_of(_text(fields.get("title")) or address, address, _text(fields.get(snippet)))
        if hit is not None:
            yield hit


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _malformed(provider: str) -> SearchUnavailableError:
    return SearchUnavailableError(f"{provider} sent a response in an unexpected format.")
