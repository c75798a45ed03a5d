"""A restore onto a disk that becomes full on the way changes nothing, wherever in a file that is."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from sandbox_manager.infrastructure.runtimes.archive.packing import _Exactly

KIB = 1024
PROGRAM = "from sandbox_manager.infrastructure.runtimes.archive.program import main; main()"
# A file system of its own, of 400 KB.
RESTORE = """
mount -t tmpfs -o size=400k tmpfs "$1/workspace" || exit 1
echo before > "$1/workspace/kept"
"$2" -c "$3" unpack "$1/workspace" "$1/archives" one 100000000 100
cat "$1/workspace/kept"
ls -A "$1/workspace"
"""


@pytest.mark.parametrize("last_kib", [250, 600])
def test_a_disk_that_takes_only_a_part_of_a_file_keeps_what_it_had(last_kib: int, tmp_path: Path) -> None:
    for name in ("content", "archives", "workspace"):
        (tmp_path / name).mkdir()
    (tmp_path / "content" / "f").write_bytes(os.urandom(200 * KIB))
    (tmp_path / "content" / "g").write_bytes(os.urandom(last_kib * KIB))
    places = [str(tmp_path / "content"), str(tmp_path / "archives")]
    subprocess.run([sys.executable, "-c", PROGRAM, "pack", *places, "one", "100000000", "100"], check=True)

    own_mounts = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", RESTORE, "sh"]
    done = subprocess.run(
        [*own_mounts, str(tmp_path), sys.executable, PROGRAM], capture_output=True, text=True, check=True
    )

    answer, *left = done.stdout.splitlines()
    assert json.loads(answer)["code"] == "full"
    assert left == ["before", "kept"]


def test_a_file_that_is_read_in_small_parts_is_packed_as_it_is() -> None:
    class Slow(io.BytesIO):
        """Gives a byte at a time."""

        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(1, size or 0))

    exactly = _Exactly(cast(BinaryIO, Slow(b"words")), 7)
    assert [exactly.read(4), exactly.read(4)] == [b"word", b"s\0\0"]
