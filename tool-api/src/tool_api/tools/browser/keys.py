"""Names of keys as people write them, as Chrome's control protocol wants them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MODIFIERS = {"alt": 1, "control": 2, "ctrl": 2, "meta": 4, "cmd": 4, "shift": 8}
ALIASES = {
    "return": "enter",
    "esc": "escape",
    "del": "delete",
    "up": "arrowup",
    "down": "arrowdown",
    "left": "arrowleft",
    "right": "arrowright",
    "spacebar": "space",
}
# Name, key code and, where the key writes something, its text.
NAMED: dict[str, tuple[str, int, str]] = {
    "enter": ("Enter", 13, "\r"),
    "tab": ("Tab", 9, ""),
    "escape": ("Escape", 27, ""),
    "backspace": ("Backspace", 8, ""),
    "delete": ("Delete", 46, ""),
    "insert": ("Insert", 45, ""),
    "space": (" ", 32, " "),
    "home": ("Home", 36, ""),
    "end": ("End", 35, ""),
    "pageup": ("PageUp", 33, ""),
    "pagedown": ("PageDown", 34, ""),
    "arrowleft": ("ArrowLeft", 37, ""),
    "arrowup": ("ArrowUp", 38, ""),
    "arrowright": ("ArrowRight", 39, ""),
    "arrowdown": ("ArrowDown", 40, ""),
    **{f"f{number}": (f"F{number}", 111 + number, "") for number in range(1, 13)},
}


class UnknownKeyError(ValueError):
    """No key has that name."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key press: down and up again."""

    name: str
    code: str
    key_code: int
    text: str
    modifiers: int

    def events(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Parameters of the two key events."""
        same: dict[str, Any] = {
            "key": self.name,
            "code": self.code,
            "windowsVirtualKeyCode": self.key_code,
            "modifiers": self.modifiers,
        }
        down = {**same, "type": "keyDown" if self.text else "rawKeyDown"}
        if self.text:
            down |= {"text": self.text, "unmodifiedText": self.text}
        return down, {**same, "type": "keyUp"}


def parse_key(written: str) -> Key:
    """`Control+Shift+K` and the like. Raises `UnknownKeyError`."""
    head, last = written[:-1], written[-1:]
    if last != "+":
        head, _, last = written.rpartition("+")
    last = last if last == " " else last.strip()
    modifiers = 0
    for word in filter(None, head.rstrip("+").split("+")):
        if word.strip().lower() not in MODIFIERS:
            raise UnknownKeyError(f"{word.strip()!r} is not a modifier; there are Control, Shift, Alt and Meta")
        modifiers |= MODIFIERS[word.strip().lower()]
    name = ALIASES.get(last.lower(), last.lower())
    if name in NAMED:
        key, code, text = NAMED[name]
        return Key(key, "Space" if name == "space" else key, code, text, modifiers)
    if len(last) != 1:
        raise UnknownKeyError(f"there is no key {last!r}")
    if modifiers and last.isascii() and last.isalpha():
        last = last.upper() if modifiers & MODIFIERS["shift"] else last.lower()
    writes = "" if modifiers & ~MODIFIERS["shift"] else last
    if last.isascii() and last.isalpha():
        return Key(last, f"Key{last.upper()}", ord(last.upper()), writes, modifiers)
    digit = last.isascii() and last.isdigit()
    return Key(last, f"Digit{last}" if digit else "", ord(last) if digit else 0, writes, modifiers)
