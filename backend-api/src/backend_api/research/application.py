"""The module's port: papers and corpus, if this deployment has them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

from backend_api.kit.ids import UserId
from backend_api.research.corpus import Added, Corpus, Entry
from backend_api.research.domain import MAX_RECORDS, Broken, Imported
from backend_api.research.errors import ImportInvalidError, ResearchDisabledError
from backend_api.research.identity import PaperId
from backend_api.research.keys import TrySourceKey
from backend_api.research.matching import MatchFile

ReadEntries = Callable[[bytes, Literal["bibtex", "ris"]], Awaitable[tuple[Sequence[Entry], Sequence[Broken]]]]
"""Reads the entries of a file, in a process of its own. Raises `ImportInvalidError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Research:
    """`as_owner` sets the user for whom addresses are looked up within its block."""

    corpus: Corpus
    read_entries: ReadEntries
    try_key: TrySourceKey
    match: MatchFile
    as_owner: Callable[[str], AbstractContextManager[None]]
    is_enabled: bool = True

    def enabled(self) -> Research:
        """Return itself. Raises `ResearchDisabledError` if research is off."""
        if not self.is_enabled:
            raise ResearchDisabledError
        return self

    async def add(self, user_id: UserId, paper_id: PaperId, *, session_id: str | None, tags: Sequence[str]) -> Added:
        """Add a paper as the person. Raises as `Corpus.add`."""
        with self.as_owner(user_id):
            return await self.corpus.add(user_id, paper_id, by="person", session_id=session_id, tags=tags)

    async def take_in(
        self, user_id: UserId, content: bytes, form: Literal["bibtex", "ris"], session_id: str | None
    ) -> Imported:
        """Import a file. Raises `ImportInvalidError` if nothing of it could be read, and as `Corpus.take_in`."""
        entries, broken = await self.read_entries(content, form)
        if not entries and not broken:
            raise ImportInvalidError(f"The file is empty. It may have at most {MAX_RECORDS:,} entries.")
        return await self.corpus.take_in(user_id, entries, broken, session_id)
