"""One day at the page over a fleet that is cut in bursts: all is looked at after each of them, and at the end."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.async_api import Page, expect

from support.api_client import register
from support.balancer import Balancer
from support.chaos.brain import Brain
from support.chaos.cuts import Cuts
from support.chaos.day import Day
from support.chaos.sandboxes import ProcessSandboxes
from support.chaos.settings import crashes, say, trial_settings
from support.chaos.tab import Tab
from support.flaky_proxy import FlakyProxy
from support.fleet import Fleet, Shape, run_fleet
from support.model_server import ModelServer
from support.page import EVERY_STEP, WIDE, chromium, composer

SHAPE = Shape(gateways=2, workers=1, managers=1)
MOST_AT_ONCE = 6
SCENES_OF_A_TALK = 4
NAME, PASSWORD = "person", "correct horse battery"
_QUEUES = "localStorage.setItem('enter', 'queues')"


async def day_of_cuts(folder: Path, chance: random.Random, cuts: int) -> None:
    """Until there were so many cuts. What was found wrong fails the test, all of it together."""
    brain = Brain(random.Random(chance.getrandbits(64)), words=40, word_s=0.02)
    wrong: list[str] = []
    async with ModelServer(respond=brain) as model:
        settings = trial_settings(model.openai_url)
        async with (
            run_fleet(folder, SHAPE, settings, forged=True) as fleet,
            at_the_page(fleet, chance) as (day, all_cuts),
        ):
            try:
                while all_cuts.count < cuts:
                    wrong += await _scene(day, all_cuts, min(chance.randint(1, MOST_AT_ONCE), cuts - all_cuts.count))
                for talk in day.talks:
                    wrong += await day.check(talk)
                wrong += crashes(fleet)
            finally:
                say(f"{all_cuts.count} cuts: {dict(all_cuts.done)}; tabs opened {day.tab.opened}; {dict(day.acted)}")
                for one in wrong:
                    say(f"WRONG {one}")
                await fleet.stop()
                day.sandboxes.end_what_is_left()
    assert not wrong, wrong[:5]


async def _scene(day: Day, cuts: Cuts, count: int) -> list[str]:
    """One thing done while so much is cut, and what is wrong once it is calm."""
    scene = _next_scene(day)
    before = len(cuts.told)
    acting = asyncio.create_task(cuts.burst(count))
    try:
        await scene()
    except AssertionError as failed:
        found = [str(failed)]
        day.give_up()
    else:
        found = []
    await acting
    await cuts.calm()
    if not found:
        found = await day.check(day.talk)
    told = f"{scene.__name__} with {cuts.told[before:]}"
    say(f"{told}: {found or 'well'}")
    return [f"{told}: {one}" for one in found]


def _next_scene(day: Day) -> Callable[[], Awaitable[None]]:
    """A conversation begins with its first message, and goes on with everything that is done in one."""
    chance = day.chance
    if not day.is_in_a_talk or day.scenes >= SCENES_OF_A_TALK:
        day.scenes = 0
        return day.begin_careful if day.talks and len(day.talks) % 3 == 1 else day.begin
    day.scenes += 1
    if day.talk.asks:
        return chance.choice((day.approve, day.leave_draft))
    return chance.choice((day.say, day.give_much_work, day.queue, day.change, day.attach, day.leave_draft))


@asynccontextmanager
async def at_the_page(fleet: Fleet, chance: random.Random) -> AsyncGenerator[tuple[Day, Cuts]]:
    """Somebody who has logged in, over a network that can be cut."""
    ports = [member.port for member in fleet.kind("gateway")]
    async with (
        Balancer(ports, random.Random(chance.getrandbits(64))) as balancer,
        FlakyProxy("127.0.0.1", urlsplit(balancer.url).port or 0) as proxy,
        await register(fleet.urls[0], NAME, PASSWORD) as api,
        chromium() as browser,
    ):
        await api.json("PUT", "/settings/appearance/face", json={"value": "developer"})
        await api.json("PUT", "/settings/appearance/enter", json={"value": "queues"})
        context = await browser.new_context(viewport={**WIDE}, locale="en")  # type: ignore[typeddict-item]
        # Pages of the browser's own, such as that there is no network, keep nothing.
        await context.add_init_script(f"if (location.protocol === 'http:') {{ {EVERY_STEP};{_QUEUES} }}")
        tab = Tab(context=context)
        url = f"http://127.0.0.1:{proxy.port}"
        await tab.go(url)
        async with tab.held() as page:
            await _log_in(page)
        day = Day(
            tab=tab,
            url=url,
            api=api,
            chance=random.Random(chance.getrandbits(64)),
            sandboxes=ProcessSandboxes(fleet),
        )
        try:
            yield day, Cuts(fleet=fleet, proxy=proxy, tab=tab, chance=random.Random(chance.getrandbits(64)))
        finally:
            api.keep_sessions()
            await context.close()


async def _log_in(page: Page) -> None:
    await page.get_by_label("User name").fill(NAME)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Log in").click()
    await expect(composer(page)).to_be_visible(timeout=60_000)
