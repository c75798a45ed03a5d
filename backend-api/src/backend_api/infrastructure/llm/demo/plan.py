"""What the demo model says and calls to show a plan: it proposes one, and once it is approved carries it out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend_api.domain.agent.model import ToolTurn
from backend_api.infrastructure.llm.demo.texts import Words

Calls = list[tuple[str, dict[str, Any]]]


def planned(words: Words, topic: str, results: Sequence[ToolTurn], tools: frozenset[str]) -> tuple[str, Calls]:
    """Text and calls; what comes next follows from the results so far."""
    last = results[-1] if results else None
    plan = words.plan.format(topic=topic)
    match last.name if last else "":
        case "" if "exit_plan_mode" not in tools:
            return words.plan_enter.format(topic=topic), [("enter_plan_mode", {})]
        case "" | "enter_plan_mode":
            return words.plan_propose, [("exit_plan_mode", {"plan": plan})]
        case "exit_plan_mode" if last and not last.success:
            return words.plan_rejected, []
        case "exit_plan_mode":
            return words.plan_begin, [_steps(words, "in_progress", "pending"), ("file_list", {"path": "."})]
        case "file_list":
            wanted = {"path": "plan.md", "content": plan + "\n"}
            return "", [_steps(words, "done", "in_progress"), ("file_write", wanted)]
        case "file_write" if last and last.success:
            return "", [_steps(words, "done", "done", words.plan_result)]
        case "plan_update":
            return words.plan_done, []
        case _:
            return words.failed.replace("{output}", last.output if last else ""), []


def _steps(words: Words, look: str, write: str, result: str = "") -> tuple[str, dict[str, Any]]:
    titles = words.plan_steps
    steps = [{"title": titles[0], "status": look}, {"title": titles[1], "status": write, "result": result}]
    return "plan_update", {"steps": steps}
