"""The image as a whole, in a container hardened as in production. Needs a Docker engine and the built image."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
IMAGE = os.environ.get("SANDBOX_IMAGE", "agent-sandbox:latest")


def docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def image() -> str:
    reason = None
    if shutil.which("docker") is None or docker("info").returncode != 0:
        reason = "no Docker engine answers"
    elif docker("image", "inspect", IMAGE).returncode != 0:
        reason = f"the image {IMAGE} is missing; build it with ./build.sh sandbox"
    if reason is not None:
        pytest.skip(reason)
    return IMAGE


@pytest.mark.timeout(300)
def test_a_hardened_sandbox_starts_serves_shows_its_desktop_and_is_gone_afterwards(image: str, tmp_path: Path) -> None:
    picture = tmp_path / "desktop.png"
    script = ROOT / "sandbox-image" / "smoke-test.sh"
    done = subprocess.run(
        [str(script), image],
        env={**os.environ, "SCREENSHOT": str(picture)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in done.stdout
    for check in ("start", "services", "shell", "browser", "desktop", "fonts", "chrome sandbox", "hardening"):
        assert f"ok      {check}" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert not docker("ps", "-aq", "--filter", f"ancestor={image}", "--filter", "name=sandbox-smoke-").stdout.strip()
