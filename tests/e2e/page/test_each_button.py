"""Whatever can be pressed in any state of the page does something that is seen, or says why it can't be pressed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from support.page import chromium
from support.page_presses import walking
from support.page_states import STATES, Look, Places, State

LOOK = Look("wide", "light", "en")
FEW = ("log in", "register", "paper")
"""Those of the short walk."""


async def wrong_with(places: Places, states: Sequence[State]) -> list[str]:
    async with (
        chromium() as browser,
        await LOOK.context(browser) as context,
        walking(places, context) as walk,
    ):
        for state in states:
            await walk.through(state)
        assert len(walk.pressed) > len(states)
        return walk.wrong


@pytest.mark.timeout(900)
async def test_each_button_of_a_few_states_does_something(places: Places) -> None:
    wrong = await wrong_with(places, [state for state in STATES if state.name in FEW])
    assert wrong == [], "\n".join(wrong)


@pytest.mark.thorough
@pytest.mark.timeout(5400)
async def test_each_button_of_each_state_does_something(places: Places) -> None:
    wrong = await wrong_with(places, STATES)
    assert wrong == [], "\n".join(wrong)
