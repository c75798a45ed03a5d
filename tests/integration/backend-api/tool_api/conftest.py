"""A real tool API on a unix socket, and the gateway's clients before it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator
from pathlib import Path

import pytest

from backend_api.domain.sandbox.entity import Computer
from backend_api.infrastructure.tool_api.doors import Doors
from support.computers import a_computer
from support.door import RunningDoor, running_door
from support.door_tokens import FixedTokens


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningDoor]:
    with running_door(tmp_path_factory.mktemp("door"), MAX_UPLOAD_BYTES="100000") as running:
        yield running


@pytest.fixture
def tokens(door: RunningDoor) -> FixedTokens:
    return FixedTokens(door)


@pytest.fixture
async def doors(tokens: FixedTokens) -> AsyncIterator[Doors]:
    async with Doors(tokens) as doors:
        yield doors


@pytest.fixture
def computer() -> Computer:
    return a_computer()


@pytest.fixture
def folder(door: RunningDoor) -> Path:
    return door.workspace
