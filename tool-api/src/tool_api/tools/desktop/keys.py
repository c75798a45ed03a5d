"""Names of keys as models and people write them, as X knows them."""

from __future__ import annotations

import re

_MODIFIERS = {
    "ctrl": "Control_L", "control": "Control_L", "shift": "Shift_L", "alt": "Alt_L", "option": "Alt_L",
    "super": "Super_L", "meta": "Super_L", "cmd": "Super_L", "command": "Super_L", "win": "Super_L",
}  # fmt: skip
_NAMES = {
    "enter": "Return", "return": "Return", "esc": "Escape", "escape": "Escape", "tab": "Tab", "space": "space",
    "spacebar": "space", "backspace": "BackSpace", "delete": "Delete", "del": "Delete", "insert": "Insert",
    "home": "Home", "end": "End", "pageup": "Prior", "page_up": "Prior", "pagedown": "Next", "page_down": "Next",
    "up": "Up", "down": "Down", "left": "Left", "right": "Right", "arrowup": "Up", "arrowdown": "Down",
    "arrowleft": "Left", "arrowright": "Right", "capslock": "Caps_Lock", "numlock": "Num_Lock", "print": "Print",
    "printscreen": "Print", "menu": "Menu",
}  # fmt: skip
_CHARACTERS = {"+": "plus", "-": "minus", " ": "space", "\n": "Return", "\t": "Tab"}
_SIGNS = {
    "exclam", "quotedbl", "numbersign", "dollar", "percent", "ampersand", "apostrophe", "parenleft", "parenright",
    "asterisk", "plus", "comma", "minus", "period", "slash", "colon", "semicolon", "less", "equal", "greater",
    "question", "at", "bracketleft", "backslash", "bracketright", "asciicircum", "underscore", "grave", "braceleft",
    "bar", "braceright", "asciitilde",
}  # fmt: skip
_KEYSYM = re.compile(r"(?=.*[A-Z])[A-Za-z][A-Za-z0-9_]{0,39}|dead_[a-z]{1,30}")
"""Keysyms that may be used by name; of all-lowercase names only the ones above: xdotool runs `exec`, `search` and other
commands wherever it is to press a key of that name."""
MOST_TOGETHER = 5


class UnknownKeyError(ValueError):
    """No key has that name."""


def parse_keys(written: str) -> list[str]:
    """`ctrl+shift+t` as keysyms, in the order they go down. Raises `UnknownKeyError`."""
    head, last = (written[:-1].rstrip("+"), "+") if written.endswith("+") else ("", "")
    words = [word.strip() or word for word in (head if last else written).split("+")]
    names = [_keysym(word) for word in [*words, last] if word]
    if not names:
        raise UnknownKeyError("No key was given. Name one such as Return or ctrl+s.")
    if len(names) > MOST_TOGETHER:
        raise UnknownKeyError(
            f"At most {MOST_TOGETHER} keys can be pressed together. To enter text, use the action type."
        )
    return names


def _keysym(word: str) -> str:
    low = word.lower()
    if known := _MODIFIERS.get(low) or _NAMES.get(low) or _CHARACTERS.get(word):
        return known
    if re.fullmatch(r"f([1-9]|1[0-9]|2[0-4])", low):
        return low.upper()
    if len(word) == 1 and word.isprintable():
        return word if word.isascii() and word.isalnum() else f"U{ord(word):04X}"
    if word in _SIGNS or _KEYSYM.fullmatch(word):
        return word
    raise UnknownKeyError(f"There is no key {word[:40]!r}. Keys are such as Return, Escape, Page_Down, F5, a, ctrl+s.")
