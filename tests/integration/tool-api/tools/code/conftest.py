"""One running tool API with kernels, and a home to install further ones in."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Generator

import pytest

from support.endpoint import ROOT, RunningEndpoint, running_endpoint

KERNEL_PYTHON = ROOT / ".venv-kernels" / "bin" / "python"


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningEndpoint]:
    assert KERNEL_PYTHON.exists(), "the environment of the kernels is missing: ./run.sh check makes it"
    folder = tmp_path_factory.mktemp("endpoint")
    with running_endpoint(folder, BASH_TIMEOUT="20", SANDBOX_KERNEL_PYTHON=str(KERNEL_PYTHON)) as running:
        yield running


@pytest.fixture
def install(endpoint: RunningEndpoint) -> Callable[[str, str], None]:
    """Install a kernel, as an agent would: its name, and the program it is."""

    def install_kernel(name: str, program: str) -> None:
        folder = endpoint.workspace.parent / ".local" / "share" / "jupyter" / "kernels" / name
        folder.mkdir(parents=True)
        (folder / "program.py").write_text(program)
        argv = ["python", str(folder / "program.py"), "{connection_file}"]
        (folder / "kernel.json").write_text(json.dumps({"argv": argv, "language": name, "display_name": name}))

    return install_kernel


@pytest.fixture
def seconds() -> str:
    """A length of sleep nobody else uses, to find our own sleeps in /proc."""
    return f"6{os.getpid()}.{random.getrandbits(24)}"
