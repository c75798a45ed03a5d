"""What a sandbox makes slow, many times at once, holds up nobody else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from sandbox_manager.domain.workspace import ArchiveBounds
from sandbox_manager.infrastructure.runtimes.docker.engine import Engine, Json
from sandbox_manager.infrastructure.runtimes.docker.runtime import DockerRuntime
from sandbox_manager.infrastructure.runtimes.threads import pools
from support.sandboxes import docker_options, inside, new_identity

AT_ONCE = 40
THREADS = 2
Slow = Callable[[DockerRuntime], Coroutine[Any, Any, object]]


class StuckEngine(Engine):
    """One whose sandboxes never come to an end, nor answer, until they are let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = threading.Event()
        self.held = 0

    def _hold(self) -> None:
        self.held += 1
        assert self.let.wait(30)

    def has_volume(self, name: str) -> bool:
        return True

    def create_volume(self, name: str, labels: dict[str, str], *, same_as: str | None = None) -> None: ...

    def create_container(self, name: str, config: Json) -> str:
        return name

    def start_container(self, name: str) -> None: ...

    def remove_container(self, name: str) -> None:
        if "archive" not in name:
            self._hold()

    def network(self, name: str) -> Json | None:
        return None

    def remove_network(self, name: str) -> None: ...

    def remove_volume(self, name: str) -> None: ...

    def volumes(self, label: str) -> list[Json]:
        return []

    def wait(self, name: str, within_s: int = 30) -> int:
        self._hold()
        return 1

    def last_errors(self, name: str) -> str:
        return ""

    def ask(self, name: str, line: str) -> Any:
        self._hold()
        raise OSError("it never answered")

    def containers(self, *labels: str) -> list[Json]:
        return []

    def networks(self, label: str | None = None) -> list[Json]:
        return []


@pytest.fixture
def engine() -> Iterator[StuckEngine]:
    made = StuckEngine()
    yield made
    made.let.set()


def packing(runtime: DockerRuntime) -> Coroutine[Any, Any, object]:
    return runtime.archives.pack(new_identity().session_id, "u", "s", ArchiveBounds(max_bytes=1))


def answering(runtime: DockerRuntime) -> Coroutine[Any, Any, object]:
    return runtime.keep_alive(new_identity(), "", "token")


def removing(runtime: DockerRuntime) -> Coroutine[Any, Any, object]:
    return runtime.remove(new_identity(), keep_workspace=True)


@pytest.mark.parametrize("slow", [packing, answering, removing])
async def test_a_sweep_waits_for_none_of_them(engine: StuckEngine, slow: Slow) -> None:
    async with pools("test", THREADS) as own:
        runtime = DockerRuntime(docker_options("test", inside(), "image"), engine, own)
        held = [asyncio.create_task(slow(runtime)) for _ in range(AT_ONCE)]
        try:
            async with asyncio.timeout(5):
                while engine.held < THREADS:
                    await asyncio.sleep(0.01)
                assert await runtime.found() == []
            assert not any(one.done() for one in held)
        finally:
            engine.let.set()
            await asyncio.gather(*held, return_exceptions=True)
