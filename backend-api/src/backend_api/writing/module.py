"""Writing with sources, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.agent.tools.local import LocalTools
from backend_api.kit.mongo.database import Database
from backend_api.module import Module, Parts
from backend_api.research.application import Research
from backend_api.research.tools import Budget
from backend_api.writing.application import Writing
from backend_api.writing.checking import CheckCitations
from backend_api.writing.exporting import Export
from backend_api.writing.figures import CollectFigures
from backend_api.writing.http import router
from backend_api.writing.mongo import MongoProjects, ProjectDocument, RevisionDocument
from backend_api.writing.printing import PrintTalk
from backend_api.writing.programs.running import ExportPrograms, picture_ending
from backend_api.writing.projects import Projects
from backend_api.writing.records import CorpusRecords
from backend_api.writing.tools import writing_tools


class WritingSettings(BaseSettings):
    """Settings read from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    enable_writing: bool = True


@asynccontextmanager
async def open_writing(
    settings: WritingSettings,
    database: Database,
    research: Research | None = None,
    source_budget: Budget | None = None,
) -> AsyncGenerator[Parts]:
    """Open the module. Ports: `writing`, a `Writing`, and `print_talk`, which makes a PDF of a conversation, where
    the programs for it are installed. Without research nothing can be cited."""
    records = CorpusRecords(research)
    check, renderer = CheckCitations(records=records), ExportPrograms()
    writing = Writing(
        projects=Projects(store=MongoProjects(database), now=lambda: datetime.now(UTC)),
        records=records,
        check=check,
        export=Export(
            records=records,
            check=check,
            figures=CollectFigures(ending_of=picture_ending),
            renderer=renderer,
        ),
        is_enabled=settings.enable_writing,
    )
    tools = writing_tools(writing, source_budget) if settings.enable_writing else []
    printing = {"print_talk": PrintTalk(renderer)} if renderer.missing_for("pdf") is None else {}
    yield Parts(ports={"writing": writing, **printing}, tools=[LocalTools(tools)])


WRITING = Module(
    name="writing",
    description="Papers and reports that the caller writes with the agent.",
    settings=WritingSettings,
    documents=[ProjectDocument, RevisionDocument],
    routes=[router],
    tools=writing_tools(None),
    open=open_writing,
)
