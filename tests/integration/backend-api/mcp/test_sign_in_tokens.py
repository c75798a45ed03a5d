"""The tokens of users at MCP servers, over real sockets: renewed by one of all when they are over, and read nowhere."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.responses import JSONResponse

from backend_api.agent.tool import ToolCall
from backend_api.kit.ids import UserId
from backend_api.kit.untrusted.guarded_client import guarded_transport
from backend_api.kit.untrusted.rules import FetchRules, allowed_hosts
from backend_api.mcp.application.user_sign_ins import SignInsOfUsers
from backend_api.mcp.application.user_tokens import UserTokens
from backend_api.mcp.client.connector import McpConnections
from backend_api.mcp.client.network import Network, Networks
from backend_api.mcp.domain.entity import McpServer, McpTarget
from backend_api.mcp.domain.sign_in import PendingSignIn, SignIn, binding_of, server_key
from backend_api.mcp.oauth.authorizer import OAuthAuthorizer
from backend_api.mcp.ports import McpConnection, McpServerError, Place
from backend_api.settings.secret_box import AesSecretBox
from support.mcp_servers import ordinary_server
from support.memory.mcp_sign_ins import MemorySignIns
from support.memory.store import MemoryStore
from support.oauth_servers import MORE, OAuthServers, oauth_servers
from support.user_settings import SEALING

ANNA = UserId("anna")
REDIRECT = "http://127.0.0.1:9/api/mcp/oauth/callback"


@dataclass(slots=True)
class Worker:
    """One process that connects for Anna. `ahead`: how far its clock is."""

    servers: OAuthServers
    sign_ins: SignInsOfUsers
    authorizer: OAuthAuthorizer
    networks: Networks
    target: McpTarget
    ahead: timedelta = timedelta()
    tokens: UserTokens = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = UserTokens(self.sign_ins, self.authorizer, lambda: datetime.now(UTC) + self.ahead)

    async def sign_in(self) -> None:
        asked = await self.authorizer.begin(self.target, ANNA, REDIRECT)
        back = parse_qs(urlsplit(await self.servers.consent(asked.url)).query)
        pending = PendingSignIn(
            user_id=ANNA,
            name=self.target.name,
            source="user",
            binding=binding_of(self.target),
            redirect_uri=REDIRECT,
            browser="",
            verifier=asked.verifier,
            client=asked.client,
        )
        grant = await self.authorizer.redeem(pending, back["code"][0])
        await self.sign_ins.store.put(self.sign_ins.given(ANNA, self.target, grant))

    async def added(self) -> str:
        """What the server's tool makes of one and one."""
        connections = McpConnections(self.networks, tokens_of=self.tokens.of)
        connection = await connections.connect(self.target, Place("s", ANNA))
        try:
            return (await connection.call("add", call(a=1, b=1))).output
        finally:
            await connection.close()

    async def echoed(self) -> str:
        connections = McpConnections(self.networks, tokens_of=self.tokens.of)
        connection = await connections.connect(self.target, Place("s", ANNA))
        try:
            return (await connection.call("echo_headers", call())).output
        finally:
            await connection.close()

    async def stored(self) -> SignIn | None:
        return (await self.sign_ins.of(ANNA)).get(server_key(self.target.server))

    def second(self) -> Worker:
        """Another process, over the same stores."""
        return Worker(self.servers, self.sign_ins, self.authorizer, self.networks, self.target, self.ahead)


def call(**arguments: int) -> ToolCall:
    return ToolCall(session_id="s", user_id="anna", run_id="r", call_id="c", name="x", arguments=arguments)


@pytest.fixture
async def servers() -> AsyncGenerator[OAuthServers]:
    async with oauth_servers() as running:
        yield running


@asynccontextmanager
async def working(servers: OAuthServers) -> AsyncGenerator[Worker]:
    rules = FetchRules(allowed_hosts(servers.hosts))
    async with guarded_transport(rules) as transport, asyncio.timeout(30):
        networks = Networks(
            shared=Network(transport=transport, rules=rules), own=Network(transport=transport, rules=rules)
        )
        target = McpTarget(server=McpServer(name="wiki", transport="http", url=servers.url, source="user"))
        sign_ins = SignInsOfUsers(MemorySignIns(MemoryStore()), AesSecretBox([SEALING]))
        yield Worker(servers, sign_ins, OAuthAuthorizer(networks), networks, target)


@pytest.fixture
async def worker(servers: OAuthServers) -> AsyncGenerator[Worker]:
    async with working(servers) as running:
        yield running


async def test_what_asks_to_sign_in_is_told_as_that_and_kept_until_it_asks_no_more(worker: Worker) -> None:
    with pytest.raises(McpServerError, match="needs you to sign in") as told:
        await worker.added()
    assert told.value.cause == "needs_sign_in"
    needed = await worker.stored()
    assert needed is not None
    assert needed.sealed is None
    # It lets everybody in by now.
    async with open_server(worker) as open_one:
        await worker.sign_ins.store.put(worker.sign_ins.needed(ANNA, open_one.target))
        assert await open_one.added() == "2"
        assert await open_one.stored() is None


@asynccontextmanager
async def open_server(worker: Worker) -> AsyncGenerator[Worker]:
    async with ordinary_server() as server:
        rules = FetchRules(allowed_hosts([server.url.split("/")[2]]))
        async with guarded_transport(rules) as transport:
            network = Network(transport=transport, rules=rules)
            networks = Networks(shared=network, own=network)
            target = McpTarget(server=McpServer(name="open", transport="http", url=server.url, source="user"))
            yield Worker(worker.servers, worker.sign_ins, OAuthAuthorizer(networks), networks, target)


@pytest.mark.thorough
async def test_at_one_of_the_older_protocol_users_sign_in_as_well() -> None:
    async with oauth_servers("sse") as servers, working(servers) as worker:
        worker.target = McpTarget(server=replace(worker.target.server, transport="sse"))
        worker.tokens = UserTokens(worker.sign_ins, worker.authorizer)
        with pytest.raises(McpServerError, match="needs you to sign in"):
            await worker.added()
        await worker.sign_in()
        assert await worker.added() == "2"
        servers.provider.given[0].access.clear()
        assert await worker.added() == "2"


async def test_a_token_is_sent_and_read_in_nothing_that_comes_back(servers: OAuthServers, worker: Worker) -> None:
    await worker.sign_in()
    echoed = await worker.echoed()
    [token] = servers.provider.given[0].access
    assert servers.ordinary.headers["authorization"] == f"Bearer {token}"
    assert token not in echoed
    assert "[masked]" in echoed
    assert servers.provider.given[0].resource == servers.url


async def test_one_that_is_over_is_renewed_before_it_is_sent_and_one_that_is_refused_after(
    servers: OAuthServers, worker: Worker
) -> None:
    await worker.sign_in()
    worker.ahead = timedelta(hours=2)
    assert await worker.added() == "2"
    # As that was given by the clock of today it is over, too: each connection renews it once.
    assert servers.provider.renewals == 1
    worker.ahead = timedelta()
    servers.provider.given[0].access.clear()
    assert await worker.added() == "2"
    assert servers.provider.renewals == 2


async def test_a_token_that_is_refused_in_the_middle_of_a_connection_is_renewed(
    servers: OAuthServers, worker: Worker
) -> None:
    await worker.sign_in()
    connections = McpConnections(worker.networks, tokens_of=worker.tokens.of)
    connection = await connections.connect(worker.target, Place("s", ANNA))
    servers.provider.given[0].access.clear()
    assert (await connection.call("add", call(a=2, b=2))).output == "4"
    echoed = (await connection.call("echo_headers", call())).output
    assert not any(token in echoed for token in servers.tokens)
    await connection.close()


@asynccontextmanager
async def connected(worker: Worker) -> AsyncGenerator[McpConnection]:
    connections = McpConnections(worker.networks, tokens_of=worker.tokens.of)
    connection = await connections.connect(worker.target, Place("s", ANNA))
    try:
        yield connection
    finally:
        await connection.close()


async def refusal(connection: McpConnection) -> McpServerError:
    with pytest.raises(McpServerError) as told:
        await connection.call("add", call(a=1, b=1))
    return told.value


async def test_scopes_that_are_asked_for_in_the_middle_are_told_kept_and_asked_for_once(
    servers: OAuthServers, worker: Worker
) -> None:
    await worker.sign_in()
    async with connected(worker) as connection:
        servers.wants(MORE)
        told = await refusal(connection)
        assert (told.cause, MORE in str(told)) == ("needs_scope", True)
        stored = await worker.stored()
        assert stored is not None
        assert (stored.scopes, stored.lacks_scopes, stored.sealed is not None) == (MORE, True, True)
        servers.wants(f"{MORE} other")
        assert (await refusal(connection)).cause == "needs_scope"
        # What it can do with the scopes that were given goes on, and what fails otherwise is told as that.
        del servers.says["/mcp"]
        assert (await connection.call("add", call(a=1, b=1))).output == "2"
        assert "no luck today" in (await connection.call("fail", call())).output
    stored = await worker.stored()
    assert stored is not None
    assert stored.scopes == f"{MORE} other"
    asked = await worker.authorizer.begin(worker.target, ANNA, REDIRECT, scopes=MORE)
    assert parse_qs(urlsplit(asked.url).query)["scope"] == [f"notes {MORE}"]
    await worker.sign_ins.store.put(replace(stored, version="2", lacks_scopes=False))
    async with connected(worker) as connection:
        servers.wants(MORE)
        assert (await refusal(connection)).cause == "scope_refused"
    stored = await worker.stored()
    assert stored is not None
    assert not stored.lacks_scopes
    assert servers.asked.count("/token") == 1


@pytest.mark.thorough
async def test_what_one_call_is_refused_for_is_told_to_no_other_that_is_under_way(
    servers: OAuthServers, worker: Worker
) -> None:
    await worker.sign_in()
    async with connected(worker) as connection:
        under_way = asyncio.create_task(connection.call("wait", call()))
        await servers.ordinary.begun.wait()
        servers.wants(MORE)
        assert (await refusal(connection)).cause == "needs_scope"
        servers.ordinary.may_break.set()
        # It had begun, and may have done what it does.
        assert "half way" in (await under_way).output


@pytest.mark.parametrize(
    ("scopes", "cause"),
    [
        (None, "scope_refused"),
        pytest.param("", "scope_refused", marks=pytest.mark.thorough),
        pytest.param("x" * 3_000, "scope_refused", marks=pytest.mark.thorough),
        pytest.param(" ".join(f"scope-{number}" for number in range(2_000)), "needs_scope", marks=pytest.mark.thorough),
    ],
    ids=["none", "empty", "long", "many"],
)
async def test_of_scopes_that_can_not_be_asked_for_none_is_kept(
    servers: OAuthServers, worker: Worker, scopes: str | None, cause: str
) -> None:
    await worker.sign_in()
    async with connected(worker) as connection:
        servers.wants(scopes)
        assert (await refusal(connection)).cause == cause
        assert len(str(await refusal(connection))) < 1_000
    stored = await worker.stored()
    assert stored is not None
    assert len(stored.scopes) <= 2_000


async def test_who_signed_out_is_spoken_for_no_longer_though_a_connection_is_open(
    servers: OAuthServers, worker: Worker
) -> None:
    await worker.sign_in()
    async with connected(worker) as connection:
        assert (await connection.call("add", call(a=1, b=1))).output == "2"
        await worker.sign_ins.store.put(worker.sign_ins.needed(ANNA, worker.target))
        assert (await refusal(connection)).cause == "needs_sign_in"
        # What the server still takes is not what is asked for.
        assert servers.provider.given[0].access


async def test_what_is_renewed_while_its_user_signs_out_is_given_back(servers: OAuthServers, worker: Worker) -> None:
    await worker.sign_in()
    servers.provider.given[0].access.clear()

    async def sign_out() -> None:
        await worker.sign_ins.store.put(worker.sign_ins.needed(ANNA, worker.target))

    servers.provider.before_renewal = sign_out
    with pytest.raises(McpServerError) as told:
        await worker.added()
    assert told.value.cause == "needs_sign_in"
    assert [kind for kind, _ in servers.revoked] == ["refresh_token", "access_token"]
    stored = await worker.stored()
    assert stored is not None
    assert stored.sealed is None


async def test_another_refusal_asks_for_no_scopes(servers: OAuthServers, worker: Worker) -> None:
    await worker.sign_in()
    async with connected(worker) as connection:
        servers.wants(MORE, error="invalid_request")
        assert not (await connection.call("add", call(a=1, b=1))).success
    stored = await worker.stored()
    assert stored is not None
    assert stored.scopes == ""


async def test_a_renewal_keeps_the_scopes_that_were_asked_for(servers: OAuthServers, worker: Worker) -> None:
    await worker.sign_in()
    async with connected(worker) as connection:
        servers.wants(MORE)
        await refusal(connection)
    del servers.says["/mcp"]
    servers.provider.given[0].access.clear()
    assert await worker.added() == "2"
    stored = await worker.stored()
    assert stored is not None
    assert (servers.provider.renewals, stored.scopes, stored.lacks_scopes) == (1, MORE, True)


async def test_where_renewal_is_refused_the_user_has_to_sign_in_again(servers: OAuthServers, worker: Worker) -> None:
    await worker.sign_in()
    servers.provider.given[0].is_over = True
    with pytest.raises(McpServerError) as told:
        await worker.added()
    assert told.value.cause == "needs_sign_in"
    stored = await worker.stored()
    assert stored is not None
    assert stored.sealed is None
    await worker.sign_in()
    assert await worker.added() == "2"


async def test_where_the_authorization_server_is_away_nothing_is_lost(servers: OAuthServers, worker: Worker) -> None:
    await worker.sign_in()
    servers.provider.given[0].access.clear()
    for status in (500, 503, 429):
        servers.says["/token"] = lambda status=status: JSONResponse({}, status_code=status)
        with pytest.raises(McpServerError, match=rf"could not be renewed. .* status {status}") as told:
            await worker.added()
        assert told.value.cause == "other"
    del servers.says["/token"]
    assert await worker.added() == "2"


@pytest.mark.thorough
async def test_of_many_that_find_it_over_at_once_one_renews_it(servers: OAuthServers, worker: Worker) -> None:
    await worker.sign_in()
    servers.provider.given[0].access.clear()

    async def slowly() -> None:
        await asyncio.sleep(0.3)

    servers.provider.before_renewal = slowly
    others = [worker.second() for _ in range(3)]
    assert await asyncio.gather(*(one.added() for one in (worker, *others))) == ["2"] * 4
    assert servers.provider.renewals == 1
    # Once for the code, and once for all of them.
    assert servers.asked.count("/token") == 2
    assert not servers.provider.given[0].is_over


@pytest.mark.thorough
async def test_a_renewal_is_ended_though_nobody_waits_for_it_any_more(servers: OAuthServers, worker: Worker) -> None:
    await worker.sign_in()
    servers.provider.given[0].access.clear()
    begun, goes_on = asyncio.Event(), asyncio.Event()

    async def held() -> None:
        begun.set()
        await goes_on.wait()

    servers.provider.before_renewal = held
    connecting = asyncio.create_task(worker.added())
    await begun.wait()
    connecting.cancel()
    await asyncio.wait({connecting})
    servers.provider.before_renewal = None
    goes_on.set()
    await worker.tokens.close()
    assert await worker.second().added() == "2"
    assert servers.provider.renewals == 1


async def test_what_was_given_for_another_address_is_never_sent(servers: OAuthServers, worker: Worker) -> None:
    await worker.sign_in()
    async with open_server(worker) as other:
        moved = McpServer(name="wiki", transport="http", url=other.target.server.url, source="user")
        other.target = McpTarget(server=moved)
        echoed = json.loads(await other.echoed())
        assert "authorization" not in echoed


async def test_another_key_opens_nothing_and_overwrites_nothing(worker: Worker) -> None:
    await worker.sign_in()
    before = await worker.stored()
    other = worker.second()
    other.sign_ins = SignInsOfUsers(worker.sign_ins.store, AesSecretBox([SEALING[::-1]]))
    other.tokens = UserTokens(other.sign_ins, other.authorizer)
    with pytest.raises(McpServerError, match="sign in"):
        await other.added()
    assert await worker.stored() == before
    assert await worker.added() == "2"
