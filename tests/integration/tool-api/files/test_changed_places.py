"""The folder that an upload goes to, made into something else by what runs beside the tool API, also meanwhile."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import threading
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


def closed(path: Path) -> None:
    path.mkdir(mode=0o000)


PLACES: dict[str, Callable[[Path], object]] = {
    "a link to elsewhere": lambda path: path.symlink_to("/tmp"),
    "a link up": lambda path: path.symlink_to("../.."),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("../nowhere"),
    "a link to what is open": lambda path: path.symlink_to("/proc/self/fd"),
    "a link to the root of a process": lambda path: path.symlink_to("/proc/self/root/tmp"),
    "a pipe": lambda path: os.mkfifo(path),
    "a socket": bound,
    "a file": lambda path: path.write_text(""),
    "a closed folder": closed,
}


@pytest.mark.parametrize("kind", PLACES)
def test_what_is_in_the_place_of_the_folder_is_refused_at_once(
    endpoint: RunningEndpoint, place: Path, kind: str
) -> None:
    PLACES[kind](place)
    before = set(os.listdir("/tmp"))
    status, paths = upload(endpoint, place.name)
    if kind == "a closed folder" and os.geteuid() == 0:
        assert paths == [f"{place.name}/call_1.txt"]
    else:
        assert (status >= 400, paths) == (True, [])
    assert "call_1.txt" not in set(os.listdir("/tmp")) - before
    assert not (endpoint.workspace.parent.parent / "call_1.txt").exists()


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


def test_a_folder_that_is_swapped_for_a_link_meanwhile_leads_nowhere(endpoint: RunningEndpoint, place: Path) -> None:
    outside, aside = endpoint.workspace.parent / f"{place.name}-outside", place.with_name(f"{place.name}-aside")
    outside.mkdir()
    place.mkdir()
    ended = threading.Event()

    def swap() -> None:
        while not ended.is_set():
            with contextlib.suppress(OSError):
                place.rename(aside)
                place.symlink_to(outside)
            with contextlib.suppress(OSError):
                place.unlink()
                aside.rename(place)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        said = [upload(endpoint, place.name, f"call_{number}.txt") for number in range(60)]
    finally:
        ended.set()
        swapper.join(5)
    assert os.listdir(outside) == []
    assert {tuple(paths) for _, paths in said} <= {(), *((f"{place.name}/call_{n}.txt",) for n in range(60))}
    assert any(paths for _, paths in said)
