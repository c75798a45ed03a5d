from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox_manager.domain.errors import EngineUnavailableError, StartFailedError
from sandbox_manager.infrastructure.runtimes.process import network
from sandbox_manager.infrastructure.runtimes.process import runtime as module
from sandbox_manager.infrastructure.runtimes.process.confinement import Confinement
from sandbox_manager.infrastructure.runtimes.process.limits import Limits
from sandbox_manager.infrastructure.runtimes.process.processes import reference
from sandbox_manager.infrastructure.runtimes.process.runtime import ProcessRuntime
from sandbox_manager.infrastructure.runtimes.process.store import State
from sandbox_manager.infrastructure.runtimes.threads import pools
from support.sandboxes import inside, new_identity, process_options, spec_of


async def test_the_addresses_of_the_host_are_read_apart_from_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers: list[threading.Thread] = []

    def unreadable(_: network.NetworkRules) -> str:
        readers.append(threading.current_thread())
        raise EngineUnavailableError("not known")

    monkeypatch.setattr(network.NetworkRules, "wanted", unreadable)
    given, identity = inside(), new_identity()
    options = replace(process_options(tmp_path, given), python=Path("/bin/true"))
    async with pools("test", 1) as own:
        runtime = ProcessRuntime(
            options, Limits("rlimit", given), own, isolated=True, confinement=Confinement(), has_network=True
        )
        with pytest.raises(EngineUnavailableError, match="not known"):
            await runtime.start_sandbox(spec_of(identity))

    assert [one is threading.main_thread() for one in readers] == [False]
    assert not (tmp_path / "live" / identity.sandbox_id).exists()


async def test_a_sandbox_whose_terminals_can_not_be_bounded_is_not_handed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive = reference(os.getpid())
    assert alive is not None
    given = inside()
    monkeypatch.setattr(module, "bound_terminals", lambda _: "mount: permission denied")
    monkeypatch.setattr(module.Store, "state", lambda *_: State(first=alive, outer=alive, network=None))
    async with pools("test", 1) as own:
        runtime = ProcessRuntime(
            process_options(tmp_path, given),
            Limits("rlimit", given),
            own,
            isolated=True,
            confinement=Confinement(),
            has_network=False,
        )
        with pytest.raises(StartFailedError, match="terminals could not be bounded: mount: permission denied"):
            runtime._bound_terminals(new_identity().sandbox_id)
