"""What the demo model does so that each part of the page can be tried: other agents, a picture, a long answer,
thinking, a to-do list, and a conversation that is summed up."""

from __future__ import annotations

from backend_api.domain.agent.model import ToolRequest
from backend_api.infrastructure.llm.demo.scene import Scene, Step, call_of, fenced, outcome, quoted
from backend_api.infrastructure.llm.demo.show_texts import shown_words
from backend_api.infrastructure.llm.demo.texts import TOUR_PAGE

PAGE = "notes/picture.html"


def agents_step(scene: Scene) -> Step:
    """Gives a part of the work to another agent, or to two at once."""
    words = shown_words(scene.words)
    if scene.step > 0:
        return Step(text=_answers(scene))
    wanted = _named(scene, "task")
    tasks = [wanted] if wanted else [*words.agents_tasks]
    calls = tuple(call_of(scene, "task", description=task[:80], prompt=task, agent_type="general") for task in tasks)
    return Step(text=words.agents.format(count=len(tasks)), calls=calls)


def _answers(scene: Scene) -> str:
    """What each agent says, below what it was asked for."""
    words = shown_words(scene.words)
    tasks = {call.call_id: (call.arguments or {}).get("description") for turn in scene.spoken for call in turn.calls}
    parts = [words.agents_done if len(scene.results) > 1 else words.agent_done]
    for result in scene.results:
        said = scene.words.failed.replace("{output}", fenced(result.output)) if not result.success else result.output
        parts += [f"**{tasks.get(result.call_id) or result.call_id}**", quoted(said)]
    return "\n\n".join(parts)


def picture_step(scene: Scene) -> Step:
    """Opens a page of its own and looks at it."""
    words = shown_words(scene.words)
    if scene.results and not scene.results[-1].success:
        return Step(text=scene.words.failed.replace("{output}", fenced(scene.results[-1].output)))
    match scene.step:
        case 0:
            return Step(text=words.picture, calls=(call_of(scene, "file_write", path=PAGE, content=TOUR_PAGE),))
        case 1:
            call = call_of(scene, "browser_navigate", url=f"file:///workspace/{PAGE}")
            return Step(text="", calls=(call,))
        case 2:
            return Step(text="", calls=(call_of(scene, "browser_view"),))
        case _:
            return Step(text=words.picture_done)


def long_step(scene: Scene) -> Step:
    """For trying how a long answer reads: headings, lists, a table, code and a formula."""
    words = shown_words(scene.words)
    return Step(text=words.long.replace("{topic}", _named(scene, "topic") or words.topic))


def think_step(scene: Scene) -> Step:
    """Where thinking is on, it is shown; the tool `think` is there without it, too."""
    words = shown_words(scene.words)
    topic = _named(scene, "topic")
    if scene.step > 0:
        return Step(text=words.think_done.format(topic=topic), thought=words.thought_after.format(topic=topic))
    thought = words.thought.format(topic=topic)
    return Step(text="", calls=(call_of(scene, "think", thought=thought),), thought=thought)


def compact_step(scene: Scene) -> Step:
    """Has the conversation summed up, with a focus where one was named."""
    words = shown_words(scene.words)
    if scene.step > 0:
        return Step(text=words.compact_done)
    focus = _named(scene, "focus")
    return Step(text=words.compact, calls=(call_of(scene, "compact", **({"focus": focus} if focus else {})),))


def todo_step(scene: Scene) -> Step:
    """Keeps a list of what there is to do, and leaves a part of it."""
    words = shown_words(scene.words)
    topic = _named(scene, "topic") or words.topic
    match scene.step:
        case 0:
            return Step(text=words.todo.format(topic=topic), calls=(_todos(scene, topic, 0),))
        case 1:
            return Step(text="", calls=(call_of(scene, "utc_now"),))
        case 2:
            thinks = call_of(scene, "think", thought=words.thought.format(topic=topic))
            return Step(text="", calls=(_todos(scene, topic, 1), thinks))
        case 3:
            calls = (call_of(scene, "todo_complete", number=2), call_of(scene, "todo_add", content=words.todo_next))
            return Step(text="", calls=calls)
        case _:
            return outcome(scene, words.todo_done)


def _todos(scene: Scene, topic: str, at_work: int) -> ToolRequest:
    """All of them; those before the one that is `at_work` are completed."""
    work = shown_words(scene.words).todo_work
    todos = [
        {
            "content": content.format(topic=topic),
            "activeForm": active.format(topic=topic),
            "status": "completed" if at < at_work else "in_progress" if at == at_work else "pending",
        }
        for at, (content, active) in enumerate(work)
    ]
    return call_of(scene, "todo_write", todos=todos)


def _named(scene: Scene, group: str) -> str:
    found = scene.match.groupdict().get(group) if scene.match else None
    return (found or "").strip(" .。!！?？")
