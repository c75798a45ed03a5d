"""How servers say that they know nothing of a session (any more): after a restart, or once it was idle for long."""

from __future__ import annotations

import json
import re
from typing import Any, cast

SESSION_HEADER = "mcp-session-id"
_OF_SESSION = re.compile(
    r"\bno (?:valid |such |active )?session|\b(?:invalid|unknown|expired|missing) session|mcp-session-id"
    r"|\bsession\b[\w\s:'\"-]{0,80}\b(?:not found|not exist|doesn't exist|unknown|expired|terminated|closed|invalid"
    r"|missing|required)|\bnot initialized\b|\b(?:could not|can't|cannot) find session",
    re.IGNORECASE,
)
_OF_METHOD_OR_ARGUMENTS = frozenset({-32601, -32602})
_MAX_LOOKED_AT = 4_000


def forgets_session(status: int, body: bytes) -> bool:
    """Whether a request within a session was refused for that session, before anything was done.

    The protocol has the status 404 for it, whatever the body is, unless that is an answer about the method; several
    servers say 400 or 410, and in words what is wrong.
    """
    if status not in (400, 404, 410):
        return False
    if _code(body) in _OF_METHOD_OR_ARGUMENTS:
        return False
    text = body[:_MAX_LOOKED_AT].decode("utf-8", "replace")
    return status != 400 or _OF_SESSION.search(text) is not None


def _code(body: bytes) -> int | None:
    """Of an error of JSON-RPC."""
    try:
        said: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    error: Any = cast("dict[str, Any]", said).get("error") if isinstance(said, dict) else None
    code: Any = cast("dict[str, Any]", error).get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) else None
