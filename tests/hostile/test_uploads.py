"""Uploads without end: nothing is kept on the way, what is over a limit is not read on, nobody takes all the places."""

from __future__ import annotations

import asyncio
import contextlib
import os

import httpx
import psutil
import pytest

from backend_api.computers.application.upload_files import RETRY_AFTER_S, UPLOADS_PER_USER
from support.api_client import ApiClient
from support.bare import honest_client, pour
from support.stack import Stack

MB = 1_000_000
LIMIT = 10 * 1024 * 1024
GROWTH_MB = 60
ENDLESS = 400 * MB
READ_ON = 60 * MB
"""Before it is refused, of what has no end; a fifth of that is, with what lies in the buffers of the system."""
PATIENT_S = 10.0
"""An honest answer meanwhile, while a computer is started for the upload. Who has to wait for all of it has none for
far longer."""
NAMED = b'--b\r\nContent-Disposition: form-data; name="files"; filename="%s"\r\n\r\n'


def head_of(session_id: str, length: int) -> bytes:
    return (
        f"POST /api/sessions/{session_id}/files HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def gateway_of(stack: Stack) -> psutil.Process:
    return psutil.Process(stack.children()["gateway"])


def kept_bytes(process: psutil.Process) -> int:
    """In files it holds open, also those without a name, but for its log."""
    sizes = 0
    for file in process.open_files():
        with contextlib.suppress(OSError):
            sizes += 0 if file.path.endswith(".log") else os.stat(file.path).st_size
    for number in range(process.num_fds() + 64):
        with contextlib.suppress(OSError):
            link = os.readlink(f"/proc/{process.pid}/fd/{number}")
            if "deleted" in link or "memfd" in link:
                sizes += os.stat(f"/proc/{process.pid}/fd/{number}").st_size
    return sizes


async def test_a_file_without_end_is_refused_while_it_comes(stack: Stack) -> None:
    gateway, port = gateway_of(stack), int(stack.base_url.rpartition(":")[2])
    async with ApiClient(stack.base_url) as api:
        session_id = await api.new_session()
        before, kept = gateway.memory_info().rss / MB, 0
        head = head_of(session_id, ENDLESS) + NAMED % b"endless.bin"

        async def look() -> None:
            nonlocal kept
            while True:
                kept = max(kept, kept_bytes(gateway))
                await asyncio.sleep(0.02)

        looking = asyncio.create_task(look())
        async with honest_client(stack.base_url) as honest:
            answer = await pour(port, head, b"x" * 65536, ENDLESS, source="127.0.0.1", within_s=100)
        looking.cancel()
        assert answer.status == 413
        assert b"upload_too_large" in answer.body
        assert answer.sent_before < READ_ON
        assert kept < MB, "the upload was kept on the way"
        assert gateway.memory_info().rss / MB - before < GROWTH_MB
        assert (honest.failures, honest.slowest < PATIENT_S) == ([], True)
        # The sandbox takes the half file away once it learns of the end, which the client knows first.
        async with asyncio.timeout(PATIENT_S):
            while await api.json("GET", f"/sessions/{session_id}/files"):
                await asyncio.sleep(0.05)


async def test_what_a_user_uploads_at_once_is_bounded_and_what_is_left_half_done_gives_its_place_back(
    stack: Stack,
) -> None:
    port = int(stack.base_url.rpartition(":")[2])
    async with ApiClient(stack.base_url) as api:
        session_id = await api.new_session()
        url = f"/sessions/{session_id}/files"
        half: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        for number in range(UPLOADS_PER_USER):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            # The body is asked for as soon as the upload has its place.
            writer.write(head_of(session_id, MB).replace(b"Host:", b"Expect: 100-continue\r\nHost:"))
            async with asyncio.timeout(60):
                assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
            writer.write(NAMED % f"half-{number}".encode() + b"x" * 1000)
            half.append((reader, writer))
        async with asyncio.timeout(60):
            while (refused := await api.http.post(url, files={"files": ("a.txt", b"a")})).status_code != 429:
                assert refused.status_code == 201
                # So rarely that it is never a user's uploads of a minute that are refused.
                await asyncio.sleep(1)
        assert refused.headers["retry-after"] == str(RETRY_AFTER_S)
        for _, writer in half:
            writer.transport.abort()
        async with asyncio.timeout(60):
            while (await api.http.post(url, files={"files": ("b.txt", b"b")})).status_code != 201:
                await asyncio.sleep(1)
        names = {entry["name"] for entry in (await api.http.get(url)).json()}
        assert names <= {"a.txt", "b.txt"}
        assert "b.txt" in names


@pytest.mark.thorough
async def test_files_of_the_allowed_size_arrive_whole_several_at_once(stack: Stack) -> None:
    async with ApiClient(stack.base_url) as api:
        session_id = await api.new_session()
        url = f"/sessions/{session_id}/files"
        content = bytes(range(256)) * (LIMIT // 256)
        files: list[tuple[str, tuple[str, bytes]]] = [("files", (f"{number}.bin", content)) for number in range(3)]
        answer = await api.http.post(url, files=files, timeout=httpx.Timeout(60))
        assert (answer.status_code, answer.json()) == (201, {"uploaded": ["0.bin", "1.bin", "2.bin"]})
        got = await api.http.get(f"{url}/download", params={"path": "2.bin"}, timeout=httpx.Timeout(60))
        assert got.content == content
        assert (await api.http.post(url, files={"files": ("x", content + b"x")})).status_code == 413
