"""One running tool API a module."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from support.door import RunningDoor, running_door


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningDoor]:
    folder: Path = tmp_path_factory.mktemp("door")
    with running_door(folder, BASH_TIMEOUT="20", MAX_UPLOAD_BYTES="1000000") as running:
        yield running
