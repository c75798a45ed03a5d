"""The front end's lock pins versions and hashes, not where they come from."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from house.tracked import ROOT, report


def main() -> int:
    lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    resolved = [name for name, entry in packages.items() if "resolved" in entry]
    unhashed = [name for name, entry in packages.items() if "integrity" not in entry and not entry.get("inBundle")]
    return report("has a `resolved` address", resolved) or report("has no integrity hash", unhashed)


if __name__ == "__main__":
    sys.exit(main())
