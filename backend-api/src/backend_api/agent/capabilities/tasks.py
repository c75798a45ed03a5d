"""A summary of the conversation is followed by the session's tasks, as they were recorded. The model reads a person's
changes of them before its next answer."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.capability import Capability, Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import ContextNote
from backend_api.agent.tasks import are_open, listed

_EDITED = "The person changed the tasks of this session:\n{lines}\n{listed}\nGo by the tasks as they are now."


def _notes_after_compaction(setup: Setup, conversation: Conversation) -> Sequence[str]:
    del setup
    return [listed(conversation.tasks)] if are_open(conversation.tasks) else []


def _notes(setup: Setup, conversation: Conversation) -> Sequence[ContextNote]:
    del setup
    edits = conversation.task_edits
    if not edits:
        return []
    lines = "\n".join(line for edit in edits for line in edit.lines)
    text = _EDITED.format(lines=lines, listed=listed(conversation.tasks))
    return [ContextNote(kind="tasks", text=text, about=f"{edits[-1].version}")]


TASKS = Capability(name="tasks", notes=_notes, notes_after_compaction=_notes_after_compaction)
