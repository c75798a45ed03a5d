"""What the model is told where a program on the desktop fails."""

from __future__ import annotations

import pytest

from tool_api.tools.desktop.programs import ScreenError, capture, xdotool

NOWHERE = ":64999"


async def test_a_failure_says_what_to_do_next() -> None:
    with pytest.raises(ScreenError, match=r"did not do that\. Take a screenshot .* try another way"):
        await xdotool(NOWHERE, "getmouselocation")
    with pytest.raises(ScreenError, match=r"screenshot failed\. Take another"):
        await capture(NOWHERE, None, (8, 6))
