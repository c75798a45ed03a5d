"""What a container says on its standard streams instead of the line it is asked for."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator
from itertools import repeat

import pytest

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.infrastructure.runtimes.docker.channels import Answer

WITHIN_S = 0.5
START = "kept "


def frame(content: bytes, stream: int = 1) -> bytes:
    return struct.pack(">BxxxL", stream, len(content)) + content


def ask(said: Iterator[bytes], pause_s: float = 0) -> str:
    """The manager's question to a container that says this, and stays."""
    ours, theirs = socket.socketpair()
    over = threading.Event()

    def speak() -> None:
        with contextlib.suppress(OSError):
            theirs.recv(100)
            for one in said:
                theirs.sendall(one)
                if over.wait(pause_s):
                    return

    speaking = threading.Thread(target=speak)
    speaking.start()
    answer = Answer(ours, "keep")
    try:
        return answer.line_with(START, WITHIN_S)
    finally:
        over.set()
        answer.close()
        speaking.join(10)
        theirs.close()


HOSTILE = {
    "empty frames": (repeat(frame(b"") * 500), 0.0),
    "a byte a frame": (repeat(frame(b"x") * 500), 0.0),
    "lines of others": (repeat(frame(b"\n" * 1000) * 10), 0.0),
    "a line without end": (repeat(frame(b"x" * 60_000)), 0.0),
    "the other stream": (repeat(frame(b"kept no\n", 2) * 100), 0.0),
    "a frame too large": (repeat(struct.pack(">BxxxL", 1, 1 << 30) + bytes(60_000)), 0.0),
    "a byte now and then": (repeat(b"\1"), 0.05),
    "frames now and then": (repeat(frame(b"x")), 0.02),
    "nothing": (iter(()), 0.0),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_no_answer_takes_longer_than_its_deadline(what: str) -> None:
    said, pause_s = HOSTILE[what]
    began, worked = time.monotonic(), time.thread_time()

    with pytest.raises(EngineUnavailableError):
        ask(said, pause_s)

    assert time.monotonic() - began < 3 * WITHIN_S
    assert time.thread_time() - worked < WITHIN_S


def test_the_deadline_holds_while_there_is_always_something_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where what is heard is not yet too much: a timeout of the socket begins anew with each byte."""
    monkeypatch.setattr("sandbox_manager.infrastructure.runtimes.docker.channels._MOST_HEARD", 1 << 50)
    began = time.monotonic()

    with pytest.raises(EngineUnavailableError) as refused:
        ask(repeat(frame(b"x") * 500))

    assert isinstance(refused.value.__cause__, TimeoutError)
    assert time.monotonic() - began < 3 * WITHIN_S


def test_the_line_is_found_in_whatever_pieces_it_comes() -> None:
    whole = frame(b"log line\nke") + frame(b"noise\n", 2) + frame(b"pt {}\nmore")
    assert ask(iter([whole])) == "kept {}"
    assert ask(bytes([one]) for one in whole) == "kept {}"
