"""A program whose caller was cancelled is ended, or never begun."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox_manager.domain.errors import EngineUnavailableError, StartFailedError
from sandbox_manager.domain.workspace import ArchiveBounds
from sandbox_manager.infrastructure.runtimes.docker.archives import DockerArchives
from sandbox_manager.infrastructure.runtimes.docker.engine import Engine, Json
from sandbox_manager.infrastructure.runtimes.process.archives import ProcessArchives
from sandbox_manager.infrastructure.runtimes.process.store import Store
from sandbox_manager.infrastructure.runtimes.threads import pools, threads
from support.sandboxes import docker_options, inside, process_options

LONG_S = 30
PATIENT_S = 10
BOUNDS = ArchiveBounds(max_bytes=1)


async def cancelled(work: asyncio.Task[object]) -> None:
    work.cancel()
    await ended(work)


async def ended(work: asyncio.Task[object]) -> None:
    done, _ = await asyncio.wait({work}, timeout=PATIENT_S)
    assert done
    assert work.cancelled()


async def test_what_waits_for_a_thread_is_taken_back() -> None:
    ran: list[str] = []
    may_end = threading.Event()
    async with threads("test", 1) as pool:
        try:
            first = asyncio.create_task(pool.run_call(lambda: may_end.wait(LONG_S)))
            second: asyncio.Task[object] = asyncio.create_task(
                pool.run_program(lambda: ran.append("call"), lambda: ran.append("stop"))
            )
            await asyncio.sleep(0)
            await cancelled(second)
        finally:
            may_end.set()
        await first
        await pool.run_call(lambda: None)
    assert ran == []


async def test_a_program_that_can_not_be_stopped_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def call() -> None:
        begun.set()
        assert may_end.wait(LONG_S)

    def stop() -> None:
        raise EngineUnavailableError("The engine is away.")

    async with threads("test", 1) as pool:
        try:
            running: asyncio.Task[object] = asyncio.create_task(pool.run_program(call, stop))
            assert await asyncio.to_thread(begun.wait, PATIENT_S)
            running.cancel()
            async with asyncio.timeout(PATIENT_S):
                while "can't be stopped" not in caplog.text:
                    await asyncio.sleep(0.01)
            assert not running.done()
        finally:
            may_end.set()
        await ended(running)


async def test_a_process_is_killed_with_all_it_began(tmp_path: Path) -> None:
    """What it began holds its output open, and would go on."""
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\nsleep {LONG_S} &\ntouch {tmp_path}/begun\nwait\n")
    program.chmod(0o700)
    store = Store(tmp_path / "data", "test")
    options = replace(process_options(tmp_path / "data", inside()), python=program)
    async with pools("test", 1) as own:
        archives = ProcessArchives(options, store, own, isolated=False)
        unpacking: asyncio.Task[object] = asyncio.create_task(archives.unpack("s1", "u1", "one", BOUNDS))
        async with asyncio.timeout(PATIENT_S):
            while not (tmp_path / "begun").exists():
                await asyncio.sleep(0.01)
        await cancelled(unpacking)


class OneEngine(Engine):
    """Containers by their ids; a name goes to the newest. One ends when it is removed."""

    def __init__(self) -> None:
        super().__init__()
        self.there: dict[str, threading.Event] = {}
        self.started: list[str] = []
        self.creating: threading.Event | None = None

    def has_volume(self, name: str) -> bool:
        return True

    def create_volume(self, name: str, labels: dict[str, str]) -> None: ...

    def create_container(self, name: str, config: Json) -> str:
        made = f"id-{len(self.there)}"
        self.there[made] = threading.Event()
        if self.creating is not None:
            assert self.creating.wait(LONG_S)
        return made

    def start_container(self, name: str) -> None:
        self.started.append(name)

    def wait(self, name: str, within_s: int = 30) -> int:
        assert self.there[name].wait(LONG_S)
        raise StartFailedError("No such container.", retryable=True)

    def remove_container(self, name: str) -> None:
        if name in self.there:
            self.there[name].set()


async def test_a_container_is_removed_and_no_other_managers_of_the_same_name() -> None:
    engine = OneEngine()
    async with pools("test", 1) as own:
        archives = DockerArchives(docker_options("test", inside(), "image"), engine, own)
        first: asyncio.Task[object] = asyncio.create_task(archives.unpack("s1", "u1", "one", BOUNDS))
        second: asyncio.Task[object] = asyncio.create_task(archives.unpack("s1", "u1", "one", BOUNDS))
        async with asyncio.timeout(PATIENT_S):
            while len(engine.started) < 2:
                await asyncio.sleep(0.01)
        await cancelled(first)
        assert sum(one.is_set() for one in engine.there.values()) == 1
        assert not second.done()
        await cancelled(second)


async def test_a_container_that_is_being_made_is_not_started() -> None:
    engine = OneEngine()
    engine.creating = threading.Event()
    async with pools("test", 1) as own:
        archives = DockerArchives(docker_options("test", inside(), "image"), engine, own)
        unpacking: asyncio.Task[object] = asyncio.create_task(archives.unpack("s1", "u1", "one", BOUNDS))
        async with asyncio.timeout(PATIENT_S):
            while not engine.there:
                await asyncio.sleep(0.01)
        unpacking.cancel()
        await asyncio.wait({unpacking}, timeout=0.1)
        engine.creating.set()
        await ended(unpacking)
    assert engine.started == []
    assert engine.there["id-0"].is_set()
