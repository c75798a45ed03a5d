"""Sums of the usage of model calls."""

from __future__ import annotations

from dataclasses import replace

from backend_api.agent.events import NO_USAGE, Usage

_DECIMALS = 12
"""Decimals of a sum in US dollars: enough for a thousandth of a token, and errors of addition are rounded away."""


def add_usage(total: Usage, call: Usage, model: str) -> Usage:
    """The usage after one more call to `model`, whose `cost` is None if it has no known price."""
    counts = {
        "input": call.input,
        "cached": call.cached,
        "output": call.output,
        "thinking": call.thinking,
        "cache_write": call.cache_write,
    }
    costs = {"cost": call.cost, "known_cost": call.cost or 0.0}
    return combine(total, replace(call, known_cost=call.cost or 0.0, by_model={model: counts}, costs={model: costs}))


def combine(first: Usage, second: Usage) -> Usage:
    """The sum of both, by model too. The cost is known if that of each is known, of those with any usage."""
    by_model = {model: dict(counts) for model, counts in first.by_model.items()}
    for model, counts in second.by_model.items():
        sums = by_model.setdefault(model, {})
        for key, value in counts.items():
            sums[key] = sums.get(key, 0) + value
    return Usage(
        input=first.input + second.input,
        cached=first.cached + second.cached,
        output=first.output + second.output,
        thinking=first.thinking + second.thinking,
        cache_write=first.cache_write + second.cache_write,
        new=first.new + second.new,
        cost=_cost([usage.cost for usage in (first, second) if usage != NO_USAGE]),
        known_cost=round(first.known_cost + second.known_cost, _DECIMALS),
        by_model=by_model,
        costs=_costs(first, second),
    )


def costs_of(usage: Usage) -> dict[str, dict[str, float | None]]:
    """The costs by model. Usage stored before costs were kept by model has them if it is of a single model."""
    if len(usage.by_model) == 1 and not usage.costs:
        return {model: {"cost": usage.cost, "known_cost": usage.known_cost} for model in usage.by_model}
    return {model: usage.costs.get(model, {"cost": None, "known_cost": 0.0}) for model in usage.by_model}


def _costs(first: Usage, second: Usage) -> dict[str, dict[str, float | None]]:
    one, other = costs_of(first), costs_of(second)
    summed = one | other
    for model in one.keys() & other.keys():
        known = (one[model]["known_cost"] or 0.0) + (other[model]["known_cost"] or 0.0)
        cost = _cost([one[model]["cost"], other[model]["cost"]])
        summed[model] = {"cost": cost, "known_cost": round(known, _DECIMALS)}
    return summed


def _cost(costs: list[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return round(sum(known), _DECIMALS) if known and len(known) == len(costs) else None
