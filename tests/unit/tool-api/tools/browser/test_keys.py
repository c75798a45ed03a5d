"""Names of keys."""

from __future__ import annotations

import pytest

from tool_api.tools.browser.keys import Key, UnknownKeyError, parse_key


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("Enter", Key("Enter", "Enter", 13, "\r", 0)),
        ("esc", Key("Escape", "Escape", 27, "", 0)),
        ("Space", Key(" ", "Space", 32, " ", 0)),
        ("Tab", Key("Tab", "Tab", 9, "", 0)),
        ("F5", Key("F5", "F5", 116, "", 0)),
        ("a", Key("a", "KeyA", 65, "a", 0)),
        ("A", Key("A", "KeyA", 65, "A", 0)),
        ("7", Key("7", "Digit7", 55, "7", 0)),
        ("+", Key("+", "", 0, "+", 0)),
        ("é", Key("é", "", 0, "é", 0)),
        ("Control+A", Key("a", "KeyA", 65, "", 2)),
        ("ctrl+shift+Tab", Key("Tab", "Tab", 9, "", 10)),
        ("Shift+a", Key("A", "KeyA", 65, "A", 8)),
        ("Control+", Key("+", "", 0, "", 2)),
        ("Control++", Key("+", "", 0, "", 2)),
    ],
)
def test_a_written_key_is_understood(written: str, key: Key) -> None:
    assert parse_key(written) == key


@pytest.mark.parametrize("written", ["Hyper+A", "Enterprise", "xy", ""])
def test_an_unknown_key_is_refused(written: str) -> None:
    with pytest.raises(UnknownKeyError):
        parse_key(written)


def test_a_key_goes_down_and_comes_up() -> None:
    down, up = parse_key("Enter").events()

    assert (down["type"], down["text"], up["type"]) == ("keyDown", "\r", "keyUp")
    assert parse_key("Escape").events()[0]["type"] == "rawKeyDown"
