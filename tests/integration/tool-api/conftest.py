"""One running tool API a module."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from support.endpoint import RunningEndpoint, running_endpoint


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningEndpoint]:
    folder: Path = tmp_path_factory.mktemp("door")
    with running_endpoint(folder, BASH_TIMEOUT="20", MAX_UPLOAD_BYTES="1000000") as running:
        yield running
