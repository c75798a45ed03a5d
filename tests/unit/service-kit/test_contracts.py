"""What crosses a wire between the services stands in the contracts, and nothing that is done with it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import contracts

MODULES = sorted(Path(contracts.__file__).parent.glob("*.py"))


def test_there_are_contracts() -> None:
    assert len(MODULES) > 5


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_a_contract_has_no_function_of_its_own(module: Path) -> None:
    """A model may check its fields; all that services do alike is the kit's."""
    functions = [one for one in ast.parse(module.read_text()).body if isinstance(one, ast.FunctionDef)]
    assert [one.name for one in functions if not one.name.startswith("_")] == []
