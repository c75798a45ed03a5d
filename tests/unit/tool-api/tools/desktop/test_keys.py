"""Names of keys, as models of several providers write them."""

from __future__ import annotations

import pytest

from tool_api.tools.desktop.keys import UnknownKeyError, parse_keys


@pytest.mark.parametrize(
    ("written", "keysyms"),
    [
        ("Return", ["Return"]),
        ("ENTER", ["Return"]),
        ("ctrl+s", ["Control_L", "s"]),
        ("CTRL+SHIFT+T", ["Control_L", "Shift_L", "T"]),
        ("cmd+Page_Down", ["Super_L", "Next"]),
        ("ArrowLeft", ["Left"]),
        ("F11", ["F11"]),
        ("KP_0", ["KP_0"]),
        ("XF86AudioPlay", ["XF86AudioPlay"]),
        ("ctrl+bracketleft", ["Control_L", "bracketleft"]),
        ("dead_acute", ["dead_acute"]),
        ("ctrl++", ["Control_L", "plus"]),
        ("+", ["plus"]),
        (" ", ["space"]),
        ("/", ["U002F"]),
        ("é", ["U00E9"]),
    ],
)
def test_a_key_is_known_by_the_names_people_and_models_have_for_it(written: str, keysyms: list[str]) -> None:
    assert parse_keys(written) == keysyms


@pytest.mark.parametrize("written", ["no such key", "a+b+c+d+e+f", "ctrl+;rm", "--window", "\x00", "+ +\n\n"])
def test_what_is_no_key_is_refused_with_words(written: str) -> None:
    with pytest.raises(UnknownKeyError):
        parse_keys(written)


@pytest.mark.parametrize(
    "command", ["exec", "search", "type", "sleep", "behave", "windowkill", "selectwindow", "get_desktop", "key", "help"]
)
def test_a_command_of_the_program_that_presses_keys_is_no_key(command: str) -> None:
    for written in (command, f"ctrl+{command}"):
        with pytest.raises(UnknownKeyError):
            parse_keys(written)
