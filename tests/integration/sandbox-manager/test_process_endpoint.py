"""The socket of a process sandbox: made outside and handed over, wherever its folder lies."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.domain.sandbox import Identity
from sandbox_manager.infrastructure.runtimes.process import network
from sandbox_manager.infrastructure.runtimes.process.confinement import Confinement
from sandbox_manager.infrastructure.runtimes.process.limits import limits_here
from sandbox_manager.infrastructure.runtimes.process.runtime import ProcessRuntime
from sandbox_manager.infrastructure.runtimes.threads import Pools, threads
from support.endpoint import await_true
from support.runtime_labs import ProcessLab
from support.sandboxes import KEYS, inside, new_identity, process_options, spec_of


def keep_token(identity: Identity) -> str:
    now = datetime.now(UTC)
    return KEYS.sign(identity, ["keep"], now, now + timedelta(minutes=1))


@asynccontextmanager
async def lab_in(folder: Path, *, isolated: bool) -> AsyncGenerator[ProcessLab]:
    options = process_options(folder, inside(), "door")
    async with threads("door", 2) as pool:
        runtime = ProcessRuntime(
            options,
            limits_here(options.inside, isolated=isolated),
            Pools(pool, pool, pool),
            isolated=isolated,
            confinement=Confinement(),
            has_network=network.available(),
        )
        try:
            yield ProcessLab(runtime, folder, "door")
        finally:
            for found in await runtime.found():
                await runtime.remove(found.identity, keep_workspace=False)


@pytest.mark.parametrize("isolated", [True, False])
async def test_a_sandbox_is_reached_also_where_its_path_is_longer_than_a_sockets(isolated: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="sbx-", dir="/tmp") as short:
        folder = Path(short, "n" * 150)
        async with lab_in(folder, isolated=isolated) as lab:
            identity = new_identity()
            started = await lab.runtime.start_sandbox(spec_of(identity))
            assert (await lab.runtime.keep_alive(identity, started.endpoint, keep_token(identity))).unused_s >= 0

            socket = Path(started.endpoint.removeprefix("unix:"))
            assert (socket.stat().st_uid, socket.stat().st_mode & 0o777) == (os.geteuid(), 0o600)
            lab.kill(identity)
            await_true(lambda: not any("process" in one for one in lab.left(identity)))
            began = time.monotonic()
            with pytest.raises(EngineUnavailableError):
                await lab.runtime.keep_alive(identity, started.endpoint, keep_token(identity))
            assert time.monotonic() - began < 2, "it was refused, not waited for"
            await lab.runtime.remove(identity, keep_workspace=False)
            assert lab.left(identity) == []
