"""Nothing on any page or in any state is out of reach: axe finds no violation of any of its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from playwright.async_api import Page

from support.api_client import ApiClient
from support.page import chromium
from support.page_states import LOOKS, STATES, Look, Made, Places, State, make, show
from support.stack import ROOT

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
TOLD = """
async () => (await axe.run(
  // What is behind an open menu is out of reach meanwhile, as it is behind a dialog: axe knows that of dialogs alone.
  document.querySelector('[aria-hidden=true] ~ * > [role=menu]')?.parentElement ?? document,
  { resultTypes: ['violations'] },
)).violations.map(
  (one) => one.id + ': ' + one.nodes.map(({ html, target }) => target.join(' ') + ' ' + html.slice(0, 160)).join(' | '))
"""


async def violations(page: Page) -> list[str]:
    # By the protocol and not by a script element, which the page's policy refuses.
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    return list(await page.evaluate(TOLD))


async def found(
    places: Places, api: ApiClient, made: Made, looks: Mapping[Look, Sequence[State]]
) -> dict[str, list[str]]:
    """By look and state."""
    wrong: dict[str, list[str]] = {}
    async with chromium() as browser:
        for look, states in looks.items():
            context = await look.context(browser)
            for state in states:
                page = await context.new_page()
                await show(page, places, state, made)
                if told := await violations(page):
                    wrong[f"{look} {state.name}"] = told
                await page.close()
            await context.close()
    return wrong


@pytest.mark.timeout(600)
async def test_each_state_in_one_look(places: Places) -> None:
    """A neighbour in the table is seen in another look, so that each look is tried with some."""
    looks = {look: STATES[at :: len(LOOKS)] for at, look in enumerate(LOOKS)}
    async with ApiClient(places.stack.base_url) as api:
        wrong = await found(places, api, await make(api, places), looks)
    assert wrong == {}, "\n".join(f"{where}: {told}" for where, told in wrong.items())


@pytest.mark.thorough
@pytest.mark.timeout(3600)
async def test_each_state_in_each_look(places: Places) -> None:
    async with ApiClient(places.stack.base_url) as api:
        wrong = await found(places, api, await make(api, places), dict.fromkeys(LOOKS, STATES))
    assert wrong == {}, "\n".join(f"{where}: {told}" for where, told in wrong.items())
