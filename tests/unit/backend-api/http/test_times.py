"""All that is answered tells its times alike: in UTC, to the millisecond."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from pydantic import TypeAdapter

from backend_api.kit.http.ports import WebOptions
from backend_api.kit.http.schemas import Time
from backend_api.main.app import describe_app


def answered(document: dict[str, Any]) -> dict[str, Any]:
    """The forms of all answers by name, with those they are made of."""
    forms, found = document["components"]["schemas"], dict[str, Any]()
    wanted: list[Any] = [one["responses"] for path in document["paths"].values() for one in path.values()]
    while wanted:
        new = {name: forms[name] for name in references(wanted.pop()) if name not in found}
        found |= new
        wanted += new.values()
    return found


def references(form: Any) -> Iterator[str]:
    if isinstance(form, dict):
        if isinstance(reference := form.get("$ref"), str):
            yield reference.rpartition("/")[2]
        for value in form.values():
            yield from references(value)
    if isinstance(form, list):
        for value in form:
            yield from references(value)


def test_no_answer_has_a_time_in_another_form() -> None:
    forms = answered(describe_app(WebOptions()).openapi())
    assert len(forms) > 50
    assert [name for name, form in forms.items() if "'format': 'date-time'" in str(form)] == [], "`Time` of schemas.py"


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=8)), None])
def test_a_time_is_told_in_utc_to_the_millisecond(zone: timezone | None) -> None:
    at = datetime(2026, 5, 4, 18 if zone not in (UTC, None) else 10, 0, 0, 123_456, tzinfo=zone)
    assert TypeAdapter(Time).dump_python(at, mode="json") == "2026-05-04T10:00:00.123Z"
