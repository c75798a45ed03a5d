"""The log of a process sandbox: bounded whatever is written, read in pieces, ended with who wrote it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.process.logs import LOG_BYTES, Log, logging_to
from sandbox_manager.infrastructure.runtimes.process.processes import reap
from support.endpoint import await_true

ENVIRONMENT = {"PATH": os.environ["PATH"]}
READY = b"tool-api: ready desktop=no\n"


@contextmanager
def log_in(folder: Path) -> Generator[tuple[Log, int]]:
    """A log and the end to write to, which the test closes; at the end the reader has ended by itself."""
    with logging_to(folder / "sandbox.log", [], ENVIRONMENT) as (log, output):
        writer = os.dup(output)
    try:
        yield log, writer
    finally:
        os.close(writer)
        await_true(lambda: not log.reader.is_alive, 5)
        reap(log.reader.pid)


def pour(writer: int, size: int) -> None:
    piece = b"x" * 4095 + b"\n"
    for _ in range(size // len(piece)):
        os.write(writer, piece)


def test_the_line_that_says_ready_is_found_behind_other_lines(tmp_path: Path) -> None:
    with log_in(tmp_path) as (log, writer):
        os.write(writer, b"something else\nnot tool-api: ready\ntool-api: re")
        await_true(lambda: log.path.exists() and log.path.stat().st_size > 40)
        assert log.ready_line() is None

        os.write(writer, READY.removeprefix(b"tool-api: re"))

        await_true(lambda: log.ready_line() == READY.decode().strip())


def test_a_line_without_end_is_not_kept_and_not_taken_for_another(tmp_path: Path) -> None:
    with log_in(tmp_path) as (log, writer):
        os.write(writer, b"y" * 300_000 + READY + READY)

        await_true(lambda: log.ready_line() == READY.decode().strip())


def test_what_is_written_is_bounded_and_goes_on_being_taken(tmp_path: Path) -> None:
    with log_in(tmp_path) as (log, writer):
        pour(writer, 3 * LOG_BYTES + LOG_BYTES // 2)
        os.write(writer, b"the last words\n")

        await_true(lambda: "the last words" in log.log_tail())
        sizes = {file.name: file.stat().st_size for file in tmp_path.iterdir()}
    assert set(sizes) == {"sandbox.log", "sandbox.log.1"}
    assert max(sizes.values()) <= LOG_BYTES


def test_what_can_be_written_nowhere_is_thrown_away(tmp_path: Path) -> None:
    folder = tmp_path / "live"
    folder.mkdir()
    with log_in(folder) as (log, writer):
        await_true(lambda: log.path.exists())
        shutil.rmtree(folder)

        pour(writer, 2 * LOG_BYTES)

        assert log.reader.is_alive
        assert log.ready_line() is None
        assert not folder.exists()


def test_a_start_that_fails_leaves_no_reader(tmp_path: Path) -> None:
    made: list[Log] = []
    try:
        with logging_to(tmp_path / "sandbox.log", [], ENVIRONMENT) as (log, _):
            made.append(log)
            raise OSError("no sandbox")
    except OSError:
        pass

    await_true(lambda: not made[0].reader.is_alive, 5)
