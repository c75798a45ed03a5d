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


def program_environment(display: str | None) -> dict[str, str]:
    """The tool API's environment without its own settings, tuned for output that is read as text."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_HIDDEN_PREFIXES)}
    return _DEFAULTS | kept | _PLAIN | ({"DISPLAY": display} if display else {})
