"""What the demo model says next: plans of steps over the conversation, in English or Chinese."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend_api.domain.agent.model import AssistantTurn, NoteTurn, ToolRequest, ToolTurn, Turn, UserTurn
from backend_api.domain.agent.summary import ASKED
from backend_api.infrastructure.llm.demo_plan import plan_step
from backend_api.infrastructure.llm.demo_texts import (
    REPORT,
    REPORT_FOUND,
    REPORT_NO_ANSWER,
    TOUR_NOTES,
    TOUR_PAGE,
    Words,
    words_for,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What the model says and calls next."""

    text: str
    calls: tuple[ToolRequest, ...] = ()
    thought: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One request of the person and what came of it: `results` are the tool results since, in order."""

    words: Words
    asked: str
    match: re.Match[str] | None
    results: list[ToolTurn]
    tools: frozenset[str]
    is_first: bool
    step: int
    spoken: list[AssistantTurn] = field(default_factory=list[AssistantTurn])


Plan = Callable[[Scene], Step]


def next_step(turns: Sequence[Turn], tools: frozenset[str]) -> Step:
    """Deterministic: the answer follows from the turns alone."""
    if turns and isinstance(turns[-1], NoteTurn) and turns[-1].text.startswith(ASKED):
        return _summary(turns)
    last_user = max((index for index, turn in enumerate(turns) if isinstance(turn, UserTurn)), default=-1)
    asked_turn = turns[last_user] if last_user >= 0 else UserTurn(text="")
    asked = asked_turn.text.strip() if isinstance(asked_turn, UserTurn) else ""
    since = turns[last_user + 1 :]
    spoken = [turn for turn in since if isinstance(turn, AssistantTurn)]
    found = ((pattern.search(asked), plan) for pattern, plan in PLANS)
    match, plan = next(((match, plan) for match, plan in found if match), (None, _not_understood))
    scene = Scene(
        words=words_for(asked),
        asked=asked,
        match=match,
        results=[turn for turn in since if isinstance(turn, ToolTurn)],
        tools=tools,
        is_first=not any(isinstance(turn, AssistantTurn) for turn in turns),
        step=len(spoken),
        spoken=spoken,
    )
    step = plan(scene)
    missing = [call.name for call in step.calls if call.name not in tools]
    if missing:
        step = Step(text=scene.words.no_tool.format(tools=", ".join(missing)))
    notice = scene.words.notice + "\n\n" if scene.is_first or plan is _not_understood else ""
    return Step(text=notice + step.text, calls=step.calls, thought=_thought(scene, step))


def _summary(turns: Sequence[Turn]) -> Step:
    asked = [" ".join(turn.text.split()) for turn in turns if isinstance(turn, UserTurn)]
    count = sum(isinstance(turn, ToolTurn) for turn in turns)
    words = words_for(asked[-1] if asked else "")
    return Step(text=words.summary.format(asked="; ".join(text[:200] for text in asked[-10:]), count=count))


def _thought(scene: Scene, step: Step) -> str:
    """What a script has for a thought: where it stands, and what comes next."""
    words = scene.words
    planned = words.thought_calls.format(tools=", ".join(call.name for call in step.calls))
    said = words.thought_start if scene.step == 0 else words.thought_results.format(count=len(scene.results))
    return f"{said} {planned if step.calls else words.thought_end}"


def _call(scene: Scene, name: str, **arguments: Any) -> ToolRequest:
    return ToolRequest(call_id=f"demo_{scene.step}_{name}", name=name, arguments=arguments)


def _outcome(scene: Scene, done: str) -> Step:
    """The closing words of a one-step plan: the result as it is, a failure named as one."""
    result = scene.results[-1]
    text = done if result.success else scene.words.failed
    return Step(text=text.replace("{output}", _fenced(result.output)))


def _fenced(output: str) -> str:
    body = output.strip() or "-"
    shown = body if len(body) <= 1500 else body[:1500] + "\n…"
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", shown)), default=0))
    return f"{fence}\n{shown}\n{fence}"


def _run(scene: Scene) -> Step:
    if scene.step == 0:
        command = (scene.match.group("command") if scene.match else "").strip().strip("`").strip()
        call = _call(scene, "shell_exec", command=command)
        return Step(text=scene.words.run.format(command=command), calls=(call,))
    return _outcome(scene, scene.words.run_done)


def _write(scene: Scene) -> Step:
    name = (scene.match.group("name") if scene.match else "").strip("`'\"，。,.:：") or "note.txt"
    content = (scene.match.group("content") if scene.match else None) or scene.words.file_content
    if scene.step == 0:
        call = _call(scene, "file_write", path=name, content=content.strip() + "\n")
        return Step(text=scene.words.write.format(name=name), calls=(call,))
    return _outcome(scene, scene.words.write_done.format(name=name))


def _open(scene: Scene) -> Step:
    if scene.step == 0:
        url = (scene.match.group("url") if scene.match else "").strip("`'\"<>，。")
        if not re.match(r"[a-z]+:", url):
            url = f"https://{url}"
        return Step(text=scene.words.open.format(url=url), calls=(_call(scene, "browser_navigate", url=url),))
    return _outcome(scene, scene.words.open_done)


def _list(scene: Scene) -> Step:
    if scene.step == 0:
        return Step(text=scene.words.list, calls=(_call(scene, "file_list", path="."),))
    return _outcome(scene, scene.words.list_done)


def _report(scene: Scene) -> Step:
    topic = (scene.match.group("topic") if scene.match else "").strip(" .。!！") or "this computer"
    path = "reports/" + (re.sub(r"[^\w]+", "-", topic.lower()).strip("-")[:40] or "report") + ".md"
    match scene.step:
        case 0:
            return Step(
                text=scene.words.report.format(topic=topic),
                calls=(
                    _call(scene, "shell_exec", command="date -u; uname -srm; df -h . | tail -1"),
                    *([_call(scene, "web_search", query=topic)] if "web_search" in scene.tools else []),
                ),
            )
        case 1:
            call = _call(scene, "file_write", path=path, content=_report_text(topic, scene.results))
            return Step(text=scene.words.report_write, calls=(call,))
        case _:
            failed = [result for result in scene.results if not result.success]
            note = scene.words.report_gaps if failed and scene.results[-1].success else ""
            return Step(text=_outcome(scene, scene.words.report_done.format(path=path)).text + note)


def _report_text(topic: str, results: Sequence[ToolTurn]) -> str:
    facts = results[0].output.strip() if results and results[0].success else "-"
    text = REPORT.format(topic=topic[:1].upper() + topic[1:], facts=facts)
    if len(results) < 2:
        return text
    found = results[1].output.strip()[:6000] if results[1].success else ""
    return text + REPORT_FOUND.format(found=found or REPORT_NO_ANSWER)


def _ask(scene: Scene) -> Step:
    """For trying a run that waits for the person."""
    text = (scene.match.group("question") if scene.match else "").strip() or scene.words.ask
    if scene.step == 0:
        options = [scene.words.ask_yes, scene.words.ask_no]
        return Step(
            text=scene.words.ask, calls=(_call(scene, "ask_user", questions=[{"question": text, "options": options}]),)
        )
    # The result is written for a model; the person reads only what they said themselves.
    result = scene.results[-1]
    answer = result.output.partition(f"{text}\n> ")[2].strip()
    if not result.success or not answer:
        return Step(text=scene.words.ask_unanswered)
    return Step(text=scene.words.ask_done.replace("{output}", _fenced(answer)))


def _plan(scene: Scene) -> Step:
    """For trying a plan that waits for the person, and its steps."""
    topic = (scene.match.group("topic") if scene.match else "").strip(" .。!！")
    text, calls = plan_step(scene.words, topic, scene.results, scene.tools)
    return Step(text=text, calls=tuple(_call(scene, name, **arguments) for name, arguments in calls))


def _stream(scene: Scene) -> Step:
    """For trying stop and reconnect, by hand and in tests: `stream 2000` gives that many numbered words."""
    count = min(int(scene.match.group("count")) if scene.match else 100, 20_000)
    return Step(text=" ".join(f"word{number}" for number in range(1, count + 1)))


def _tour(scene: Scene) -> Step:
    words = scene.words
    failed = bool(scene.results) and not scene.results[-1].success
    trouble = words.tour_trouble.format(output=_fenced(scene.results[-1].output)) if failed else ""
    match scene.step:
        case 0:
            command = "uname -a && python3 --version && pwd"
            return Step(text=words.tour_start, calls=(_call(scene, "shell_exec", command=command),))
        case 1:
            system = scene.results[-1].output.strip() if not failed else "-"
            notes = TOUR_NOTES.format(system=system)
            return Step(
                text=trouble + words.tour_write,
                calls=(
                    _call(scene, "file_write", path="notes/tour.md", content=notes),
                    _call(scene, "file_write", path="notes/tour.html", content=TOUR_PAGE),
                ),
            )
        case 2:
            call = _call(scene, "browser_navigate", url="file:///workspace/notes/tour.html")
            return Step(text=trouble + words.tour_open, calls=(call,))
        case 3 if not failed:
            return Step(text=words.tour_look, calls=(_call(scene, "browser_view"),))
        case _:
            by_name = {result.name: result.success for result in scene.results}
            lines = [
                words.tour_did[name] if success else words.tour_did_not[name]
                for name, success in by_name.items()
                if name in words.tour_did
            ]
            return Step(text=trouble + words.tour_end.format(lines="\n".join(f"- {line}" for line in lines)))


def _not_understood(scene: Scene) -> Step:
    return Step(text=scene.words.not_understood)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


PLANS: tuple[tuple[re.Pattern[str], Plan], ...] = (
    (
        _pattern(
            r"^(?:please\s+)?(?:show\s+me\s+(?:what\s+you\s+can\s+do|your\s+computer|around)|"
            r"(?:(?:give|show)\s+me|take\s+me\s+on|start|begin)\s+(?:a|the)\s+(?:short\s+)?tour|(?:a\s+|the\s+)?tour\b)"
        ),
        _tour,
    ),
    (
        _pattern(
            r"^请?(?:给我|向我)?(?:展示|演示|看看)(?:一下)?你(?:能做什么|会做什么|能做的事)|^请?(?:带我)?(?:看看|参观)(?:一下)?你的电脑|^请?(?:开始)?演示(?:一下)?[。！!.]?$"
        ),
        _tour,
    ),
    (_pattern(r"^(?:please\s+)?ask\s+me\s+(?P<question>.{1,500})$"), _ask),
    (_pattern(r"^请?问我[：:，,]?\s*(?P<question>.{1,500})$"), _ask),
    (_pattern(r"^(?:please\s+)?plan\s+(?P<topic>.{1,200})$"), _plan),
    (_pattern(r"^请?(?:计划|规划)[：:，,]?\s*(?P<topic>.{1,200})$"), _plan),
    (_pattern(r"^(?:please\s+)?stream\s+(?P<count>\d{1,6})\b"), _stream),
    (_pattern(r"^(?:please\s+|请)?(?:run|execute|运行|执行)(?:命令)?\s*[:：]?\s+(?P<command>.+)$"), _run),
    (_pattern(r"^(?:please\s+|请)?(?:运行|执行)(?:命令)?\s*[:：]?\s*(?P<command>.+)$"), _run),
    (
        _pattern(
            r"^(?:please\s+)?(?:write|create|make)\s+(?:me\s+)?(?:a\s+|the\s+)?(?:new\s+)?file\s+(?:named\s+|called\s+)?"
            r"(?P<name>[^\s:]+)(?:\s*:\s*|\s+(?:with(?:\s+the\s+text)?|saying|containing)\s*:?\s*|$)(?P<content>.*)$"
        ),
        _write,
    ),
    (
        _pattern(
            r"^请?(?:写|创建|新建)(?:一个)?文件\s*(?P<name>[^\s:：，,]+)(?:[\s:：，,]*(?:内容(?:是|为)?)?[:：]?\s*(?P<content>.*))?$"
        ),
        _write,
    ),
    (
        _pattern(r"^(?:please\s+)?(?:list|show)\s+(?:me\s+)?(?:the\s+|my\s+|all\s+)*files\b|^请?(?:列出|显示).*文件"),
        _list,
    ),
    (
        _pattern(
            r"^(?:please\s+)?(?:make|write|create|prepare)\s+(?:me\s+)?(?:a\s+)?(?:short\s+)?report\s+(?:about|on)\s+(?P<topic>.{1,200})$"
        ),
        _report,
    ),
    (_pattern(r"^请?(?:写|做|制作|生成)(?:一份|一个)?关于\s*(?P<topic>.{1,200}?)的?报告[。.]?$"), _report),
    (
        _pattern(
            r"^(?:please\s+)?(?:open|go\s+to|visit|browse(?:\s+to)?)\s+(?:the\s+page\s+)?(?P<url>\S*[\w\]][.:/]\S+)"
        ),
        _open,
    ),
    (_pattern(r"^请?(?:打开|访问)(?:网页|页面)?\s*(?P<url>[^\s，。]+)"), _open),
)
