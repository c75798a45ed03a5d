"""An upload replaces what stands in the place of its file, and writes to nothing that leads elsewhere."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.endpoint import RunningEndpoint

ANSWERS = {200, 201, 403, 404, 409, 422}
AT_ONCE_S = 5.0


@pytest.fixture
def place(endpoint: RunningEndpoint) -> Path:
    return endpoint.workspace / f".results{random.getrandbits(40)}"


def upload(endpoint: RunningEndpoint, subdir: str, name: str = "call_1.txt") -> tuple[int, list[str]]:
    began = time.monotonic()
    with endpoint.client() as client:
        params = {"subdir": subdir, "replace": "true"}
        answer = client.post("/files", params=params, files={"files": (name, b"of the gateway")})
    assert answer.status_code in ANSWERS, answer.text
    assert time.monotonic() - began < AT_ONCE_S
    return answer.status_code, answer.json().get("uploaded", [])


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener, contextlib.chdir(path.parent):
        listener.bind(path.name)


FILES: dict[str, Callable[[Path, Path], object]] = {
    "a pipe": lambda path, _: os.mkfifo(path),
    "a socket": lambda path, _: bound(path),
    "a link to elsewhere": lambda path, outside: path.symlink_to(outside),
    "another name of a file elsewhere": lambda path, outside: os.link(outside, path),
    "a link to a device": lambda path, _: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", FILES)
def test_what_is_in_the_place_of_the_file_is_replaced_and_not_written_to(
    endpoint: RunningEndpoint, place: Path, kind: str
) -> None:
    outside = endpoint.workspace.parent / f"outside{random.getrandbits(40)}"
    outside.write_text("as it was")
    place.mkdir()
    FILES[kind](place / "call_1.txt", outside)
    assert upload(endpoint, place.name) == (201, [f"{place.name}/call_1.txt"])
    written = place / "call_1.txt"
    assert (written.is_symlink(), written.read_text(), outside.read_text()) == (False, "of the gateway", "as it was")
    assert os.listdir(place) == ["call_1.txt"]
