"""Picks the reason from an MCP server's standard error before it ended."""

from __future__ import annotations

import re

from tool_api.installed_paths import without_installed_paths

MAX_CHARACTERS = 1_000
_NPM = r"npm (?:error|ERR!)(?:\s+\S*\d{3})?\s*"
_SAYS_NOTHING = re.compile(
    rf"(?:{_NPM}|npm (?:notice|warn|WARN)\b.*|\[notice\].*|{_NPM}A complete log of this run can be found in:?.*"
    rf"|{_NPM}/\S+\.log|{_NPM}Note that you can also install from a|{_NPM}tarball, folder, http url, or git folder\.)"
)
"""Lines of npm and pip without a reason: empty but for the program's name, news of versions, and the place of a log in
the sandbox, which hardly anybody can read."""


def complaint(said: str) -> str:
    """The last lines that name a reason, or just the last lines, without the paths of installed Pythons."""
    lines = [line.rstrip() for line in without_installed_paths(said).splitlines() if line.strip()]
    telling = "\n".join(line for line in lines if not _SAYS_NOTHING.fullmatch(line.strip()))
    text = (telling or "\n".join(lines)).strip()
    return text if len(text) <= MAX_CHARACTERS else f"...{text[3 - MAX_CHARACTERS :]}"
