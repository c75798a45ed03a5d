"""The sources of papers, in order of precedence where their data differ."""

from __future__ import annotations

from backend_api.research.ports import Source
from backend_api.research.sources.arxiv import ARXIV
from backend_api.research.sources.crossref import CROSSREF
from backend_api.research.sources.openalex import OPENALEX
from backend_api.research.sources.semantic_scholar import SEMANTIC_SCHOLAR

SOURCES: tuple[Source, ...] = (
    OPENALEX,
    SEMANTIC_SCHOLAR,
    ARXIV,
    CROSSREF,
)
