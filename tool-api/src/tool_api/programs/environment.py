"""The environment of programs that the agent starts."""

from __future__ import annotations

import os

_HIDDEN_PREFIXES = ("SANDBOX_", "PYTHON")
_DEFAULTS = {"PATH": os.defpath, "LANG": "C.UTF-8"}
_PLAIN = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "DEBIAN_FRONTEND": "noninteractive",
    "SHELL": "/bin/bash",
    "PS1": "",
    "PS2": "",
}


_ON_TERMINAL = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "SHELL": "/bin/bash"}


def program_environment(display: str | None) -> dict[str, str]:
    """The tool API's environment without its own settings, tuned for output that is read as text."""
    return _kept() | _PLAIN | _display(display)


def terminal_environment(display: str | None) -> dict[str, str]:
    """The same environment for a terminal that a person looks at: with colours, pagers and editors."""
    return _kept() | _ON_TERMINAL | _display(display)


def _kept() -> dict[str, str]:
    return _DEFAULTS | {key: value for key, value in os.environ.items() if not key.startswith(_HIDDEN_PREFIXES)}


def _display(display: str | None) -> dict[str, str]:
    return {"DISPLAY": display} if display else {}
