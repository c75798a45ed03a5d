"""Sandboxes that end before they are ready."""

from __future__ import annotations

import asyncio

import pytest
from docker.errors import APIError

from sandbox_manager.domain.errors import StartFailedError
from sandbox_manager.domain.sandbox import Identity
from support.runtime_labs import Lab
from support.sandboxes import START_S, new_identity, spec_of


async def test_what_ends_while_it_starts_is_worth_another_try(lab: Lab) -> None:
    if lab.runtime.name == "fake":
        return  # it starts at once
    identity = new_identity()
    starting = asyncio.create_task(lab.runtime.start_sandbox(spec_of(identity)))

    async with asyncio.timeout(START_S):
        while not starting.done() and not await asyncio.to_thread(killed, lab, identity):
            await asyncio.sleep(0.01)
        with pytest.raises(StartFailedError) as failed:
            await starting
    assert failed.value.retryable


def killed(lab: Lab, identity: Identity) -> bool:
    """Whether there was already something to kill."""
    try:
        lab.kill(identity)
    except (AssertionError, ProcessLookupError, APIError):
        return False
    return True
