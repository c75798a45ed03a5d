"""Whoever keeps something that runs read has settings: all other runs look for nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from backend_api.agent.events import MessageUser
from backend_api.agent.subagent_kinds import SubagentKind
from backend_api.conversations.domain.entity import Claimant
from backend_api.skills.library.archives import skill_of
from support.backend_stores import ANNA, BERT, MongoStores
from support.of_modules import ALL, OfModule

SKILL = skill_of({"SKILL.md": b"---\nname: knots\ndescription: How to tie.\n---\nTie it."})


async def keep_kind(stores: MongoStores) -> None:
    await stores.kinds.put(ANNA, SubagentKind(name="baker", description="Bakes.", prompt="Bake."))


async def keep_skill(stores: MongoStores) -> None:
    await stores.skills.put(ANNA, SKILL, source=None, most=5)


def kept_of(module: OfModule) -> Callable[[MongoStores], Awaitable[None]]:
    async def keep(stores: MongoStores) -> None:
        del stores
        await module.keep(ANNA)

    return keep


@pytest.mark.parametrize("keep", [keep_kind, keep_skill, *map(kept_of, ALL)])
async def test_runs_of_its_user_are_told_to_look_and_no_others(
    stores: MongoStores, keep: Callable[[MongoStores], Awaitable[None]]
) -> None:
    here = Claimant(worker="here", lease_s=30, model="m")
    before = await stores.session()
    await keep(stores)
    for session_id in (before, await stores.session()):
        accepted = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="hi"), claimant=here)
        assert accepted.lease is not None
        assert accepted.lease.has_settings
    other = await stores.session(BERT)
    accepted = await stores.ledger.accept(other, BERT, MessageUser(message_id="m", text="hi"), claimant=here)
    assert accepted.lease is not None
    assert not accepted.lease.has_settings
