"""How servers say that they know nothing of a session (any more): after a restart, or once it was idle for long.

Servers also hand on what others behind them say, after they did something: a page that is not there, a checkout that
expired. Only what can't be that is a session that was forgotten before anything was done.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal, cast

SESSION_HEADER = "mcp-session-id"
SessionLoss = Literal["forgotten", "doubtful"]
"""`forgotten`: the request was refused before anything was done. `doubtful`: the session may be lost, and what was
asked may have happened."""
_FORGOTTEN = re.compile(
    r"(?:(?:bad request|not found|error)\s*[:.-]\s*)?(?:"
    r"no (?:valid |such |active )(?:mcp )?session|no session (?:id|found)\b|no transport found for session"
    r"|(?:invalid|unknown|missing|expired)(?: or (?:invalid|unknown|missing|expired))? (?:mcp )?session[ _-]?id\b"
    r"|unknown (?:mcp )?session\b"
    r"|(?:mcp )?session(?:[ _-]?id)?[:\s]+['\"]?(?:[\w-]{8,80}['\"]?\s+)?(?:was |is |has been )?"
    r"(?:not found|unknown|terminated|invalid|missing|required|does not exist|doesn't exist)\b"
    r"|(?:the )?(?:server|session) (?:is )?not initialized\b"
    r"|could not find (?:the )?session\b"
    r")|.*\bmcp-session-id\b",
    re.IGNORECASE,
)
"""What the first line of an answer begins with, as in the SDKs of Python, TypeScript, Kotlin, Java, C# and Go."""
_EXPIRED = re.compile(r"(?:(?:the |mcp )?session|not found: session) (?:has |is )?(?:expired|closed)\b", re.IGNORECASE)
"""With the protocol's own status alone: elsewhere it is said of any session."""
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
_NONE = object()
"""What a body is that is no JSON."""
_MAX_LOOKED_AT = 4_000


def session_loss(status: int, body: bytes) -> SessionLoss | None:
    """Whether a request within a session was refused for that session.

    The protocol has the status 404 for it. With that and without JSON it is what stands before the server that
    answers, or the server before it did anything; several servers say 400, and in words what is wrong.
    """
    if status not in (400, 404, 410):
        return None
    value = _json(body)
    error = _error(value)
    if error.get("code") in (METHOD_NOT_FOUND, INVALID_PARAMS):
        return None
    said = body[:_MAX_LOOKED_AT].decode("utf-8", "replace").strip() if value is _NONE else _text(error)
    if status == 404 and (value is _NONE or _FORGOTTEN.match(said) or _EXPIRED.match(said)):
        return "forgotten"
    if status == 400 and _FORGOTTEN.match(said):
        return "forgotten"
    return "doubtful" if status != 400 or "session" in said.lower() else None


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return _NONE


def _error(value: object) -> dict[str, Any]:
    """Of JSON-RPC, or what else stands for it."""
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {"message": value}
    inner: Any = fields.get("error")
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else fields


def _text(error: dict[str, Any]) -> str:
    texts = (error.get(name) for name in ("message", "error", "detail"))
    return next((text for text in texts if isinstance(text, str)), "")[:_MAX_LOOKED_AT].strip()
