"""REST and WebSocket contract of the tool API, the one endpoint of a sandbox.

| call | scope | body | answer |
|---|---|---|---|
| GET /healthz | open | | `ToolApiHealth` |
| GET /metrics | any | | Prometheus text |
| GET /tools | exec | | `list[ToolSpec]` |
| POST /tools/{name} | the tool's own | `ToolCall` | `application/x-ndjson` of `OutputFrame` then one `ResultFrame` |
| POST /calls/{call_id}/cancel | exec | | 204; the call's process group is gone when it answers |
| POST, DELETE /mcp | any; a tool's own | MCP over streamable HTTP | the same tools, for MCP clients |
| GET /files?path= | files | | `list[FileEntry]` |
| GET /files/content?path= | files | | `FileContent` |
| GET /files/download?path= | files | | bytes; a folder as zip |
| POST /files?subdir= | files | multipart `files` | 201 `Uploaded` |
| WS /vnc | vnc:view or vnc:control | binary RFB | close 4401 token, 4404 no desktop |
| GET, PUT /files/text, POST /files/move, /files/folder, DELETE /files | files | as `contracts.files` says | |
| GET /terminals | exec | | `list[TerminalEntry]` |
| DELETE /terminals/{name} | exec | | 204; the terminal has ended with all it started |
| WS /terminals/{name}?after=&began= | exec | bytes and frames of `contracts.terminals` | close as it says |
| WS /ports/{port} | ports | bytes of a connection to a program of the sandbox | close as `contracts.ports` says |

The token is `Authorization: Bearer <endpoint token>`, a JWT (ES256, audience `tool-api`) with `sub` = sandbox id,
`gen` = generation, `scopes` = list of `Scope`, `exp`, `iat`, `jti`. Closing the connection of a running call cancels
it: its process group is killed. Paths are relative to the workspace, or absolute inside it; elsewhere is 403
`path_forbidden`. An infrastructure fault is a problem detail, never a `ResultFrame`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MAX_OUTPUT_CHARACTERS = 1_000_000
"""Bound of the whole text a tool call may return; the head and the tail of longer output are kept."""
MAX_LISTED = 5000
"""The most entries of one folder that are listed."""
MAX_CHANGED_PATHS = 1000
MAX_INSTRUCTIONS = 8
"""The most folders of one call whose instructions are included."""
MAX_INSTRUCTION_CHARACTERS = 8_000
"""The longest instructions of one folder; the rest is left out, with a remark at the end."""
MAX_BACKGROUND_RUNNING = 8
"""The most commands in the background of one sandbox at a time."""
BACKGROUND_TIMEOUT_S = 300
"""The default timeout of a background command."""
MAX_BACKGROUND_TIMEOUT_S = 24 * 3600

# Answers of a sandbox are untrusted: every text, list and number has a bound. The bounds lie well above what the tool
# API sends, so that an honest one never meets them.
LARGEST_NUMBER = 2**63 - 1
Count = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
Milliseconds = Annotated[int, Field(ge=0, le=10**9)]
Name = Annotated[str, Field(max_length=1024)]
Path = Annotated[str, Field(max_length=16_384)]
Title = Annotated[str, Field(max_length=16_384)]
Url = Annotated[str, Field(max_length=65_536)]
Text = Annotated[str, Field(max_length=MAX_OUTPUT_CHARACTERS + 100_000)]
Image = Annotated[str, Field(max_length=4_000_000)]
MediaType = Annotated[str, Field(max_length=100)]


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError("not a date in UTC") from error


Moment = Annotated[datetime, AfterValidator(_in_utc)]


class ToolSpec(BaseModel):
    """The definition of a tool for the model, the UI and the runner.

    `phrase` is a template over the arguments, such as `Running {command}`; `parameters` is JSON Schema. A tool that
    `waits` for something is called again with the same arguments until that has come.
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
    waits: bool = False


class ToolCall(BaseModel):
    """One call. Its time limit is the tool's own `deadline_ms`; a caller that gives up earlier cancels it."""

    model_config = ConfigDict(extra="forbid")

    call_id: str = Field(min_length=1, max_length=128)
    arguments: dict[str, Any]


BackgroundState = Literal["running", "ended", "timed_out", "stopped", "unknown"]
"""States of a background command: `unknown` is one that this sandbox never ran, or has forgotten."""


class ShellDisplay(BaseModel):
    """Shell view: the command, the named shell, its exit code (None while it still runs) and working directory. For a
    command in the background `shell` is its id and `background` its state."""

    type: Literal["shell"] = "shell"
    command: Text
    shell: Name
    exit_code: int | None = Field(default=None, ge=-(2**31), le=2**31)
    cwd: Path | None = None
    background: BackgroundState | None = None


class FileDisplay(BaseModel):
    """File view: a file read or written. Of a write `replaced` says whether there was a file (None: unknown), and
    `diff` what changed in it, unless that is too long or the file was no text."""

    type: Literal["file"] = "file"
    path: Path
    operation: Literal["read", "write", "append", "delete", "move", "list", "find", "search"]
    size: Count | None = None
    entries: list[Path] | None = Field(default=None, max_length=MAX_LISTED)
    replaced: bool | None = None
    diff: Text | None = None


class DiffDisplay(BaseModel):
    """Edit view: unified diff of one file."""

    type: Literal["diff"] = "diff"
    path: Path
    diff: Text


class BrowserDisplay(BaseModel):
    """Browser view: the browser's page; the screenshot (base64) is moved to the event's body by the gateway."""

    type: Literal["browser"] = "browser"
    url: Url
    title: Title = ""
    action: Name = ""
    image: Image | None = None
    image_media_type: MediaType | None = None


class DesktopDisplay(BaseModel):
    """Desktop view: the action; the screenshot (base64) is moved to the event's body by the gateway. `width` and
    `height` are its pixels, `pointer_x` and `pointer_y` the pointer's position in it; None for a picture of a part."""

    type: Literal["desktop"] = "desktop"
    action: Name = ""
    width: Count
    height: Count
    pointer_x: Count | None = None
    pointer_y: Count | None = None
    image: Image | None = None
    image_media_type: MediaType | None = None


class SearchHit(BaseModel):
    """One result of a web search."""

    title: Title
    url: Url
    snippet: Text = ""


class SearchDisplay(BaseModel):
    """Web search view."""

    type: Literal["search"] = "search"
    query: Text
    provider: Name = ""
    results: list[SearchHit] = Field(default_factory=list[SearchHit], max_length=1000)


class FindingItem(BaseModel):
    """A finding of an agent, with the record of the corpus, the place in it and the passage that it rests on."""

    claim: Text
    quote: Text
    record: Name
    title: Title
    place: Text
    url: Url = ""


class FindingsDisplay(BaseModel):
    """View of a research agent's findings; `refused` is the number of findings that could not be confirmed."""

    type: Literal["findings"] = "findings"
    items: list[FindingItem] = Field(default_factory=list[FindingItem], max_length=100)
    refused: int = 0


class ImageDisplay(BaseModel):
    """Image view."""

    type: Literal["image"] = "image"
    path: Path | None = None
    image: Image | None = None
    image_media_type: MediaType | None = None


class DocumentDisplay(BaseModel):
    """Document view: a file made for the user."""

    type: Literal["document"] = "document"
    path: Path
    title: Title = ""
    url: Url | None = None


MAX_TABLE_ROWS = 100
MAX_TABLE_COLUMNS = 30
MAX_CODE_OUTPUTS = 250
MAX_CODE_PICTURES = 8
MAX_CODE_PICTURES_BYTES = 3_000_000
"""The most bytes of all pictures of one call."""
Cell = Annotated[str, Field(max_length=200)]
Cells = Annotated[list[Cell], Field(max_length=MAX_TABLE_COLUMNS)]


class CodeText(BaseModel):
    """Output of code, or the text form of a result."""

    type: Literal["text"] = "text"
    text: Text
    is_error: bool = False


class CodeTable(BaseModel):
    """A table that code showed; each row has as many cells as there are columns."""

    type: Literal["table"] = "table"
    columns: Cells
    rows: list[Cells] = Field(max_length=MAX_TABLE_ROWS)
    caption: Cell = ""


class CodePicture(BaseModel):
    """A picture that code showed. The gateway moves it (base64) to the event's body, of which it is a `part`."""

    type: Literal["picture"] = "picture"
    image: Image | None = None
    image_media_type: MediaType | None = None
    part: Count | None = None


class CodeDisplay(BaseModel):
    """Code view: the outputs of code, in their order. `is_cut`: there is more text."""

    type: Literal["code"] = "code"
    language: Name
    context: Name
    outputs: list[Annotated[CodeText | CodeTable | CodePicture, Field(discriminator="type")]] = Field(
        default_factory=list[CodeText | CodeTable | CodePicture], max_length=MAX_CODE_OUTPUTS
    )
    is_cut: bool = False


MAX_CODE_PLACES = 500


class CodePlace(BaseModel):
    """A definition in source code, or a line where a name is used; `container` is the definition around it."""

    path: Path
    line: int = Field(ge=1, le=LARGEST_NUMBER)
    end_line: int = Field(ge=1, le=LARGEST_NUMBER)
    kind: Name
    name: Name
    container: Name = ""
    text: Title = ""


class NavigationDisplay(BaseModel):
    """Code navigation view: places in source code, in their order. `path` is the place searched, `subject` the term."""

    type: Literal["navigation"] = "navigation"
    path: Path
    subject: Title
    places: list[CodePlace] = Field(default_factory=list[CodePlace], max_length=MAX_CODE_PLACES)
    is_cut: bool = False


Display = Annotated[
    ShellDisplay
    | FileDisplay
    | DiffDisplay
    | BrowserDisplay
    | DesktopDisplay
    | SearchDisplay
    | FindingsDisplay
    | ImageDisplay
    | DocumentDisplay
    | CodeDisplay
    | NavigationDisplay,
    Field(discriminator="type"),
]


class FolderInstructions(BaseModel):
    """Instructions for work in a folder and below it, from its `AGENTS.md` (`path`)."""

    path: Path
    text: str = Field(min_length=1, max_length=MAX_INSTRUCTION_CHARACTERS)


class ToolResult(BaseModel):
    """The result for the model (`output`) and the view for the UI (`display`). If the output is a terminal's rendering
    of a program's output, `raw_output` is the original, if that differs. `removed_paths` are the `changed_paths` that
    no longer exist, and `instructions` those of the folders it worked in, from the workspace down."""

    success: bool
    output: Text
    raw_output: Text | None = None
    display: Display | None = None
    changed_paths: list[Path] = Field(default_factory=list[Path], max_length=MAX_CHANGED_PATHS)
    removed_paths: list[Path] = Field(default_factory=list[Path], max_length=MAX_CHANGED_PATHS)
    instructions: list[FolderInstructions] = Field(
        default_factory=list[FolderInstructions], max_length=MAX_INSTRUCTIONS
    )
    duration_ms: Milliseconds = 0


class OutputFrame(BaseModel):
    """A piece of live output; `offset` counts Unicode code points from the start of the call's output."""

    type: Literal["output"] = "output"
    offset: Count
    text: Text


class RemoteSpan(BaseModel):
    """A part of a call's time: sandboxes can't reach a trace collector, so they report to their caller. Milliseconds,
    from the arrival of the request."""

    name: Name
    start_ms: float = Field(ge=0, le=1e12, allow_inf_nan=False)
    duration_ms: float = Field(ge=0, le=1e12, allow_inf_nan=False)


class ResultFrame(BaseModel):
    """The last line of a call's stream; it has `spans` if the request carried a `traceparent`."""

    type: Literal["result"] = "result"
    result: ToolResult
    spans: list[RemoteSpan] | None = Field(default=None, max_length=100)


class FileEntry(BaseModel):
    """One entry of a folder. `path` is relative to the workspace, with `/`; `size` in bytes."""

    path: Path
    name: Name
    size: Count
    modified_at: Moment
    is_dir: bool


class FileContent(BaseModel):
    """Preview of a file: text cut at 100 KB (`truncated`), `content` null if binary. `encoding` is that of the file;
    the content is text in any case."""

    path: Path
    name: Name
    size: Count
    content: Text | None
    binary: bool
    language: Name | None
    truncated: bool
    encoding: Name | None = None


class Uploaded(BaseModel):
    """Paths written by an upload, relative to the workspace."""

    uploaded: list[Path] = Field(max_length=MAX_CHANGED_PATHS)


class SkillPlaced(BaseModel):
    """The path of a skill's folder."""

    path: str = Field(max_length=200)


class ServiceState(StrEnum):
    """State of one supervised service of the sandbox."""

    OFF = "off"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"


class ToolApiHealth(BaseModel):
    """`ready` once every wanted service is; `services` maps xvnc, window_manager, browser to their state."""

    ready: bool
    has_desktop: bool
    services: dict[str, ServiceState]
    version: str
