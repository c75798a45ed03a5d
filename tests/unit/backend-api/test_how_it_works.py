"""The walk through the code names files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "how-it-works.md").read_text()


def named() -> list[str]:
    return re.findall(r"`([\w/.-]+\.py)(?:::\w+)?`", PAGE)


def test_each_file_and_function_the_page_names_is_there() -> None:
    source = ROOT / "backend-api" / "src" / "backend_api"
    found = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("*/src/**/*.py")]
    assert len(named()) > 25
    for name in named():
        assert (source / name).is_file() or any(path.endswith("/" + name) or path == name for path in found), name
    for name, function in re.findall(r"`([\w/.-]+\.py)::(\w+)`", PAGE):
        text = "".join((ROOT / path).read_text() for path in found if path.endswith("/" + name))
        assert f"def {function}(" in text, (name, function)


@pytest.mark.parametrize(
    ("path", "most"),
    [("A message to the model", 9), ("A delta to the page", 7), ("A tool call to the sandbox and back", 9)],
)
def test_a_path_passes_no_more_files(path: str, most: int) -> None:
    """Each step is a file, or several of which one is passed."""
    _, _, rest = PAGE.partition(f"\n## {path}\n")
    section = re.split(r"\n##+ ", rest)[0]
    steps = re.findall(r"^(\d+)\. (?:In [^`]*|[aA]nd )?`[^`]+`", section, re.MULTILINE)
    assert steps == [str(number) for number in range(1, len(steps) + 1)]
    assert 3 < len(steps) <= most


def test_the_readme_leads_to_the_page() -> None:
    assert "(docs/how-it-works.md)" in (ROOT / "README.md").read_text()
