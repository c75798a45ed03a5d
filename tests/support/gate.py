"""Which cases of a test the gate runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest
from _pytest.mark import ParameterSet


def some_in_gate(names: Iterable[str], kept: Collection[str]) -> list[ParameterSet]:
    """Parameters of all names, of which those that are not kept are thorough."""
    every = list(names)
    assert set(kept) <= set(every), "a case of the gate is missing"
    return [pytest.param(name, marks=() if name in kept else pytest.mark.thorough, id=name) for name in every]
