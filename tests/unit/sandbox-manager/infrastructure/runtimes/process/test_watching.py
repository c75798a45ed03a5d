"""A watch that something goes wrong with goes on, says so, and is not taken for one that works."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.infrastructure.runtimes.process import watching
from sandbox_manager.infrastructure.runtimes.process.confinement import Confinement
from sandbox_manager.infrastructure.runtimes.process.disk_watch import DiskWatch
from sandbox_manager.infrastructure.runtimes.process.limits import Limits
from sandbox_manager.infrastructure.runtimes.process.runtime import ProcessRuntime
from sandbox_manager.infrastructure.runtimes.threads import pools
from support.sandboxes import inside, process_options

WITHIN_S = 10.0


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_LASTING_S", 0.3)


def becomes(so: Callable[[], bool]) -> None:
    until = time.monotonic() + WITHIN_S
    while not so():
        assert time.monotonic() < until
        time.sleep(0.01)


class Looks:
    """Counts, and fails as long as it is told to."""

    def __init__(self) -> None:
        self.count = 0
        self.fails = False

    def __call__(self) -> None:
        self.count += 1
        if self.fails:
            raise RuntimeError(f"look {self.count}")


def test_a_lasting_failure_is_logged_now_and_then_and_known_until_it_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(watching, "_LOG_INTERVAL_S", 0.3)
    looks = Looks()
    with watching.watching(tmp_path / "x.lock", looks, 0.01) as watch:
        becomes(lambda: looks.count > 1)
        assert watch.trouble() is None
        looks.fails = True
        becomes(lambda: watch.trouble() is not None)
        becomes(lambda: len(caplog.records) > 1)
        told, failed = len(caplog.records), looks.count
        looks.fails = False
        becomes(lambda: watch.trouble() is None)

    assert told < failed / 4


def test_a_look_that_does_not_come_back_is_known(tmp_path: Path) -> None:
    looks, goes_on = Looks(), threading.Event()

    def look() -> None:
        looks()
        goes_on.wait(WITHIN_S)

    with watching.watching(tmp_path / "x.lock", look, 0.01) as watch:
        becomes(lambda: looks.count == 1)
        becomes(lambda: watch.trouble() is not None)
        goes_on.set()
        becomes(lambda: looks.count > 3)
        becomes(lambda: watch.trouble() is None)


def test_one_manager_of_a_folder_watches_and_another_takes_over_when_it_ends(tmp_path: Path) -> None:
    first, second = Looks(), Looks()
    with watching.watching(tmp_path / "x.lock", first, 0.01):
        becomes(lambda: first.count > 0)
        with watching.watching(tmp_path / "x.lock", second, 0.01) as waiting:
            before = first.count
            becomes(lambda: first.count > before + 20)
            assert waiting.trouble() is None
            assert second.count == 0
    with watching.watching(tmp_path / "x.lock", second, 0.01):
        becomes(lambda: second.count > 0)


async def checked_again_and_again(runtime: ProcessRuntime) -> None:
    async with asyncio.timeout(WITHIN_S):
        while True:
            await runtime.check()
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("how", ["fails", "ends"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_manager_whose_watch_fails_or_has_ended_is_not_ready(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bad(_: object) -> None:
        if how == "ends":
            raise SystemExit
        raise RuntimeError("same each time")

    options = replace(process_options(tmp_path, inside()), python=Path(sys.executable))
    async with pools("test", 1) as own:
        runtime = ProcessRuntime(
            options, Limits("rlimit", inside()), own, isolated=True, confinement=Confinement(), has_network=False
        )
        await runtime.check()
        monkeypatch.setattr(DiskWatch, "look", bad)
        with runtime.watched():
            with pytest.raises(EngineUnavailableError, match="no longer measured"):
                await checked_again_and_again(runtime)
