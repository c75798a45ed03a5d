"""The module's port: papers and corpus, if this deployment has them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal
from weakref import WeakValueDictionary

from backend_api.kit.errors import LimitError
from backend_api.kit.ids import UserId
from backend_api.research.attached import AttachedPapers
from backend_api.research.corpus import Added, Corpus, Entry
from backend_api.research.domain import MAX_RECORDS, Broken, Imported
from backend_api.research.errors import ImportInvalidError, ResearchDisabledError
from backend_api.research.identity import PaperId
from backend_api.research.keys import TrySourceKey
from backend_api.research.matching import Match, MatchFile

ReadEntries = Callable[[bytes, Literal["bibtex", "ris"]], Awaitable[tuple[Sequence[Entry], Sequence[Broken]]]]
"""Reads the entries of a file, in a process of its own. Raises `ImportInvalidError`."""
FILES_OF_ONE = 2
WAIT_S = 10.0
RETRY_AFTER_S = 5


class FilePlaces:
    """Places for files that are read whole: each user has few, as they are in this process's memory."""

    def __init__(self, wait_s: float = WAIT_S) -> None:
        self.wait_s = wait_s
        self._free: WeakValueDictionary[UserId, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def claim(self, user_id: UserId) -> AsyncGenerator[None]:
        """Hold a place; read the file inside. Raises `LimitError` on entering."""
        free = self._free.setdefault(user_id, asyncio.Semaphore(FILES_OF_ONE))
        try:
            async with asyncio.timeout(self.wait_s):
                await free.acquire()
        except TimeoutError:
            raise LimitError(
                "Other files of yours are being read. Wait for one to end.", retry_after_s=RETRY_AFTER_S
            ) from None
        try:
            yield
        finally:
            free.release()


@dataclass(frozen=True, slots=True, kw_only=True)
class Research:
    """`as_owner` sets the user for whom addresses are looked up within its block."""

    corpus: Corpus
    read_entries: ReadEntries
    try_key: TrySourceKey
    match: MatchFile
    attached: AttachedPapers
    as_owner: Callable[[str], AbstractContextManager[None]]
    is_enabled: bool = True
    places: FilePlaces = field(default_factory=FilePlaces)

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
        with self.as_owner(user_id):
            entries, broken = await self.read_entries(content, form)
        if not entries and not broken:
            raise ImportInvalidError(f"The file is empty. It may have at most {MAX_RECORDS:,} entries.")
        return await self.corpus.take_in(user_id, entries, broken, session_id)

    async def match_file(self, user_id: UserId, content: bytes, session_id: str | None, path: str | None) -> Match:
        """Find the paper of a file, and keep what it is for the conversation. Raises as `MatchFile`."""
        with self.as_owner(user_id):
            found = await self.match(user_id, content, session_id)
        if session_id and path:
            await self.attached.keep(user_id, session_id, path, found)
        return found
