"""The tools of what the agent remembers: a conflict, a size and a secret are told, and change nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from backend_api.agent.tool_families import families_of
from backend_api.kit.ids import UserId
from backend_api.kit.masking import Mask
from backend_api.memories.application import MAX_ATTEMPTS, ChangeMemories
from backend_api.memories.domain import Memories
from backend_api.memories.tools import MemoryTools, memory_tools
from backend_api.settings.application.open_settings import bound_to
from support.memory.memories import MemoryMemories
from support.memory.store import MemoryStore
from support.memory.user_settings import MemorySettingsStore
from support.scripted import ANY, SCRIPTED, call_tool
from support.user_settings import settings_parts

OWN_KEY = "own-provider-key-of-anna"
PATH = "/memories/tea.md"
CREATE: dict[str, Any] = {"path": PATH, "file_text": "Likes green tea"}
NAMES = ["memory_create", "memory_str_replace", "memory_insert", "memory_delete", "memory_rename"]


def test_its_family_is_named_by_what_means_nothing_else() -> None:
    (family,) = families_of([tool.spec for tool in memory_tools(None)])
    named = ("Look into your memory", "Forget your  memories!", "看看你的记忆", "Use @memories")
    assert [text for text in named if not family.is_named_in(text)] == []
    assert not family.is_named_in("It is out of memory: my memories are in the file. 记忆")


def made(*, is_enabled: bool = True, store: MemoryMemories | None = None) -> ChangeMemories:
    own = settings_parts(MemorySettingsStore(MemoryStore()), SCRIPTED)
    return ChangeMemories(
        store=store or MemoryMemories(),
        mask=Mask(["deployment-secret"]),
        open_settings=own.open_settings,
        is_enabled=is_enabled,
    )


async def test_what_is_written_is_read_changed_renamed_and_forgotten() -> None:
    tools = MemoryTools(made())
    assert (await call_tool(tools, "memory_view", {})).output == "There are no memories yet."
    assert (await call_tool(tools, "memory_create", CREATE)).output == f"Created {PATH}. 21 of 65,536 bytes are used."
    await call_tool(tools, "memory_str_replace", {"path": PATH, "old_str": "green", "new_str": "black"})
    await call_tool(tools, "memory_insert", {"path": PATH, "insert_line": 1, "insert_text": "No sugar"})
    await call_tool(tools, "memory_rename", {"old_path": PATH, "new_path": "/memories/likes/tea.md"})
    folder = await call_tool(tools, "memory_view", {"path": "/memories/likes/"})
    assert folder.output == "/memories/likes/tea.md (25 bytes): Likes black tea"
    read = (await call_tool(tools, "memory_view", {"path": "/memories/likes/tea.md"})).output
    assert read.splitlines()[1:] == ["1\tLikes black tea", "2\tNo sugar"]
    part = await call_tool(tools, "memory_view", {"path": "likes/tea.md", "view_range": [2, -1]})
    assert part.output.splitlines()[1:] == ["2\tNo sugar"]
    version = read.split("version ")[1].split(",")[0]
    gone = await call_tool(tools, "memory_delete", {"path": "likes/tea.md", "version": version})
    assert (gone.success, (await call_tool(tools, "memory_view", {})).output) == (True, "There are no memories yet.")


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("memory_create", CREATE, "There is a memory /memories/tea.md already."),
        ("memory_str_replace", {"path": PATH, "old_str": "coffee"}, "is not in /memories/tea.md"),
        ("memory_insert", {"path": PATH, "insert_line": 7, "insert_text": "x"}, "has 1 lines only"),
        ("memory_delete", {"path": PATH, "version": "old"}, "was changed since it was read"),
        ("memory_rename", {"old_path": PATH, "new_path": PATH + "/x"}, ""),
    ],
)
async def test_a_conflict_is_told_with_the_present_text(name: str, arguments: dict[str, Any], said: str) -> None:
    memories = made()
    tools = MemoryTools(memories)
    await call_tool(tools, "memory_create", CREATE)
    done = await call_tool(tools, name, arguments)
    if not said:
        assert done.success
        return
    assert not done.success
    assert done.output.startswith("Nothing was changed: ")
    assert said in done.output
    assert done.output.endswith("Its text is now:\nLikes green tea")
    assert (await memories.read(UserId("u"))).texts == {"tea.md": "Likes green tea"}


async def test_what_is_not_there_is_told() -> None:
    tools = MemoryTools(made())
    for name, arguments in (
        ("memory_view", {"path": PATH}),
        ("memory_str_replace", {"path": PATH, "old_str": "x"}),
        ("memory_view", {"path": "/memories/../../etc/passwd"}),
    ):
        assert not (await call_tool(tools, name, arguments)).success


async def test_one_over_its_size_is_refused_with_the_size() -> None:
    done = await call_tool(MemoryTools(made()), "memory_create", {"path": PATH, "file_text": "x" * 5_000})
    assert "would have 5,000 bytes, and a memory has at most 4,096" in done.output


@pytest.mark.parametrize("secret", ["deployment-secret", OWN_KEY, "sk-abcdefghijklmnop1234", "password: hunter22"])
async def test_no_secret_is_kept(secret: str) -> None:
    memories = made()
    opening = memories.open_settings
    sealed = opening.box.seal(OWN_KEY, bound_to=bound_to(UserId("u"), "models/openai_api_key"))
    await opening.store.change(UserId("u"), "models/openai_api_key", sealed)
    done = await call_tool(MemoryTools(memories), "memory_create", {"path": PATH, "file_text": f"It is {secret}"})
    assert not done.success
    assert "Memories keep none" in done.output
    assert secret not in done.output
    assert (await memories.read(UserId("u"))).texts == {}


async def test_of_two_runs_at_once_none_loses_what_the_other_wrote() -> None:
    tools = MemoryTools(made())
    await call_tool(tools, "memory_create", {"path": PATH, "file_text": "0"})
    added = [{"path": PATH, "insert_line": 0, "insert_text": f"n{at}"} for at in range(8)]
    done = await asyncio.gather(*[call_tool(tools, "memory_insert", one) for one in added])
    assert all(one.success for one in done)
    read = (await call_tool(tools, "memory_view", {"path": PATH})).output
    assert all(f"\tn{at}" in read for at in range(8))


class Contested(MemoryMemories):
    """Somebody else is first, each time."""

    attempts = 0

    async def replace(self, fresh: Memories) -> bool:
        self.attempts += 1
        return await super().replace(replace(fresh, version=-1))


async def test_who_is_never_first_is_told_so_in_the_end() -> None:
    store = Contested()
    done = await call_tool(MemoryTools(made(store=store)), "memory_create", CREATE)
    assert (done.success, store.attempts) == (False, MAX_ATTEMPTS)
    assert "Try again in a moment" in done.output


async def test_only_the_agent_that_the_person_talks_to_has_them_and_none_where_they_are_off() -> None:
    assert await MemoryTools(made()).tools(replace(ANY, kind="general")) == []
    assert await MemoryTools(made(is_enabled=False)).tools(ANY) == []


def test_what_changes_them_counts_as_a_change_in_plan_mode_and_before_an_approval() -> None:
    effects = {tool.spec.name: tool.spec.effect for tool in memory_tools(None)}
    assert effects == {"memory_view": "reads", **dict.fromkeys(NAMES, "writes")}


@pytest.mark.parametrize(
    ("arguments", "field", "told"),
    [
        *(({"path": text, "file_text": "tea"}, "path", "invisible characters") for text in ("\u200b", "\u3164")),
        ({"path": "a\0b", "file_text": "tea"}, "path", "NUL (U+0000)"),
        ({"path": "tea.md", "file_text": "a\0b"}, "file_text", "NUL (U+0000)"),
    ],
)
async def test_a_text_with_nul_or_in_which_nothing_is_seen_is_refused(
    arguments: dict[str, Any], field: str, told: str
) -> None:
    memories = made()
    done = await call_tool(MemoryTools(memories), "memory_create", arguments)
    assert not done.success
    assert f"- {field}: " in done.output
    assert told in done.output
    assert (await memories.read(UserId("u"))).texts == {}


async def test_no_part_of_a_path_is_unseen() -> None:
    memories = made()
    done = await call_tool(
        MemoryTools(memories), "memory_create", {"path": "/memories/\u3164/tea.md", "file_text": "tea"}
    )
    assert not done.success
    assert "The path of a memory is" in done.output
    assert (await memories.read(UserId("u"))).texts == {}
