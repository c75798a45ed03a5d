"""REST and WebSocket contract of the tool API, the one door of a sandbox.

| call | scope | body | answer |
|---|---|---|---|
| GET /healthz | open | | `DoorHealth` |
| GET /metrics | any | | Prometheus text |
| GET /tools | exec | | `list[ToolSpec]` |
| POST /tools/{name} | the tool's own | `ToolCall` | `application/x-ndjson` of `OutputFrame` then one `ResultFrame` |
| POST /calls/{call_id}/cancel | exec | | 204; the call's process group is gone when it answers |
| GET /files?path= | files | | `list[FileEntry]` |
| GET /files/content?path= | files | | `FileContent` |
| GET /files/download?path= | files | | bytes; a folder as zip |
| POST /files?subdir= | files | multipart `files` | 201 `Uploaded` |
| WS /vnc | vnc:view or vnc:control | binary RFB | close 4401 token, 4404 no desktop |

The token is `Authorization: Bearer <door token>`, a JWT (ES256, audience `tool-api`) with `sub` = sandbox id, `gen` =
generation, `scopes` = list of `Scope`, `exp`, `iat`, `jti`. Closing the connection of a running call cancels it:
its process group is killed. Paths are relative to the workspace, or absolute inside it; elsewhere is 403
`path_forbidden`. An infrastructure fault is a problem detail, never a `ResultFrame`.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_OUTPUT_CHARACTERS = 1_000_000
"""Bound of the whole text a tool call may return; the head and the tail of longer output are kept."""


class ToolSpec(BaseModel):
    """What the model, the UI and the runner know of a tool.

    `phrase` is a template over the arguments, such as `Running {command}`; `parameters` is JSON Schema.
    """

    model_config = ConfigDict(frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{1,63}$")
    description: str
    parameters: dict[str, Any]
    phrase: str
    scope: str
    read_only: bool
    dangerous: bool
    deadline_ms: int = Field(gt=0)


class ToolCall(BaseModel):
    """One call. `deadline_ms` overrides the tool's own when smaller."""

    model_config = ConfigDict(extra="forbid")

    call_id: str = Field(min_length=1, max_length=128)
    arguments: dict[str, Any]
    deadline_ms: int | None = Field(default=None, gt=0)


class ShellDisplay(BaseModel):
    """Shell view: the command, the named shell, its exit code (None while it still runs) and working directory."""

    type: Literal["shell"] = "shell"
    command: str
    shell: str
    exit_code: int | None = None
    cwd: str | None = None


class FileDisplay(BaseModel):
    """File view: a file read or written."""

    type: Literal["file"] = "file"
    path: str
    operation: Literal["read", "write", "append", "delete", "move", "list", "find", "search"]
    size: int | None = None
    entries: list[str] | None = None


class DiffDisplay(BaseModel):
    """Edit view: unified diff of one file."""

    type: Literal["diff"] = "diff"
    path: str
    diff: str


class BrowserDisplay(BaseModel):
    """Browser view: where the browser is; the screenshot (base64) is moved to the event's body by the gateway."""

    type: Literal["browser"] = "browser"
    url: str
    title: str = ""
    action: str = ""
    image: str | None = None
    image_media_type: str | None = None


class SearchHit(BaseModel):
    """One result of a web search."""

    title: str
    url: str
    snippet: str = ""


class SearchDisplay(BaseModel):
    """Web search view."""

    type: Literal["search"] = "search"
    query: str
    provider: str = ""
    results: list[SearchHit] = Field(default_factory=list[SearchHit])


class ImageDisplay(BaseModel):
    """Image view."""

    type: Literal["image"] = "image"
    path: str | None = None
    image: str | None = None
    image_media_type: str | None = None


class DocumentDisplay(BaseModel):
    """Document view: a file made for the user."""

    type: Literal["document"] = "document"
    path: str
    title: str = ""
    url: str | None = None


Display = Annotated[
    ShellDisplay | FileDisplay | DiffDisplay | BrowserDisplay | SearchDisplay | ImageDisplay | DocumentDisplay,
    Field(discriminator="type"),
]


class FailureKind(StrEnum):
    """The two ways a tool fails; both are results the model reads."""

    TRY_DIFFERENTLY = "try_differently"
    WILL_NOT_WORK = "will_not_work"


class ToolResult(BaseModel):
    """What the model reads (`output`) and what the UI shows (`display`)."""

    success: bool
    output: str
    failure: FailureKind | None = None
    truncated: bool = False
    display: Display | None = None
    changed_paths: list[str] = Field(default_factory=list[str])
    duration_ms: int = 0


class OutputFrame(BaseModel):
    """A piece of live output; `offset` counts Unicode code points from the start of the call's output."""

    type: Literal["output"] = "output"
    offset: int
    text: str


class ToldSpan(BaseModel):
    """A part of a call's time: sandboxes can't reach a trace collector, so they tell their caller. Milliseconds, from
    the arrival of the request."""

    name: str
    start_ms: float = Field(ge=0, allow_inf_nan=False)
    duration_ms: float = Field(ge=0, allow_inf_nan=False)


class ResultFrame(BaseModel):
    """The last line of a call's stream; `spans` where the request carried a `traceparent`."""

    type: Literal["result"] = "result"
    result: ToolResult
    spans: list[ToldSpan] | None = None


class FileEntry(BaseModel):
    """One entry of a folder. `path` is relative to the workspace, with `/`; `size` in bytes."""

    path: str
    name: str
    size: int
    modified_at: datetime
    is_dir: bool


class FileContent(BaseModel):
    """Preview of a file: text cut at 100 KB (`truncated`), `content` null when binary."""

    path: str
    name: str
    size: int
    content: str | None
    binary: bool
    language: str | None
    truncated: bool


class Uploaded(BaseModel):
    """Paths written by an upload, relative to the workspace."""

    uploaded: list[str]


class ServiceState(StrEnum):
    """State of one supervised service of the sandbox."""

    OFF = "off"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"


class DoorHealth(BaseModel):
    """`ready` once every wanted service is; `services` maps xvnc, window_manager, browser to their state."""

    ready: bool
    has_desktop: bool
    services: dict[str, ServiceState]
    version: str
