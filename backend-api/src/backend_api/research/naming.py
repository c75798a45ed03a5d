"""Texts with titles in place of the ids of records, for readers outside of the product."""

from __future__ import annotations

import re
from dataclasses import dataclass

from backend_api.kit.ids import UserId
from backend_api.research.corpus import Corpus
from backend_api.research.domain import Filter, Record, RecordId

MOST = 200
"""The records that are named in one text; further ids are left unchanged."""
_NAMED = re.compile(r"(?<![A-Za-z0-9])(`?)(rec_[0-9a-f]{32})\1(?![A-Za-z0-9])")
_MARKS = re.compile(r"([\\`*_\[\]<>$@^~|#])")


@dataclass(frozen=True, slots=True)
class NameRecords:
    """Replaces the ids of a user's records in Markdown by title, year and address. Raises `StoreUnavailableError`."""

    corpus: Corpus

    async def __call__(self, user_id: UserId, text: str) -> str:
        """Replace them; unknown ids are left unchanged."""
        ids = tuple(dict.fromkeys(RecordId(one[1]) for one in _NAMED.findall(text)))[:MOST]
        if not ids:
            return text
        page = await self.corpus.page(user_id, Filter(ids=ids), limit=MOST)
        names = {record.id: _name(record) for record in page.items}
        return _NAMED.sub(lambda found: names.get(RecordId(found[2]), found[0]), text)


def _name(record: Record) -> str:
    paper = record.paper
    title = _MARKS.sub(r"\\\1", paper.title)
    return ", ".join(filter(None, (title, str(paper.year or ""), paper.address)))
