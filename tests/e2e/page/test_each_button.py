"""Whatever can be pressed in any state of the page does something that is seen, or says why it can't be pressed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from support.page import chromium
from support.page_presses import EXCEPTIONS, walking
from support.page_states import ACCOUNTS, STATES, Look, State
from support.stack import Stack, run_stack

LOOK = Look("wide", "light", "en")
FEW = ("conversation", "approval", "menu of a conversation", "new schedule", "paper")
"""Those of the short walk."""
UNHURRIED = {"RATE_LIMIT_MESSAGES_PER_MINUTE": "0", "RATE_LIMIT_SESSIONS_PER_MINUTE": "0"}


@dataclass(frozen=True, slots=True)
class Places:
    stack: Stack
    accounts: str


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    """Stacks of its own, as presses change what other tests would find."""
    with (
        run_stack(tmp_path_factory.mktemp("walked"), ordinary=False, **UNHURRIED) as stack,
        run_stack(tmp_path_factory.mktemp("accounts"), ordinary=False, **ACCOUNTS) as accounts,
    ):
        yield Places(stack, accounts.base_url)


async def wrong_with(places: Places, states: Sequence[State]) -> tuple[list[str], set[str]]:
    """What went wrong, and the names of those that were not pressed."""
    async with (
        chromium() as browser,
        await LOOK.context(browser) as context,
        walking(places.stack, places.accounts, context) as walk,
    ):
        for state in states:
            await walk.through(state)
        assert len(walk.pressed) > len(states)
        return walk.wrong, walk.excepted


@pytest.mark.timeout(400)
async def test_each_button_of_a_few_states_does_something(places: Places) -> None:
    wrong, _ = await wrong_with(places, [state for state in STATES if state.name in FEW])
    assert wrong == [], "\n".join(wrong)


@pytest.mark.thorough
@pytest.mark.timeout(5400)
async def test_each_button_of_each_state_does_something(places: Places) -> None:
    wrong, excepted = await wrong_with(places, STATES)
    assert wrong == [], "\n".join(wrong)
    # An exception is for a button that there is.
    assert excepted == {*EXCEPTIONS}
