"""A worker beside the gateway of this process, with tools of a test and a model server in one wire format."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from backend_api.agent.capability import ToolSource
from backend_api.models.catalogue import Catalogue
from backend_api.models.providers import LlmSettings
from backend_api.runs.application.run_services import RunOptions, RunServices
from backend_api.runs.application.worker import Worker
from backend_api.runs.capabilities import capabilities
from support.gateway import Gateway
from support.model_seals import Form
from support.model_server import ModelServer
from support.scripted_stack import MODELS
from support.stage import working


@asynccontextmanager
async def at_work(
    gateway: Gateway, server: ModelServer, form: Form, tools: ToolSource, *, models: Path | None = None, **bounds: Any
) -> AsyncGenerator[None]:
    """For the length of the block; `bounds` are those of `capabilities`, `models` the deployment's file of models."""
    settings = LlmSettings(
        provider="anthropic" if form == "messages" else "openai",
        openai_api="responses" if form == "responses" else "chat",
        model=MODELS[form],
        models_file=models,
        openai_key="k",
        openai_base_url=server.openai_url,
        anthropic_key="k",
        anthropic_base_url=server.url,
    )
    ports, ids = gateway.ports, count(1)
    async with Catalogue(settings) as catalogue:
        services = RunServices(
            ledger=ports.ledger,
            log=ports.log,
            stream=ports.stream,
            notifier=ports.notifier,
            sessions=ports.sessions,
            catalogue=catalogue,
            capabilities=capabilities(tools, **bounds),
            options=RunOptions(),
            clock=lambda: datetime.now(UTC),
            new_id=lambda kind: f"{kind}_{next(ids)}",
        )
        async with working(Worker(name="worker", services=services, poll_s=0.05)):
            yield
