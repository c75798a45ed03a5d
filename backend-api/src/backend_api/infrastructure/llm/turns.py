"""What both providers' adapters need to tell a turn."""

from __future__ import annotations

from backend_api.domain.agent.model import NoteTurn, UserTurn


def note_text(turn: NoteTurn) -> str:
    """Marked, so that it is told from what the person says."""
    return f"<note>{turn.text}</note>"


def user_text(turn: UserTurn) -> str:
    """The text, with the files that came with it named."""
    if not turn.attachments:
        return turn.text or "(empty message)"
    names = "\n".join(f"- {name}" for name in turn.attachments)
    return f"{turn.text}\n\n[Files attached, in the workspace:\n{names}]".strip()
