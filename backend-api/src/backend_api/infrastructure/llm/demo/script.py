"""What the demo model does at its work: commands, files, pages, reports, questions and plans."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backend_api.domain.agent.model import ToolTurn
from backend_api.infrastructure.llm.demo.plan import planned
from backend_api.infrastructure.llm.demo.question import asked
from backend_api.infrastructure.llm.demo.scene import Scene, Step, call_of, fenced, outcome
from backend_api.infrastructure.llm.demo.texts import (
    REPORT,
    REPORT_FOUND,
    REPORT_NO_ANSWER,
    TOUR_NOTES,
    TOUR_PAGE,
)

MOST_READ = 3
"""Of the files that come with one message."""


def run_step(scene: Scene) -> Step:
    if scene.step == 0:
        command = (scene.match.group("command") if scene.match else "").strip().strip("`").strip()
        call = call_of(scene, "shell_exec", command=command)
        return Step(text=scene.words.run.format(command=command), calls=(call,))
    return outcome(scene, scene.words.run_done)


def write_step(scene: Scene) -> Step:
    name = (scene.match.group("name") if scene.match else "").strip("`'\"，。,.:：") or "note.txt"
    content = (scene.match.group("content") if scene.match else None) or scene.words.file_content
    if scene.step == 0:
        call = call_of(scene, "file_write", path=name, content=content.strip() + "\n")
        return Step(text=scene.words.write.format(name=name), calls=(call,))
    return outcome(scene, scene.words.write_done.format(name=name))


def open_step(scene: Scene) -> Step:
    if scene.step == 0:
        url = (scene.match.group("url") if scene.match else "").strip("`'\"<>，。")
        if not re.match(r"[a-z]+:", url):
            url = f"https://{url}"
        return Step(text=scene.words.open.format(url=url), calls=(call_of(scene, "browser_navigate", url=url),))
    return outcome(scene, scene.words.open_done)


def list_step(scene: Scene) -> Step:
    if scene.step == 0:
        return Step(text=scene.words.list, calls=(call_of(scene, "file_list", path="."),))
    return outcome(scene, scene.words.list_done)


def read_step(scene: Scene) -> Step:
    """Files that came with a message that says nothing known."""
    words, names = scene.words, scene.attachments[:MOST_READ]
    if scene.step == 0:
        calls = [call_of(scene, "file_read", path=name) for name in names]
        return Step(text=words.read.format(names=", ".join(f"`{name}`" for name in names)), calls=tuple(calls))
    shown = [f"`{name}`\n\n{fenced(result.output)}" for name, result in zip(names, scene.results, strict=False)]
    return Step(text="\n\n".join([words.read_done, *shown]))


def report_step(scene: Scene) -> Step:
    topic = (scene.match.group("topic") if scene.match else "").strip(" .。!！") or "this computer"
    path = "reports/" + (re.sub(r"[^\w]+", "-", topic.lower()).strip("-")[:40] or "report") + ".md"
    match scene.step:
        case 0:
            return Step(
                text=scene.words.report.format(topic=topic),
                calls=(
                    call_of(scene, "shell_exec", command="date -u; uname -srm; df -h . | tail -1"),
                    *([call_of(scene, "web_search", query=topic)] if "web_search" in scene.tools else []),
                ),
            )
        case 1:
            call = call_of(scene, "file_write", path=path, content=_report_text(topic, scene.results))
            return Step(text=scene.words.report_write, calls=(call,))
        case _:
            failed = [result for result in scene.results if not result.success]
            note = scene.words.report_gaps if failed and scene.results[-1].success else ""
            return Step(text=outcome(scene, scene.words.report_done.format(path=path)).text + note)


def _report_text(topic: str, results: Sequence[ToolTurn]) -> str:
    facts = results[0].output.strip() if results and results[0].success else "-"
    text = REPORT.format(topic=topic[:1].upper() + topic[1:], facts=facts)
    if len(results) < 2:
        return text
    found = results[1].output.strip()[:6000] if results[1].success else ""
    return text + REPORT_FOUND.format(found=found or REPORT_NO_ANSWER)


def ask_step(scene: Scene) -> Step:
    """For trying a run that waits for the person."""
    text, options = asked(scene.match.group("question") if scene.match else "", scene.words)
    if scene.step == 0:
        return Step(
            text=scene.words.ask,
            calls=(call_of(scene, "ask_user", questions=[{"question": text, "options": options}]),),
        )
    # The result is written for a model; the person reads only what they said themselves.
    result = scene.results[-1]
    answer = result.output.partition(f"{text}\n> ")[2].strip()
    if not result.success or not answer:
        return Step(text=scene.words.ask_unanswered)
    return Step(text=scene.words.ask_done.replace("{output}", fenced(answer)))


def plan_step(scene: Scene) -> Step:
    """For trying a plan that waits for the person, and its steps."""
    topic = (scene.match.group("topic") if scene.match else "").strip(" .。!！")
    text, calls = planned(scene.words, topic, scene.results, scene.tools)
    return Step(text=text, calls=tuple(call_of(scene, name, **arguments) for name, arguments in calls))


def stream_step(scene: Scene) -> Step:
    """For trying stop and reconnect, by hand and in tests: `stream 2000` gives that many numbered words."""
    count = min(int(scene.match.group("count")) if scene.match else 100, 20_000)
    return Step(text=" ".join(f"word{number}" for number in range(1, count + 1)))


def tour_step(scene: Scene) -> Step:
    words = scene.words
    failed = bool(scene.results) and not scene.results[-1].success
    trouble = words.tour_trouble.format(output=fenced(scene.results[-1].output)) if failed else ""
    match scene.step:
        case 0:
            command = "uname -a && python3 --version && pwd"
            return Step(text=words.tour_start, calls=(call_of(scene, "shell_exec", command=command),))
        case 1:
            system = scene.results[-1].output.strip() if not failed else "-"
            notes = TOUR_NOTES.format(system=system)
            return Step(
                text=trouble + words.tour_write,
                calls=(
                    call_of(scene, "file_write", path="notes/tour.md", content=notes),
                    call_of(scene, "file_write", path="notes/tour.html", content=TOUR_PAGE),
                ),
            )
        case 2:
            call = call_of(scene, "browser_navigate", url="file:///workspace/notes/tour.html")
            return Step(text=trouble + words.tour_open, calls=(call,))
        case 3 if not failed:
            return Step(text=words.tour_look, calls=(call_of(scene, "browser_view"),))
        case _:
            by_name = {result.name: result.success for result in scene.results}
            lines = [
                words.tour_did[name] if success else words.tour_did_not[name]
                for name, success in by_name.items()
                if name in words.tour_did
            ]
            return Step(text=trouble + words.tour_end.format(lines="\n".join(f"- {line}" for line in lines)))
