"""Programs run by somebody who is not root, as on a machine where nobody installed anything for us."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

UID = 64_321
_ROOT = Path(__file__).resolve().parents[2]

# closed PARENT FOLDER...: the folders stay at their paths, their parents can be walked through, all else is hidden.
_SHOW = """
umask 022
mount -t tmpfs held /mnt
while [ "$1" = closed ]; do
  parent=$2 count=0
  shift 2
  while [ "$1" != closed ] && [ "$1" != -- ]; do
    count=$((count + 1))
    mkdir "/mnt/$count"
    mount --bind "$1" "/mnt/$count"
    printf '%s\\n' "$1" >>/mnt/names
    shift
  done
  mount -t tmpfs -o mode=755 shown "$parent"
  count=0
  while read -r folder; do
    count=$((count + 1))
    mkdir -p "$folder"
    mount --move "/mnt/$count" "$folder"
  done </mnt/names
  rm -r /mnt/*
done
umount /mnt
shift
exec "$@"
"""

_HIDE = 'mount --bind /dev/null "$0"; exec "$@"'


def as_ordinary_user(command: list[str]) -> list[str]:
    """The command as that user does it; unchanged where we are an ordinary user ourselves.

    What lies under folders of root that nobody else may enter (an interpreter, this checkout) is shown at the same
    paths in a mount namespace of its own.
    """
    if os.geteuid() != 0:
        return command
    closed = [word for parent, folders in _closed().items() for word in ("closed", str(parent), *map(str, folders))]
    stage = (
        ["unshare", "--mount", "--propagation", "private", "sh", "-euc", _SHOW, "sh", *closed, "--"] if closed else []
    )
    # Root's secrets of the compose stack, which the tests of that write here.
    secrets = _ROOT / ".env"
    if secrets.exists() and not secrets.stat().st_mode & 0o004:
        stage += ["unshare", "--mount", "--propagation", "private", "sh", "-euc", _HIDE, str(secrets)]
    user = ["setpriv", "--reuid", str(UID), "--regid", str(UID), "--clear-groups", "--inh-caps=-all"]
    return [*stage, *user, "--bounding-set=-all", "--", *command]


def hand_to_ordinary_user(folder: Path) -> None:
    """Make the folder that user's, if it is not ours anyway."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(folder, UID, UID)
        for parent in folder.parents:
            if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
                parent.chmod(parent.stat().st_mode | 0o011)


def _closed() -> dict[Path, list[Path]]:
    """Folders nobody else may enter, each with what the programs need from below it."""
    needed = [_ROOT, Path(sys.base_prefix), Path(sys.prefix)]
    needed += [
        Path(place).resolve().parent for name in ("mongod", "redis-server", "node") if (place := shutil.which(name))
    ]
    found: dict[Path, list[Path]] = {}
    for folder in dict.fromkeys(needed):
        barred = [one for one in reversed(folder.parents) if not one.stat().st_mode & 0o001]
        if barred:
            found.setdefault(barred[0], []).append(folder)
    return found
