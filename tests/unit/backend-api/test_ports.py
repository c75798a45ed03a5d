"""A port is small, or says why it is not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MOST = 7
WHY = "more than seven methods, as"


def _name(base: ast.expr) -> str:
    return ast.unparse(base).partition("[")[0].rpartition(".")[2]


CLASSES = [
    one
    for path in sorted(ROOT.glob("*/src/**/*.py"))
    for one in ast.walk(ast.parse(path.read_text()))
    if isinstance(one, ast.ClassDef)
]
PORTS = [one for one in CLASSES if "Protocol" in map(_name, one.bases)]


def methods(port: ast.ClassDef) -> set[str]:
    """Of the port and of the ports it is made of."""
    own = {one.name for one in port.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    bases = [one for one in PORTS if one.name in map(_name, port.bases)]
    return own.union(*map(methods, bases))


def test_there_are_ports() -> None:
    assert len(PORTS) > 50


@pytest.mark.parametrize("port", PORTS, ids=lambda port: port.name)
def test_a_port_has_few_methods_or_says_why(port: ast.ClassDef) -> None:
    docstring = " ".join((ast.get_docstring(port) or "").split()).lower()
    assert len(methods(port)) <= MOST or WHY in docstring, sorted(methods(port))
