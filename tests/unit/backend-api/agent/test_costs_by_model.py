"""What each model cost is told apart, also where something of it is not known."""

from __future__ import annotations

from backend_api.agent.events import Usage
from backend_api.agent.usage import add_usage, combine, costs_of


def test_each_models_calls_are_summed_and_one_without_a_price_makes_its_cost_unknown() -> None:
    total = Usage()
    for model, cost in (("a", 0.1), ("b", None), ("a", 0.2), ("b", 0.5)):
        total = add_usage(total, Usage(input=1, cost=cost), model)
    assert total.costs == {"a": {"cost": 0.3, "known_cost": 0.3}, "b": {"cost": None, "known_cost": 0.5}}
    assert (total.cost, total.known_cost) == (None, 0.8)


def test_what_was_stored_before_says_it_of_one_model_alone() -> None:
    one = Usage(input=1, cost=0.1, known_cost=0.1, by_model={"a": {"input": 1}})
    assert costs_of(one) == {"a": {"cost": 0.1, "known_cost": 0.1}}
    two = Usage(input=2, cost=0.1, known_cost=0.1, by_model={"a": {"input": 1}, "b": {"input": 1}})
    assert costs_of(two) == {key: {"cost": None, "known_cost": 0.0} for key in ("a", "b")}
    assert combine(one, add_usage(Usage(), Usage(input=1, cost=0.1), "a")).costs == {
        "a": {"cost": 0.2, "known_cost": 0.2}
    }
    assert costs_of(Usage()) == {}
