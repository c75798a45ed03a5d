"""What the agent remembers, in its runs: told as a recorded note, and changed once or told as maybe."""

from __future__ import annotations

import pytest

from backend_api.agent.events import ContextNote, ToolFinished
from backend_api.agent.model import FinishPart, TextPart
from backend_api.kit.ids import UserId
from backend_api.kit.masking import Mask
from backend_api.memories.application import ChangeMemories
from backend_api.memories.capability import memories_capability
from backend_api.memories.domain import MemoryFile
from backend_api.memories.tools import MemoryTools
from backend_api.settings.domain.entity import StoredSettings
from support.acting import call, taken_over_at
from support.memory.memories import MemoryMemories
from support.memory.store import MemoryStore
from support.memory.user_settings import MemorySettingsStore
from support.scripted import SCRIPTED, Script, ScriptedModel
from support.stage import USER, Stage, worker_for, working
from support.user_settings import settings_parts

SCRIPT: list[Script] = [
    *[
        [call("memory_insert", path="log.md", insert_line=0, insert_text=text), FinishPart("tool_calls")]
        for text in ("one", "two")
    ],
    [TextPart("Done."), FinishPart("stop")],
]


def made() -> ChangeMemories:
    own = settings_parts(MemorySettingsStore(MemoryStore()), SCRIPTED)
    return ChangeMemories(store=MemoryMemories(), mask=Mask(), open_settings=own.open_settings)


@pytest.mark.parametrize("cut_at", range(3, 10))
async def test_whenever_its_worker_dies_a_change_happened_once_or_is_told_as_maybe(cut_at: int) -> None:
    memories = made()
    await memories(USER, lambda present: present.created("log.md", "begun\n"))
    stage, session = await taken_over_at(cut_at, SCRIPT, MemoryTools(memories))
    results = stage.payloads(session, ToolFinished)
    content = (await memories.read(USER)).texts["log.md"]
    assert len(results) == 2
    for text, result in zip(("one", "two"), results, strict=True):
        assert result.success or "may have happened" in result.preview
        assert content.count(text) in ({1} if result.success else {0, 1})


async def notes_of(*listings: list[MemoryFile]) -> list[str]:
    """What is told of them in runs that begin with these."""
    stage, left = Stage(), [*listings]
    stage.store.settings[USER] = StoredSettings(user_id=USER, version=1)

    async def of(_: UserId) -> list[MemoryFile]:
        return left.pop(0)

    model = ScriptedModel(*[[TextPart("Done."), FinishPart("stop")]] * len(listings))
    worker = worker_for(stage, model, MemoryTools(made()), of_modules=[memories_capability(of)])
    async with working(worker):
        session = await stage.open_session(title="named")
        for _ in listings:
            await stage.until_finished(await stage.say(session, "go"))
    systems = {request.system for request in model.requests}
    assert len(systems) == 1
    return [note.text for note in stage.payloads(session, ContextNote) if note.kind == "memories"]


async def test_they_are_told_by_name_once_and_again_where_they_are_others_and_the_prompt_stays() -> None:
    tea = MemoryFile(path="tea.md", content="Likes tea\nNo sugar")
    assert await notes_of([], []) == []
    told = await notes_of([tea], [tea], [tea, MemoryFile(path="b", content="x")], [])
    assert len(told) == 3
    assert told[0].endswith("/memories/tea.md (18 bytes): Likes tea")
    assert told[1].endswith("/memories/b (1 bytes): x")
    assert told[2] == "As this run began you had no memories of this person any more."
