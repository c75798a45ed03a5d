"""Progress that a server reports for a call, shown as the call's live output."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from backend_api.kit.invisible_characters import INVISIBLE
from backend_api.kit.masking import Mask

MAX_LINES = 300
"""The most lines for one call; later ones are not shown."""
MAX_CHARACTERS = 300
"""The most characters of one progress message."""


class ProgressLines:
    """The package's `ProgressFnT`: one line for each report, such as `3/5 Indexing`."""

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
        text = INVISIBLE.sub("", known)[:MAX_CHARACTERS]
        await self._show(f"{count} {text}".strip() + "\n")

    def end(self) -> None:
        """Ends the output: the call has its result, and later reports are not shown."""
        self._left = 0
