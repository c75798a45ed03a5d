"""MCP servers in runs: their tools stay what they were, one that fails costs one notice, and connections end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend_api.agent.events import ContextOpened, McpUpdated, Notice, ToolFinished
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest, ToolTurn
from backend_api.agent.preset import Preset, Presets, PresetText
from backend_api.agent.tool import Done, ToolCall
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.ids import UserId
from backend_api.mcp.application.run_servers import McpServers
from backend_api.mcp.application.user_sign_ins import SignInsOfUsers
from backend_api.mcp.domain.entity import Listing, McpCause, McpServer, McpTarget, McpTool, public_name
from backend_api.mcp.domain.sign_in import Grant, OAuthClient
from backend_api.mcp.ports import McpNotCalledError, McpServerError, Place
from backend_api.mcp.tools import McpTools
from backend_api.runs.application.worker import Worker
from backend_api.settings.domain.entity import StoredSettings
from backend_api.settings.secret_box import AesSecretBox
from support.memory.mcp_sign_ins import MemorySignIns
from support.scripted import Script, ScriptedModel
from support.stage import USER, Stage, until, worker_for, working
from support.user_settings import SEALING

DONE: Script = [TextPart("Done."), FinishPart("stop")]
CALLS = FinishPart("tool_calls")
PARAMETERS = {"type": "object", "properties": {}}


def listing(*names: str) -> Listing:
    tools = [
        McpTool(name=name, public_name=public_name("box", name), description=f"{name}.", parameters=PARAMETERS)
        for name in names
    ]
    return Listing(tools=tools)


@dataclass(slots=True)
class Server:
    """A server, its connections, and what becomes of them."""

    lists: Listing = field(default_factory=lambda: listing("get", "put"))
    fails: str | None = None
    cause: McpCause = "status"
    answer: Callable[[ToolCall], Any] | None = None
    connected: list[Place] = field(default_factory=list[Place])
    calls: list[str] = field(default_factory=list[str])
    connections: list[Connection] = field(default_factory=list["Connection"])
    open: int = 0

    async def connect(self, target: McpTarget, place: Place) -> Connection:
        self.connected.append(place)
        if self.fails == "hangs":
            await asyncio.Event().wait()
        if self.fails is not None:
            raise McpServerError(self.fails, self.cause)
        self.open += 1
        self.connections.append(Connection(self))
        return self.connections[-1]


@dataclass(slots=True)
class Connection:
    server: Server
    is_open: bool = True
    has_changed: bool = False
    is_doubtful: bool = False

    async def listing(self) -> Listing:
        if self.server.fails is not None:
            raise McpServerError(self.server.fails)
        return self.server.lists

    async def call(self, name: str, call: ToolCall) -> Done:
        self.server.calls.append(name)
        if self.server.answer is not None:
            await self.server.answer(call)
        if self.server.fails is not None:
            self.is_open = False
            raise McpServerError(self.server.fails)
        return Done(success=True, output=f"{name} done")

    async def close(self) -> None:
        self.server.open -= 1


class Clock:
    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


TWENTIETH = [f"mcp__box__t{number}" for number in range(20, 25)]
BOX = McpTarget(server=McpServer(name="box", transport="http", url="https://box.example.org"))


def calls(*names: str) -> Script:
    return [*(ToolCallPart(ToolRequest(call_id=n, name=public_name("box", n), arguments={})) for n in names), CALLS]


def worker(
    stage: Stage,
    model: ScriptedModel,
    server: Server,
    *,
    clock: Clock | None = None,
    targets: Sequence[McpTarget] = (BOX,),
    own: Sequence[McpTarget] = (),
    presets: Presets | None = None,
    sign_ins: SignInsOfUsers | None = None,
    **more: Any,
) -> Worker:
    async def own_of(_: UserId) -> Sequence[McpTarget]:
        return own

    servers = McpServers(
        connector=server,
        own=own_of,
        log=stage.log,
        clock=clock or Clock(),
        shared=targets,
        within_s=0.2,
        starts_within_s=0.1,
        sign_ins=sign_ins,
    )
    return worker_for(stage, model, McpTools(), mcp=servers, presets=presets or Presets(), **more)


def offered(model: ScriptedModel) -> list[list[str]]:
    return [[tool.name for tool in request.tools] for request in model.requests]


def results(model: ScriptedModel) -> list[ToolTurn]:
    return [turn for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]


async def test_its_tools_are_offered_called_and_kept_while_the_context_is_open_and_connections_end_with_the_run() -> (
    None
):
    stage, server = Stage(), Server()
    model = ScriptedModel(calls("get", "put"), DONE, calls("get"), DONE)
    async with working(worker(stage, model, server)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "go"))
        assert [turn.output for turn in results(model)] == ["get done", "put done"]
        assert (len(server.connected), server.open) == (1, 0)
        # Whatever it lists by now.
        server.lists = listing("other")
        await stage.until_finished(await stage.say(session, "again"))
    assert offered(model) == [["mcp__box__get", "mcp__box__put"]] * 4
    assert len(stage.payloads(session, ContextOpened)) == 1
    assert (len(server.connected), server.open) == (2, 0)
    assert server.calls == ["get", "put", "get"]
    assert [told.status for told in stage.payloads(session, McpUpdated)] == ["ready", "changed"]


async def test_what_it_was_found_to_list_otherwise_is_offered_from_the_next_run_on() -> None:
    stage, server = Stage(), Server()
    model = ScriptedModel(DONE, calls("get"), DONE, DONE)
    async with working(worker(stage, model, server)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "go"))
        server.lists = listing("get", "new")
        await stage.until_finished(await stage.say(session, "again"))
        await stage.until_finished(await stage.say(session, "and now"))
    assert offered(model)[:3] == [["mcp__box__get", "mcp__box__put"]] * 3
    assert offered(model)[3] == ["mcp__box__get", "mcp__box__new"]
    assert [opened.cause for opened in stage.payloads(session, ContextOpened)] == ["started", "tools"]


async def test_a_list_that_changes_in_the_middle_of_a_run_is_told_once_and_what_is_offered_stays() -> None:
    stage, server = Stage(), Server()

    async def change(_: ToolCall) -> None:
        server.lists, server.connections[-1].has_changed = listing("new"), True

    server.answer = change
    model = ScriptedModel(calls("get"), calls("put"), DONE, DONE)
    async with working(worker(stage, model, server)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "go"))
        assert [told.status for told in stage.payloads(session, McpUpdated)] == ["ready", "changed"]
        await stage.until_finished(await stage.say(session, "again"))
    assert offered(model) == [["mcp__box__get", "mcp__box__put"]] * 3 + [["mcp__box__new"]]
    assert server.calls == ["get", "put"]


async def test_a_run_without_calls_does_not_ask_a_server_again_until_an_hour_has_passed() -> None:
    stage, server, clock = Stage(), Server(), Clock()
    model = ScriptedModel(DONE)
    async with working(worker(stage, model, server, clock=clock)):
        session = await stage.open_session(title="named")
        for _ in range(3):
            await stage.until_finished(await stage.say(session, "go"))
        assert len(server.connected) == 1
        clock.ahead = timedelta(hours=2)
        server.fails = "Away."
        await stage.until_finished(await stage.say(session, "go"))
    assert len(server.connected) == 2
    # It could not be asked: nothing changes.
    assert len(stage.payloads(session, ContextOpened)) == 1
    assert stage.payloads(session, Notice) == []


@pytest.mark.parametrize("is_gone", [True, False])
async def test_another_worker_that_goes_on_offers_the_same_though_the_server_is_gone_or_another(is_gone: bool) -> None:
    stage, server, clock = Stage(), Server(), Clock()
    held = asyncio.Event()

    async def hold() -> None:
        held.set()
        await asyncio.Event().wait()

    first = ScriptedModel(calls("get"), [hold])
    async with working(worker(stage, first, server)) as at_work:
        session = await stage.open_session(title="named")
        run = await stage.say(session, "go")
        await held.wait()
        at_work.cancel()
    server.fails, server.lists = "Away." if is_gone else None, listing("put", "new")
    clock.ahead = timedelta(hours=2)
    second = ScriptedModel(calls("put"), DONE)
    async with working(worker(stage, second, server, name="worker_2", clock=clock)):
        assert (await stage.until_finished(run)).status == "completed"
    assert offered(second)[0] == offered(first)[0]
    assert len(stage.payloads(session, ContextOpened)) == 1
    assert ("can't be used. Away." if is_gone else "put done") in results(second)[-1].output


async def test_one_that_fails_costs_one_notice_and_never_the_run() -> None:
    stage, server, clock = Stage(), Server(fails="It responds with status 503."), Clock()
    model = ScriptedModel(DONE)
    async with working(worker(stage, model, server, clock=clock)):
        session = await stage.open_session(title="named")
        for _ in range(3):
            assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
        assert len(server.connected) == 1
        clock.ahead = timedelta(minutes=2)
        await stage.until_finished(await stage.say(session, "go"))
        assert len(server.connected) == 2
        [notice] = stage.payloads(session, Notice)
        assert notice.code == "mcp_failed"
        assert notice.params == {"server": "box", "reason": "It responds with status 503.", "cause": "status"}
        server.fails = None
        clock.ahead = timedelta(minutes=4)
        await stage.until_finished(await stage.say(session, "go"))
    assert offered(model)[0] == []
    assert offered(model)[-1] == ["mcp__box__get", "mcp__box__put"]


async def test_one_that_could_not_be_asked_anew_is_asked_a_minute_later_and_what_was_told_of_it_stays() -> None:
    stage, server, clock = (
        Stage(),
        Server(lists=replace(listing("get"), left_out=["bad (its schema is invalid)"])),
        Clock(),
    )
    model = ScriptedModel(calls("get"), DONE)
    async with working(worker(stage, model, server, clock=clock)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "go"))
        clock.ahead, server.fails = timedelta(hours=2), "Away."
        await stage.until_finished(await stage.say(session, "go"))
        asked, clock.ahead = len(server.connected), timedelta()
        await stage.until_finished(await stage.say(session, "go"))
        assert len(server.connected) == asked
        clock.ahead, server.fails = timedelta(minutes=2), None
        server.lists = replace(listing("get", "new"), left_out=["bad (its schema is invalid)"])
        await stage.until_finished(await stage.say(session, "go"))
    assert offered(model)[-2:] == [["mcp__box__get"], ["mcp__box__get", "mcp__box__new"]]
    assert [notice.code for notice in stage.payloads(session, Notice)] == ["mcp_left_out"]


async def test_those_beyond_what_an_agent_may_have_are_told_once() -> None:
    stage, server = Stage(), Server(lists=listing(*(f"t{number:02}" for number in range(40))))
    other = McpTarget(server=replace(BOX.server, name="other"))
    model = ScriptedModel(DONE)
    async with working(worker(stage, model, server, targets=(BOX, other))):
        session = await stage.open_session(title="named")
        for _ in range(2):
            await stage.until_finished(await stage.say(session, "go"))
    [notice] = stage.payloads(session, Notice)
    assert notice.code == "mcp_too_many"
    assert notice.params == {"count": 80, "most": 60, "tools": f"{', '.join(TWENTIETH)}, 15 more"}


async def test_no_program_is_started_for_a_preset_that_leaves_its_tools_out() -> None:
    server = Server()
    program = McpTarget(server=McpServer(name="box", transport="stdio", command="x"))
    stage, model = Stage(), ScriptedModel(DONE)
    presets = Presets(
        [Preset(id="p", text=PresetText(label="p", description=""), tools=frozenset({"web_*"}))], default="p"
    )
    async with working(worker(stage, model, server, targets=(program,), presets=presets)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "go"))
    assert server.connected == []


async def test_one_that_hangs_holds_nobody_for_long_and_no_other_server() -> None:
    stage, server = Stage(), Server(fails="hangs")
    model = ScriptedModel(DONE)
    async with working(worker(stage, model, server)):
        session = await stage.open_session(title="named")
        assert (await stage.until_finished(await stage.say(session, "go"), within_s=5)).status == "completed"
    [notice] = stage.payloads(session, Notice)
    assert "did not answer within 0.2 seconds" in notice.text


async def test_of_a_program_that_hangs_it_is_told_how_long_and_that_it_may_be_the_computer() -> None:
    stage, server = Stage(), Server(fails="hangs")
    program = McpTarget(server=McpServer(name="box", transport="stdio", command="x"))
    async with working(worker(stage, ScriptedModel(DONE), server, targets=(program,))):
        session = await stage.open_session(title="named")
        assert (await stage.until_finished(await stage.say(session, "go"), within_s=5)).status == "completed"
    [notice] = stage.payloads(session, Notice)
    assert "The computer or the program in it did not answer within 0.3 seconds" in notice.text


async def test_where_the_store_fails_nothing_is_connected_to_after_all_was_closed() -> None:
    stage, server = Stage(), Server()
    connecting, cancelled = asyncio.Event(), asyncio.Event()

    class StoreFails(Server):
        async def connect(self, target: McpTarget, place: Place) -> Connection:
            if target.name == "slow" and not cancelled.is_set():
                connecting.set()
                try:
                    await asyncio.sleep(0.1)
                except asyncio.CancelledError:
                    cancelled.set()
                    raise
            if target.name == "box" and not connecting.is_set():
                await connecting.wait()
                raise StoreUnavailableError("The database does not answer.")
            return await server.connect(target, place)

    slow = McpTarget(server=McpServer(name="slow", transport="http", url="https://slow.example.org"))
    async with working(worker(stage, ScriptedModel(DONE), StoreFails(), targets=[BOX, slow])):
        session = await stage.open_session(title="named")
        await stage.say(session, "go")
        await until(cancelled.is_set)
    assert server.open == 0


async def test_one_that_dies_in_a_call_is_told_tried_anew_and_then_left_alone() -> None:
    stage, server = Stage(), Server()
    model = ScriptedModel(DONE, *([calls("get")] * 5), DONE)

    async def die(_: ToolCall) -> None:
        server.fails = "Its connection ended."

    async with working(worker(stage, model, server)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "hello"))
        server.answer = die
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    told = [finished.preview for finished in stage.payloads(session, ToolFinished)]
    assert "Part of it may have happened." in told[0]
    assert told[1].startswith("Nothing was run")
    assert "failed too often" in told[-1]
    assert len(stage.payloads(session, Notice)) == 1


async def test_a_call_in_a_session_that_is_forgotten_is_made_once_more_in_a_new_one() -> None:
    stage, server = Stage(), Server()

    async def forget(_: ToolCall) -> None:
        if len(server.calls) % 2:
            raise McpNotCalledError("It no longer recognises the session.", "ended")

    server.answer = forget
    model = ScriptedModel(calls("get"), calls("put"), calls("get"), calls("put"), DONE)
    async with working(worker(stage, model, server)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "go"))
    assert [turn.output for turn in results(model)] == ["get done", "put done"] * 2
    assert server.calls == ["get", "get", "put", "put"] * 2
    assert (len(server.connected), server.open) == (5, 0)
    assert stage.payloads(session, Notice) == []


async def test_where_the_new_session_is_of_no_use_either_the_model_is_told_that_nothing_was_run() -> None:
    stage, server = Stage(), Server()

    async def forget(_: ToolCall) -> None:
        raise McpNotCalledError("It no longer recognises the session.", "ended")

    server.answer = forget
    model = ScriptedModel(calls("get"), DONE)
    async with working(worker(stage, model, server)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "go"))
    [turn] = results(model)
    assert turn.output.startswith("Nothing was run: the MCP server box can't be used.")
    assert server.calls == ["get", "get"]


async def test_after_a_call_that_leaves_the_session_in_doubt_the_next_one_is_made_in_a_new_one() -> None:
    stage, server = Stage(), Server()

    async def doubt(_: ToolCall) -> None:
        server.connections[-1].is_doubtful = len(server.calls) == 1

    server.answer = doubt
    model = ScriptedModel(calls("get"), calls("put"), calls("get"), DONE)
    async with working(worker(stage, model, server)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "go"))
    assert server.calls == ["get", "put", "get"]
    assert (len(server.connected), server.open) == (2, 0)


async def test_a_call_that_may_have_happened_is_never_made_twice() -> None:
    stage, server = Stage(), Server()

    async def break_off(_: ToolCall) -> None:
        raise McpServerError("Its connection ended.", "ended")

    server.answer = break_off
    model = ScriptedModel(calls("get"), DONE)
    async with working(worker(stage, model, server)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "go"))
    [turn] = results(model)
    assert "Part of it may have happened." in turn.output
    assert server.calls == ["get"]


async def test_a_call_that_is_refused_for_its_scopes_is_told_as_that_and_people_are_told_once() -> None:
    stage, server = Stage(), Server()
    model = ScriptedModel(calls("get"), calls("put"), DONE)

    async def refuse(_: ToolCall) -> None:
        raise McpServerError("It asks for more.", "needs_scope")

    server.answer = refuse
    async with working(worker(stage, model, server)):
        session = await stage.open_session(title="named")
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    told = [finished.preview for finished in stage.payloads(session, ToolFinished)]
    assert told == ["The MCP server box refused the call. It asks for more."] * 2
    [notice] = stage.payloads(session, Notice)
    assert (notice.code, notice.params["server"]) == ("mcp_needs_scope", "box")
    assert len(server.connected) == 1


async def test_a_stop_ends_a_call_and_its_connection() -> None:
    stage, server = Stage(), Server()
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def hang(_: ToolCall) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    server.answer = hang
    async with working(worker(stage, ScriptedModel(calls("get")), server)):
        session = await stage.open_session(title="named")
        run = await stage.say(session, "go")
        await begun.wait()
        await stage.stop(session)
        assert (await stage.until_finished(run)).status == "stopped"
        await cancelled.wait()
    assert server.open == 0


async def test_plan_mode_has_none_of_them_whatever_they_say_of_themselves() -> None:
    stage, server = Stage(), Server()
    model = ScriptedModel(calls("get"), DONE)
    async with working(worker(stage, model, server)):
        session = await stage.open_session(title="named", enable_plan_mode=True)
        await stage.until_finished(await stage.say(session, "go"))
    assert offered(model)[0] == []
    assert server.calls == []


@pytest.mark.parametrize("name", ["box", "Box"])
async def test_rules_name_them_exactly_and_by_globs(name: str) -> None:
    stage, server = Stage(), Server()
    model = ScriptedModel(calls("get", "put"), DONE)
    async with working(worker(stage, model, server, approval_timeout_s=0.3)):
        session = await stage.open_session(
            title="named", asked_tools=[f"mcp__{name}__p*"], denied_tools=[f"mcp__{name}__get"]
        )
        run = await stage.say(session, "go")
        await asyncio.sleep(0)
        while not (finished := stage.payloads(session, ToolFinished)):
            await asyncio.sleep(0.01)
        assert finished[0].preview.startswith("Nothing was run")
        assert server.calls == []
        await stage.stop(session)
        await stage.until_finished(run)


async def test_one_of_the_user_takes_the_place_of_none_that_everybody_has() -> None:
    stage, server, model = Stage(), Server(), ScriptedModel(DONE)
    elsewhere = replace(BOX.server, source="user", url="https://elsewhere.example.org")
    own = [McpTarget(server=one) for one in (elsewhere, replace(elsewhere, name="mine"))]
    stage.store.settings[USER] = StoredSettings(user_id=USER, version=1)
    async with working(worker(stage, model, server, own=own)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "go"))
    told = {one.server: one.config for one in stage.payloads(session, McpUpdated)}
    assert told == {"box": BOX.server.config, "mine": own[1].server.config}


async def test_who_has_no_servers_costs_nothing() -> None:
    stage, server = Stage(), Server()
    model = ScriptedModel(DONE)
    async with working(worker(stage, model, server, targets=())):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "go"))
    assert server.connected == []
    assert stage.payloads(session, McpUpdated) == []


async def test_one_that_needs_its_user_to_sign_in_says_so_once_and_is_asked_again_once_that_is_done() -> None:
    stage, server = Stage(), Server(fails="It needs you to sign in.", cause="needs_sign_in")
    model = ScriptedModel(DONE)
    sign_ins = SignInsOfUsers(MemorySignIns(stage.store), AesSecretBox([SEALING]))
    async with working(worker(stage, model, server, sign_ins=sign_ins)):
        session = await stage.open_session(title="named")
        for _ in range(2):
            assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
        [notice] = stage.payloads(session, Notice)
        assert (notice.code, notice.params["server"]) == ("mcp_needs_sign_in", "box")
        assert len(server.connected) == 1
        server.fails = None
        client = OAuthClient(issuer="i", token_endpoint="t", resource="r", client_id="c")
        given = sign_ins.given(USER, BOX, Grant(client=client, access_token="abc"))
        await sign_ins.store.put(given)
        for _ in range(2):
            await stage.until_finished(await stage.say(session, "go"))
        assert len(server.connected) == 2
    assert offered(model)[-1] == ["mcp__box__get", "mcp__box__put"]
