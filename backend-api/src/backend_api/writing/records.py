"""Records of the corpus, for citations; there are none if this deployment has no research."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from backend_api.kit.ids import UserId
from backend_api.research.application import Research
from backend_api.research.domain import Paper, Record, RecordId
from backend_api.research.errors import PaperNotFoundError, RecordNotFoundError

AT_ONCE = 20


class CorpusRecords:
    """`Records`."""

    def __init__(self, research: Research | None) -> None:
        self._research = research if research is not None and research.is_enabled else None

    async def of(self, user_id: UserId, record_ids: Sequence[str]) -> Mapping[str, Record]:
        """See the port."""
        if self._research is None:
            return {}
        corpus, room = self._research.corpus, asyncio.Semaphore(AT_ONCE)

        async def one(record_id: str) -> Record | None:
            async with room:
                try:
                    return await corpus.get(user_id, RecordId(record_id))
                except RecordNotFoundError:
                    return None

        found = await asyncio.gather(*map(one, record_ids))
        return {record.id: record for record in found if record is not None}

    async def source_of(self, user_id: UserId, paper: Paper) -> Paper | None:
        """See the port."""
        paper_id = paper.id
        if self._research is None or paper_id is None:
            return None
        with self._research.as_owner(user_id):
            try:
                return (await self._research.corpus.papers.details(paper_id)).papers[0]
            except PaperNotFoundError:
                return None

    async def confirm(self, user_id: UserId, record_id: str, paper: Paper) -> None:
        """See the port."""
        if self._research is None:
            return
        await self._research.corpus.change(
            user_id, RecordId(record_id), lambda known: known.with_paper(paper, is_imported=False)
        )
