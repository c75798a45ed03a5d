"""slirp4netns is shut in as far as this machine and user allow, which is tried out."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from sandbox_manager.infrastructure.runtimes.process import network
from sandbox_manager.infrastructure.runtimes.process.slirp import SANDBOX, SECCOMP, find_strictest_options
from support.ordinary_user import as_ordinary_user

# A tun device that everybody may open, as most machines have, for the command alone.
_OPEN_TUN = """
node=$(mktemp -u /tmp/tun.XXXXXX)
mknod -m 666 "$node" c 10 200
mount --bind "$node" /dev/net/tun
rm "$node"
exec "$@"
"""
_TELL = """
from sandbox_manager.infrastructure.runtimes.process.slirp import find_strictest_options
print(*find_strictest_options())
"""


@pytest.mark.skipif(not network.available(), reason="no networks for process sandboxes here")
def test_it_has_a_filter_and_as_root_a_root_of_its_own_and_no_rights() -> None:
    before = psutil.Process().children()

    options = find_strictest_options()

    assert SECCOMP in options
    assert os.geteuid() != 0 or SANDBOX in options
    assert psutil.Process().children() == before


@pytest.fixture
def shared_mount() -> Iterator[Path]:
    """A mount below another, both shared as on most machines, and outside of what a temporary folder is."""
    top = Path(tempfile.mkdtemp(prefix="shared-", dir="/var/lib"))
    inner = top / "inner"
    mounted: list[Path] = []
    try:
        for place in (top, inner):
            place.mkdir(exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "test", str(place)], check=True)
            mounted.append(place)
            subprocess.run(["mount", "--make-shared", str(place)], check=True)
        yield inner
    finally:
        for place in reversed(mounted):
            subprocess.run(["umount", str(place)], check=False)
        top.rmdir()


@pytest.mark.skipif(
    os.geteuid() != 0 or not network.available(), reason="only root can mount, and only root's unmounts"
)
def test_nothing_is_unmounted_on_the_host(shared_mount: Path) -> None:
    assert SANDBOX in find_strictest_options()

    assert shared_mount.is_mount()


@pytest.mark.skipif(os.geteuid() != 0 or not network.available(), reason="only root can open the device for others")
def test_an_ordinary_users_has_at_least_the_filter() -> None:
    command = as_ordinary_user([sys.executable, "-c", _TELL])
    stage = ["unshare", "--mount", "--propagation", "private", "sh", "-euc", _OPEN_TUN, "sh"]

    done = subprocess.run([*stage, *command], capture_output=True, text=True, timeout=60, check=False)

    assert SECCOMP in done.stdout.split(), done.stderr
