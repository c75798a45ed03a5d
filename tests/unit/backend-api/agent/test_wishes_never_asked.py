"""A call that asks the person something, where a stop or a message came before it could."""

from __future__ import annotations

import pytest

from backend_api.agent.events import ResolvedBy
from backend_api.agent.plans import Plan
from backend_api.agent.questions import Questions


@pytest.mark.parametrize("wish", [Plan(call_id="c", plan="Paint it."), Questions(call_id="c", questions=())])
@pytest.mark.parametrize("by", ["stop", "message"])
def test_it_ends_as_one_that_has_not_begun(wish: Plan | Questions, by: ResolvedBy) -> None:
    (finished,) = wish.refused_results(by)
    assert (finished.success, finished.cancelled, finished.has_begun) == (False, by == "stop", False)
