"""What the demo model says and calls to show a command in the background: it starts one, ends, and is woken by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from backend_api.domain.agent.background import END_TOLD
from backend_api.domain.agent.model import AssistantTurn, NoteTurn, Turn
from backend_api.infrastructure.llm.demo.scene import Scene, Step, call_of, fenced
from backend_api.infrastructure.llm.demo.texts import CHINESE, Words

RUN = "background_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    begin: str
    command: str
    begun: str
    done: str


_ENGLISH = _Words(
    begin="I start a command that takes a few seconds, and do not wait for it.",
    command='for cup in 1 2 3 4; do sleep 1; echo "Cup $cup is poured."; done',
    begun=(
        "It runs. The panel *Background* of my computer shows what it writes. Say something else meanwhile, or close "
        "the page: when it has ended, I come back to it by myself."
    ),
    done="What I had started in the background has ended, and that woke me. It says:\n\n{output}",
)
_CHINESE = _Words(
    begin="我启动一条要花几秒钟的命令，不等它结束。",
    command='for cup in 1 2 3 4; do sleep 1; echo "第 $cup 杯倒好了。"; done',
    begun="它正在运行，我的电脑里的“后台”面板会显示它的输出。你可以说别的事，也可以关掉页面：它结束后我会自己回来。",
    done="我在后台启动的命令结束了，于是我被唤醒。它的输出是：\n\n{output}",
)


def background_step(scene: Scene) -> Step:
    """Its end is told by `background_step_after`."""
    words = _words(scene.words)
    if scene.results and not scene.results[-1].success:
        return Step(text=scene.words.failed.replace("{output}", fenced(scene.results[-1].output)))
    if scene.step == 0:
        return Step(text=words.begin, calls=(call_of(scene, RUN, command=words.command),))
    return Step(text=words.begun)


def background_step_after(turns: Sequence[Turn], words: Words) -> Step | None:
    """The answer to a result that has just come, unless something else is at work."""
    latest = takewhile(lambda turn: isinstance(turn, NoteTurn), reversed(turns))
    texts = (turn.text for turn in latest if isinstance(turn, NoteTurn))
    told = next((text for text in texts if text.startswith(END_TOLD)), None)
    last = next((turn for turn in reversed(turns) if isinstance(turn, AssistantTurn)), None)
    if told is None or last is None or any(call.name != RUN for call in last.calls):
        return None
    _, _, output = told.partition("\n\n")
    return Step(text=_words(words).done.replace("{output}", fenced(output)))


def _words(words: Words) -> _Words:
    return _CHINESE if words is CHINESE else _ENGLISH
