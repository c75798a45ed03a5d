"""One running tool API a module, and commands that can be found again among all of the machine's."""

from __future__ import annotations

import os
import random
from collections.abc import Generator
from pathlib import Path

import pytest

from support.endpoint import RunningEndpoint, running_endpoint


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningEndpoint]:
    folder: Path = tmp_path_factory.mktemp("endpoint")
    with running_endpoint(folder, BASH_TIMEOUT="20", MAX_UPLOAD_BYTES="1000000") as running:
        yield running


@pytest.fixture
def seconds() -> str:
    """A length of sleep nobody else uses, to find our own sleeps in /proc."""
    return f"6{os.getpid()}.{random.getrandbits(24)}"
