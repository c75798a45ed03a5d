"""A sandbox whose tool API is an attacker's: it may answer anything, for ever, and must cost nobody else anything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.endpoint_victim import GOES_ON_S, WATCHED_S, Harm, Victim, victim
from support.gate import some_in_gate
from support.hostile_endpoint import (
    Behaviour,
    Wire,
    bomb,
    endless,
    frame,
    head,
    hostile_endpoint,
    output,
    result,
    said,
    socket_endless,
    whole,
)
from support.stack import ROOT

GROWTH_MB = 50
HELD_S = 1.0
ENDED_S = 20.0
REFUSED = {"SandboxLostError", "SandboxUnavailableError"}
JSON = "Content-Type: application/json"
CHUNKED = "Transfer-Encoding: chunked"

TEXT, BINARY, PING = 1, 2, 9
NESTED = b"[" * 100_000


@pytest.fixture(scope="module")
def hurt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    with victim(tmp_path_factory.mktemp("victim") / "log") as running:
        yield running


async def harm_of(
    hurt: Victim, tmp_path: Path, op: str, behave: Behaviour, times: int = 1, watched_s: float = WATCHED_S
) -> Harm:
    async with hostile_endpoint(tmp_path / "door.sock", behave) as path:
        return await asyncio.to_thread(hurt.obey, op, path, times, watched_s)


def assert_unharmed(harm: Harm) -> None:
    assert harm.grew_mb < GROWTH_MB, harm
    assert harm.held_s < HELD_S, harm
    assert harm.seconds < ENDED_S, harm


ANSWERS: dict[str, Behaviour] = {
    "a body without end": endless(head(), b"x" * 65536),
    "spaces without end": endless(head(JSON), b" " * 65536),
    "chunks without end": endless(head(CHUNKED), b"10000\r\n" + b"x" * 65536 + b"\r\n"),
    "chunks of one byte": endless(head(CHUNKED), b"1\r\nx\r\n"),
    "a chunk's extension without end": endless(head(CHUNKED) + b"1;", b"a=b;"),
    "long extensions of short chunks": endless(head(CHUNKED), b"1;" + b"a" * 60_000 + b"\r\nx\r\n"),
    "a chunk beyond all": said(head(CHUNKED), b"ffffffffffffffff\r\n"),
    "a length beyond all": endless(head("Content-Length: 999999999999999999999999"), b"x" * 65536),
    "a long length": endless(head("Content-Length: 999999999999"), b"x" * 65536),
    "a length that is none": endless(head("Content-Length: -1"), b"x" * 65536),
    "a header without end": endless(b"HTTP/1.1 200 OK\r\nX: ", b"a" * 65536),
    "headers without end": endless(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
    "a status line without end": endless(b"HTTP/1.1 200 ", b"O" * 65536),
    "not yet, for ever": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "hints for ever": endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "another protocol": endless(head("Upgrade: x", "Connection: upgrade", status="101 Switching"), b"x" * 65536),
    "somewhere else": whole(b"", "Location: http://127.0.0.1:1/", status="302 Found"),
    "an odd status": whole(b"{}", status="999 What"),
    "no HTTP": endless(b"", b"\x16\x03\x01\x02"),
    "nothing": said(),
    "half a head": said(b"HTTP/1.1 200 OK\r\nContent-"),
    "a head and no more": said(head("Content-Length: 100")),
    "a drip": endless(head(), b"x", pause_s=0.2),
    "a drip of a head": endless(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n", pause_s=0.2),
    "a bomb": whole(bomb(300), "Content-Encoding: gzip"),
    "a bomb not called one": whole(bomb(300)),
    "a coding of its own": whole(b"x", "Content-Encoding: br, gzip, zstd"),
    "a failure without end": endless(head(status="500 No"), b"x" * 65536),
    "a refusal without end": endless(head(status="404 No"), b"x" * 65536),
    "no entrance, without end": endless(head(status="401 No"), b"x" * 65536),
    "a failure that is long": whole(b'{"detail": "' + b"x" * 20_000_000 + b'"}', status="500 No"),
    "JSON that is deep": whole(NESTED),
    "JSON that is deep and whole": whole(NESTED + b"]" * len(NESTED)),
    "JSON of many values": whole(b"[" + b"0," * 1_000_000 + b"0]"),
    "JSON of many names": whole(b"{" + b",".join(b'"%d":0' % number for number in range(200_000)) + b"}"),
    "a string without end": whole(b'"' + b'\\"' * 500_000),
    "a long number": whole(b"9" * 1_000_000),
    "no UTF-8": whole(b'{"a": "\xff\xfe"}'),
    "nothing at all": whole(b""),
}

# Statuses that mean something to whoever asked are told as that, in words of ours; all else is no answer.
TOLD = {
    ("list", "a refusal without end"): "FileMissingError",
    ("call", "a refusal without end"): "62 characters, 0 shown",
}


# What every call has from the same lines of service_kit.bounded_http, before it sees an answer: one kind of call tries
# all of them, the others a few that say nothing and too much: that they ask with bounds, and that way.
FEW = ("nothing", "headers without end", "a body without end", "a drip", "JSON that is deep", "no UTF-8")
FEW_OF_CALLS = (*FEW, "chunks of one byte", "a refusal without end", "a failure that is long", "nothing at all")


KINDS = {
    "list": {
        *FEW,
        "chunks of one byte",
        "a chunk beyond all",
        "a length beyond all",
        "not yet, for ever",
        "somewhere else",
        "a head and no more",
        "a bomb",
        "a failure without end",
        "a refusal without end",
        "JSON of many values",
    },
    "call": {"nothing", "a body without end", "a drip", "a refusal without end"},
}
"""Of each kind of answer one is tried in the gate."""


@pytest.mark.parametrize(
    ("op", "name"),
    [
        pytest.param(op, name, marks=() if name in KINDS[op] else pytest.mark.thorough)
        for op, names in {"list": ANSWERS, "call": FEW_OF_CALLS}.items()
        for name in names
    ],
)
async def test_no_answer_harms_the_gateway(hurt: Victim, tmp_path: Path, op: str, name: str) -> None:
    harm = await harm_of(hurt, tmp_path, op, ANSWERS[name])
    assert_unharmed(harm)
    assert harm.outcome in REFUSED | {TOLD.get((op, name), "")}, harm


@pytest.mark.parametrize(
    "name", some_in_gate([*FEW, "a long number"], ("a body without end", "a drip", "a long number"))
)
async def test_no_answer_to_a_keep_alive_harms_the_manager(hurt: Victim, tmp_path: Path, name: str) -> None:
    harm = await harm_of(hurt, tmp_path, "keep_alive", ANSWERS[name])
    assert_unharmed(harm)
    assert harm.outcome == "EngineUnavailableError", harm


def test_sandboxes_are_asked_in_no_other_way() -> None:
    """Whoever makes a client of its own for one has none of the bounds that are tried here."""
    gateway = ROOT / "backend-api/src/backend_api"
    makers = [gateway / "sandboxes/tool_api", gateway / "previews", gateway / "computers"]
    makers += [ROOT / "sandbox-manager/src/sandbox_manager/infrastructure/runtimes"]
    sources = [path for maker in makers for path in maker.rglob("*.py")]
    sources += [gateway / "mcp/mcp_programs.py", gateway / "skills/skill_folders.py"]
    assert [path.name for path in sources if "AsyncClient(" in path.read_text()] == []
    assert {path.name for path in sources if "BoundedHttp(" in path.read_text()} == {"endpoints.py", "monitoring.py"}


CALLS: dict[str, Behaviour] = {
    "a line without end": endless(head(), b'{"type": "output", "text": "' + b"x" * 65536),
    "lines of nothing": endless(head(), b"\n"),
    "output of nothing": endless(head(), output("")),
    "a result of many values": whole(b'{"type":"result","result":{"x":[' + b"0," * 5_000_000 + b"0]}}\n"),
    "a result that is long": whole(result(output="x" * 3_000_000)),
    "many changed paths": whole(result(changed_paths=["a"] * 100_000)),
    "a long path": whole(result(changed_paths=["a" * 1_000_000])),
    "a number beyond all": whole(result(duration_ms=2**80)),
    "half a letter": whole(b'{"type":"result","result":{"success":true,"output":"\\ud800"}}\n'),
    "a result of another kind": whole(b'{"type":"result","result":[]}\n'),
    "a frame of another kind": whole(b'{"type":"what"}\n'),
    "an entry of a wrong type": whole(result(display={"type": "file", "path": {}, "operation": "read"})),
    "many search hits": whole(
        result(display={"type": "search", "query": "q", "results": [{"title": "t", "url": "u"}] * 50_000})
    ),
    "spans without end": whole(
        b'{"type":"result","result":{"success":true,"output":""},"spans":[' + b"{}," * 500_000 + b"{}]}\n"
    ),
    "no result": whole(output("a")),
}


@pytest.mark.parametrize(
    "name",
    some_in_gate(
        CALLS,
        (
            "a line without end",
            "lines of nothing",
            "a result of many values",
            "half a letter",
            "an entry of a wrong type",
            "many search hits",
        ),
    ),
)
async def test_no_frame_of_a_call_harms_the_gateway(hurt: Victim, tmp_path: Path, name: str) -> None:
    harm = await harm_of(hurt, tmp_path, "call", CALLS[name])
    assert_unharmed(harm)
    assert harm.outcome == "SandboxLostError", harm


async def test_output_is_shown_up_to_a_bound(hurt: Victim, tmp_path: Path) -> None:
    told = output("x" * 1000) * 5000 + result(output="done")
    harm = await harm_of(hurt, tmp_path, "call", whole(told))
    assert_unharmed(harm)
    characters, shown = (int(word) for word in harm.outcome.split() if word.isdigit())
    assert characters == len("done")
    assert 1_000_000 <= shown < 1_001_000


def entry(**fields: object) -> dict[str, object]:
    usual = {"path": "a", "name": "a", "size": 1, "modified_at": "2026-01-01T00:00:00Z", "is_dir": False}
    return usual | fields


ENTRIES: dict[str, object] = {
    "the folder above": entry(name="..", path=".."),
    "elsewhere": entry(name="b", path="../b"),
    "at the root": entry(name="passwd", path="/etc/passwd"),
    "two parts": entry(name="a/b", path="a/b"),
    "no name": entry(name="", path=""),
    "another name": entry(name="a", path="b"),
    "less than nothing": entry(size=-1),
    "more than all": entry(size=10**30),
    "endless": entry(size=float("inf")),
    "a long name": entry(name="a" * 5000, path="a" * 5000),
    "no time": entry(modified_at="then"),
    "a time beyond all": entry(modified_at=1e300),
    "a time before all": entry(modified_at="0001-01-01T00:00:00+14:00"),
    "a name that is none": entry(name=["a"]),
    "an entry that is none": 5,
}


async def test_an_entry_that_cannot_be_is_refused(hurt: Victim, tmp_path: Path) -> None:
    for name, told in ENTRIES.items():
        harm = await harm_of(hurt, tmp_path, "list", whole(json.dumps([told]).encode()))
        assert harm.outcome == "SandboxLostError", (name, harm)


async def test_a_folder_of_a_million_entries_is_refused(hurt: Victim, tmp_path: Path) -> None:
    line = b'{"path":"a","name":"a","size":1,"modified_at":"2026-01-01T00:00:00Z","is_dir":false}'
    harm = await harm_of(hurt, tmp_path, "list", whole(b"[" + b",".join([line] * 1_000_000) + b"]"))
    assert_unharmed(harm)
    assert harm.outcome == "SandboxLostError", harm


@pytest.mark.parametrize(
    ("name", "behave"),
    [
        ("never ends", endless(head(), b"x" * 65536)),
        pytest.param("ends before its length", said(head("Content-Length: 100") + b"x"), marks=pytest.mark.thorough),
        ("says an absurd length", endless(head("Content-Length: 9999999999999999999"), b"x" * 65536)),
        ("drips", endless(head(), b"x", pause_s=0.5)),
        pytest.param("in tiny chunks", endless(head(CHUNKED), b"1\r\nx\r\n"), marks=pytest.mark.thorough),
    ],
)
async def test_no_download_harms_the_gateway(hurt: Victim, tmp_path: Path, name: str, behave: Behaviour) -> None:
    # What is as large as it likes goes on at the pace of whoever takes it.
    may_go_on = name in ("never ends", "in tiny chunks")
    harm = await harm_of(hurt, tmp_path, "download", behave, watched_s=GOES_ON_S if may_go_on else WATCHED_S)
    assert_unharmed(harm)
    assert harm.outcome in ({"goes on"} if may_go_on else REFUSED), harm


EARLY = ["a body without end", "chunks of one byte", "not yet, for ever", "a bomb", "JSON that is deep", "nothing"]


async def test_an_upload_that_nobody_takes_ends(hurt: Victim, tmp_path: Path) -> None:
    async def take_nothing(wire: Wire) -> None:
        await asyncio.sleep(30)

    harm = await harm_of(hurt, tmp_path, "upload", take_nothing)
    assert_unharmed(harm)
    assert harm.outcome in REFUSED, harm


@pytest.mark.parametrize("name", some_in_gate(EARLY, ("a body without end", "not yet, for ever", "a bomb")))
async def test_no_answer_to_an_upload_harms_the_gateway(hurt: Victim, tmp_path: Path, name: str) -> None:
    """Also one that comes before anything was taken, as a transcript is uploaded without anybody's asking for it."""
    harm = await harm_of(hurt, tmp_path, "upload", ANSWERS[name])
    assert_unharmed(harm)
    assert harm.outcome in REFUSED, harm


async def test_cookies_are_not_kept(hurt: Victim, tmp_path: Path) -> None:
    sent_back: list[bytes] = []

    async def bake(wire: Wire) -> None:
        sent_back.extend(line for line in wire.request.split(b"\r\n") if line.lower().startswith(b"cookie:"))
        cookies = [f"Set-Cookie: c{number}={'x' * 900}; Path=/" for number in range(90)]
        await wire.send(head("Content-Length: 2", "Connection: close", *cookies) + b"[]")

    harm = await harm_of(hurt, tmp_path, "list", bake, times=50)
    assert_unharmed(harm)
    assert harm.outcome == "0 entries"
    assert sent_back == []


SCREENS: dict[str, Behaviour] = {
    "a frame without end": socket_endless(frame(BINARY, length=2**62), b"x" * 65536),
    "a frame of 2 MB": socket_endless(b"", frame(BINARY, bytes(2 * 1024 * 1024))),
    "a message in pieces without end": socket_endless(frame(BINARY, b"x", fin=False), frame(0, b"x" * 1000, fin=False)),
    "pieces of nothing": socket_endless(frame(BINARY, b"x", fin=False), frame(0, fin=False)),
    "frames of nothing": socket_endless(b"", frame(BINARY)),
    "frames of a byte": socket_endless(b"", frame(BINARY, b"x")),
    "pings": socket_endless(b"", frame(PING, b"x" * 125)),
    "pings whose answers nobody takes": socket_endless(b"", frame(PING, b"x" * 125), reads=False),
    "compressed": socket_endless(b"", frame(BINARY, b"x"), "Sec-WebSocket-Extensions: permessage-deflate"),
    "a long farewell": socket_endless(b"", frame(8, b"\x03\xe8" + b"x" * 1000)),
    "a masked frame": socket_endless(b"", b"\x82\x85abcdxxxxx"),
    "no WebSocket": socket_endless(b"", b"\xff" * 65536),
    "a refusal without end": endless(head(status="403 No"), b"x" * 65536),
    "a head without end": endless(b"HTTP/1.1 101 Switching\r\n", b"X-A: b\r\n"),
    "a header without end": endless(b"HTTP/1.1 101 Switching\r\nX: ", b"a" * 65536),
    "no answer": said(),
}


@pytest.mark.parametrize(
    "name",
    some_in_gate(
        SCREENS,
        (
            "a frame without end",
            "a frame of 2 MB",
            "a message in pieces without end",
            "pings whose answers nobody takes",
            "a refusal without end",
            "a head without end",
        ),
    ),
)
async def test_no_screen_harms_the_gateway(hurt: Victim, tmp_path: Path, name: str) -> None:
    # At the pace of their viewer these may go on; who waits for an answer is not waited for here.
    may_go_on = name in {"a message in pieces without end", "frames of a byte", "no answer"}
    harm = await harm_of(hurt, tmp_path, "screen", SCREENS[name], watched_s=GOES_ON_S if may_go_on else WATCHED_S)
    assert_unharmed(harm)
    assert harm.outcome in REFUSED | ({"goes on"} if may_go_on else set()), harm


async def test_a_screen_that_is_always_busy_waits_for_its_viewer(hurt: Victim, tmp_path: Path) -> None:
    busy = socket_endless(b"", frame(BINARY, bytes(256 * 1024)))
    harm = await harm_of(hurt, tmp_path, "screen", busy, watched_s=GOES_ON_S)
    assert_unharmed(harm)
    assert harm.outcome == "goes on"


async def test_a_screen_leads_nowhere_else(hurt: Victim) -> None:
    reached: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(await reader.readline())
        writer.close()

    async with await asyncio.start_server(listen, "127.0.0.1", 0) as other:
        elsewhere = f"ws://127.0.0.1:{other.sockets[0].getsockname()[1]}/internal"

        async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(head("Content-Length: 0", f"Location: {elsewhere}", status="302 Found"))
            writer.close()

        async with await asyncio.start_server(lead, "127.0.0.1", 0) as endpoint:
            address = f"http://127.0.0.1:{endpoint.sockets[0].getsockname()[1]}"
            harm = await asyncio.to_thread(hurt.obey, "screen", address)
    assert harm.outcome == "SandboxUnavailableError"
    assert reached == []


async def test_what_is_refused_is_logged_with_the_sandbox(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with victim(log) as running:
        await harm_of(running, tmp_path, "list", ANSWERS["a body without end"])
        await harm_of(running, tmp_path, "screen", SCREENS["a frame of 2 MB"])
    assert log.read_text().splitlines() == ["answer refused sandbox-1", "screen refused sandbox-1"]
