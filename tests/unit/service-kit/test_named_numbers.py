"""Numbers under names, in one setting."""

from __future__ import annotations

import pytest

from service_kit.named_numbers import Number, read_numbers

KNOWN = {
    "login": Number(default=10, per="minute"),
    "sessions": Number(default=100),
    "ports": Number(default=8, least=1),
}
DEFAULTS = {"login": 10, "sessions": 100, "ports": 8}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", {}),
        ("login=3/minute", {"login": 3}),
        (" sessions = 5 , login = 3 / minute ,", {"sessions": 5, "login": 3}),
        ("login=0", {"login": 0}),
    ],
)
def test_what_is_not_named_keeps_its_default(text: str, said: dict[str, int]) -> None:
    assert read_numbers(text, KNOWN) == DEFAULTS | said


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("logins=3/minute", "'logins' is none of its names.*: login=10/minute, sessions=100, ports=8"),
        ("login", "no whole number by the minute, such as login=10/minute"),
        ("login=3", "such as login=10/minute"),
        ("login=3/hour", "such as login=10/minute"),
        ("sessions=3/minute", "such as sessions=100"),
        ("sessions=3/", "such as sessions=100"),
        ("sessions=-1", "such as sessions=100"),
        ("sessions=many", "such as sessions=100"),
        ("ports=0", "ports is a number from 1"),
        ("sessions=1,sessions=2", "sessions stands there twice"),
    ],
)
def test_what_is_none_is_refused_with_what_may_be(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_numbers(text, KNOWN)
