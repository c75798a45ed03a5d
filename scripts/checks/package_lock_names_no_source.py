"""Locks of npm pin versions and hashes, not where they come from."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from house.tracked import ROOT, report, tracked_files


def main() -> int:
    resolved: list[str] = []
    unhashed: list[str] = []
    for path in (path for path in tracked_files() if path.name == "package-lock.json"):
        packages = json.loads(path.read_text(encoding="utf-8"))["packages"]
        named = {f"{path.relative_to(ROOT)}: {name}": entry for name, entry in packages.items() if name}
        resolved += [name for name, entry in named.items() if "resolved" in entry]
        unhashed += [name for name, entry in named.items() if "integrity" not in entry and not entry.get("inBundle")]
    return report("has a `resolved` address", resolved) or report("has no integrity hash", unhashed)


if __name__ == "__main__":
    sys.exit(main())
