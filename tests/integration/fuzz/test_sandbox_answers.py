"""Whatever a sandbox answers, a call of it ends in a result or in an error that says so, and in nothing else."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from backend_api.agent.tool import Done, ToolCall
from backend_api.kit.errors import DomainError
from backend_api.sandboxes.domain.content import inert_type
from backend_api.sandboxes.http.user_content import content_headers
from backend_api.sandboxes.ports import Upload
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.problems import error_of
from backend_api.sandboxes.tool_api.sandbox_tools import ToolApiSandboxTools, outcome_of
from backend_api.sandboxes.tool_api.screens import ToolApiScreens
from backend_api.sandboxes.tool_api.workspace import ToolApiWorkspace
from contracts.tools import ToolResult
from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.infrastructure.runtimes.sandbox_profile import KEPT_LINE, report_of
from support.endpoint_victim import FixedTokens
from support.fuzzing import EXAMPLES, SEED
from support.gateway_sandboxes import a_sandbox
from support.hostile_endpoint import Wire, frame, head, hostile_endpoint

pytestmark = pytest.mark.thorough

ENDED_S = 20.0
MANY = EXAMPLES * 25
LARGEST = 2**63 - 1
COMPUTER = a_sandbox(has_desktop=True)
CALL = ToolCall(session_id="s", user_id="u", run_id="r", call_id="call-1", name="shell_exec")
TYPES = ("shell", "file", "diff", "browser", "search", "image", "document", "what")
FIELDS = (
    *("type", "result", "output", "success", "text", "offset", "display", "changed_paths", "duration_ms", "spans"),
    *("path", "name", "size", "modified_at", "is_dir", "command", "shell", "exit_code", "url", "image", "entries"),
    *("content", "binary", "language", "truncated", "uploaded", "unused_s", "disk_bytes", "disk_files", "resting"),
    *("title", "status", "detail", "code", "errors", "field", "message", "operation", "diff", "query", "results"),
)
texts = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["../..", "/etc/passwd", "a\0b", "\u202e", "output", "result", "2026-01-01T00:00:00Z", *TYPES]),
)
numbers = st.one_of(st.integers(), st.floats(), st.sampled_from([2**63, -(2**63), 10**400, 1e308, -0.0]))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(st.sampled_from(FIELDS), texts), inner, max_size=8)
    ),
    max_leaves=25,
)
# Nearly right: a result whose fields are of any kind.
results = st.fixed_dictionaries(
    {"type": st.sampled_from(["result", "output", "what"]), "text": values, "offset": values},
    optional={
        "result": st.fixed_dictionaries(
            {"success": st.one_of(st.booleans(), values), "output": st.one_of(texts, values)},
            optional={
                "display": st.fixed_dictionaries(
                    {"type": st.sampled_from(TYPES)},
                    optional=dict.fromkeys(("path", "url", "image", "command", "shell", "entries", "size"), values),
                ),
                "changed_paths": st.one_of(st.lists(texts, max_size=3), values),
                "duration_ms": values,
            },
        ),
        "spans": values,
    },
)
entries = st.lists(
    st.fixed_dictionaries(
        {
            "path": texts,
            "name": texts,
            "size": numbers,
            "modified_at": st.one_of(texts, numbers),
            "is_dir": st.one_of(st.booleans(), values),
        }
    ),
    max_size=3,
)


def damaged(told: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    """As JSON, perhaps cut or with other bytes in it, once or several times."""

    @st.composite
    def made(draw: st.DrawFn) -> bytes:
        whole = json.dumps(draw(told)).encode()
        at = draw(st.integers(0, len(whole)))
        noise = draw(st.binary(max_size=8))
        return draw(st.sampled_from([whole, whole, whole, whole[:at], whole[:at] + noise + whole[at:]]))

    return made()


bodies = st.one_of(
    damaged(values),
    damaged(results),
    damaged(entries),
    st.binary(max_size=300),
    st.lists(damaged(results), max_size=4).map(b"\n".join),
)
lines = st.sampled_from(
    [
        "Content-Type: application/json",
        "Content-Encoding: gzip",
        "Content-Encoding: identity",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Content-Length: 0",
        "Content-Length: 5",
        "Content-Length: 5, 5",
        "Content-Length: -1",
        "Content-Length: 99999999999999999999999",
        "Content-Disposition: attachment; filename*=utf-8''%ff%00",
        "Location: http://127.0.0.1:1/",
        "Set-Cookie: a=b",
        "Retry-After: -1",
        "Connection: keep-alive",
        "Connection: upgrade",
        "Upgrade: websocket",
        "\x00: \x00",
        ": no name",
        " folded",
        "X: \xff",
    ]
)
statuses = st.sampled_from(
    [
        *(
            "200 OK",
            "200",
            "201 Made",
            "204 No",
            "206 Part",
            "100 Go on",
            "101 Switch",
            "199 x",
            "301 There",
            "304 Same",
        ),
        *("400 No", "401 Who", "403 No", "404 None", "409 Not now", "413 Much", "422 Bad", "429 Slow"),
        *("500 Oh", "503 Away", "600 What", "999 What", "99 x", "abc", "-1 x", "\xff"),
    ]
)


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    """Raw: a head and a body that need not fit it, or no head at all."""
    body = draw(bodies)
    headers = draw(st.lists(lines, max_size=4))
    if draw(st.booleans()):
        headers.append(f"Content-Length: {len(body)}")
    told = head(*headers, status=draw(statuses)) if draw(st.integers(0, 9)) else draw(st.binary(max_size=60))
    return told + body


_T = TypeVar("_T")
Ask = Callable[[Endpoints], Coroutine[Any, Any, object]]


Test = Callable[..., None]


def each(strategy: st.SearchStrategy[_T], count: int = EXAMPLES * 8) -> Callable[[Test], Test]:
    def decorate(test: Test) -> Test:
        quiet = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
        chosen = settings(max_examples=count, deadline=None, database=None, suppress_health_check=quiet)
        return seeded(SEED)(chosen(given(strategy)(test)))

    return decorate


async def asked(folder: Path, sent: bytes, ask: Ask) -> object:
    """What becomes of a call that is answered so. Fails on what is no error of ours."""

    async def behave(wire: Wire) -> None:
        await wire.send(sent)

    async with (
        hostile_endpoint(folder / "door.sock", behave) as endpoint,
        Endpoints(FixedTokens(f"unix:{endpoint}")) as endpoints,
    ):
        async with asyncio.timeout(ENDED_S):
            try:
                return await ask(endpoints)
            except DomainError:
                return None


async def call(endpoints: Endpoints) -> object:
    async def on_output(text: str) -> None:
        text.encode()

    return await ToolApiSandboxTools(endpoints).call(COMPUTER, replace(CALL, on_output=on_output))


async def saved(endpoints: Endpoints) -> object:
    async with ToolApiWorkspace(endpoints).download(COMPUTER, "a.html") as download:
        return [chunk async for chunk in download.chunks]


async def nothing() -> AsyncIterator[Upload]:
    """An upload of no file."""
    for file in ():
        yield file


ASKS: dict[str, Ask] = {
    "call": call,
    "list": lambda endpoints: ToolApiWorkspace(endpoints).list(COMPUTER, ""),
    "preview": lambda endpoints: ToolApiWorkspace(endpoints).preview(COMPUTER, "a"),
    "download": saved,
    "upload": lambda endpoints: ToolApiWorkspace(endpoints).upload(COMPUTER, "", nothing()),
}


def fits_the_store(value: object) -> bool:
    """Whether it can be written as it is: no number over 64 bits, no half of a letter."""
    if isinstance(value, dict):
        return all(fits_the_store(key) and fits_the_store(one) for key, one in value.items())
    if isinstance(value, list):
        return all(map(fits_the_store, value))
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() == value
    return not isinstance(value, int) or -LARGEST - 1 <= value <= LARGEST


@pytest.mark.parametrize("name", ASKS)
def test_raw_answers_end_in_a_result_or_an_error(name: str, tmp_path: Path) -> None:
    @each(answers())
    def tried(sent: bytes) -> None:
        asyncio.run(asked(tmp_path, sent, ASKS[name]))

    tried()


def test_frames_of_a_call_end_in_a_result_that_can_be_stored(tmp_path: Path) -> None:
    @each(st.lists(damaged(results), min_size=1, max_size=4).map(b"\n".join), MANY)
    def tried(body: bytes) -> None:
        told = asyncio.run(asked(tmp_path, head(f"Content-Length: {len(body)}") + body, call))
        if told is not None:
            assert isinstance(told, Done)
            assert fits_the_store([told.output, told.display, told.changed_paths, told.duration_ms])

    tried()


def test_entries_are_names_or_none(tmp_path: Path) -> None:
    @each(damaged(entries), MANY)
    def tried(body: bytes) -> None:
        told = asyncio.run(asked(tmp_path, head(f"Content-Length: {len(body)}") + body, ASKS["list"]))
        for entry in told if isinstance(told, list) else []:
            assert "/" not in entry.name
            assert entry.path.rpartition("/")[2] == entry.name
            assert ".." not in entry.path.split("/")
            assert 0 <= entry.size <= LARGEST

    tried()


@each(st.one_of(damaged(values), damaged(st.fixed_dictionaries({"unused_s": values, "disk_bytes": values}))), MANY)
def test_a_report_is_numbers_or_none(told: bytes) -> None:
    for line in (told.decode("latin-1"), KEPT_LINE + told.decode("latin-1")):
        try:
            report = report_of(line)
        except EngineUnavailableError:
            continue
        assert 0 <= report.unused_s < 1e10
        assert report.disk_bytes is None or 0 <= report.disk_bytes <= LARGEST


@each(st.tuples(st.integers(400, 599), bodies), MANY)
def test_a_problem_is_an_error_of_ours(told: tuple[int, bytes]) -> None:
    assert len(error_of(*told).detail) < 5_000


@each(st.tuples(st.one_of(texts, st.text(alphabet=st.characters(), max_size=300)), st.binary(max_size=64)), MANY)
def test_what_is_served_has_headers_that_are_one_line(told: tuple[str, bytes]) -> None:
    name, content = told
    headers = content_headers(name, content, shown=True)
    httpx.Headers(headers)
    assert all(value.isascii() and value.isprintable() for value in headers.values())
    assert "script" not in inert_type(name, content)
    assert inert_type(name, content).partition("/")[0] in ("text", "image", "audio", "video", "application")


@st.composite
def conversations(draw: st.DrawFn) -> bytes:
    """Frames of a WebSocket, whole or not."""
    sent = b""
    for _ in range(draw(st.integers(0, 8))):
        opcode = draw(st.sampled_from([0, 1, 2, 3, 7, 8, 9, 10, 15]))
        payload = draw(st.binary(max_size=200))
        length = draw(st.sampled_from([None, None, None, 0, 125, 65_535, 2**20, 2**40, 2**63]))
        told = frame(opcode, payload, fin=draw(st.booleans()), length=length if length != 2**63 else 2**63 - 1)
        sent += bytes([told[0] | draw(st.sampled_from([0, 0, 0, 0x40, 0x10]))]) + told[1:]
    return sent


def test_frames_of_a_screen_end_it_or_go_on(tmp_path: Path) -> None:
    async def watch(sent: bytes) -> None:
        async def behave(wire: Wire) -> None:
            await wire.open_socket()
            await wire.send(sent)

        async with (
            hostile_endpoint(tmp_path / "door.sock", behave) as endpoint,
            Endpoints(FixedTokens(f"unix:{endpoint}")) as endpoints,
        ):
            async with asyncio.timeout(ENDED_S):
                try:
                    async with ToolApiScreens(endpoints).open(COMPUTER, control=False) as screen:
                        async for data in screen.frames():
                            assert isinstance(data, bytes)
                except DomainError:
                    return

    @each(conversations())
    def tried(sent: bytes) -> None:
        asyncio.run(watch(sent))

    tried()


@each(st.binary(max_size=80).map(base64.b64encode))
def test_a_picture_is_one_or_none(told: bytes) -> None:
    line = {"success": True, "output": "", "display": {"type": "image", "image": told.decode()}}
    outcome = outcome_of(ToolResult.model_validate(line))
    assert outcome.body is None or outcome.body_media_type in ("image/png", "image/jpeg", "image/webp")
