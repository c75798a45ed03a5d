"""The papers of a conversation's attached files, as they were recognised, so that they are known after a reload."""

from __future__ import annotations

from dataclasses import dataclass, replace

from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.conversations.ports import SessionRepository
from backend_api.kit.ids import SessionId, UserId
from backend_api.research.corpus import Corpus
from backend_api.research.domain import Filter, Paper, Record, is_same
from backend_api.research.identity import PaperId
from backend_api.research.matching import Match
from backend_api.research.ports import AttachedFile, AttachedFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedPapers:
    """Keeps which paper each file is. Raises `StoreUnavailableError`."""

    corpus: Corpus
    files: AttachedFiles
    sessions: SessionRepository

    async def keep(self, user_id: UserId, session_id: str, path: str, match: Match) -> None:
        """Keep the match of a file; nothing for a conversation that is not the user's."""
        try:
            await self.sessions.get(SessionId(session_id), user_id)
        except SessionNotFoundError:
            return
        paper = match.record.paper if match.record else match.offered
        if paper is None:
            await self.files.remove(user_id, session_id, path)
            return
        record_id = match.record.id if match.record else None
        await self.files.put(
            user_id, session_id, AttachedFile(path=path, record_id=record_id, paper_id=paper.id, title=paper.title)
        )

    async def of_session(self, user_id: UserId, session_id: str) -> list[tuple[str, Match]]:
        """Each file with its record; one whose paper is not kept, or not any more, with the paper to add."""
        files = await self.files.of_session(user_id, session_id)
        ids = tuple({file.record_id for file in files if file.record_id})
        page = await self.corpus.page(user_id, Filter(ids=ids), limit=len(ids)) if ids else None
        records = {one.id: one for one in page.items} if page else {}
        found = list[tuple[str, Match]]()
        for file in files:
            record = records.get(file.record_id) if file.record_id else None
            record = record or await self._kept_since(user_id, file.paper_id)
            if record is not None:
                found.append((file.path, Match(record=record)))
            elif file.paper_id is not None:
                found.append((file.path, Match(offered=_named(file.paper_id, file.title))))
        return found

    async def linked(self, user_id: UserId, session_id: str) -> int:
        """How many records are linked to a conversation."""
        return (await self.corpus.page(user_id, Filter(session_id=session_id), limit=1)).total

    async def _kept_since(self, user_id: UserId, paper_id: PaperId | None) -> Record | None:
        if paper_id is None:
            return None
        named = _named(paper_id)
        return next((one for one in await self.corpus.store.same_as(user_id, named) if is_same(one.paper, named)), None)


def _named(paper_id: PaperId, title: str = "") -> Paper:
    """A paper of which only one id is known."""
    ids = {"doi": "doi", "arxiv": "arxiv_id", "openalex": "openalex_id", "s2": "s2_id"}
    return replace(Paper(title=title), **{ids[paper_id.kind]: paper_id.value})
