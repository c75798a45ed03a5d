"""Sums of what model calls used."""

from __future__ import annotations

from dataclasses import replace

from backend_api.domain.agent.events import Usage


def add_usage(total: Usage, call: Usage, model: str) -> Usage:
    """The usage after one more call to `model`."""
    numbers = {"input": call.input, "cached": call.cached, "output": call.output, "thinking": call.thinking}
    return combine(total, replace(call, by_model={model: numbers}))


def combine(first: Usage, second: Usage) -> Usage:
    """Both together, by model too."""
    by_model = {model: dict(numbers) for model, numbers in first.by_model.items()}
    for model, numbers in second.by_model.items():
        sums = by_model.setdefault(model, {})
        for key, value in numbers.items():
            sums[key] = sums.get(key, 0) + value
    costs = [cost for cost in (first.cost, second.cost) if cost is not None]
    return Usage(
        input=first.input + second.input,
        cached=first.cached + second.cached,
        output=first.output + second.output,
        thinking=first.thinking + second.thinking,
        cost=sum(costs) if costs else None,
        by_model=by_model,
    )
