"""What the demo model says and calls to show a skill: it reads one, and runs its program on a small table."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.infrastructure.llm.demo.scene import Scene, Step, call_of, fenced, outcome
from backend_api.infrastructure.llm.demo.texts import CHINESE

SKILL = "data-analysis"
TABLE = "skills/tea.csv"
ROWS = """\
kind,minutes,degrees
green,2,75
oolong,4,90
black,5,98
black,5,98
herbs,,"1,00"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    read: str
    write: str
    done: str


_ENGLISH = _Words(
    read="There is a skill for tables. I read how such work is done.",
    write="It brings a program. I write a small table for it, with a few faults in it.",
    done=(
        "The skill's program says:\n\n{output}\n\nIt stands in `/skills/data-analysis` of the computer. A model with a "
        "key would go on as the skill says: compute, check, answer. Your own skills are added in the settings."
    ),
)
_CHINESE = _Words(
    read="有一项处理表格的技能。我先读一读这类工作该怎么做。",
    write="它带有一个程序。我为它写一个小表格，里面有几处错误。",
    done=(
        "技能里的程序说：\n\n{output}\n\n它在电脑的 `/skills/data-analysis` 中。有密钥的模型会按技能继续："
        "计算、核对、回答。你可以在设置中添加自己的技能。"
    ),
)


def skill_step(scene: Scene) -> Step:
    """One step after the other, as long as each succeeds."""
    words = _CHINESE if scene.words is CHINESE else _ENGLISH
    if scene.results and not scene.results[-1].success:
        return Step(text=scene.words.failed.replace("{output}", fenced(scene.results[-1].output)))
    match scene.step:
        case 0:
            return Step(text=words.read, calls=(call_of(scene, "read_skill", skill=SKILL),))
        case 1:
            return Step(text=words.write, calls=(call_of(scene, "file_write", path=TABLE, content=ROWS),))
        case 2:
            command = f"python3 /skills/{SKILL}/scripts/profile.py {TABLE}"
            return Step(text="", calls=(call_of(scene, "shell_exec", command=command),))
        case _:
            return outcome(scene, words.done)
