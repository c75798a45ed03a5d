from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from jose import jwt

from contracts.sandboxes import TOKEN_ALGORITHM, TOKEN_AUDIENCE
from sandbox_manager.domain.errors import SandboxNotFoundError, SandboxNotReadyError, SandboxOverError
from support.manager_harness import ManagerHarness
from support.sandboxes import KEYS


async def test_a_token_is_bound_to_sandbox_generation_and_scopes() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()

    minted = await manager.mint(ready.id, ["exec"], timedelta(minutes=5))
    claims = jwt.decode(
        minted.token,
        KEYS.public_key,
        algorithms=[TOKEN_ALGORITHM],
        audience=TOKEN_AUDIENCE,
        options={"verify_exp": False},
    )

    assert (claims["sub"], claims["gen"], claims["scopes"]) == (ready.id, 1, ["exec"])
    assert claims["exp"] - claims["iat"] == 300
    assert claims["jti"]
    assert minted.endpoint == ready.endpoint


async def test_two_tokens_differ() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()

    one = await manager.mint(ready.id, ["exec"], timedelta(minutes=5))
    two = await manager.mint(ready.id, ["exec"], timedelta(minutes=5))

    assert one.token != two.token


async def test_a_starting_sandbox_has_no_token() -> None:
    manager = ManagerHarness()
    manager.runtime.hold = asyncio.Event()
    created = await manager.create("s1", "u1")

    with pytest.raises(SandboxNotReadyError):
        await manager.mint(created.sandbox.id, ["exec"], timedelta(minutes=5))

    await manager.launcher.close()


async def test_what_does_not_exist_has_no_token_and_can_not_be_renewed() -> None:
    manager = ManagerHarness()

    with pytest.raises(SandboxNotFoundError):
        await manager.mint("never", ["exec"], timedelta(minutes=5))
    with pytest.raises(SandboxNotFoundError):
        await manager.renew("never")


async def test_what_is_gone_has_no_token_and_can_not_be_renewed() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()
    await manager.delete(ready.id, keep_workspace=True)

    with pytest.raises(SandboxNotReadyError):
        await manager.mint(ready.id, ["exec"], timedelta(minutes=5))
    with pytest.raises(SandboxOverError):
        await manager.renew(ready.id)
