"""Terminals with real shells behind real WebSockets."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from contracts.sandboxes import Scope
from contracts.terminals import MAX_TERMINALS, MAX_TYPED_BYTES, MAX_VIEWERS, CloseCode
from support.endpoint import KeyPair
from support.listening import serving
from tool_api.access import Access
from tool_api.http.terminals import terminals_router
from tool_api.programs import processes
from tool_api.terminals import terminal as module
from tool_api.terminals import viewing
from tool_api.terminals.backlog import KEPT_BYTES
from tool_api.terminals.terminals import Terminals

KEYS = KeyPair()
SHOWN_S = 20.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Without settings of whoever runs the tests."""
    made = tmp_path / "home"
    made.mkdir()
    monkeypatch.setenv("HOME", str(made))
    return made


@dataclass(slots=True)
class Endpoint:
    """The routes alone, on a unix socket."""

    path: Path
    terminals: Terminals
    workspace: Path


@asynccontextmanager
async def endpoint(folder: Path, *, is_allowed: bool = True) -> AsyncGenerator[Endpoint]:
    app, path, workspace = FastAPI(), folder / "door.sock", folder / "workspace"
    workspace.mkdir()
    access = Access(sandbox_id="sandbox-1", generation=1, public_key_pem=KEYS.public_pem)
    async with Terminals(workspace) as terminals:
        app.state.services = _Services(access)
        app.include_router(terminals_router(access, terminals, is_allowed=is_allowed))
        config = uvicorn.Config(app, uds=str(path), log_level="error", ws_per_message_deflate=False)
        async with serving(uvicorn.Server(config)):
            yield Endpoint(path, terminals, workspace)


@dataclass(slots=True)
class _Services:
    access: Access


@dataclass(slots=True)
class Watcher:
    """One viewer, what it was shown and told."""

    socket: ClientConnection
    shown: bytearray = field(default_factory=bytearray)
    frames: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    acknowledges: bool = False
    offset: int = 0

    async def read(self) -> None:
        message = await asyncio.wait_for(self.socket.recv(), SHOWN_S)
        if isinstance(message, bytes):
            self.shown += message
            self.offset += len(message)
            if self.acknowledges:
                await self.send(type="ack", offset=self.offset)
            return
        frame = json.loads(message)
        self.frames.append(frame)
        if frame["type"] == "attached":
            self.offset = frame["offset"]

    async def until(self, pattern: bytes) -> bytes:
        while not re.search(pattern, self.shown):
            await self.read()
        return bytes(self.shown)

    async def frame(self, kind: str) -> dict[str, Any]:
        while not any(frame["type"] == kind for frame in self.frames):
            await self.read()
        return next(frame for frame in reversed(self.frames) if frame["type"] == kind)

    async def type(self, text: str) -> None:
        await self.socket.send(text.encode())

    async def send(self, **frame: Any) -> None:
        await self.socket.send(json.dumps(frame))

    async def closed(self) -> int:
        try:
            while True:
                await self.read()
        except ConnectionClosed:
            assert self.socket.close_code is not None
            return self.socket.close_code


@asynccontextmanager
async def viewer(
    path: Path, name: str = "main", query: str = "", scopes: tuple[Scope, ...] = (Scope.EXEC,)
) -> AsyncGenerator[Watcher]:
    made = socket.socket(socket.AF_UNIX)
    made.connect(str(path))
    made.setblocking(False)
    bearer = KEYS.token(scopes=list(scopes), sub="sandbox-1")
    async with connect(
        f"ws://endpoint/terminals/{name}{query}",
        sock=made,
        additional_headers={"Authorization": f"Bearer {bearer}"},
        max_size=None,
        max_queue=1,
        close_timeout=1,
        compression=None,
        proxy=None,
    ) as opened:
        yield Watcher(opened)


async def test_a_shell_has_a_terminal_with_colours_in_the_workspace(tmp_path: Path):
    async with endpoint(tmp_path) as here, viewer(here.path) as one:
        assert (await one.frame("attached"))["offset"] == 0
        await one.type("test -t 0 && echo $((40+2)) $TERM; pwd\r")
        await one.until(rb"42 xterm-256color\r\n" + re.escape(str(here.workspace).encode()))


@pytest.mark.thorough
async def test_ten_thousand_lines_are_shown_whole(tmp_path: Path):
    async with endpoint(tmp_path) as here, viewer(here.path) as one:
        await one.type("seq 10000; echo do''ne\r")
        shown = await one.until(rb"done\r\n")
    assert b"\r\n".join(b"%d" % number for number in range(1, 10_001)) in shown


async def test_two_viewers_see_the_same_terminal_and_its_size(tmp_path: Path):
    async with endpoint(tmp_path) as here, viewer(here.path) as one, viewer(here.path) as two:
        await one.frame("attached")
        await two.frame("attached")
        await two.send(type="resize", cols=100, rows=30)
        assert await one.frame("size") == {"type": "size", "cols": 100, "rows": 30}
        await one.type("stty size\r")
        for each in (one, two):
            await each.until(rb"\r30 100\r\n")
        assert here.terminals.entries()[0].viewers == 2


async def test_an_editor_is_usable(tmp_path: Path):
    async with endpoint(tmp_path) as here, viewer(here.path) as one:
        await one.send(type="resize", cols=90, rows=25)
        await one.type("less --version >/dev/null && echo ready\r")
        await one.until(rb"\rready")
        (here.workspace / "poem.txt").write_text("".join(f"line {number}\n" for number in range(1, 400)))
        one.shown.clear()
        await one.type("less poem.txt\r")
        shown = await one.until(rb"line 24")
        assert b"\x1b[?1049h" in shown
        await one.type("/line 300\r")
        await one.until(rb"line 300")
        await one.type("q")
        await one.until(rb"\x1b\[\?1049l")
        await one.type("echo ba''ck\r")
        await one.until(rb"back\r\n")


async def test_a_viewer_that_comes_back_is_shown_what_it_missed(tmp_path: Path):
    async with endpoint(tmp_path) as here:
        async with viewer(here.path) as one:
            await one.type("echo fi''rst\r")
            await one.until(rb"first\r\n")
            began, seen = (await one.frame("attached"))["began"], one.offset
            await one.type("(sleep 0.2; echo sec''ond) &\r")
            await one.until(rb"\r\[1\]")
            missed_from = one.offset
        async with viewer(here.path, query=f"?after={missed_from}&began={began}") as again:
            assert (await again.frame("attached"))["offset"] == missed_from
            await again.until(rb"second")
            assert b"first" not in again.shown
        async with viewer(here.path, query=f"?after={seen}&began=1") as stranger:
            assert (await stranger.frame("attached"))["offset"] == 0
            await stranger.until(rb"(?s)first.*second")


@pytest.mark.thorough
async def test_a_flood_goes_at_the_pace_of_its_viewer_and_can_be_interrupted(tmp_path: Path):
    async with endpoint(tmp_path) as here, viewer(here.path) as one:
        one.acknowledges = True
        await one.frame("attached")
        await one.send(type="ack", offset=0)
        await one.type("yes\r")
        while len(one.shown) < 3 * KEPT_BYTES:
            await one.read()
        found = await here.terminals.open("main")
        assert found.backlog.end - one.offset <= 2 * KEPT_BYTES
        await one.type("\x03")
        await one.until(rb"\^C")
        await one.type("echo al''ive\r")
        await one.until(rb"alive")


@pytest.mark.thorough
async def test_a_slow_viewer_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(viewing, "STALLED_S", 3.0)
    async with endpoint(tmp_path) as here, viewer(here.path) as slow, viewer(here.path) as fast:
        await slow.send(type="ack", offset=0)
        await slow.frame("attached")
        await fast.type("head -c 6000000 /dev/zero | tr '\\0' z; echo do''ne\r")
        await fast.until(rb"done\r\n")
        assert await slow.closed() == CloseCode.TOO_SLOW


@pytest.mark.thorough
async def test_nothing_is_read_while_its_only_viewer_does_not_acknowledge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(viewing, "STALLED_S", 2.0)
    async with endpoint(tmp_path) as here, viewer(here.path) as one:
        await one.frame("attached")
        await one.send(type="ack", offset=0)
        await one.type("yes\r")
        assert await one.closed() == CloseCode.TOO_SLOW
        assert len(one.shown) <= viewing.MAX_SENT_BYTES
        # Whoever comes next is shown what is kept, and the program goes on.
        async with viewer(here.path) as other:
            await other.until(rb"y\r\n")


@pytest.mark.thorough
async def test_a_storm_of_sizes_is_applied_a_few_times_a_second(tmp_path: Path):
    async with endpoint(tmp_path) as here, viewer(here.path) as one:
        await one.frame("attached")
        for number in range(1000):
            await one.send(type="resize", cols=20 + number % 200, rows=10)
        await one.send(type="resize", cols=77, rows=11)
        await one.type("sleep 0.2; stty size\r")
        await one.until(rb"\r11 77\r\n")
        assert sum(frame["type"] == "size" for frame in one.frames) < 500


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", marks=pytest.mark.thorough),
        "no json",
        pytest.param("[]", marks=pytest.mark.thorough),
        '{"type": "resize", "cols": 0, "rows": 5}',
        pytest.param('{"type": "stop"}', marks=pytest.mark.thorough),
        pytest.param("x" * 5000, marks=pytest.mark.thorough),
    ],
)
async def test_a_bad_frame_is_answered_and_leaves_the_terminal_as_it_was(tmp_path: Path, text: str):
    async with endpoint(tmp_path) as here, viewer(here.path) as one:
        await one.socket.send(text)
        assert (await one.frame("error"))["code"] == "bad_frame"
        await one.type("stty size\r")
        await one.until(rb"\r24 80\r\n")


@pytest.mark.thorough
async def test_bad_frames_without_end_close_the_socket(tmp_path: Path):
    async with endpoint(tmp_path) as here, viewer(here.path) as one:
        for _ in range(viewing.MOST_BAD_FRAMES + 1):
            await one.socket.send("{}")
        assert await one.closed() == CloseCode.BAD_FRAMES


async def test_a_message_that_is_too_long_closes_the_socket(tmp_path: Path):
    async with endpoint(tmp_path) as here, viewer(here.path) as one:
        await one.socket.send(b"x" * (MAX_TYPED_BYTES + 1))
        assert await one.closed() == CloseCode.UNSUPPORTED


@pytest.mark.thorough
async def test_what_a_program_does_not_read_is_bounded_and_an_interrupt_comes_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MAX_PENDING_BYTES", 200_000)
    async with endpoint(tmp_path) as here, viewer(here.path) as one:
        await one.type("stty -echo; sleep 1000\r")
        await one.until(rb"sleep 1000")
        await asyncio.sleep(0.3)
        for _ in range(10):
            await one.type("x\r" * 30_000)
        assert (await one.frame("input_dropped"))["bytes"] == 60_000
        await one.type("\x03")
        await one.type("echo al''ive\r")
        await one.until(rb"alive")


async def test_the_end_of_the_shell_is_reported_and_the_next_viewer_gets_another(tmp_path: Path):
    async with endpoint(tmp_path) as here:
        async with viewer(here.path) as one:
            await one.type("exit 3\r")
            assert (await one.frame("ended"))["exit_code"] == 3
            assert await one.closed() == CloseCode.ENDED
        async with viewer(here.path) as two:
            assert (await two.frame("attached"))["offset"] == 0
            await two.type("echo an''other\r")
            await two.until(rb"another")


@pytest.mark.parametrize(
    "ends_by",
    ["delete", pytest.param("exit", marks=pytest.mark.thorough), pytest.param("sandbox", marks=pytest.mark.thorough)],
)
async def test_a_terminal_ends_with_all_it_started(tmp_path: Path, ends_by: str):
    async with endpoint(tmp_path) as here, viewer(here.path) as one:
        await one.type("setsid -f sleep 987654; (trap '' HUP TERM; sleep 987654) & echo $SANDBOX_TERMINAL sta''rted\r")
        shown = await one.until(rb"[0-9a-f]{16} started")
        mark = re.findall(rb"([0-9a-f]{16}) started", shown)[-1]
        assert processes.with_variable(b"SANDBOX_TERMINAL=" + mark)
        if ends_by == "delete":
            async with client(here) as http:
                assert (await http.delete("/terminals/main")).status_code == 204
        elif ends_by == "exit":
            await one.type("exit\r")
            await one.frame("ended")
        else:
            await here.terminals.end_all()
        async with asyncio.timeout(10):
            while processes.with_variable(b"SANDBOX_TERMINAL=" + mark):
                await asyncio.sleep(0.05)


@asynccontextmanager
async def client(here: Endpoint, **claims: Any) -> AsyncGenerator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {KEYS.token(sub='sandbox-1', **claims)}"}
    transport = httpx.AsyncHTTPTransport(uds=str(here.path))
    async with httpx.AsyncClient(transport=transport, base_url="http://endpoint", headers=headers, timeout=20) as made:
        yield made


async def test_terminals_are_listed_with_what_runs_in_them(tmp_path: Path):
    async with endpoint(tmp_path) as here, client(here) as http, viewer(here.path, "two") as one:
        await one.frame("attached")
        await one.type("sleep 876543\r")
        async with asyncio.timeout(10):
            # A shell that begins is busy for a moment, too.
            while not (listed := (await http.get("/terminals")).json())[0]["is_busy"]:
                await asyncio.sleep(0.02)
        assert listed == [{"name": "two", "cols": 80, "rows": 24, "viewers": 1, "is_busy": True}]


async def test_the_number_of_terminals_and_viewers_is_bounded(tmp_path: Path):
    async with endpoint(tmp_path) as here:
        for number in range(MAX_TERMINALS):
            await here.terminals.open(f"t{number}")
        async with viewer(here.path, "one-more") as refused:
            assert await refused.closed() == CloseCode.TOO_MANY
        found = await here.terminals.open("t0")
        for _ in range(MAX_VIEWERS):
            found.viewers.add(module.Viewer(0))
        async with viewer(here.path, "t0") as refused:
            assert await refused.closed() == CloseCode.TOO_MANY


@pytest.mark.parametrize(
    ("name", "scopes", "is_allowed", "code"),
    [
        ("Main", (Scope.EXEC,), True, CloseCode.BAD_NAME),
        ("a%20b", (Scope.EXEC,), True, CloseCode.BAD_NAME),
        ("main", (Scope.EXEC,), False, CloseCode.REFUSED),
    ],
)
async def test_who_may_not_is_turned_away(
    tmp_path: Path, name: str, scopes: tuple[Scope, ...], is_allowed: bool, code: CloseCode
):
    async with endpoint(tmp_path, is_allowed=is_allowed) as here, viewer(here.path, name, scopes=scopes) as one:
        assert await one.closed() == code
        assert not here.terminals.entries()


async def test_secrets_of_the_tool_api_are_not_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(os.environ, "SANDBOX_SECRET_OF_TESTS", "hidden-value")
    async with endpoint(tmp_path) as here, viewer(here.path) as one:
        await one.type("env; echo do''ne\r")
        assert b"hidden-value" not in await one.until(rb"done\r\n")
