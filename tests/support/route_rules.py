"""Who may call what: one row a route of each service; those of some modules are in `of_modules`. A route without a row
fails tests/integration/authorisation.

A row gives the rule and a request that is valid but for who sends it, so that only the rule can refuse it. Each is
tried with every kind of token that must not pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import iter_route_contexts

from support.research.pdfs import pdf_of

Json = dict[str, Any]


class Kind(Enum):
    """What a caller must have."""

    OPEN = auto()
    USER = auto()
    """An access token."""
    OWNER = auto()
    """An access token of the owner of what the path names; for everybody else it does not exist."""
    TICKET = auto()
    """A one-use ticket for this session, in the query of a socket."""
    LINK = auto()
    """A signed link."""
    SERVICE = auto()
    """The manager's service token."""
    ENDPOINT = auto()
    """An endpoint token for this sandbox and generation with the scope of the row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row."""

    kind: Kind
    json: Json | None = None
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, tuple[str, bytes]] = field(default_factory=dict[str, tuple[str, bytes]])
    """Name and content of the file in each field of a form."""
    hidden_as: str = "session_not_found"
    """Code of the 404 a stranger gets."""
    scopes: tuple[str, ...] = ()
    """Each alone opens the route."""
    refused_with: int = 403
    """Status for a token of another scope."""


OPEN, USER, SERVICE, LINK, TICKET = (
    Rule(kind=kind) for kind in (Kind.OPEN, Kind.USER, Kind.SERVICE, Kind.LINK, Kind.TICKET)
)


def owner(**request: Any) -> Rule:
    return Rule(kind=Kind.OWNER, **request)


def endpoint(*scopes: str, **request: Any) -> Rule:
    return Rule(kind=Kind.ENDPOINT, scopes=scopes, **request)


_HELLO = {"text": "hello"}
_SCHEDULE = {"text": "hello", "cron": "0 9 * * *", "timezone": "UTC"}
_FILE = {"files": ("a.txt", b"text")}
_SKILL = {"archive": ("SKILL.md", b"---\nname: baking\ndescription: How to bake.\n---\nBake.")}
_BIBLIOGRAPHY = {"file": ("refs.bib", b"@misc{a, title={A title}, year={2001}}")}
_HOST = {"name": "Build", "host": "127.0.0.1", "port": 9, "username": "anna"}
_NOBODY = {"username": "nobody", "password": "nobody-password"}
_DOCS = {"GET /openapi.json": OPEN, "GET /docs": OPEN, "GET /docs/assets/{name}": OPEN}
_SESSION = "/api/sessions/{session_id}"

GATEWAY: dict[str, Rule] = _DOCS | {
    "GET /api/schema/events.json": OPEN,
    "GET /healthz": OPEN,
    "GET /readyz": OPEN,
    "GET /metrics": OPEN,
    "POST /api/auth/register": Rule(kind=Kind.OPEN, json=_NOBODY),
    "POST /api/auth/login": Rule(kind=Kind.OPEN, json=_NOBODY),
    "POST /api/auth/refresh": Rule(kind=Kind.OPEN, json={"refresh_token": "x"}),
    "GET /api/auth/status": OPEN,
    "GET /api/auth/me": USER,
    "POST /api/auth/password": Rule(
        kind=Kind.USER, json={"old_password": "password-password", "new_password": "long enough"}
    ),
    "POST /api/auth/logout": USER,
    "POST /api/auth/logout-all": USER,
    "POST /api/sessions": Rule(kind=Kind.USER, json={}),
    "GET /api/sessions": USER,
    "GET /api/events": USER,
    "GET /api/jobs": USER,
    "GET /api/jobs/{job_id}": owner(hidden_as="job_not_found"),
    "POST /api/jobs/{job_id}/cancel": owner(hidden_as="job_not_found"),
    "GET /api/usage": USER,
    "GET /api/tools": USER,
    "GET /api/models": USER,
    "GET /api/settings": USER,
    "POST /api/settings/models/test": Rule(kind=Kind.USER, json={"provider": "openai", "key": "sk-somebody-elses"}),
    "POST /api/settings/models/available": Rule(
        kind=Kind.USER, json={"provider": "openai", "key": "sk-somebody-elses"}
    ),
    "POST /api/settings/search/test": Rule(kind=Kind.USER, json={"provider": "brave", "key": "somebody-elses-key"}),
    "GET /api/settings/{category}/{key}": USER,
    "PUT /api/settings/{category}/{key}": Rule(kind=Kind.USER, json={"value": "dark"}),
    "DELETE /api/settings/{category}/{key}": USER,
    "GET /api/agents": USER,
    "PUT /api/agents/{name}": Rule(kind=Kind.USER, json={"description": "Bakes.", "prompt": "Bake."}),
    "DELETE /api/agents/{name}": USER,
    "GET /api/mcp": USER,
    "PUT /api/mcp/{server}": Rule(kind=Kind.USER, json={"url": "https://mcp.example.org"}),
    "DELETE /api/mcp/{server}": USER,
    "POST /api/mcp/{server}/test": USER,
    "POST /api/mcp/{server}/sign-in": USER,
    "DELETE /api/mcp/{server}/sign-in": USER,
    "GET /api/mcp/oauth/callback": OPEN,
    "GET /api/mcp/oauth/client.json": OPEN,
    "GET /api/skills": USER,
    "GET /api/skills/{name}": USER,
    "POST /api/skills": Rule(kind=Kind.USER, files=_SKILL),
    "DELETE /api/skills/{name}": USER,
    "GET /api/targets": USER,
    "GET /api/targets/choices": USER,
    "POST /api/targets": Rule(kind=Kind.USER, json=_HOST),
    "PATCH /api/targets/{target_id}": owner(hidden_as="target_not_found", json={"name": "Mine"}),
    "DELETE /api/targets/{target_id}": owner(hidden_as="target_not_found"),
    "POST /api/targets/{target_id}/test": owner(hidden_as="target_not_found"),
    "GET /api/corpus": USER,
    "GET /api/corpus/tags": USER,
    "GET /api/corpus/attached": Rule(kind=Kind.USER, params={"session_id": "none"}),
    "GET /api/corpus/export": USER,
    "POST /api/corpus/import": Rule(kind=Kind.USER, params={"format": "bibtex"}, files=_BIBLIOGRAPHY),
    "POST /api/corpus/match": Rule(
        kind=Kind.USER,
        files={"file": ("paper.pdf", pdf_of(["Of an unknown paper", "and some words about what was done in it"]))},
    ),
    "POST /api/corpus/sources/{source}/test": Rule(kind=Kind.USER, json={"key": "a-key"}),
    "POST /api/corpus": Rule(kind=Kind.USER, json={"id": "10.1000/nothing"}),
    "GET /api/corpus/{record_id}": USER,
    "PATCH /api/corpus/{record_id}": Rule(kind=Kind.USER, json={"notes": "mine now"}),
    "DELETE /api/corpus/{record_id}": USER,
    "GET /api/writing": USER,
    "POST /api/writing": Rule(kind=Kind.USER, json={"title": "A review"}),
    "GET /api/writing/styles": USER,
    "GET /api/writing/{project_id}": USER,
    "PATCH /api/writing/{project_id}": Rule(kind=Kind.USER, json={"title": "mine now"}),
    "DELETE /api/writing/{project_id}": USER,
    "PUT /api/writing/{project_id}/outline": Rule(kind=Kind.USER, json={"outline": [{"title": "mine now"}]}),
    "PUT /api/writing/{project_id}/sections/{section_id}": Rule(kind=Kind.USER, json={"text": "mine now"}),
    "POST /api/writing/{project_id}/sections/{section_id}/suggestion": Rule(kind=Kind.USER, json={"text": "mine now"}),
    "POST /api/writing/{project_id}/sections/{section_id}/suggestion/{suggestion_id}": Rule(kind=Kind.USER, json={}),
    "DELETE /api/writing/{project_id}/sections/{section_id}/suggestion/{suggestion_id}": USER,
    "POST /api/writing/{project_id}/bibliography": Rule(kind=Kind.USER, json={"record_id": "r1"}),
    "DELETE /api/writing/{project_id}/bibliography/{key}": USER,
    "GET /api/writing/{project_id}/revisions": USER,
    "GET /api/writing/{project_id}/revisions/{revision_id}": USER,
    "POST /api/writing/{project_id}/revisions/{revision_id}/restore": USER,
    "POST /api/writing/{project_id}/check": USER,
    "GET /api/writing/{project_id}/preview": USER,
    "POST /api/writing/{project_id}/export": Rule(kind=Kind.USER, params={"format": "markdown"}),
    "GET /api/schedules": USER,
    "POST /api/schedules": Rule(kind=Kind.USER, json=_SCHEDULE),
    "PATCH /api/schedules/{schedule_id}": owner(json={"text": "mine now"}, hidden_as="schedule_not_found"),
    "DELETE /api/schedules/{schedule_id}": owner(hidden_as="schedule_not_found"),
    "POST /api/schedules/{schedule_id}/run": owner(hidden_as="schedule_not_found"),
    "GET /api/presets": USER,
    "GET /api/search": USER,
    "GET /api/folders": USER,
    "POST /api/folders": Rule(kind=Kind.USER, json={"name": "Mine now"}),
    "PATCH /api/folders/{folder_id}": owner(json={"name": "mine now"}, hidden_as="folder_not_found"),
    "DELETE /api/folders/{folder_id}": owner(hidden_as="folder_not_found"),
    "GET /api/folders/{folder_id}/files": owner(hidden_as="folder_not_found"),
    "POST /api/folders/{folder_id}/files": owner(files=_FILE, hidden_as="folder_not_found"),
    "DELETE /api/folders/{folder_id}/files/{file_id}": owner(hidden_as="folder_not_found"),
    f"PUT {_SESSION}/folder": owner(json={"folder_id": None}),
    "GET /api/shares": USER,
    "DELETE /api/shares/{share_id}": owner(hidden_as="share_not_found"),
    f"GET {_SESSION}/shares": owner(),
    f"POST {_SESSION}/shares": owner(json={"mode": "snapshot"}),
    f"GET {_SESSION}/export": owner(),
    "GET /api/shared/{share_id}": OPEN,
    "POST /api/shared/{share_id}/unlock": Rule(kind=Kind.OPEN, json={"passphrase": "open sesame"}),
    "GET /api/shared/{share_id}/events": OPEN,
    "GET /api/shared/{share_id}/events/{seq}/body": OPEN,
    "GET /api/shared/{share_id}/stream": OPEN,
    "GET /api/shared/{share_id}/files": OPEN,
    f"GET {_SESSION}": owner(),
    f"PATCH {_SESSION}": owner(json={"title": "mine now"}),
    f"DELETE {_SESSION}": owner(),
    f"GET {_SESSION}/state": owner(),
    f"POST {_SESSION}/messages": owner(json=_HELLO),
    f"POST {_SESSION}/runs": owner(json=_HELLO),
    f"POST {_SESSION}/runs/stream": owner(json=_HELLO),
    f"POST {_SESSION}/read": owner(json={"seq": 1}),
    f"POST {_SESSION}/stop": owner(),
    f"POST {_SESSION}/runs/{{run_id}}/resume": owner(),
    f"POST {_SESSION}/compact": owner(),
    f"POST {_SESSION}/messages/{{message_id}}/edit": owner(json={"text": "mine now", "run": False}),
    f"POST {_SESSION}/messages/{{message_id}}/regenerate": owner(),
    f"POST {_SESSION}/messages/{{message_id}}/undo": owner(),
    f"DELETE {_SESSION}/messages/{{message_id}}": owner(),
    f"PUT {_SESSION}/path": owner(json={"message_id": "none"}),
    f"POST {_SESSION}/branch": owner(json={"message_id": "none"}),
    f"GET {_SESSION}/branches": owner(),
    f"DELETE {_SESSION}/branches/{{message_id}}": owner(),
    f"POST {_SESSION}/questions/{{question_id}}": owner(json={"answers": {"q1": "mine now"}}),
    f"POST {_SESSION}/approvals/{{approval_id}}": owner(json={"decision": "approve"}),
    f"POST {_SESSION}/plans/{{plan_id}}": owner(json={"decision": "approve"}),
    f"GET {_SESSION}/events": owner(),
    f"GET {_SESSION}/events/{{seq}}/body": owner(),
    f"GET {_SESSION}/events/{{seq}}/request": owner(),
    f"GET {_SESSION}/files": owner(),
    f"GET {_SESSION}/files/content": owner(params={"path": "a.txt"}),
    f"GET {_SESSION}/files/download": owner(params={"path": "a.txt"}),
    f"POST {_SESSION}/files": owner(files=_FILE),
    f"POST {_SESSION}/files/link": owner(json={"path": "a.txt"}),
    f"POST {_SESSION}/vnc/ticket": owner(json={"mode": "view"}),
    f"GET {_SESSION}/files/text": owner(params={"path": "a.txt"}),
    f"PUT {_SESSION}/files/text": owner(json={"path": "a.txt", "content": "mine", "if_match": None}),
    f"POST {_SESSION}/files/move": owner(json={"source": "a.txt", "destination": "b.txt"}),
    f"POST {_SESSION}/files/folder": owner(json={"path": "mine"}),
    f"DELETE {_SESSION}/files": owner(params={"path": "a.txt"}),
    f"POST {_SESSION}/terminal/ticket": owner(json={"terminal": "main"}),
    f"GET {_SESSION}/terminal": owner(),
    f"DELETE {_SESSION}/terminal/{{name}}": owner(),
    f"GET {_SESSION}/control": owner(),
    f"POST {_SESSION}/control": owner(json={"client": "window-of-mine"}),
    f"PUT {_SESSION}/control": owner(json={"client": "window-of-mine"}),
    f"DELETE {_SESSION}/control": owner(json={"note": "mine now"}),
    f"GET {_SESSION}/sandbox": owner(),
    f"POST {_SESSION}/sandbox": owner(),
    f"POST {_SESSION}/sandbox/renew": owner(),
    f"GET {_SESSION}/background": owner(),
    f"GET {_SESSION}/background/{{background_id}}": owner(),
    f"POST {_SESSION}/background/{{background_id}}/stop": owner(),
    f"GET {_SESSION}/resources": owner(),
    f"POST {_SESSION}/resources": owner(json={"title": "Notes", "kind": "note", "content": "mine"}),
    f"GET {_SESSION}/resources/{{resource_id}}": owner(),
    f"PATCH {_SESSION}/resources/{{resource_id}}": owner(json={"title": "mine now"}),
    f"DELETE {_SESSION}/resources/{{resource_id}}": owner(),
    f"GET {_SESSION}/draft": owner(),
    f"PUT {_SESSION}/draft": owner(json={"text": "mine", "version": 0}),
    f"DELETE {_SESSION}/draft": owner(params={"version": "0"}),
    f"GET {_SESSION}/changes": owner(),
    f"GET {_SESSION}/queue": owner(),
    f"POST {_SESSION}/queue": owner(json={"text": "mine"}),
    f"PATCH {_SESSION}/queue/{{queued_id}}": owner(json={"text": "mine now", "version": 1}),
    f"POST {_SESSION}/queue/order": owner(json={"ids": []}),
    f"POST {_SESSION}/queue/{{queued_id}}/send": owner(),
    f"DELETE {_SESSION}/queue/{{queued_id}}": owner(),
    f"POST {_SESSION}/tasks": owner(json={"subject": "mine"}),
    f"PATCH {_SESSION}/tasks/{{task_id}}": owner(json={"status": "completed"}),
    f"DELETE {_SESSION}/tasks/{{task_id}}": owner(),
    f"GET {_SESSION}/ports": owner(),
    f"POST {_SESSION}/ports": owner(json={"port": 3000, "label": "App"}),
    f"DELETE {_SESSION}/ports/{{port_id}}": owner(),
    f"POST {_SESSION}/ports/{{port_id}}/address": owner(),
    f"WS {_SESSION}/vnc": TICKET,
    f"WS {_SESSION}/terminal": TICKET,
    f"WS {_SESSION}/ws": owner(),
    f"GET {_SESSION}/snapshots": owner(),
    f"POST {_SESSION}/snapshots": owner(json={"name": "before"}),
    f"POST {_SESSION}/snapshots/{{snapshot_id}}/restore": owner(),
    f"DELETE {_SESSION}/snapshots/{{snapshot_id}}": owner(),
    "GET /api/files/{token}": LINK,
    "GET /api/files/{token}/{path:path}": LINK,
    "HEAD /api/files/{token}": LINK,
    "GET /{path:path}": OPEN,
}

WORKER: dict[str, Rule] = {
    "GET /healthz": OPEN,
    "GET /readyz": OPEN,
    "GET /metrics": OPEN,
}

_WORKSPACE = "/workspaces/{session_id}"
_OF_USER = {"user_id": "u1"}
_OWNED = {"session_id": "s1", "user_id": "u1"}

MANAGER: dict[str, Rule] = {
    "GET /openapi.json": OPEN,
    "GET /healthz": OPEN,
    "GET /readyz": OPEN,
    "GET /metrics": OPEN,
    "POST /sandboxes": Rule(kind=Kind.SERVICE, json=_OWNED),
    "GET /sandboxes": SERVICE,
    "GET /sandboxes/events": SERVICE,
    "GET /stats": SERVICE,
    "GET /choices": SERVICE,
    "GET /sandboxes/{sandbox_id}": SERVICE,
    "GET /sandboxes/{sandbox_id}/stats": SERVICE,
    "POST /sandboxes/{sandbox_id}/renew": SERVICE,
    "POST /sandboxes/{sandbox_id}/pause": SERVICE,
    "POST /sandboxes/{sandbox_id}/resume": SERVICE,
    f"GET {_WORKSPACE}/snapshots": Rule(kind=Kind.SERVICE, params=_OF_USER),
    f"POST {_WORKSPACE}/snapshots": Rule(kind=Kind.SERVICE, json={"name": "before"}, params=_OF_USER),
    f"POST {_WORKSPACE}/snapshots/{{snapshot_id}}/restore": Rule(kind=Kind.SERVICE, params=_OF_USER),
    f"DELETE {_WORKSPACE}/snapshots/{{snapshot_id}}": Rule(kind=Kind.SERVICE, params=_OF_USER),
    f"DELETE {_WORKSPACE}": Rule(kind=Kind.SERVICE, params=_OF_USER),
    "POST /sandboxes/{sandbox_id}/tokens": Rule(kind=Kind.SERVICE, json={"scopes": ["exec"]}),
    "DELETE /sandboxes/{sandbox_id}": SERVICE,
}

_ANY_SCOPE = ("exec", "files", "browser", "vnc:view", "vnc:control", "ports", "keep")

TOOL_API: dict[str, Rule] = {
    "GET /healthz": OPEN,
    "GET /tools": endpoint("exec"),
    "POST /tools/{name}": endpoint("exec", "files", "browser", json={"call_id": "never", "arguments": {}}),
    "POST /calls/{call_id}/cancel": endpoint("exec"),
    "GET /files": endpoint("files"),
    "GET /files/content": endpoint("files", params={"path": "a.txt"}),
    "GET /files/download": endpoint("files", params={"path": "a.txt"}),
    "POST /files": endpoint("files", files=_FILE),
    "GET /files/text": endpoint("files", params={"path": "a.txt"}),
    "PUT /files/text": endpoint("files", json={"path": "no/a.txt", "content": "", "if_match": "none"}),
    "POST /files/move": endpoint("files", json={"source": "none", "destination": "other"}),
    "POST /files/folder": endpoint("files", json={"path": "made"}),
    "DELETE /files": endpoint("files", params={"path": "none"}),
    "PUT /skills/{name}": endpoint("files"),
    "POST /mcp": endpoint(*_ANY_SCOPE, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
    "DELETE /mcp": endpoint(*_ANY_SCOPE),
    "POST /keep-alive": endpoint("keep", refused_with=401),
    "GET /metrics": endpoint(*_ANY_SCOPE),
    "WS /vnc": endpoint("vnc:view", "vnc:control"),
    "GET /terminals": endpoint("exec"),
    "DELETE /terminals/{name}": endpoint("exec"),
    "WS /terminals/{name}": endpoint("exec"),
    "WS /mcp-programs": endpoint("exec"),
    "WS /ports/{port}": endpoint("ports"),
}

TOOL_SCOPES: dict[str, str] = {
    "shell_": "exec",
    "code_run": "exec",
    "code_context": "exec",
    "code_restart": "exec",
    "code_close": "exec",
    "code_symbols": "files",
    "code_definition": "files",
    "code_references": "files",
    "background_": "exec",
    "check_background": "exec",
    "file_": "files",
    "save_to_": "files",
    "browser_": "browser",
    "desktop_": "browser",
}
"""Scope of each tool, by how its name begins."""


def scope_of(tool: str) -> str | None:
    """The scope that its row tells; None where it has no row."""
    return next((scope for beginning, scope in TOOL_SCOPES.items() if tool.startswith(beginning)), None)


def path_of(route: str, things: Mapping[str, str]) -> str:
    """The path of a route as a row names it, with these values for its parameters."""
    return route.partition(" ")[2].replace(":path}", "}").format_map(things)


def routes_of(app: FastAPI) -> list[str]:
    """Every route as a row names it, `WS` for sockets; a mounted application is one of `ANY`."""
    found: list[str] = []
    for route in iter_route_contexts(app.routes):
        kind = type(route.original_route).__name__
        methods: Iterable[str] = route.methods or (["WS"] if "WebSocket" in kind else ["ANY"])
        found += [f"{method} {route.path}" for method in methods if method != "HEAD" or "GET" not in methods]
    return found


def without_rule(app: FastAPI, rules: Mapping[str, Rule]) -> set[str]:
    """Routes nobody decided about."""
    return set(routes_of(app)) - rules.keys()


def routes_behind(app: FastAPI, check: object) -> set[str]:
    """Routes that depend on it, at any depth; sockets apart."""
    return {
        f"{method} {route.path}"
        for route in iter_route_contexts(app.routes)
        for method in route.methods or ()
        if (dependant := getattr(route, "dependant", None)) is not None and check in _callees_of(dependant)
    }


def _callees_of(dependant: Dependant) -> Iterator[object]:
    for one in dependant.dependencies:
        yield one.call
        yield from _callees_of(one)
