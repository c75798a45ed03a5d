"""Docstrings say what a thing is or does; few begin like part of a sentence ("What is told where ...")."""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from house.tracked import ROOT, report, tracked_files

_MOST = 0.03
"""The share of fragments that is allowed: a clause may be the plainest name of a field."""
_BEGINNINGS = re.compile(
    r"(After|All|Also|As|At|Because|Before|Beside|By|Enough|Even|For|From|How|If|In|Its|Long|More|Nobody|None|Not|Nothing|"
    r"Of|Only|Over|Since|So|That|Then|Those|To|Under|Until|What|When|Where|Which|While|Who|Whose|Why|With|Without)\b"
)
"""First words of a clause or a phrase that hangs on something the reader does not see."""


def docstrings_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and the text of each docstring: of modules, classes, functions and of fields."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        yield from _text_of(node.body[:1])
        for former, statement in pairwise(node.body):
            if isinstance(former, ast.Assign | ast.AnnAssign):
                yield from _text_of([statement])


def is_fragment(text: str) -> bool:
    """Whether the first word shows that it is no sentence and no name of a thing."""
    return _BEGINNINGS.match(text) is not None


def _text_of(statements: list[ast.stmt]) -> Iterator[tuple[int, str]]:
    for statement in statements:
        value = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield statement.lineno, value.value.strip()


def main() -> int:
    """The share of fragments in the sources; `--list FOLDER` prints those below a folder."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--list", metavar="FOLDER", help="print the fragments below this folder")
    folder: str | None = arguments.parse_args().list
    count = 0
    fragments: list[str] = []
    for path in tracked_files():
        name = path.relative_to(ROOT).as_posix()
        if path.suffix != ".py" or "/src/" not in name:
            continue
        for line, text in docstrings_of(ast.parse(path.read_text(encoding="utf-8"))):
            count += 1
            if is_fragment(text):
                fragments.append(f"{name}:{line}: {text.splitlines()[0]}")
    if folder is not None:
        print(*(one for one in fragments if one.startswith(folder)), sep="\n")
        return 0
    share = len(fragments) / count
    print(f"{len(fragments)} of {count} docstrings are fragments ({share:.1%})")
    return report("too many docstrings are fragments; see --list", ["docstrings"] * (share > _MOST))


if __name__ == "__main__":
    raise SystemExit(main())
