"""Recognises the answers by which servers say that a session is unknown: after a restart, or when it was idle for long.

Servers also pass on errors of other services after they did something: a missing page, an expired checkout. Only an
answer that can't be one of those counts as a session that was forgotten before anything was done.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal, cast

SESSION_HEADER = "mcp-session-id"
SessionLoss = Literal["forgotten", "doubtful"]
"""`forgotten`: the request was refused before anything was done. `doubtful`: the session may be lost, and the request
may have taken effect."""
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
"""The beginning of the first line of such an answer, in the SDKs for Python, TypeScript, Kotlin, Java, C# and Go."""
_EXPIRED = re.compile(r"(?:(?:the |mcp )?session|not found: session) (?:has |is )?(?:expired|closed)\b", re.IGNORECASE)
"""Counted only with the protocol's own status, since other services say this of sessions of any kind."""
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
_NONE = object()
"""Stands for a body that is not JSON."""
_MAX_LOOKED_AT = 4_000


def session_loss(status: int, body: bytes) -> SessionLoss | None:
    """Whether a request within a session was refused because the session is unknown.

    The protocol prescribes status 404. A 404 without JSON comes from a proxy, or from the server before it did
    anything; several servers answer 400 and say in words what is wrong.
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
    """The error object of JSON-RPC, or whatever stands in its place."""
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {"message": value}
    inner: Any = fields.get("error")
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else fields


def _text(error: dict[str, Any]) -> str:
    texts = (error.get(name) for name in ("message", "error", "detail"))
    return next((text for text in texts if isinstance(text, str)), "")[:_MAX_LOOKED_AT].strip()
