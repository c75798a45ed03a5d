"""Which requests the demo model knows, in English and Chinese, and what it says next."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backend_api.domain.agent.model import AssistantTurn, NoteTurn, ToolTurn, Turn, UserTurn
from backend_api.domain.agent.summary import ASKED
from backend_api.infrastructure.llm.demo import script as work
from backend_api.infrastructure.llm.demo import shows as shows
from backend_api.infrastructure.llm.demo.background import background_step, background_step_after
from backend_api.infrastructure.llm.demo.scene import Plan, Scene, Step
from backend_api.infrastructure.llm.demo.skill import skill_step
from backend_api.infrastructure.llm.demo.texts import words_for


def next_step(turns: Sequence[Turn], tools: frozenset[str], *, is_subagent: bool = False) -> Step:
    """Deterministic: the answer follows from the turns alone. A sub-agent answers another agent, with no word of who
    it is."""
    if turns and isinstance(turns[-1], NoteTurn) and turns[-1].text.startswith(ASKED):
        return _summary(turns)
    last_user = max((index for index, turn in enumerate(turns) if isinstance(turn, UserTurn)), default=-1)
    asked_turn = turns[last_user] if last_user >= 0 else UserTurn(text="")
    asked, attachments = "", tuple[str, ...]()
    if isinstance(asked_turn, UserTurn):
        asked, attachments = asked_turn.text.strip(), tuple(asked_turn.attachments)
    since = turns[last_user + 1 :]
    spoken = [turn for turn in since if isinstance(turn, AssistantTurn)]
    found = ((pattern.search(asked), plan) for pattern, plan in PLANS)
    otherwise = work.read_step if attachments else _not_understood
    match, plan = next(((match, plan) for match, plan in found if match), (None, otherwise))
    scene = Scene(
        words=words_for(asked),
        asked=asked,
        match=match,
        results=[turn for turn in since if isinstance(turn, ToolTurn)],
        tools=tools,
        is_first=not any(isinstance(turn, AssistantTurn) for turn in turns),
        step=len(spoken),
        spoken=spoken,
        is_subagent=is_subagent,
        attachments=attachments,
    )
    step = background_step_after(turns, scene.words) or plan(scene)
    missing = [call.name for call in step.calls if call.name not in tools]
    if missing:
        step = Step(text=scene.words.no_tool.format(tools=", ".join(missing)))
    is_told = not is_subagent and (scene.is_first or plan is _not_understood)
    notice = scene.words.notice + "\n\n" if is_told else ""
    return Step(text=notice + step.text, calls=step.calls, thought=step.thought or _thought_text(scene, step))


def _summary(turns: Sequence[Turn]) -> Step:
    asked = [" ".join(turn.text.split()) for turn in turns if isinstance(turn, UserTurn)]
    count = sum(isinstance(turn, ToolTurn) for turn in turns)
    words = words_for(asked[-1] if asked else "")
    return Step(text=words.summary.format(asked="; ".join(text[:200] for text in asked[-10:]), count=count))


def _thought_text(scene: Scene, step: Step) -> str:
    """What a script has for a thought: where it stands, and what comes next."""
    words = scene.words
    planned = words.thought_calls.format(tools=", ".join(call.name for call in step.calls))
    said = words.thought_start if scene.step == 0 else words.thought_results.format(count=len(scene.results))
    return f"{said} {planned if step.calls else words.thought_end}"


def _not_understood(scene: Scene) -> Step:
    words = scene.words
    return Step(text=words.not_understood_below if scene.is_subagent else words.not_understood)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


PLANS: tuple[tuple[re.Pattern[str], Plan], ...] = (
    (
        _pattern(r"^(?:please\s+)?(?:ask|let|have)\s+(?:two\s+agents|another\s+agent\s+(?:to\s+)?(?P<task>.{1,300}))"),
        shows.agents_step,
    ),
    (_pattern(r"^请?(?:让|请|叫)(?:两个智能体|另一个智能体(?:去)?[：:，,]?\s*(?P<task>.{1,300}))"), shows.agents_step),
    (_pattern(r"^(?:please\s+)?(?:take|show\s+me)\s+(?:a|the)\s+(?:screenshot|picture)\b"), shows.picture_step),
    (_pattern(r"^请?(?:截(?:一张|个)?[图屏]|给我看(?:一)?张?(?:图片|图|截图))"), shows.picture_step),
    (
        _pattern(
            r"^(?:please\s+)?(?:(?:give|show|write)\s+(?:me\s+)?)?a\s+long\s+answer(?:\s+(?:about|on)\s+(?P<topic>.{1,100}))?[.!]?$"
        ),
        shows.long_step,
    ),
    (
        _pattern(r"^请?(?:给我|写|来)?(?:一个|一段|一篇)?(?:关于(?P<topic>.{1,100}?)的)?长(?:回答|文章|文)[。.!！]?$"),
        shows.long_step,
    ),
    (_pattern(r"^(?:please\s+)?think\s+(?:about|over)\s+(?P<topic>.{1,200})$"), shows.think_step),
    (_pattern(r"^请?(?:想一想|想想|思考(?:一下)?)[：:，,]?\s*(?P<topic>.{1,200})$"), shows.think_step),
    (
        _pattern(
            r"^(?:please\s+)?(?:sum\s+up|compact|summari[sz]e)\s+(?:our|this|the)\s+conversation(?:\s+(?:about|with\s+a\s+focus\s+on|and\s+keep)\s+(?P<focus>.{1,200}))?[.!]?$"
        ),
        shows.compact_step,
    ),
    (
        _pattern(
            r"^请?(?:总结|压缩|概括)(?:一下)?(?:我们的|这段|这次)?(?:对话|会话)(?:[，,]?\s*(?:重点(?:是|关注)?|保留)\s*(?P<focus>.{1,200}))?[。!！]?$"
        ),
        shows.compact_step,
    ),
    (
        _pattern(
            r"^(?:please\s+)?(?:make|write|keep)\s+(?:me\s+)?a\s+to-?\s?do\s+list(?:\s+(?:for|about)\s+(?P<topic>.{1,100}))?[.!]?$"
        ),
        shows.todo_step,
    ),
    (
        _pattern(
            r"^请?(?:列|写|做|记)(?:一个|一份)?(?:(?:关于)?(?P<topic>.{1,100}?)的?)?待办(?:清单|列表|事项)[。.!！]?$"
        ),
        shows.todo_step,
    ),
    (
        _pattern(
            r"^(?:please\s+)?(?:run|do|start|show\s+me)\s+(?:something|a\s+command|a\s+job|work)\s+in\s+the\s+background\b"
        ),
        background_step,
    ),
    (_pattern(r"^请?在后台(?:运行|执行|做)(?:一条|一个|一点)?(?:命令|任务|事情?|什么)"), background_step),
    (_pattern(r"^(?:please\s+)?(?:show|use|try)\s+(?:me\s+)?(?:a|your|one\s+of\s+your)\s+skills?\b"), skill_step),
    (_pattern(r"^请?(?:给我|向我)?(?:展示|演示|使用|用|试试?)(?:一下)?(?:一项|一个|你的)?技能"), skill_step),
    (
        _pattern(
            r"^(?:please\s+)?(?:show\s+me\s+(?:what\s+you\s+can\s+do|your\s+computer|around)|"
            r"(?:(?:give|show)\s+me|take\s+me\s+on|start|begin)\s+(?:a|the)\s+(?:short\s+)?tour|(?:a\s+|the\s+)?tour\b)"
        ),
        work.tour_step,
    ),
    (
        _pattern(
            r"^请?(?:给我|向我)?(?:展示|演示|看看)(?:一下)?你(?:能做什么|会做什么|能做的事)|^请?(?:带我)?(?:看看|参观)(?:一下)?你的电脑|^请?(?:开始)?演示(?:一下)?[。！!.]?$"
        ),
        work.tour_step,
    ),
    (_pattern(r"^(?:please\s+)?ask\s+me\s+(?P<question>.{1,500})$"), work.ask_step),
    (_pattern(r"^请?问我[：:，,]?\s*(?P<question>.{1,500})$"), work.ask_step),
    (_pattern(r"^(?:please\s+)?plan\s+(?P<topic>.{1,200})$"), work.plan_step),
    (_pattern(r"^请?(?:计划|规划)[：:，,]?\s*(?P<topic>.{1,200})$"), work.plan_step),
    (_pattern(r"^(?:please\s+)?stream\s+(?P<count>\d{1,6})\b"), work.stream_step),
    (_pattern(r"^(?:please\s+|请)?(?:run|execute|运行|执行)(?:命令)?\s*[:：]?\s+(?P<command>.+)$"), work.run_step),
    (_pattern(r"^(?:please\s+|请)?(?:运行|执行)(?:命令)?\s*[:：]?\s*(?P<command>.+)$"), work.run_step),
    (
        _pattern(
            r"^(?:please\s+)?(?:write|create|make)\s+(?:me\s+)?(?:a\s+|the\s+)?(?:new\s+)?file\s+(?:named\s+|called\s+)?"
            r"(?P<name>[^\s:]+)(?:\s*:\s*|\s+(?:with(?:\s+the\s+text)?|saying|containing)\s*:?\s*|$)(?P<content>.*)$"
        ),
        work.write_step,
    ),
    (
        _pattern(
            r"^请?(?:写|创建|新建)(?:一个)?文件\s*(?P<name>[^\s:：，,]+)(?:[\s:：，,]*(?:内容(?:是|为)?)?[:：]?\s*(?P<content>.*))?$"
        ),
        work.write_step,
    ),
    (
        _pattern(r"^(?:please\s+)?(?:list|show)\s+(?:me\s+)?(?:the\s+|my\s+|all\s+)*files\b|^请?(?:列出|显示).*文件"),
        work.list_step,
    ),
    (
        _pattern(
            r"^(?:please\s+)?(?:make|write|create|prepare)\s+(?:me\s+)?(?:a\s+)?(?:short\s+)?report\s+(?:about|on)\s+(?P<topic>.{1,200})$"
        ),
        work.report_step,
    ),
    (_pattern(r"^请?(?:写|做|制作|生成)(?:一份|一个)?关于\s*(?P<topic>.{1,200}?)的?报告[。.]?$"), work.report_step),
    (
        _pattern(
            r"^(?:please\s+)?(?:open|go\s+to|visit|browse(?:\s+to)?)\s+(?:the\s+page\s+)?(?P<url>\S*[\w\]][.:/]\S+)"
        ),
        work.open_step,
    ),
    (_pattern(r"^请?(?:打开|访问)(?:网页|页面)?\s*(?P<url>[^\s，。]+)"), work.open_step),
)
