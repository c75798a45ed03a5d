"""What the search tool needs from a provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from backend_api.domain.errors import UnavailableError


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    title: str
    url: str
    snippet: str = ""


class SearchUnavailableError(UnavailableError):
    """The provider refused, did not answer, or none is set."""

    code = "search_unavailable"


class SearchProvider(Protocol):
    """Searches the web."""

    @property
    def name(self) -> str: ...

    async def search(self, query: str, *, limit: int) -> list[Hit]:
        """The best hits first. Raises `SearchUnavailableError`."""
        ...
