"""The parts of the module of papers, over fake sources, without a database."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from backend_api.kit.untrusted.guarded_client import guarded_client
from backend_api.kit.untrusted.rules import FetchRules, allowed_hosts
from backend_api.research.papers import Papers
from backend_api.research.ports import Keys, Rate
from backend_api.research.programs.running import TextPrograms
from backend_api.research.reading import PaperTexts
from backend_api.research.sources.registry import SOURCES
from backend_api.research.web import PaperFiles, Web
from support.research.fake_sources import Fakes, fake_sources

CONTACT = "librarian@example.org"


@dataclass(slots=True)
class FreeThrottle:
    """`Throttle` that lets everything pass, and remembers what answers said."""

    learned: list[tuple[str, int, Mapping[str, str]]] = field(default_factory=list[tuple[str, int, Mapping[str, str]]])

    @asynccontextmanager
    async def turn(self, host: str, rate: Rate) -> AsyncGenerator[None]:
        """At once."""
        yield

    async def learn(self, host: str, status: int, headers: Mapping[str, str]) -> None:
        self.learned.append((host, status, headers))


@dataclass(slots=True)
class MemoryAnswers:
    """`Answers` for ever."""

    kept: dict[str, str] = field(default_factory=dict[str, str])
    within_s: dict[str, int] = field(default_factory=dict[str, int])
    calls: dict[str, int] = field(default_factory=dict[str, int])

    async def get(self, key: str) -> str | None:
        return self.kept.get(key)

    async def put(self, key: str, text: str, within_s: int) -> None:
        self.kept[key], self.within_s[key] = text, within_s

    async def count_call(self, run_id: str) -> int:
        self.calls[run_id] = self.calls.get(run_id, 0) + 1
        return self.calls[run_id]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchParts:
    """All of it."""

    fakes: Fakes
    papers: Papers
    texts: PaperTexts
    answers: MemoryAnswers
    throttle: FreeThrottle


@asynccontextmanager
async def research_parts(*, source_s: float = 10.0) -> AsyncGenerator[ResearchParts]:
    """Until the block ends."""
    async with fake_sources() as fakes, guarded_client(FetchRules(allowed_hosts(fakes.hosts))) as fetcher:
        throttle, answers = FreeThrottle(), MemoryAnswers()

        async def keys() -> Keys:
            return Keys(contact=CONTACT, openalex="key-of-openalex", semantic_scholar="key-of-s2")

        web = Web(fetcher=fetcher, throttle=throttle, keys=keys, urls=fakes.urls)
        papers = Papers(sources=SOURCES, ask=web.ask, answers=answers, source_s=source_s)
        texts = PaperTexts(
            papers=papers,
            ask=web.ask,
            files=PaperFiles(web),
            text_of=TextPrograms(),
            answers=answers,
            arxiv=fakes.urls["arxiv"],
            keys=keys,
        )
        yield ResearchParts(fakes=fakes, papers=papers, texts=texts, answers=answers, throttle=throttle)
