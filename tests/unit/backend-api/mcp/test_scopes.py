"""Scopes that a server asks for."""

from __future__ import annotations

import time

from backend_api.mcp.domain.sign_in import MAX_SCOPE_CHARACTERS, scopes_of, with_scopes

LONGEST_S = 0.05
"""What nobody else has of the process meanwhile; it takes a tenth of that."""


def test_those_that_fit_are_kept_each_once_and_in_order() -> None:
    assert with_scopes("", "b a b") == "b a"
    assert with_scopes("b a", "a c") == "b a c"
    assert with_scopes("a", "x" * MAX_SCOPE_CHARACTERS + " c") == "a c"


def test_as_many_as_a_header_holds_take_no_time() -> None:
    said = scopes_of(" ".join(f"{number:x}" for number in range(4_096, 26_000)))
    known = with_scopes("", said)
    began = time.process_time()
    assert with_scopes(known, said) == known
    assert time.process_time() - began < LONGEST_S
    assert len(known) <= MAX_SCOPE_CHARACTERS
