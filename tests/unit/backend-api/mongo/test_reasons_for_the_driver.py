"""Repositories are Beanie's; where one asks the driver instead, a line beside it says why."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

import pytest

import backend_api

FOLDER = Path(backend_api.__file__).parent
BY_NAME = ("database[", "database.get_collection(")
BY_DOCUMENT = "get_pymongo_collection("


def asks_the_driver(text: str) -> bool:
    """By a class, or by a document of Beanie's: functions that are given a database belong to those who give it."""
    classes = [ast.unparse(one) for one in ast.walk(ast.parse(text)) if isinstance(one, ast.ClassDef)]
    return BY_DOCUMENT in text or any(way in code for code in classes for way in BY_NAME)


REPOSITORIES = [
    path
    for path in sorted([*FOLDER.glob("*/mongo/*.py"), *FOLDER.glob("*/mongo.py")])
    if asks_the_driver(path.read_text())
]


def comments(path: Path) -> str:
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    return "\n".join(token.string for token in tokens if token.type == tokenize.COMMENT)


def test_there_are_such() -> None:
    assert len(REPOSITORIES) > 15


@pytest.mark.parametrize("path", REPOSITORIES, ids=lambda path: path.name)
def test_one_that_asks_the_driver_says_why(path: Path) -> None:
    assert "driver" in comments(path)
