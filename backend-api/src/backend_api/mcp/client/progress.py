"""What a server tells of a call's progress, shown as the call's live output."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from backend_api.kit.masking import Mask
from backend_api.kit.unseen import UNSEEN

MAX_LINES = 300
"""Of one call: what comes after them is not shown."""
MAX_CHARACTERS = 300
"""Of what a server says in one."""


class ProgressLines:
    """The package's `ProgressFnT`: a line for each time, such as `3/5 Indexing`."""

    def __init__(self, show: Callable[[str], Awaitable[None]], mask: Mask) -> None:
        self._show = show
        self._mask = mask
        self._left = MAX_LINES

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        if self._left <= 0:
            return
        self._left -= 1
        count = f"{progress:g}" if total is None else f"{progress:g}/{total:g}"
        # Hidden before it is cut: half of a secret is not found.
        known = " ".join(self._mask.known(message or "").split())[: 4 * MAX_CHARACTERS]
        text = UNSEEN.sub("", known)[:MAX_CHARACTERS]
        await self._show(f"{count} {text}".strip() + "\n")

    def end(self) -> None:
        """The call has its result: what still comes is not shown."""
        self._left = 0
