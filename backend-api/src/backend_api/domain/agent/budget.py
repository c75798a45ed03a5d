"""What a run may use. Hitting a bound ends the run with a reason a person understands."""

from __future__ import annotations

from dataclasses import dataclass, replace

from backend_api.domain.agent.events import RunEnd, StoredPayload, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How the loop ended. `code` is the stable code of an error event, None where nothing went wrong; `said` is what
    is stored together with the end."""

    status: RunEnd
    reason: str | None = None
    code: str | None = None
    retryable: bool = False
    said: tuple[StoredPayload, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Turns are model calls of the run, `turns_set_by` names who bounds them; tokens are what it read anew (cached
    input is not counted) and wrote."""

    max_turns: int = 50
    turns_set_by: str = "MAX_TURNS"
    max_tokens: int = 200_000

    def for_session(self, max_turns: int | None) -> Budget:
        """With the bound that a session chose, if it did."""
        return self if max_turns is None else replace(self, max_turns=max_turns, turns_set_by="max_turns")

    def exceeded(self, turn: int, usage: Usage) -> Ending | None:
        """The ending if the model call numbered `turn` may not be made."""
        if turn > self.max_turns:
            return Ending(
                status="failed",
                reason=f"The run reached its limit of {self.max_turns} turns ({self.turns_set_by}). "
                "Send a message to go on.",
                code="turn_budget",
                retryable=True,
            )
        used = usage.input - usage.cached + usage.output
        if used >= self.max_tokens:
            return Ending(
                status="failed",
                reason=f"The run used {used} tokens of {self.max_tokens} (MAX_TOKEN_BUDGET). Send a message to go on.",
                code="token_budget",
                retryable=True,
            )
        return None


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
