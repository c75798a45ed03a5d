"""Settings of users: kept one by one, and told to every run of theirs that begins later."""

from __future__ import annotations

import asyncio

from backend_api.agent.events import MessageUser, RunStarted
from backend_api.conversations.domain.entity import Accepted, Claimant
from backend_api.kit.ids import SessionId
from backend_api.settings.domain.entity import Sealed
from support.backend_stores import ANNA, BERT, MongoStores

HERE = Claimant(worker="here", lease_s=30, model="of-deployment")
KEY = Sealed(key_id="one", text="sealed")


async def begun(stores: MongoStores, session_id: SessionId, claimant: Claimant | None = HERE) -> Accepted:
    return await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="hi"), claimant=claimant)


def started_with(accepted: Accepted) -> str:
    return next(event.payload.model for event in accepted.events if isinstance(event.payload, RunStarted))


async def test_each_is_kept_by_its_name_and_taken_back_by_none(stores: MongoStores) -> None:
    assert await stores.settings.get(ANNA) is None
    first = await stores.settings.change(ANNA, "appearance/theme", "dark")
    second = await stores.settings.change(ANNA, "models/openai_api_key", KEY)
    third = await stores.settings.change(ANNA, "models/openai_models", ["a", "b"])
    assert first.version < second.version < third.version
    assert await stores.settings.get(ANNA) == third
    assert (dict(third.values), dict(third.secrets)) == (
        {"appearance/theme": "dark", "models/openai_models": ["a", "b"]},
        {"models/openai_api_key": KEY},
    )
    await stores.settings.change(ANNA, "appearance/theme", None)
    last = await stores.settings.change(ANNA, "models/openai_api_key", None)
    assert (dict(last.values), dict(last.secrets)) == ({"models/openai_models": ["a", "b"]}, {})
    assert await stores.settings.get(BERT) is None


async def test_a_secret_goes_in_the_write_that_changes_what_it_was_given_for(stores: MongoStores) -> None:
    address, key = "models/openai_base_url", "models/openai_api_key"

    async def secrets_after(value: str | None) -> set[str]:
        return set((await stores.settings.change(ANNA, address, value, invalidates=key)).secrets)

    await stores.settings.change(ANNA, "search/tavily_api_key", KEY)
    for present, following in ((None, "https://a"), ("https://a", "https://b"), ("https://b", None)):
        await stores.settings.change(ANNA, key, KEY)
        assert await secrets_after(present) == {key, "search/tavily_api_key"}
        assert await secrets_after(following) == {"search/tavily_api_key"}
    stored = await stores.settings.get(ANNA)
    assert stored is not None
    assert (dict(stored.values), set(stored.secrets)) == ({}, {"search/tavily_api_key"})


async def test_those_changed_at_once_are_all_kept(stores: MongoStores) -> None:
    await asyncio.gather(*(stores.settings.change(ANNA, f"agent/{number}", number) for number in range(8)))
    stored = await stores.settings.get(ANNA)
    assert stored is not None
    assert sorted(stored.values.values()) == list(range(8))


async def test_a_run_is_told_of_settings_whether_its_session_is_older_or_newer(stores: MongoStores) -> None:
    older, of_bert = await stores.session(), await stores.session(BERT)
    await stores.settings.change(ANNA, "appearance/theme", "dark")
    newer = await stores.session()
    for session_id in (older, newer):
        lease = (await begun(stores, session_id)).lease
        assert lease is not None
        assert lease.has_settings
    said = MessageUser(message_id="m", text="hi")
    lease = (await stores.ledger.accept(of_bert, BERT, said, claimant=HERE)).lease
    assert lease is not None
    assert not lease.has_settings


async def test_a_run_that_is_claimed_or_assigned_is_told_too(stores: MongoStores) -> None:
    await stores.settings.change(ANNA, "appearance/theme", "dark")
    queued = await begun(stores, await stores.session(), None)
    claimed = await stores.ledger.claim("there", lease_s=30, model="m", run_id=queued.run_id)
    assert claimed is not None
    assert claimed.has_settings
    elsewhere = Claimant(worker="there", lease_s=30, model="m", is_elsewhere=True)
    assigned = await begun(stores, await stores.session(), elsewhere)
    confirmed = await stores.ledger.confirm(assigned.run_id, "there", lease_s=30)
    assert confirmed is not None
    assert confirmed.has_settings


async def test_a_session_that_is_made_while_the_first_setting_is_kept_is_told(stores: MongoStores) -> None:
    setting = asyncio.create_task(stores.settings.change(ANNA, "appearance/theme", "dark"))
    made = [await stores.session() for _ in range(5)]
    await setting
    for session_id in made:
        lease = (await begun(stores, session_id)).lease
        assert lease is not None
        assert lease.has_settings


async def test_sessions_that_chose_no_model_begin_with_the_users(stores: MongoStores) -> None:
    older = await stores.session()
    stored = await stores.settings.change(ANNA, "models/default_model", "mine")
    await stores.settings.notify_sessions(ANNA, stored.version, "mine")
    newer, chosen = await stores.session(), await stores.session()
    await stores.sessions.update(chosen, ANNA, {"model": "its-own"})
    for session_id, model in ((older, "mine"), (newer, "mine"), (chosen, "its-own")):
        assert started_with(await begun(stores, session_id)) == model
    later = await stores.settings.change(ANNA, "models/default_model", None)
    await stores.settings.notify_sessions(ANNA, later.version, None)
    await stores.settings.notify_sessions(ANNA, stored.version, "mine")  # comes late, and changes nothing
    assert started_with(await begun(stores, await stores.session())) == "of-deployment"


async def test_secrets_under_another_key_are_found_and_replaced_once(stores: MongoStores) -> None:
    await stores.settings.change(ANNA, "models/openai_api_key", KEY)
    await stores.settings.change(BERT, "models/openai_api_key", Sealed(key_id="two", text="t"))
    found = [stored.user_id async for stored in stores.settings.sealed_under_other_key("two")]
    assert found == [ANNA]
    fresh = Sealed(key_id="two", text="anew")
    assert await stores.settings.reseal(ANNA, "models/openai_api_key", KEY, fresh)
    assert not await stores.settings.reseal(ANNA, "models/openai_api_key", KEY, fresh)
    stored = await stores.settings.get(ANNA)
    assert stored is not None
    assert dict(stored.secrets) == {"models/openai_api_key": fresh}
    assert [stored.user_id async for stored in stores.settings.sealed_under_other_key("two")] == []
