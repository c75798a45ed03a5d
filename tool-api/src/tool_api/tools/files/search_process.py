"""Regular-expression search where ripgrep is missing: `search_process.py <pattern> <target> <i or nothing>`.

Prints as ripgrep does: `path:number:text`; exit code 1 for no match, 2 for a bad pattern.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

_SKIPPED = {".git", "node_modules"}
_MAX_COLUMNS = 500
_MAX_LINE = 100_000


def _files(target: str) -> list[str]:
    if os.path.isfile(target):
        return [target]
    found: list[str] = []
    for folder, folders, names in os.walk(target):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        found += [f"{folder}/{name}" for name in sorted(names) if not Path(folder, name).is_symlink()]
    return found


def _search(path: str, pattern: re.Pattern[str]) -> bool:
    has_match = False
    try:
        with Path(path).open("rb") as file:
            if b"\0" in file.read(8192):
                return False
            file.seek(0)
            for number, line in enumerate(iter(lambda: file.readline(_MAX_LINE), b""), 1):
                text = line.decode("utf-8", "replace").rstrip("\r\n")
                if pattern.search(text):
                    sys.stdout.write(f"{path}:{number}:{text[:_MAX_COLUMNS]}\n")
                    has_match = True
    except OSError:
        return has_match
    return has_match


def main() -> int:
    pattern, target, flags = sys.argv[1:4]
    try:
        compiled = re.compile(pattern, re.IGNORECASE if flags else 0)
    except re.error as error:
        sys.stderr.write(f"{error}\n")
        return 2
    matches = [_search(path, compiled) for path in _files(target) if os.path.isfile(path)]
    return 0 if any(matches) else 1


if __name__ == "__main__":
    sys.exit(main())
