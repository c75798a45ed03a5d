"""Which base images and which Chrome are built with: what `./update.sh` wrote, unless something else is named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[3] / "scripts"
OLD, NEW = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"
DOCKER = f"""#!/bin/sh
case "$1 $2" in
  "pull -q") [ "$3" != own:1 ] ;;
  "image inspect") echo "debian@{NEW}" ;;
esac
"""
PACKAGES = f"""Package: google-chrome-beta
Version: 999.0.0.1-1
SHA256: {"e" * 64}

Package: google-chrome-stable
Version: 140.0.7339.80-1
Filename: pool/main/g/google-chrome-stable/google-chrome-stable_140.0.7339.80-1_amd64.deb
SHA256: {"c" * 64}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pins").write_text(f"debian:bookworm-slim@{OLD}\nredis:7-alpine@{OLD}\n")
    (tmp_path / "docker").write_text(DOCKER)
    (tmp_path / "docker").chmod(0o755)
    (tmp_path / "Packages").write_text(PACKAGES)
    return tmp_path


def run(root: Path, command: str, **settings: str) -> str:
    sources = f'. "{SCRIPTS}/setup.sh"; . "{SCRIPTS}/images/pins.sh"'
    done = subprocess.run(
        ["bash", "-euc", f"ROOT={root}; PINS={root}/pins; {sources}; {command}"],
        env={"PATH": f"{root}:/usr/bin:/bin", "CHROME_PACKAGES": f"file://{root}/Packages", **settings},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_tag_is_built_by_its_digest_where_that_is_known(root: Path) -> None:
    assert run(root, "default_image BASE_IMAGE debian:bookworm-slim") == f"debian:bookworm-slim@{OLD}"
    assert run(root, "default_image SANDBOX_BASE_IMAGE ubuntu:24.04") == "ubuntu:24.04"
    (root / "pins").unlink()
    assert run(root, "default_image BASE_IMAGE debian:bookworm-slim") == "debian:bookworm-slim"


def test_an_image_of_ones_own_counts_more_in_the_environment_or_in_the_file(root: Path) -> None:
    assert run(root, "default_image BASE_IMAGE debian:bookworm-slim", BASE_IMAGE="own:1") == "own:1"
    (root / ".env").write_text("MONGO_IMAGE=own:2\n")
    assert run(root, "default_image MONGO_IMAGE mongo:7") == "own:2"


def test_a_line_that_is_no_digest_is_no_pin(root: Path) -> None:
    (root / "pins").write_text("debian:bookworm-slim@sha256:short\ndebianxbookworm-slim@" + OLD + "\n")
    assert run(root, "pinned debian:bookworm-slim") == "debian:bookworm-slim"


def test_what_is_pulled_is_pinned_and_what_cannot_be_keeps_its_pin(root: Path) -> None:
    run(root, "pull_and_pin debian:bookworm-slim own:1")
    assert (root / "pins").read_text() == f"debian:bookworm-slim@{NEW}\nredis:7-alpine@{OLD}\n"


def test_chrome_is_pinned_by_version_and_checksum(root: Path) -> None:
    run(root, "pin_chrome")
    assert run(root, "pinned_chrome version; pinned_chrome checksum") == f"140.0.7339.80-1\n{'c' * 64}"
    (root / "Packages").unlink()
    run(root, "pin_chrome")
    assert run(root, "pinned_chrome version") == "140.0.7339.80-1"
