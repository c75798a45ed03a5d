"""The `AGENTS.md` of folders that an agent comes to work in: told once, as they are now, and again after a summary."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backend_api.agent.capabilities.compaction import compaction
from backend_api.agent.capabilities.folder_instructions import FOLDER_INSTRUCTIONS
from backend_api.agent.events import ContextCompacted, ContextNote, InstructionsFound, Usage
from backend_api.agent.folder_instructions import MAX_FOLDERS
from backend_api.agent.model import (
    FinishPart,
    ModelRequest,
    NoteTurn,
    TextPart,
    ToolCallPart,
    ToolRequest,
    UsagePart,
)
from backend_api.agent.tool import Done, FolderInstructions
from backend_api.kit.ids import SessionId
from support.scripted import SCRIPTED, HandlerBox, Script, ScriptedModel
from support.stage import Stage, worker_for, working
from support.tables import having

STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")
SAID: Script = [TextPart("Done."), STOP]
TABLE = having(FOLDER_INSTRUCTIONS, compaction(threshold=0.7))


def work(*said: tuple[str, str]) -> ToolCallPart:
    """A call in folders whose files say so."""
    return ToolCallPart(ToolRequest(call_id="c", name="work", arguments={"said": [*map(list, said)]}))


def at(folder: str, *texts: str) -> list[Any]:
    return [*(work((f"{folder}/AGENTS.md", text)) for text in texts), CALLS]


def workshop() -> HandlerBox:
    box = HandlerBox()

    async def run(_: Any, arguments: dict[str, Any], __: Any) -> Done:
        told = [FolderInstructions(path=path, text=text) for path, text in arguments["said"]]
        return Done(success=True, output="worked", instructions=told)

    box.add("work", run, read_only=True)
    return box


def notes(request: ModelRequest) -> list[str]:
    """What it reads of such files, as it was told."""
    told = [turn.text for turn in request.turns if isinstance(turn, NoteTurn)]
    return [text.rpartition("\n\n")[2] for text in told if text.startswith("The file ")]


def sessions_of(stage: Stage) -> list[SessionId]:
    return [SessionId(session) for session in stage.store.sessions]


async def requests_of(stage: Stage, *scripts: Script, messages: int = 1, **worker: Any) -> list[ModelRequest]:
    model = ScriptedModel(*scripts)
    session = await stage.open_session(title="named")
    for number in range(messages):
        # Each message by another worker, which knows nothing but the log.
        async with working(worker_for(stage, model, workshop(), table=TABLE, **worker)):
            await stage.until_finished(await stage.say(session, f"message {number}"))
    return model.requests


async def test_they_are_told_before_the_next_answer_once() -> None:
    stage = Stage()
    requests = await requests_of(stage, at("a", "Tabs."), at("a", "Tabs."), SAID, at("a", "Tabs."), SAID, messages=2)
    assert [notes(request) for request in requests] == [[], *[["Tabs."]] * 4]
    (session,) = sessions_of(stage)
    assert [(one.path, one.text) for one in stage.payloads(session, InstructionsFound)] == [("a/AGENTS.md", "Tabs.")]
    (note,) = (note for note in stage.payloads(session, ContextNote) if note.kind == "instructions")
    assert note.about == "a/AGENTS.md"
    assert "it approves nothing" in note.text


async def test_what_was_changed_is_told_as_it_is_now() -> None:
    requests = await requests_of(Stage(), at("a", "Tabs."), at("a", "Spaces."), SAID)
    assert notes(requests[-1]) == ["Tabs.", "Spaces."]


async def test_each_folder_has_its_own() -> None:
    requests = await requests_of(Stage(), at("a", "Tabs."), at("b", "Spaces."), at("a", "Tabs."), SAID)
    assert notes(requests[-1]) == ["Tabs.", "Spaces."]


async def test_calls_of_one_answer_find_them_once() -> None:
    stage = Stage()
    await requests_of(stage, at("a", "Tabs.", "Tabs.", "Tabs."), SAID)
    (session,) = sessions_of(stage)
    assert len(stage.payloads(session, InstructionsFound)) == 1


async def test_after_a_summary_they_are_told_again() -> None:
    small, summary = replace(SCRIPTED, context_window=1_000), [TextPart("They want work done."), STOP]
    full: Script = [UsagePart(Usage(input=800, output=10)), *at("b", "Spaces.")]
    stage = Stage()
    requests = await requests_of(
        stage, at("a", "Tabs."), [TextPart("x" * 400), STOP], full, summary, SAID, messages=2, info=small
    )
    (session,) = sessions_of(stage)
    assert len(stage.payloads(session, ContextCompacted)) == 1
    assert sorted(notes(requests[-1])[-2:]) == ["Spaces.", "Tabs."]
    assert "x" * 400 not in str(requests[-1].turns)


async def test_those_of_so_many_folders_are_known_and_the_first_ones_are_found_again() -> None:
    folders = [work((f"{number}/AGENTS.md", f"Say {number}.")) for number in range(MAX_FOLDERS + 1)]
    stage = Stage()
    await requests_of(stage, [*folders, CALLS], at("1", "Say 1."), at("0", "Say 0."), SAID)
    (session,) = sessions_of(stage)
    found = [one.text for one in stage.payloads(session, InstructionsFound)]
    assert found == [*(f"Say {number}." for number in range(MAX_FOLDERS + 1)), "Say 0."]
