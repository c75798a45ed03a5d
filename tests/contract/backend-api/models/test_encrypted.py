"""A provider that is asked by https: the authorities of the environment are trusted, and nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from backend_api.agent.model import FinishPart, ModelRequest, ModelUnavailableError, Part, UserTurn
from backend_api.kit.tls import certificates_of_machine, trusted_certificates
from backend_api.models.openai.chat import OpenAiChatModel
from support.model_answers import Answer, frames_of
from support.sites import certified

REQUEST = ModelRequest(model="m", system="s", turns=[UserTurn(text="hi")], tools=[], max_output_tokens=99)


@asynccontextmanager
async def encrypted(folder: Path) -> AsyncGenerator[str]:
    """Its certificate is `certificate.pem` in the folder."""

    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"".join(frames_of("chat", Answer(), ())))
        writer.close()

    ours, _ = certified(folder, "localhost")
    async with await asyncio.start_server(say, "localhost", 0, ssl=ours) as server:
        yield f"https://localhost:{server.sockets[0].getsockname()[1]}/v1"


async def asked(url: str) -> list[Part]:
    # A process reads them once.
    certificates_of_machine.cache_clear()
    trusted_certificates.cache_clear()
    model = OpenAiChatModel(key="k", base_url=url)
    try:
        return [part async for part in model.stream(REQUEST)]
    finally:
        await model.aclose()


async def test_an_authority_that_the_environment_names_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with encrypted(tmp_path) as url:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        assert (await asked(url))[-1] == FinishPart("stop")
        monkeypatch.delenv("SSL_CERT_FILE")
        # Last, as what is trusted here is trusted in the tests that follow.
        with pytest.raises(ModelUnavailableError, match="can't be reached"):
            await asked(url)
