"""One command on the data of another version: a former one's is changed and shown, a later one's is refused, both in
words."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymongo
import pytest
from playwright.async_api import expect

from local_stack.child import ChildSpec
from local_stack.errors import StackError
from local_stack.supervisor import Supervisor
from support.former_data import PASSWORD, Place, fill_gateway_database, told
from support.page import EVERY_STEP, chromium, opened, transcript
from support.servers import Server, end_process
from support.stack import Stack, run_stack, spawn_stack

CHANGES = json.dumps({"logger": "service_kit.migrations", "message": "data is changed"})
OTHER = json.dumps({"logger": "another", "message": "anything"})
SLOW = "import pathlib, sys, time; print(sys.argv[2], flush=True); time.sleep(2); pathlib.Path(sys.argv[1]).touch()"


@contextmanager
def of_later_version(server: Server, name: str) -> Generator[None]:
    with pymongo.MongoClient[dict[str, Any]](server.uri) as client:
        client[name]["schema"].insert_one({"_id": "version", "version": 99})
        yield
        assert client[name].list_collection_names() == ["schema"]


@pytest.mark.parametrize("workers", ["false", "true"])
def test_data_of_a_later_version_is_refused_in_words(
    tmp_path: Path, mongo_server: Server, mongo_database_name: str, workers: str
) -> None:
    output, data = tmp_path / "terminal.txt", tmp_path / "data"
    data.mkdir()
    uri, name = mongo_server.uri, mongo_database_name
    with of_later_version(mongo_server, name):
        process = spawn_stack(data, output, MONGO_URI=uri, MONGO_DB_NAME=name, USE_BACKGROUND_JOBS=workers)
        try:
            assert process.wait(60) == 1
        finally:
            end_process(process, 30)
    said = output.read_text(encoding="utf-8")
    for text in ("The data is of version 99", "restore a backup"):
        assert text in said.partition("error: ")[2]
    assert "Traceback" not in said


async def test_a_folder_of_a_former_version_starts_says_what_is_changed_and_is_shown(
    tmp_path: Path, mongo_server: Server, mongo_database_name: str
) -> None:
    place = Place(folder=tmp_path, stack="any")
    fill_gateway_database(mongo_server.uri, mongo_database_name, place)
    former = {name: secrets.token_hex(32) for name in ("jwt_secret_key", "manager_token", "redis_password")}
    (tmp_path / "secrets.json").write_text(json.dumps(former | {"mongo_password": ""}))
    uri, name = mongo_server.uri, mongo_database_name
    with run_stack(tmp_path, AUTH_MODE="password", MONGO_URI=uri, MONGO_DB_NAME=name, LLM_PROVIDER="demo") as stack:
        assert "[gateway] data is changed: what a run used stands on it" in stack.printed()
        lines = (tmp_path / "logs" / "gateway.log").read_text().splitlines()
        messages = [json.loads(line)["message"] for line in lines if line.startswith("{")]
        assert messages.index("database is open") > messages.index("data is changed")
        kept = json.loads((tmp_path / "secrets.json").read_text())
        assert {name: kept[name] for name in former} == former
        (session,) = [one for one, known in told(place).items() if known["session"]["title"] == "计划 and a count"]
        await shows(stack, session)


async def shows(stack: Stack, session: str) -> None:
    """The page, once its user has logged in, without a trouble."""
    troubles: list[str] = []
    async with chromium() as browser:
        page = await browser.new_page(viewport={"width": 1440, "height": 900}, locale="en")
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda said: troubles.append(said.text) if said.type == "error" else None)
        await page.add_init_script(EVERY_STEP)
        await page.goto(stack.base_url)
        await page.get_by_label("User name").fill("anna")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Log in").click()
        for title in ("计划 and a count", "Stopped", "In a command"):
            await expect(page.get_by_role("link", name=title).first).to_be_visible(timeout=20_000)
        await page.get_by_role("button", name="Show archived").click()
        await expect(page.get_by_role("link", name="Tell me a long story.")).to_be_visible(timeout=20_000)
        await opened(page, stack, session)
        shown = transcript(page)
        for text in ("Write down a plan", "Thought about it", "Tried to read not/there.txt", "It is another one now."):
            await expect(shown).to_contain_text(text, timeout=20_000)
        picture = shown.locator("img").last
        await expect(picture).to_be_visible(timeout=20_000)
        assert await picture.evaluate("async one => (await one.decode(), one.naturalWidth)") > 100
    assert troubles == []


@pytest.mark.parametrize(("says", "comes_up"), [(CHANGES, True), (OTHER, False)])
async def test_who_changes_data_may_take_longer_to_start(tmp_path: Path, says: str, comes_up: bool) -> None:
    changed = tmp_path / "changed"

    async def is_ready() -> bool:
        return changed.exists()

    spec = ChildSpec(
        name="gateway",
        command=(sys.executable, "-c", SLOW, str(changed), says),
        environ={},
        working_dir=tmp_path,
        is_ready=is_ready,
        ready_within=1,
    )
    supervisor = Supervisor([[spec]], tmp_path, tmp_path / "stack.json")
    try:
        if comes_up:
            await supervisor.start_all(lambda _: None)
        else:
            with pytest.raises(StackError, match="not ready within 1 s"):
                await supervisor.start_all(lambda _: None)
    finally:
        await supervisor.stop_all()
