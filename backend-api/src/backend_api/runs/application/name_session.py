"""The name of a session: the first line of its first message."""

from __future__ import annotations

import logging

from backend_api.conversations.ports import SessionRepository
from backend_api.kit.errors import DomainError
from backend_api.runs.application.run_journal import RunJournal

logger = logging.getLogger(__name__)

TITLE_CHARACTERS = 60


async def name_session(journal: RunJournal, sessions: SessionRepository) -> None:
    """Name a session without a name by the first line of its first message; the run does not depend on it."""
    await journal.loaded.wait()
    await journal.writes.has_begun.wait()
    run = journal.lease.run
    try:
        if title := title_of(journal.first_message()):
            named = await sessions.name(run.session_id, run.user_id, title)
            if named.events:
                journal.writes.add_stored(named.events)
    except DomainError as error:
        logger.info("session was not named", extra={"run_id": run.id, "code": error.code})
    finally:
        journal.is_named.set()


def title_of(text: str) -> str:
    """The first line of a message, cut at a word if there is one."""
    line = next((stripped for raw in text.splitlines() if (stripped := " ".join(raw.split()))), "")
    if len(line) <= TITLE_CHARACTERS:
        return line
    cut = line[:TITLE_CHARACTERS]
    word = cut.rfind(" ")
    return (cut[:word] if word > TITLE_CHARACTERS // 2 else cut).rstrip() + "…"
