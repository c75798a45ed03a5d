"""A table of capabilities of a test's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from backend_api.agent.capability import Capability, ToolSource
from backend_api.runs.capabilities import capabilities


def having(*needed: Capability) -> Callable[..., Sequence[Capability]]:
    """The deployment's, and these where it lacks them: for a test that needs what one does and holds something else, so
    that it fails for its own matter alone."""

    def table(*sources: ToolSource, **bounds: Any) -> Sequence[Capability]:
        there = capabilities(*sources, **bounds)
        names = {one.name for one in there}
        return [*there, *(one for one in needed if one.name not in names)]

    return table
