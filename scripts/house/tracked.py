"""The files that belong to the project, and how a rule reports what it found."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tracked_files() -> list[Path]:
    """Files git knows or would add."""
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = (ROOT / name.decode() for name in listed.stdout.split(b"\0") if name)
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def text_lines(paths: Iterable[Path]) -> Iterator[tuple[Path, int, str]]:
    """Every line of every text file, with its number."""
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            yield path.relative_to(ROOT), number, line


def report(rule: str, findings: list[str]) -> int:
    """Print the findings; the rule's exit status."""
    for finding in findings:
        print(f"{finding}: {rule}", file=sys.stderr)
    return 1 if findings else 0
