"""No address of a package registry in any file: locks and builds must work behind a mirror."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from house.tracked import report, text_lines, tracked_files

# Written apart so that this file does not find itself.
_HOSTS = re.compile(
    "|".join(
        re.escape(f"{name}.{domain}")
        for name, domain in (
            ("pypi", "org"),
            ("files.pythonhosted", "org"),
            ("registry.npmjs", "org"),
            ("registry.yarnpkg", "com"),
            ("deb.debian", "org"),
            ("archive.ubuntu", "com"),
            ("registry-1.docker", "io"),
            ("proxy.golang", "org"),
        )
    )
)


def main() -> int:
    findings = [f"{path}:{number}" for path, number, line in text_lines(tracked_files()) if _HOSTS.search(line)]
    return report("names a package registry's host", findings)


if __name__ == "__main__":
    sys.exit(main())
