"""Who offers a skill at an address, or leads elsewhere from there, gets nothing in and nothing out; on loopback."""

from __future__ import annotations

import asyncio
import gzip
import io
import zipfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from backend_api.kit.errors import DomainError
from backend_api.kit.ids import UserId
from backend_api.kit.untrusted.guarded_client import guarded_client
from backend_api.kit.untrusted.rules import FetchRules
from backend_api.skills.application.user_skills import UserSkills
from backend_api.skills.domain.entity import MAX_ARCHIVE_BYTES
from backend_api.skills.library.downloads import FetchedSkills
from backend_api.skills.library.library import read_library
from backend_api.skills.module import skill_installer
from support.memory.skills import MemorySkillStore
from support.sites import PUBLIC, Answer, LoopbackNetwork, Names, site

ANNA = UserId("anna")
MAIN = b"---\nname: knots\ndescription: How to tie.\n---\nTie it."
HEAD = b"200 OK\r\nContent-Type: application/zip\r\n\r\n"


def bomb() -> bytes:
    """It says that it unpacks to one byte, and unpacks to 200 MB."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SKILL.md", MAIN)
        archive.writestr("zeros", bytes(200 * 1024 * 1024))
    return content.getvalue().replace((200 * 1024 * 1024).to_bytes(4, "little"), (1).to_bytes(4, "little"))


@asynccontextmanager
async def installed_from(answer: Answer) -> AsyncGenerator[tuple[UserSkills, LoopbackNetwork]]:
    """What was installed from it, for which there must be nothing."""
    own = UserSkills(MemorySkillStore(), read_library())
    async with site({"/k.zip": answer}) as running, asyncio.timeout(20):
        network = LoopbackNetwork(running.port)
        async with guarded_client(FetchRules(), resolve=Names({"a.example": [[PUBLIC]]}), network=network) as client:
            install = skill_installer(own, FetchedSkills(client))
            with pytest.raises(DomainError):
                await install(ANNA, "http://a.example/k.zip")
            yield own, network


@pytest.mark.parametrize(
    "answer",
    [
        b"302 There\r\nLocation: http://169.254.169.254/latest\r\n\r\n",
        b"302 There\r\nLocation: http://redis:6379/\r\n\r\n",
        HEAD + bytes(MAX_ARCHIVE_BYTES + 1),
        HEAD[:-2] + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(bytes(MAX_ARCHIVE_BYTES * 8)),
        HEAD + bomb(),
    ],
    ids=["inside", "another service", "too large", "packed too large", "bomb"],
)
async def test_nothing_is_kept_of_it_and_nothing_else_is_asked(answer: bytes) -> None:
    async with installed_from(answer) as (own, network):
        assert await own.store.entries(ANNA) == []
        assert network.dialled == [(PUBLIC, 80)]
