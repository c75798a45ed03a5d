"""What the benchmarks share: a scripted model server, a real stack, and how a result is written down."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = Path(os.environ.get("BENCH_ROOT", HERE.parent)).resolve()
"""The checkout that is measured."""
for part in (
    "tests",
    "scripts",
    "contracts/src",
    "service-kit/src",
    "backend-api/src",
    "sandbox-manager/src",
    "sandbox-manager/engine-filter/src",
    "tool-api/src",
):
    sys.path.insert(0, str(ROOT / part))

from support.stack import Stack, run_stack  # noqa: E402

_NAMED_ALONE = {
    "RATE_LIMIT_MESSAGES_PER_MINUTE": "1000000",
    "RATE_LIMIT_SESSIONS_PER_MINUTE": "0",
    "MAX_RUNS_PER_USER": "0",
    "MAX_STREAMS_PER_USER": "1000",
}
_NAMED_TOGETHER = {"RATE_LIMITS": "messages=1000000/minute,sessions=0", "QUOTAS": "runs=0,streams=1000"}
_HAS_FORMER_NAMES = (ROOT / "service-kit/src/service_kit/former_settings.txt").exists()
NO_LIMITS = _NAMED_TOGETHER if _HAS_FORMER_NAMES else _NAMED_ALONE
"""The settings that let a load through, under the names that the measured checkout knows."""


@contextmanager
def paced_model(deltas: int, every_ms: float, text: Path | None = None) -> Iterator[str]:
    """The address of a model server in a process of its own that answers everything with `deltas` pieces, of the file
    `text` where that is given; the same one for every checkout that is measured."""
    command = [sys.executable, str(HERE / "paced_model.py"), "--deltas", str(deltas), "--every-ms", str(every_ms)]
    command += ["--text", str(text)] if text else []
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait(10)


@contextmanager
def scripted_stack(*, deltas: int, delay_ms: float = 0.0, text: Path | None = None) -> Iterator[Stack]:
    """A local stack whose model is the scripted server."""
    with paced_model(deltas, delay_ms, text) as url, tempfile.TemporaryDirectory() as folder:
        settings = {
            "LLM_PROVIDER": "openai",
            "OPENAI_API_KEY": "sk-scripted",
            "OPENAI_BASE_URL": url,
            "MODEL": "scripted",
            "MAX_TOKEN_BUDGET": "100000000",
            **NO_LIMITS,
        }
        with run_stack(Path(folder), **settings) as stack:
            yield stack


@contextmanager
def plain_stack(**settings: str) -> Iterator[Stack]:
    """A local stack with the demo model."""
    image = {"SANDBOX_IMAGE": os.environ["SANDBOX_IMAGE"]} if "SANDBOX_IMAGE" in os.environ else {}
    with tempfile.TemporaryDirectory() as folder, run_stack(Path(folder), **image, **settings) as stack:
        yield stack


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def summary(name: str, values: Sequence[float], unit: str) -> str:
    """One line: p50, p95, extremes and how many."""
    return (
        f"{name}: p50 {percentile(values, 0.5):.2f} {unit}, p95 {percentile(values, 0.95):.2f}, "
        f"min {min(values):.2f}, max {max(values):.2f} (n={len(values)})"
    )


def machine() -> str:
    """The machine in one line."""
    memory = int(re.findall(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())[0]) // 2**20
    models = re.findall(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    cpu = models[0] if models else platform.machine()
    return f"{os.cpu_count()} x {cpu}, {memory} GiB, Linux {platform.release()}, Python {platform.python_version()}"
