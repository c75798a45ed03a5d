"""The model calls tools wrongly; the real tool API refuses, the model is told why and goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from backend_api.agent.events import RunFinished, ToolFinished
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest, ToolTurn
from backend_api.agent.tool import ToolCall, ToolSpec
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.sandbox_tools import ToolApiSandboxTools
from backend_api.sandboxes.tools import SandboxToolSource, manifest_tools
from support.endpoint import processes_with
from support.same_sandbox import SameSandbox
from support.scripted import ScriptedModel
from support.stage import Stage, worker_for, working

TOOLS = {tool.name: tool for tool in manifest_tools()}


def _variant(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an argument may be, but for null."""
    return next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)


def _fitting(schema: Mapping[str, Any]) -> Any:
    schema = _variant(schema)
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "array":
        return [_fitting(schema["items"])]
    return {"string": "x", "integer": 1, "number": 1, "boolean": True}[schema["type"]]


def _misfits(schema: Mapping[str, Any]) -> list[Any]:
    schema = _variant(schema)
    kind = schema["type"]
    if kind == "array":
        items = schema["items"]
        several: list[Any] = [[_fitting(items), wrong] for wrong in _misfits(items)]
        too_many = [_fitting(items)] * (schema["maxItems"] + 1)
        return [{"not": "this"}, "no list", too_many, *several, *([[]] if schema.get("minItems") else [])]
    wrong: list[Any] = [{"not": "this"}, ["nor", "this"]]
    if "enum" in schema:
        wrong.append("never heard of")
    if "pattern" in schema:
        wrong += ["", "a name/with §igns", "n" * 1000]
    if "maxLength" in schema:
        wrong.append("y" * (schema["maxLength"] + 1))
    if schema.get("minLength"):
        wrong.append("")
    if "maximum" in schema:
        wrong += [schema["maximum"] + 1, 10**4000]
    if "minimum" in schema:
        wrong.append(schema["minimum"] - 1)
    if kind in ("integer", "number", "boolean"):
        wrong.append("many")
    return wrong


def wrong_calls(tool: ToolSpec) -> list[tuple[str, dict[str, Any]]]:
    """Arguments that don't fit, each with the name that must be told."""
    properties: dict[str, Any] = tool.parameters.get("properties", {})
    required: list[str] = tool.parameters.get("required", [])
    fitting = {name: _fitting(properties[name]) for name in required}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("colour", fitting | {"colour": "red"}),
        ("arguments", fitting | {f"extra{number}" * 100: number for number in range(2_000)}),
    ]
    for name in required:
        calls.append((name, {other: value for other, value in fitting.items() if other != name}))
        calls.append((name, fitting | {name: None}))
    calls += [(name, fitting | {name: wrong}) for name in properties for wrong in _misfits(properties[name])]
    return calls


def request(name: str, arguments: dict[str, Any]) -> ToolCallPart:
    return ToolCallPart(ToolRequest(call_id="x", name=name, arguments=arguments))


async def played(
    endpoints: Endpoints, sandbox: Sandbox, calls: list[tuple[str, dict[str, Any]]]
) -> tuple[RunFinished, list[ToolFinished], list[ToolTurn]]:
    """A run whose model makes these calls at once and then says something: its end, and what the model was told."""
    model = ScriptedModel(
        [*(request(name, arguments) for name, arguments in calls), FinishPart("tool_calls")],
        [TextPart("I see."), FinishPart("stop")],
    )
    stage = Stage()
    box = SandboxToolSource(manifest_tools(), SameSandbox(sandbox), ToolApiSandboxTools(endpoints))
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        finished = await stage.until_finished(await stage.say(session, "go"))
    told = [turn for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]
    return finished, stage.payloads(session, ToolFinished), told


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one, marks=() if number % 5 == 0 else pytest.mark.thorough)
        for number, one in enumerate(sorted(TOOLS))
    ],
)
async def test_the_model_is_told_of_every_argument_that_does_not_fit_and_goes_on(
    endpoints: Endpoints, sandbox: Sandbox, folder: Path, name: str
) -> None:
    calls = wrong_calls(TOOLS[name])
    before = sorted(path.name for path in folder.iterdir())

    finished, results, told = await played(endpoints, sandbox, [(name, arguments) for _, arguments in calls])

    assert finished.status == "completed", finished.reason
    assert len(told) == len(results) == len(calls)
    for (field, _), turn in zip(calls, told, strict=True):
        assert not turn.success
        assert turn.output.startswith(f"Nothing was run: the arguments do not fit {name}."), turn.output
        assert field in turn.output
        assert "may have happened" not in turn.output
        assert len(turn.output) < 12_000
    assert not any(result.success for result in results)
    assert sorted(path.name for path in folder.iterdir()) == before


async def test_field_constraint_and_what_was_sent_are_named(endpoints: Endpoints, sandbox: Sandbox) -> None:
    wrong = {"command": "echo 76543 > here", "timeout_s": 3600, "shell": "x" * 5_000}
    finished, _, (turn,) = await played(endpoints, sandbox, [("shell_exec", wrong)])
    assert finished.status == "completed"
    assert "- timeout_s: Input should be less than or equal to 600 (sent: 3600)" in turn.output
    assert "- shell: String should match pattern" in turn.output
    assert "of 5000 characters" in turn.output
    assert not processes_with("76543")


async def test_a_call_larger_than_any_may_be_is_told_as_such(endpoints: Endpoints, sandbox: Sandbox) -> None:
    huge = {"path": "a", "content": "z" * (17 * 1024 * 1024)}
    finished, _, (turn,) = await played(endpoints, sandbox, [("file_write", huge)])
    assert finished.status == "completed"
    assert turn.output.startswith("Nothing was run: the arguments are larger than a call may be.")


async def test_a_tool_this_computer_does_not_have_is_told_as_such(endpoints: Endpoints, sandbox: Sandbox) -> None:
    call = ToolCall(session_id="s", user_id="u", run_id="r", call_id="c", name="file_fold")
    outcome = await ToolApiSandboxTools(endpoints).call(sandbox, call)
    assert not outcome.success
    assert "Nothing was run" in outcome.output
    assert "file_fold" in outcome.output


@pytest.mark.parametrize(
    "body",
    [
        b"oops",
        pytest.param(b"{}", marks=pytest.mark.thorough),
        b"x" * 200_000,
        pytest.param(
            b'{"title":"t","status":422,"detail":"d","code":"c","errors":[{"field":"body.call_id","message":"m"}]}',
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            b'{"title":"t","status":422,"detail":"%s","code":"c"}' % (b"d" * 60_000), marks=pytest.mark.thorough
        ),
        b'{"title":"t","status":422,"detail":"d","code":"c","errors":[{"field":"body.arguments.%s","message":"%s"}]}'
        % (b"f." * 10_000, b"m" * 30_000),
    ],
)
async def test_a_refusal_that_makes_no_sense_is_bounded_and_ends_no_run(
    endpoints: Endpoints, sandbox: Sandbox, tokens: Any, tmp_path: Path, body: bytes
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 422 No\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
        writer.close()

    path = tmp_path / "door.sock"
    async with await asyncio.start_unix_server(answer, path):
        tokens.address = f"unix:{path}"
        finished, _, (turn,) = await played(endpoints, sandbox, [("shell_exec", {"command": "true"})])
    assert finished.status == "completed"
    assert turn.output.startswith("Nothing was run: ")
    assert len(turn.output) < 3_000
