"""No path of somebody's machine in any file."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from house.tracked import report, text_lines, tracked_files

_PATH = re.compile(r"(?<![\w.~-])/(?:work|Users)/\w|(?<![\w.~-])/home/(?!agent\b)\w")


def main() -> int:
    files = (path for path in tracked_files() if path != Path(__file__).resolve() and path.suffix != ".svg")
    return report("holds a path of one machine", [f"{p}:{n}" for p, n, line in text_lines(files) if _PATH.search(line)])


if __name__ == "__main__":
    sys.exit(main())
