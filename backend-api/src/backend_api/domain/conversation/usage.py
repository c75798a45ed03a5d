"""Tokens of several runs put together."""

from __future__ import annotations

from collections.abc import Iterable

from backend_api.domain.agent.events import Usage


def total_usage(usages: Iterable[Usage]) -> Usage:
    """The sum; the cost is known as far as any is."""
    total = Usage()
    by_model: dict[str, dict[str, int]] = {}
    cost: float | None = None
    for usage in usages:
        if usage.cost is not None:
            cost = (cost or 0.0) + usage.cost
        for model, tokens in usage.by_model.items():
            kept = by_model.setdefault(model, {})
            for name, count in tokens.items():
                kept[name] = kept.get(name, 0) + count
        total = Usage(
            input=total.input + usage.input,
            cached=total.cached + usage.cached,
            output=total.output + usage.output,
            thinking=total.thinking + usage.thinking,
            cost=cost,
            by_model=by_model,
        )
    return total
