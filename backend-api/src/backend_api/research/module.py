"""Scientific papers and users' corpora, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from backend_api.agent.model import ModelInfo
from backend_api.agent.tools.local import LocalTools
from backend_api.conversations.ports import SessionRepository
from backend_api.kit.mongo.database import Database
from backend_api.kit.redis.client import Redis
from backend_api.kit.untrusted.guarded_client import GuardedClient
from backend_api.kit.untrusted.resolver import lookups_of, owner_of_lookups
from backend_api.module import Module, Parts, Planned
from backend_api.research.application import Research
from backend_api.research.attached import AttachedPapers
from backend_api.research.corpus import Corpus
from backend_api.research.corpus_tools import corpus_tools
from backend_api.research.findings import CheckFindings, ReadTexts
from backend_api.research.findings_tools import FindingsTools, findings_tool
from backend_api.research.http import router
from backend_api.research.keys import TrySourceKey, UserKeys
from backend_api.research.matching import MatchFile
from backend_api.research.mongo import HeldDocument, MongoCorpus, RecordDocument
from backend_api.research.mongo_files import AttachedFileDocument, MongoAttachedFiles
from backend_api.research.naming import NameRecords
from backend_api.research.papers import Papers
from backend_api.research.ports import Keys, Source
from backend_api.research.programs.running import ImportPrograms, TextPrograms
from backend_api.research.reading import PaperTexts
from backend_api.research.redis_store import RedisAnswers, RedisThrottle
from backend_api.research.sources.arxiv import ARXIV
from backend_api.research.sources.links import LINK_SOURCES
from backend_api.research.sources.openalex import OPENALEX
from backend_api.research.sources.registry import SOURCES
from backend_api.research.sources.semantic_scholar import SEMANTIC_SCHOLAR
from backend_api.research.sources.shipped import SHIPPED
from backend_api.research.tools import Budget, paper_tools
from backend_api.research.web import PaperFiles, Web
from backend_api.settings.application.open_settings import OpenSettings

_NAMES = frozenset(source.name for source in (*SOURCES, *LINK_SOURCES))


class ResearchSettings(BaseSettings):
    """Settings read from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    enable_research: bool = True
    research_contact: str = Field(default="", max_length=200, pattern=r"^$|^[^@\s]+@[^@\s]+\.[^@\s]+$")
    openalex_api_key: SecretStr = SecretStr("")
    semantic_scholar_api_key: SecretStr = SecretStr("")
    research_max_calls: int = Field(default=100, ge=0, le=100_000)
    research_source_urls: Annotated[dict[str, str], NoDecode] = Field(default_factory=dict[str, str])

    @field_validator("research_source_urls", mode="before")
    @classmethod
    def _parse_urls(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        pairs = [entry.strip().partition("=") for entry in value.split(",") if entry.strip()]
        for name, _, url in pairs:
            if name not in _NAMES or not url.startswith(("http://", "https://")):
                raise ValueError(
                    f"{name}={url} is not a known source with an address; sources: {', '.join(sorted(_NAMES))}"
                )
        return {name: url for name, _, url in pairs}

    @property
    def keys(self) -> Keys:
        return Keys(
            contact=self.research_contact,
            openalex=self.openalex_api_key.get_secret_value(),
            semantic_scholar=self.semantic_scholar_api_key.get_secret_value(),
        )


def plan_research(models: Sequence[ModelInfo]) -> Planned:
    """Plan the module. If the demo model is the only one, papers that come with the product are a source, too."""
    is_demo = all(model.is_demo for model in models)
    return Planned(ports={"paper_sources": (*SOURCES, SHIPPED) if is_demo else SOURCES})


@asynccontextmanager
async def open_research(
    settings: ResearchSettings,
    fetcher: GuardedClient,
    database: Database,
    redis: Redis,
    open_settings: OpenSettings,
    sessions: SessionRepository,
    paper_sources: Sequence[Source] = SOURCES,
) -> AsyncGenerator[Parts]:
    """Open the module. Ports: `research`, a `Research`; `source_budget`, which other tools that query sources share;
    `name_records`, a `NameRecords`."""
    answers = RedisAnswers(redis)
    keys = UserKeys(deployment=settings.keys, open_settings=open_settings, owner=owner_of_lookups)
    web = Web(fetcher=fetcher, throttle=RedisThrottle(redis), keys=keys, urls=settings.research_source_urls)
    papers = Papers(sources=paper_sources, ask=web.ask, answers=answers)
    text_of = TextPrograms()
    texts = PaperTexts(
        papers=papers,
        ask=web.ask,
        files=PaperFiles(web),
        text_of=text_of,
        answers=answers,
        arxiv=web.address_of(ARXIV),
        keys=keys,
    )
    corpus = Corpus(store=MongoCorpus(database), papers=papers, now=lambda: datetime.now(UTC))
    research = Research(
        corpus=corpus,
        read_entries=ImportPrograms().read,
        match=MatchFile(corpus=corpus, papers=papers, text_of=text_of),
        attached=AttachedPapers(corpus=corpus, files=MongoAttachedFiles(), sessions=sessions),
        try_key=TrySourceKey(
            sources={"openalex": OPENALEX, "semantic_scholar": SEMANTIC_SCHOLAR},
            ask_with=web.ask_with,
            open_settings=open_settings,
            contact=settings.research_contact,
        ),
        as_owner=lookups_of,
        is_enabled=settings.enable_research,
    )
    budget = Budget(answers=answers, most=settings.research_max_calls)
    read_texts = ReadTexts(answers)
    own = LocalTools([*paper_tools(papers, texts, budget, read_texts), *corpus_tools(corpus)])
    findings = FindingsTools(CheckFindings(corpus=corpus, texts=read_texts))
    yield Parts(
        ports={"research": research, "source_budget": budget, "name_records": NameRecords(corpus)},
        tools=[own, findings] if settings.enable_research else [],
    )


RESEARCH = Module(
    name="research",
    description="Scientific papers that the caller keeps.",
    settings=ResearchSettings,
    documents=[RecordDocument, HeldDocument, AttachedFileDocument],
    routes=[router],
    tools=[*paper_tools(None, None, None), *corpus_tools(None), findings_tool(None)],
    plan=plan_research,
    open=open_research,
)
