"""A result that is too long for what is left of the window is cut for the model, which is told where all of it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from backend_api.agent.conversation import Conversation
from backend_api.agent.events import ToolCalled, ToolFinished, Usage
from backend_api.agent.long_results import LEAST_TOKENS, ResultLimits, Room
from backend_api.agent.model import (
    FinishPart,
    TextPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    UsagePart,
    UserTurn,
)
from backend_api.agent.sizes import estimated_tokens, tokens_of
from backend_api.agent.thread import MAX_RESULT_CHARACTERS
from backend_api.agent.tool import Done, ToolCall
from backend_api.conversations.application.agent_files import AgentFiles
from backend_api.conversations.application.write_result import WriteResult
from backend_api.kit.ids import SessionId
from support.memory.sandboxes import MemorySandboxes, MemoryWorkspace
from support.scripted import SCRIPTED, HandlerBox, OnOutput, Script, ScriptedModel
from support.stage import USER, Stage, worker_for, working

WINDOW = 8_000
SMALL = replace(SCRIPTED, context_window=WINDOW)
STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")
DONE: Script = [TextPart("Done."), STOP]


def box(output: str) -> HandlerBox:
    made = HandlerBox()

    async def run(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        return Done(success=True, output=output)

    made.add("look", run, read_only=True)
    return made


def looks(count: int, *, used: int) -> Script:
    usage = [UsagePart(Usage(input=used - 10, output=10))] if used else []
    wanted = [ToolCallPart(ToolRequest(call_id=f"c{at}", name="look", arguments={"what": at})) for at in range(count)]
    return [*usage, *wanted, CALLS]


async def read(model: ScriptedModel, output: str, said: str = "look", *, keeps: bool = True) -> list[ToolTurn]:
    """The results as the model reads them."""
    stage = Stage()
    sandboxes, workspace = MemorySandboxes(), MemoryWorkspace()
    session = await stage.open_session(title="named")
    if keeps:
        await sandboxes.ensure(session, USER)
    worker = worker_for(stage, model, box(output), info=SMALL, compact_threshold=10)
    worker.services = replace(worker.services, write_result=WriteResult(AgentFiles(sandboxes, workspace)))
    async with working(worker):
        await stage.until_finished(await stage.say(session, said))
    assert stage.said(session) == "Done."
    for event in stage.events(session):
        if isinstance(event.payload, ToolFinished):
            body = await stage.log.body(session, event.seq or 0)
            assert body.content.decode() == output, "the log keeps all of it"
    results = [turn for turn in model.requests[1].turns if isinstance(turn, ToolTurn)]
    if keeps:
        sandbox = await sandboxes.ensure(session, USER)
        for entry in await workspace.list(sandbox, ".results"):
            async with workspace.download(sandbox, entry.path) as download:
                assert b"".join([chunk async for chunk in download.chunks]).decode() == output
            assert any(entry.path in one.output for one in results)
    return results


@pytest.mark.parametrize("stuff", ["word ", "\u5b57\u7b26"])
async def test_it_fits_into_what_is_left_and_says_where_all_of_it_is(stuff: str) -> None:
    (result,) = await read(ScriptedModel(looks(1, used=4_000), DONE), stuff * 3_000)
    left = WINDOW - 4_000 - WINDOW // 4
    assert left / 2 < estimated_tokens(result.output) <= left
    assert "All of the result stands in the file .results/call_" in result.output
    assert result.output.startswith(stuff)
    assert result.output.endswith(stuff)


async def test_results_of_one_step_share_what_is_left() -> None:
    results = await read(ScriptedModel(looks(4, used=2_000), DONE), "word " * 3_000)
    assert len(results) == 4
    assert 3_000 < tokens_of(results, estimated_tokens) <= WINDOW - 2_000 - WINDOW // 4


async def test_without_a_word_of_the_provider_what_was_said_is_counted() -> None:
    (result,) = await read(ScriptedModel(looks(1, used=0), DONE), "word " * 3_000, "please " * 2_000)
    assert estimated_tokens(result.output) <= WINDOW - 3_500 - WINDOW // 4


async def test_what_fits_is_left_alone() -> None:
    (result,) = await read(ScriptedModel(looks(1, used=100), DONE), "word " * 800)
    assert result.output == "word " * 800


async def test_however_little_is_left_it_reads_a_beginning() -> None:
    (result,) = await read(ScriptedModel(looks(1, used=WINDOW), DONE), "word " * 3_000)
    assert LEAST_TOKENS / 2 < estimated_tokens(result.output) <= LEAST_TOKENS


async def test_without_a_computer_it_is_told_to_ask_for_less() -> None:
    (result,) = await read(ScriptedModel(looks(1, used=4_000), DONE), "word " * 3_000, keeps=False)
    assert "ask for less at a time" in result.output


CALLED = ToolCalled(call_id="call_1", name="look", arguments={}, phrase="")
EMPTY = Conversation(turns=[UserTurn(text="hi")], seen_seq=1, next_turn=1, is_answered=False)
WIDE = ResultLimits(window=200_000, answer=16_000)


async def test_one_over_the_bound_of_any_result_has_its_reference_too() -> None:
    asked: list[str] = []

    async def keep(called: ToolCalled, output: str) -> str:
        asked.append(output)
        return ".results/call_1.txt"

    limits, room = replace(WIDE, keep=keep), Room(conversation=EMPTY, calls=1, read=100)
    long = "a" * (MAX_RESULT_CHARACTERS + 1)
    fitted = await limits.fitted(CALLED, Done(success=True, output=long), room)
    assert fitted.output == long
    assert fitted.read is not None
    assert len(fitted.read) <= MAX_RESULT_CHARACTERS
    assert ".results/call_1.txt" in fitted.read
    fine = Done(success=True, output="a" * MAX_RESULT_CHARACTERS)
    assert await limits.fitted(CALLED, fine, room) is fine
    assert asked == [long]


async def test_what_fits_by_its_bytes_alone_is_not_counted() -> None:
    counted: list[str] = []

    async def count(texts: Iterable[str]) -> int:
        given = list(texts)
        counted.extend(given)
        return sum(map(len, given))

    limits = ResultLimits(window=4_000, answer=1_000, count_tokens=count)
    room = Room(conversation=EMPTY, calls=1, read=1_000)
    fine = Done(success=True, output="a" * 2_000)
    assert await limits.fitted(CALLED, fine, room) is fine
    assert counted == []
    # Three bytes each: it is counted, and found to fit.
    dense = Done(success=True, output="\u5b57" * 1_999)
    assert await limits.fitted(CALLED, dense, room) is dense
    assert counted == [dense.output]
    counted.clear()
    untold = Room(conversation=replace(EMPTY, turns=[UserTurn(text="a" * 900)]), calls=1)
    assert await limits.fitted(CALLED, fine, untold) is fine
    assert counted == [], "nor is the conversation, where the provider said nothing of it"


async def test_one_whose_beginning_and_end_are_the_densest_fits_all_the_same() -> None:
    limits = ResultLimits(window=4_000, answer=1_000)
    output = "\u5b57" * 2_000 + "x" * 12_000 + "\u5b57" * 1_000
    room = Room(conversation=EMPTY, calls=1, read=1_000)
    fitted = await limits.fitted(CALLED, Done(success=True, output=output), room)
    assert fitted.read is not None
    assert estimated_tokens(fitted.read) <= 2_000


@pytest.mark.parametrize("path", [".results/call_0.txt", "/workspace/.results/call_0.txt"])
async def test_what_was_read_of_such_a_file_is_not_written_again(path: str) -> None:
    sandboxes, workspace = MemorySandboxes(), MemoryWorkspace()
    sandbox = await sandboxes.ensure(SessionId("s"), USER)
    write = WriteResult(AgentFiles(sandboxes, workspace))
    again = replace(CALLED, arguments={"path": path})
    assert await write(SessionId("s"), USER, again, "x") == path
    other = replace(CALLED, arguments={"path": "results/a.txt", "lines": 3})
    assert await write(SessionId("s"), USER, other, "x") == ".results/call_1.txt"
    assert [entry.name for entry in await workspace.list(sandbox, ".results")] == ["call_1.txt"]


@pytest.mark.parametrize(
    "command", ["grep -c x /workspace/.results/call_0.txt", "/bin/run .results/call_0.txt", "ls;.results/call_0.txt"]
)
async def test_what_a_command_made_of_such_a_file_is_written(command: str) -> None:
    sandboxes = MemorySandboxes()
    await sandboxes.ensure(SessionId("s"), USER)
    called = replace(CALLED, arguments={"command": command})
    write = WriteResult(AgentFiles(sandboxes, MemoryWorkspace()))
    assert await write(SessionId("s"), USER, called, "x") == ".results/call_1.txt"


async def test_a_session_without_a_computer_gets_none_for_it() -> None:
    sandboxes = MemorySandboxes()
    assert await WriteResult(AgentFiles(sandboxes, MemoryWorkspace()))(SessionId("s"), USER, CALLED, "x") is None
    assert (await sandboxes.status(SessionId("s"))).status not in ("ready", "starting")
