"""Plays the scenes of the demo model: its next text and calls follow from the conversation alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, cast

from backend_api.agent.background import END_TOLD
from backend_api.agent.model import AssistantTurn, NoteTurn, ToolRequest, ToolTurn, Turn, UserTurn
from backend_api.agent.summary import ASKED
from backend_api.models.demo.functions import FUNCTIONS
from backend_api.models.demo.request import Request, fenced, language_of, wanted
from backend_api.models.demo.scenes import Call, Scene, Step, Words, read_script


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The model's next text and calls."""

    text: str
    calls: tuple[ToolRequest, ...] = ()
    thought: str = ""


def next_reply(turns: Sequence[Turn], tools: frozenset[str], *, is_subagent: bool = False) -> Reply:
    """The next reply. A sub-agent answers another agent, and does not introduce itself."""
    if turns and isinstance(turns[-1], NoteTurn) and turns[-1].text.startswith(ASKED):
        return _summary(turns)
    last_user = max((index for index, turn in enumerate(turns) if isinstance(turn, UserTurn)), default=-1)
    asked = turns[last_user] if last_user >= 0 else None
    message, attachments = "", ()
    if isinstance(asked, UserTurn):
        message, attachments = wanted(asked.text), tuple(asked.attachments)
    script = read_script()
    found = script.find(message)
    unknown = "not_understood_below" if is_subagent else "not_understood"
    scene = found[0] if found else script.scene("read" if attachments else unknown)
    since = turns[last_user + 1 :]
    request = Request(
        language=language_of(message),
        texts={**script.texts, **scene.texts},
        fields=found[1].groupdict(default="") if found else {},
        attachments=attachments,
        answers=[turn for turn in since if isinstance(turn, AssistantTurn)],
        results=[turn for turn in since if isinstance(turn, ToolTurn)],
    )
    reply = _background_reply(turns, request) or _play(scene, _with_fields(scene, request), tools)
    missing = [call.name for call in reply.calls if call.name not in tools]
    if missing:
        reply = Reply(text=request.text("no_tool", tools=", ".join(missing)))
    is_first = not any(isinstance(turn, AssistantTurn) for turn in turns)
    notice = request.text("notice") + "\n\n" if not is_subagent and (is_first or scene.name == unknown) else ""
    return Reply(text=notice + reply.text, calls=reply.calls, thought=reply.thought or _thought(request, reply))


def _summary(turns: Sequence[Turn]) -> Reply:
    asked = [" ".join(turn.text.split()) for turn in turns if isinstance(turn, UserTurn)]
    request = Request(language=language_of(asked[-1] if asked else ""), texts=read_script().texts)
    count = sum(isinstance(turn, ToolTurn) for turn in turns)
    return Reply(text=request.text("summary", asked="; ".join(text[:200] for text in asked[-10:]), count=count))


def _thought(request: Request, reply: Reply) -> str:
    """The scripted thought: how far the scene is, and what comes next."""
    now = request.text("thought_results" if request.answers else "thought_start", count=len(request.results))
    names = ", ".join(call.name for call in reply.calls)
    return f"{now} {request.text('thought_calls' if reply.calls else 'thought_end', tools=names)}"


def _background_reply(turns: Sequence[Turn], request: Request) -> Reply | None:
    """The answer to the end of a background command, unless another scene is in progress."""
    scene = read_script().scene("background")
    latest = takewhile(lambda turn: isinstance(turn, NoteTurn), reversed(turns))
    texts = (turn.text for turn in latest if isinstance(turn, NoteTurn))
    told = next((text for text in texts if text.startswith(END_TOLD)), None)
    last = next((turn for turn in reversed(turns) if isinstance(turn, AssistantTurn)), None)
    starts = {call.tool for step in scene.steps for call in step.calls}
    if told is None or last is None or any(call.name not in starts for call in last.calls):
        return None
    _, _, output = told.partition("\n\n")
    return Reply(text=request.fill(scene.texts["ended"], output=fenced(output)))


def _with_fields(scene: Scene, request: Request) -> Request:
    """The request with the fields that every scene has, and the scene's own."""
    first, last = (request.results[0], request.results[-1]) if request.results else (None, None)
    fields: dict[str, Any] = {name: found.strip() for name, found in request.fields.items()}
    for name, rule in scene.fields.items():
        found = request.fields.get(name, "").strip(rule.strip)
        fields[name] = found or request.fill(rule.otherwise)
    fields["plain_output"] = last.output if last else ""
    fields["output"] = fenced(fields["plain_output"])
    fields["first_output"] = first.output.strip() if first and first.success else "-"
    request = replace(request, fields=fields)
    return replace(request, fields={**fields, **FUNCTIONS[scene.function](request)}) if scene.function else request


def _play(scene: Scene, request: Request, tools: frozenset[str]) -> Reply:
    step = _step(scene, request, tools)
    told = ""
    if step is not scene.steps[0] and _has_failed(step, request):
        match step.if_failed:
            case "stop":
                return Reply(text=request.text("failed"))
            case "go on":
                pass
            case "tell":
                told = request.text("trouble")
            case "tell and end":
                told, step = request.text("trouble"), scene.steps[-1]
            case Words() as words:
                return Reply(text=request.fill(words))
    return Reply(
        text=told + request.fill(step.say, lines=_lines(step, request)),
        calls=tuple(made for call in step.calls for made in _calls(call, request, tools)),
        thought=request.fill(step.thought),
    )


def _step(scene: Scene, request: Request, tools: frozenset[str]) -> Step:
    if not any(step.after for step in scene.steps):
        return scene.steps[min(len(request.answers), len(scene.steps) - 1)]
    last = request.results[-1].name if request.results else "nothing"
    fitting = (step for step in scene.steps if not step.after or last in step.after)
    return next(step for step in fitting if step.without is None or step.without not in tools)


def _has_failed(step: Step, request: Request) -> bool:
    is_missing = step.needs is not None and not request.fields[step.needs]
    return is_missing or (bool(request.results) and not request.results[-1].success)


def _lines(step: Step, request: Request) -> str:
    by_tool = {result.name: result.success for result in request.results}
    lines = [(step.lines[name], is_done) for name, is_done in by_tool.items() if name in step.lines]
    return "\n".join(f"- {request.fill(line.done if is_done else line.failed)}" for line, is_done in lines)


def _calls(call: Call, request: Request, tools: frozenset[str]) -> Iterator[ToolRequest]:
    if call.optional and call.tool not in tools:
        return
    elements: list[dict[str, str]] = request.fields[call.for_each] if call.for_each else [{}]
    for element in elements:
        arguments = _argument(call.arguments, replace(request, fields={**request.fields, **element}))
        if call.leave_out_empty:
            arguments = {name: value for name, value in arguments.items() if value}
        yield ToolRequest(call_id=f"demo_{len(request.answers)}_{call.tool}", name=call.tool, arguments=arguments)


def _argument(value: Any, request: Request) -> Any:
    """Fills texts at any depth; a field that holds a list is inserted as a list."""
    if isinstance(value, list):
        return [_argument(element, request) for element in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: _argument(element, request) for name, element in cast("dict[str, Any]", value).items()}
    if not isinstance(value, str):
        return value
    field = request.fields.get(value.strip("{}"))
    return cast("list[str]", field) if isinstance(field, list) else request.fill(value)
