"""Secrets at rest: sealed for one user and one setting, under keys that may be rotated."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend_api.kit.ids import UserId
from backend_api.mcp.application.reseal_servers import ResealMcpServers
from backend_api.mcp.application.reseal_sign_ins import ResealSignIns
from backend_api.mcp.application.user_servers import ServersOfUsers
from backend_api.mcp.application.user_sign_ins import SignInsOfUsers
from backend_api.mcp.domain.entity import McpServer, McpTarget
from backend_api.mcp.domain.sign_in import Grant, OAuthClient, binding_of
from backend_api.settings.application.open_settings import OpenSettings, bound_to
from backend_api.settings.application.reseal_secrets import ResealSecrets
from backend_api.settings.domain.entity import Sealed
from backend_api.settings.domain.errors import SecretsOffError, SecretUnreadableError
from backend_api.settings.domain.table import OPENAI_API_KEY
from backend_api.settings.secret_box import AesSecretBox
from support.memory.mcp_servers import MemoryMcpServers
from support.memory.mcp_sign_ins import MemorySignIns
from support.memory.store import MemoryStore
from support.memory.user_settings import MemorySettingsStore

OLD, NEW = "o9Zk3vXq81LmN0pRtYw7uBcD5eFgH2iJ4", "n7Qw2eRt5yUi8oP1aSd4fGh6jKl9zXc3V"
ANNA, BERT = UserId("anna"), UserId("bert")
SECRET = "sk-anna-0123456789abcdef"


def test_what_is_sealed_says_nothing_and_opens_for_its_own_record_alone() -> None:
    box = AesSecretBox([OLD])
    sealed = box.seal(SECRET, bound_to=bound_to(ANNA, OPENAI_API_KEY.name))
    assert SECRET[3:12] not in sealed.text
    assert box.seal(SECRET, bound_to=bound_to(ANNA, OPENAI_API_KEY.name)) != sealed
    assert box.open(sealed, bound_to=bound_to(ANNA, OPENAI_API_KEY.name)) == SECRET
    for other in (bound_to(BERT, OPENAI_API_KEY.name), bound_to(ANNA, "search/tavily_api_key"), ""):
        with pytest.raises(SecretUnreadableError):
            box.open(sealed, bound_to=other)


@pytest.mark.parametrize("text", ["", "AAAA", "not base64 ÿ", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="])
def test_what_was_changed_does_not_open(text: str) -> None:
    box = AesSecretBox([OLD])
    with pytest.raises(SecretUnreadableError):
        box.open(Sealed(key_id=box.key_id or "", text=text), bound_to="x")


def test_the_first_key_seals_and_each_opens() -> None:
    sealed = AesSecretBox([OLD]).seal(SECRET, bound_to="x")
    rotated = AesSecretBox([NEW, OLD])
    assert rotated.open(sealed, bound_to="x") == SECRET
    assert rotated.seal(SECRET, bound_to="x").key_id == AesSecretBox([NEW]).key_id
    with pytest.raises(SecretUnreadableError):
        AesSecretBox([NEW]).open(sealed, bound_to="x")


def test_without_a_key_nothing_is_sealed() -> None:
    with pytest.raises(SecretsOffError, match="SECRETS_KEY"):
        AesSecretBox([]).seal(SECRET, bound_to="x")


async def kept(box: AesSecretBox) -> MemorySettingsStore:
    store = MemorySettingsStore(MemoryStore())
    sealed = box.seal(SECRET, bound_to=bound_to(ANNA, OPENAI_API_KEY.name))
    await store.change(ANNA, OPENAI_API_KEY.name, sealed)
    return store


async def test_a_rotation_seals_all_anew_so_that_the_former_key_can_go() -> None:
    store = await kept(AesSecretBox([OLD]))
    await ResealSecrets(store, AesSecretBox([NEW, OLD]))()
    own = await OpenSettings(store, AesSecretBox([NEW]))(ANNA)
    assert own.secret(OPENAI_API_KEY) == SECRET


@pytest.mark.parametrize("secrets", [[NEW], []])
async def test_a_wrong_key_is_said_at_the_start_and_loses_nothing(
    secrets: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    store = await kept(AesSecretBox([OLD]))
    with caplog.at_level(logging.ERROR):
        await ResealSecrets(store, AesSecretBox(secrets))()
    assert [record.getMessage().split()[0] for record in caplog.records] == ["SECRETS_KEY"]
    own = await OpenSettings(store, AesSecretBox(secrets))(ANNA)
    assert (own.unreadable, own.secret(OPENAI_API_KEY)) == ({OPENAI_API_KEY.name}, "")
    assert own.has(OPENAI_API_KEY)
    assert SECRET not in repr(own)
    assert (await OpenSettings(store, AesSecretBox([OLD]))(ANNA)).secret(OPENAI_API_KEY) == SECRET


async def kept_server(box: AesSecretBox) -> MemoryMcpServers:
    store = MemoryMcpServers(MemoryStore())
    wiki = McpServer(name="wiki", transport="http", url="https://x.example.org", headers={"A": SECRET}, source="user")
    await store.put(ANNA, ServersOfUsers(store, box).sealed(ANNA, wiki))
    return store


async def test_a_rotation_seals_the_values_of_mcp_servers_anew_so_that_the_former_key_can_go() -> None:
    store = await kept_server(AesSecretBox([OLD]))
    await ResealMcpServers(store, AesSecretBox([NEW, OLD]))()
    [target] = await ServersOfUsers(store, AesSecretBox([NEW])).targets(ANNA)
    assert target.server.headers == {"A": SECRET}


@pytest.mark.parametrize("secrets", [[NEW], []])
async def test_values_of_mcp_servers_that_no_key_opens_are_told_and_kept(
    secrets: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    store = await kept_server(AesSecretBox([OLD]))
    with caplog.at_level(logging.ERROR):
        await ResealMcpServers(store, AesSecretBox(secrets))()
    assert [record.getMessage().split()[0] for record in caplog.records] == ["SECRETS_KEY"]
    assert await ServersOfUsers(store, AesSecretBox(secrets)).targets(ANNA) == []
    assert len(await ServersOfUsers(store, AesSecretBox([OLD])).targets(ANNA)) == 1


GRANT = Grant(
    client=OAuthClient(issuer="i", token_endpoint="t", resource="r", client_id="c", client_secret=SECRET),
    access_token=SECRET,
    refresh_token=SECRET,
    expires_at=datetime(2026, 1, 2, tzinfo=UTC),
)
SIGNED_IN_AT = McpTarget(server=McpServer(name="wiki", transport="http", url="https://x.example.org", source="user"))


async def signed_in(box: AesSecretBox) -> MemorySignIns:
    store = MemorySignIns(MemoryStore())
    given = SignInsOfUsers(store, box).given(ANNA, SIGNED_IN_AT, GRANT)
    assert SECRET not in repr(given) + repr(GRANT)
    await store.put(given)
    return store


@pytest.mark.parametrize(("secrets", "found"), [([NEW, OLD], GRANT), ([NEW], None), ([], None)])
async def test_what_was_given_at_mcp_servers_is_sealed_anew_or_kept_as_it_is(
    secrets: list[str], found: Grant | None, caplog: pytest.LogCaptureFixture
) -> None:
    store = await signed_in(AesSecretBox([OLD]))
    with caplog.at_level(logging.ERROR):
        await ResealSignIns(store, AesSecretBox(secrets))()
    assert [record.getMessage().split()[0] for record in caplog.records] == ([] if found else ["SECRETS_KEY"])
    [kept] = (await store.of(ANNA)).values()
    assert SignInsOfUsers(store, AesSecretBox([NEW])).grant(kept, SIGNED_IN_AT) == found
    if found is None:
        assert SignInsOfUsers(store, AesSecretBox([OLD])).grant(kept, SIGNED_IN_AT) == GRANT


async def test_what_was_given_for_one_user_server_and_address_opens_for_no_other() -> None:
    box = AesSecretBox([OLD])
    store = await signed_in(box)
    [kept] = (await store.of(ANNA)).values()
    sign_ins = SignInsOfUsers(store, box)
    assert sign_ins.grant(kept, SIGNED_IN_AT) == GRANT
    moved = McpTarget(server=replace(SIGNED_IN_AT.server, url="https://y.example.org"))
    assert sign_ins.grant(kept, moved) is None
    assert sign_ins.grant(replace(kept, binding=binding_of(moved)), moved) is None
    assert sign_ins.grant(replace(kept, user_id=BERT), SIGNED_IN_AT) is None
    assert sign_ins.grant(replace(kept, server="deployment:wiki"), SIGNED_IN_AT) is None
