"""A process sandbox that ends before it is handed out."""

from __future__ import annotations

import contextlib

import pytest

from sandbox_manager.domain.errors import StartFailedError
from sandbox_manager.infrastructure.runtimes.process import runtime as module
from sandbox_manager.infrastructure.runtimes.process.logs import Log
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef
from sandbox_manager.infrastructure.runtimes.process.store import Live
from sandbox_manager.infrastructure.runtimes.process.terminals import bound_terminals
from support.endpoint import await_true
from support.runtime_labs import process_lab
from support.sandboxes import inside, new_identity, spec_of


async def test_one_that_ends_when_it_has_said_that_it_is_ready_is_not_handed_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def end_before(first: ProcessRef) -> str | None:
        first.kill()
        await_true(lambda: not first.is_alive)
        return bound_terminals(first)

    monkeypatch.setattr(module, "bound_terminals", end_before)
    async with process_lab(inside()) as lab:
        identity = new_identity()

        with pytest.raises(StartFailedError) as failed:
            await lab.runtime.start_sandbox(spec_of(identity))

        await lab.runtime.remove(identity, keep_workspace=False)
    assert failed.value.retryable
    assert "ended before it was ready" in failed.value.detail


async def test_the_limit_that_ended_one_that_was_starting_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = "It used more memory than it is allowed."
    identity = new_identity()
    async with process_lab(inside()) as lab:

        def end_before(log: Log) -> str | None:
            Live(log.path.parent).verdict.write_text(verdict)
            with contextlib.suppress(ProcessLookupError):
                lab.kill(identity)
            return None

        monkeypatch.setattr(Log, "ready_line", end_before)

        with pytest.raises(StartFailedError) as failed:
            await lab.runtime.start_sandbox(spec_of(identity))

        await lab.runtime.remove(identity, keep_workspace=False)
    assert failed.value.detail == verdict
