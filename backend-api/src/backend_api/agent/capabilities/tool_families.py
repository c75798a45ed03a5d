"""The prompt defines a part of the tools; the others are listed by families, loaded on request or when a message names
one."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.capability import Capability, Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import ContextNote
from backend_api.agent.model import UserTurn
from backend_api.agent.tool_families import LOAD_TOOL, USE_TOOL

MAX_NAMED = 3
"""The most families that one message loads by naming them."""
_MOST_LOOKED_AT = 4_000
"""The most characters of a message that are searched for names."""
_TEXT = f"""\
More tools
- You have further tools, in the families below. {LOAD_TOOL} answers what those of a family are and take; {USE_TOOL} \
calls one of them, where you do not know it as a tool of its own. Load a family before you make do without it."""
_NAMED = "Its name occurs in the message, so this was loaded for you.\n{definitions}"
_KEPT = "Tools that you have loaded:\n\n{definitions}"


def _sections(setup: Setup) -> Sequence[str]:
    families = setup.families
    return ["\n".join([_TEXT, *[family.line for family in families]])] if families else []


def _notes(setup: Setup, conversation: Conversation) -> Sequence[ContextNote]:
    families = setup.families
    if not families:
        return ()
    unread = conversation.turns[conversation.unread_from :]
    said = [turn.text[:_MOST_LOOKED_AT] for turn in unread if isinstance(turn, UserTurn)]
    loaded = {name for name, find in conversation.loaded if not find}
    named = [one for one in families if one.name not in loaded and any(map(one.is_named_in, said))]
    return [
        ContextNote(kind="tools", about=one.name, text=_NAMED.format(definitions=definitions))
        for one in named[:MAX_NAMED]
        if (definitions := one.definitions())
    ]


def _notes_after_compaction(setup: Setup, conversation: Conversation) -> Sequence[str]:
    definitions = setup.tool_set.loaded(conversation.loaded) if setup.tool_set is not None else ""
    return [_KEPT.format(definitions=definitions)] if definitions else []


TOOL_FAMILIES = Capability(
    name="tool families", sections=_sections, notes=_notes, notes_after_compaction=_notes_after_compaction
)
