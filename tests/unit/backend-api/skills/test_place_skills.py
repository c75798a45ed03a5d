"""The folders of skills in a sandbox: once each, again in another one, and one failure stops no other."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from backend_api.kit.ids import UserId
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.skills.application.place_skills import PlaceSkills
from backend_api.skills.application.user_skills import UserSkills
from backend_api.skills.library.archives import ZipArchives, read_zip, skill_of
from backend_api.skills.library.library import FolderLibrary
from support.memory.sandboxes import MemorySandboxes
from support.memory.skills import MemorySkillStore

ANNA, BEN = UserId("anna"), UserId("ben")
NONE = FolderLibrary({})


class Folders:
    def __init__(self, *broken: str, stuck: str = "") -> None:
        self.put_there: list[tuple[int, str, str]] = []
        self._broken, self._stuck = broken, stuck

    async def put(self, sandbox: Sandbox, name: str, archive: bytes) -> None:
        if name in self._broken:
            raise SandboxUnavailableError("There is no room.")
        if name == self._stuck:
            await asyncio.Event().wait()
        self.put_there.append((sandbox.generation, name, read_zip(archive).instructions))


async def kept(*names: str, user: UserId = ANNA, text: str = "Do.") -> MemorySkillStore:
    store = MemorySkillStore()
    for name in names:
        head = f"---\nname: {name}\ndescription: d\n---\n{text}"
        await store.put(user, skill_of({"SKILL.md": head.encode()}), source=None, most=10)
    return store


async def test_each_is_put_there_once_and_again_in_a_rebuilt_sandbox() -> None:
    folders, sandboxes = Folders(), MemorySandboxes()
    place = PlaceSkills(UserSkills(await kept("a", "b"), NONE), ZipArchives(), folders)
    sandbox = await sandboxes.ensure("s", ANNA)
    assert await place(sandbox, ANNA, ["a"]) == []
    assert await place(sandbox, ANNA, ["a", "b"]) == []
    assert [name for _, name, _ in folders.put_there] == ["a", "b"]
    rebuilt = replace(sandbox, generation=sandbox.generation + 1)
    await place(rebuilt, ANNA, ["a", "b"])
    assert [name for _, name, _ in folders.put_there] == ["a", "b", "a", "b"]
    place.forget("s", "a")
    await place(rebuilt, ANNA, ["a", "b"])
    assert [name for _, name, _ in folders.put_there][4:] == ["a"]


async def test_calls_that_come_together_put_it_there_once() -> None:
    folders = Folders()
    place = PlaceSkills(UserSkills(await kept("a"), NONE), ZipArchives(), folders)
    sandbox = await MemorySandboxes().ensure("s", ANNA)
    await asyncio.gather(*(place(sandbox, ANNA, ["a"]) for _ in range(5)))
    assert len(folders.put_there) == 1


async def test_one_that_fails_is_told_once_and_stops_no_other() -> None:
    folders = Folders("broken", stuck="stuck")
    own = UserSkills(await kept("broken", "stuck", "fine"), NONE)
    place = PlaceSkills(own, ZipArchives(), folders, within_s=0.05)
    sandbox = await MemorySandboxes().ensure("s", ANNA)
    told = await place(sandbox, ANNA, ["broken", "stuck", "gone", "fine"])
    assert [name for _, name, _ in folders.put_there] == ["fine"]
    assert "/skills/broken" in told[0]
    assert "There is no room." in told[0]
    assert "took longer than 0.05 seconds" in told[1]
    assert "There is no skill gone" in told[2]
    assert await place(sandbox, ANNA, ["broken", "stuck", "gone", "fine"]) == []


async def test_nobody_is_given_anothers() -> None:
    folders = Folders()
    place = PlaceSkills(UserSkills(await kept("a", user=BEN), NONE), ZipArchives(), folders)
    told = await place(await MemorySandboxes().ensure("s", ANNA), ANNA, ["a"])
    assert folders.put_there == []
    assert "There is no skill a" in told[0]
