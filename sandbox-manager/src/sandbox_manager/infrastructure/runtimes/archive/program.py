"""The command line of the archive program."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import resource
import sys
import tarfile
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.archive.bounds import KEPT, MEMORY_BYTES, ArchiveError, Counted
from sandbox_manager.infrastructure.runtimes.archive.packing import pack
from sandbox_manager.infrastructure.runtimes.archive.unpacking import mend, unpack

_LONGEST_DETAIL = 1000
_NAME = re.compile("[A-Za-z0-9_-]{1,64}")


def run(arguments: list[str]) -> dict[str, object]:
    """Carry out the arguments; the result is for the manager."""
    verb, workspace, archives, name, max_bytes, max_files = arguments
    if not _NAME.fullmatch(name):
        raise ArchiveError("failed", "not a valid snapshot name")
    counted = Counted(int(max_bytes), int(max_files))
    target = Path(archives) / f"{name}.tar.gz"
    if verb == "pack":
        if not Path(workspace).is_dir() or KEPT.issuperset(os.listdir(workspace)):
            raise ArchiveError("empty", "There are no files yet.")
        pack(Path(workspace), target, counted)
        return {"bytes": target.stat().st_size, "content_bytes": counted.bytes, "files": counted.files}
    if verb == "unpack":
        unpack(Path(workspace), target, counted)
    elif verb == "mend":
        mend(Path(workspace), Path(archives))
    else:
        for one in (target, target.with_suffix(".part")):
            one.unlink(missing_ok=True)
    return {}


def main() -> None:
    """The program."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    most = MEMORY_BYTES if most == resource.RLIM_INFINITY else min(most, MEMORY_BYTES)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    try:
        answer = run(sys.argv[1:])
    except ArchiveError as error:
        answer = {"code": error.code, "detail": str(error)}
    except (tarfile.TarError, gzip.BadGzipFile, EOFError):
        answer = {"code": "damaged", "detail": "The snapshot's archive is damaged."}
    except MemoryError:
        answer = {"code": "too_large", "detail": "The files are too many, or their names too long, for a snapshot."}
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        message = error.strerror or type(error).__name__
        answer = {
            "code": "full" if full else "failed",
            "detail": f"{message}: {error.filename}" if error.filename else message,
        }
    if isinstance(detail := answer.get("detail"), str):
        # It may name a file, and a file may have any name.
        answer["detail"] = os.fsencode(detail[:_LONGEST_DETAIL]).decode("utf-8", "backslashreplace")
    sys.stdout.write(json.dumps(answer) + "\n")
