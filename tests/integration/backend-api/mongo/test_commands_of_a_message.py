"""What a message costs the database, command by command, from its acceptance to the end of its run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

import pytest
from pymongo import monitoring

from backend_api.agent.events import Event, MessageUser, RunFinished, SessionUpdated
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest
from backend_api.agent.tool import Done
from backend_api.agents.application.kinds_of_users import KindsOfUsers
from backend_api.conversations.application.announced_slots import RemoteSlots
from backend_api.conversations.application.check_attachments import CheckAttachments
from backend_api.conversations.application.follow_events import live_reader
from backend_api.conversations.application.send_message import Message, SendMessage
from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.conversations.domain.entity import Claimant
from backend_api.conversations.ports import SessionStream
from backend_api.identity.application.limits import Limits
from backend_api.identity.in_process_rate_limiter import InProcessRateLimiter
from backend_api.kit.background_tasks import background_task
from backend_api.kit.ids import SessionId
from backend_api.runs.application.run_services import RunOptions, RunServices
from backend_api.runs.application.title_sessions import TitleSessions
from backend_api.runs.application.worker import Worker
from backend_api.runs.capabilities import capabilities
from backend_api.settings.mongo.user_settings import MongoSettingsStore
from backend_api.skills.application.skill_offers import SkillOffers
from backend_api.skills.application.user_skills import UserSkills
from backend_api.skills.capability import skills_capability
from backend_api.skills.library.library import read_library
from support.backend_stores import ANNA, ConversationStores, mongo_stores
from support.memory.sandboxes import MemorySandboxes, MemoryWorkspace
from support.memory.session_stream import MemorySessionStream
from support.of_modules import ALL
from support.scripted import SCRIPTED, HandlerBox, OneModel, ScriptedModel
from support.servers import Server
from support.stage import WatchedNotifier, until, working
from support.user_settings import settings_parts

ACCEPT = ["findAndModify sessions", "insert runs", "insert events", "commitTransaction"]
CONFIRM = ["findAndModify runs"]
CLAIM = ["findAndModify runs", "findAndModify sessions", "insert events", "commitTransaction"]
READ = ["find events"]
BEAT = ["findAndModify runs"]
STEP = ["findAndModify sessions", "insert events", "commitTransaction"]
END = ["findAndModify sessions", "findAndModify runs", "insert events", "commitTransaction"]


class Listener(monitoring.CommandListener):
    """The driver knows listeners of all clients of the process only; this one writes down what it is told to."""

    def __init__(self) -> None:
        self.commands: list[str] | None = None
        self._beat = 0

    def begin(self) -> list[str]:
        self.beaten = asyncio.Event()
        self.commands = commands = []
        return commands

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        if self.commands is None:
            return
        name = event.command_name
        if name in ("hello", "setParameter"):  # how a client looks after its server, by time and not by message
            return
        collection = event.command.get(name)
        self.commands.append(f"{name} {collection}" if isinstance(collection, str) else name)
        if self.commands[-1:] == BEAT and "inbox" in event.command.get("fields", {}):
            self._beat = event.request_id

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        if event.request_id == self._beat:
            self.beaten.set()

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        pass


@pytest.fixture(scope="module")
def listener() -> Listener:
    made = Listener()
    monitoring.register(made)
    return made


@asynccontextmanager
async def conversation(
    server: Server,
    database_name: str,
    listener: Listener,
    *,
    inside: bool,
    announces: bool,
    calls: Sequence[ToolCallPart] = (),
) -> AsyncGenerator[tuple[SendMessage, SessionId, SessionStream, Worker]]:
    """A named session, and a worker that answers it: in the gateway's process, or notified of it."""
    stream, notifier, ids, tools = MemorySessionStream(), WatchedNotifier(), count(1), HandlerBox()

    async def look(*_: object) -> Done:
        return Done(success=True, output="seen")

    tools.add("look", look)

    async def until_beaten() -> None:
        # The first heartbeat would else come now before the end of the run, now after it.
        if listener.commands is not None and inside:
            async with asyncio.timeout(20):
                await listener.beaten.wait()

    said = [TextPart("Hello."), until_beaten, FinishPart("stop")]
    called = [[call, FinishPart("tool_calls")] for call in calls]
    async with mongo_stores(server.uri, database_name) as stores:
        offers = SkillOffers(UserSkills(stores.skills, read_library()))
        of_modules = [skills_capability(offers, offers.shared), *(one.stored for one in ALL)]
        services = RunServices(
            ledger=stores.ledger,
            log=stores.log,
            stream=stream,
            notifier=notifier,
            sessions=stores.sessions,
            catalogue=OneModel(chat=ScriptedModel(said, *called, said)),
            capabilities=capabilities(tools, of_modules=of_modules),
            options=RunOptions(heartbeat_s=30),
            clock=lambda: datetime.now(UTC),
            new_id=lambda kind: f"{kind}_{next(ids)}",
            effective_settings=settings_parts(MongoSettingsStore(), SCRIPTED).open_effective_settings,
            kinds=KindsOfUsers(own=stores.kinds),
        )
        worker = Worker(name="worker", services=services, poll_s=600, announces=announces)
        announced = RemoteSlots(notifier, stores.ledger, model="m")
        send = SendMessage(
            ledger=stores.ledger,
            stream=stream,
            notifier=notifier,
            limiter=InProcessRateLimiter(),
            limits=Limits(),
            check_attachments=CheckAttachments(
                SessionSandbox(stores.sessions, MemorySandboxes()), MemoryWorkspace(), lambda _: True
            ),
            slots=worker if inside else announced,
        )
        async with background_task(announced.listen(), "announced"), working(worker):
            await notifier.waiting.wait()
            yield send, await _named(stores), stream, worker


async def _named(stores: ConversationStores) -> SessionId:
    return await stores.session(title="named")


async def say(send: SendMessage, session_id: SessionId, stream: SessionStream) -> None:
    """Until the end of its run is told."""
    async with asyncio.timeout(30), live_reader(stream, session_id) as reader:
        await send(session_id, ANNA, Message(text="go on"))
        while not _is_end(await anext(reader)):
            pass


def _is_end(event: Event) -> bool:
    return isinstance(event.payload, RunFinished)


@pytest.mark.parametrize(
    ("inside", "announces", "most"),
    [
        (True, False, ACCEPT + BEAT + END),
        (False, True, ACCEPT + CONFIRM + READ + END),
        (False, False, ACCEPT + CLAIM + READ + END),
    ],
    ids=["worker inside the gateway", "worker of its own", "worker of its own that was not announced"],
)
async def test_a_message_costs_no_more_commands_than_these(
    mongo_server: Server,
    mongo_database_name: str,
    listener: Listener,
    *,
    inside: bool,
    announces: bool,
    most: list[str],
) -> None:
    made = conversation(mongo_server, mongo_database_name, listener, inside=inside, announces=announces)
    async with made as (send, session_id, stream, worker):
        await say(send, session_id, stream)
        await until(lambda: worker._free == worker._slots)
        commands = listener.begin()
        await say(send, session_id, stream)
        listener.commands = None
    assert sorted(commands) == sorted(most), "\n".join(commands)


async def test_a_session_that_a_model_gave_its_title_costs_no_more_from_its_second_message_on(
    mongo_server: Server, mongo_database_name: str, listener: Listener
) -> None:
    made = conversation(mongo_server, mongo_database_name, listener, inside=True, announces=False)
    async with made as (send, _, stream, worker), mongo_stores(mongo_server.uri, mongo_database_name) as stores:
        title_model = ScriptedModel([TextPart("A title"), FinishPart("stop")])
        sessions = TitleSessions(
            titles=stores.titles,
            transcripts=stores.transcripts,
            stream=stream,
            catalogue=OneModel(chat=title_model),
            histories=worker.services.histories,
        )
        worker.services = replace(worker.services, want_title=sessions.want)
        session_id = await stores.session()
        async with (
            background_task(sessions.title_until_cancelled(), "titles"),
            live_reader(stream, session_id) as reader,
        ):
            await say(send, session_id, stream)
            while (await anext(reader)).payload != SessionUpdated(title="A title"):
                pass
            await until(lambda: worker._free == worker._slots)
            commands = listener.begin()
            await say(send, session_id, stream)
            await until(lambda: worker._free == worker._slots)
            listener.commands = None
    assert sorted(commands) == sorted(ACCEPT + BEAT + END), "\n".join(commands)
    assert len(title_model.requests) == 1


async def test_a_turn_with_a_call_costs_two_steps_and_no_look_for_what_is_new(
    mongo_server: Server, mongo_database_name: str, listener: Listener
) -> None:
    """What else there is has a number before that of the result, so its transaction shows it."""
    calls = [ToolCallPart(ToolRequest(call_id=f"c{number}", name="look", arguments={})) for number in range(2)]
    made = conversation(mongo_server, mongo_database_name, listener, inside=False, announces=True, calls=calls)
    async with made as (send, session_id, stream, worker):
        await say(send, session_id, stream)
        await until(lambda: worker._free == worker._slots)
        commands = listener.begin()
        await say(send, session_id, stream)
        listener.commands = None
    assert sorted(commands) == sorted(ACCEPT + CONFIRM + READ + STEP * 4 + END), "\n".join(commands)


async def test_heartbeats_of_many_runs_at_once_are_two_commands(
    mongo_server: Server, mongo_database_name: str, listener: Listener
) -> None:
    claimant = Claimant(worker="worker", lease_s=30, model="m")
    async with mongo_stores(mongo_server.uri, mongo_database_name) as stores:
        said = [MessageUser(message_id=f"m{number}", text="hi") for number in range(20)]
        accepted = [await stores.ledger.accept(await stores.session(), ANNA, one, claimant=claimant) for one in said]
        commands = listener.begin()
        await asyncio.gather(*(stores.ledger.renew(one.lease, lease_s=30) for one in accepted if one.lease))
        listener.commands = None
    assert commands == ["update runs", "find runs"]


async def test_a_look_for_runs_that_finds_none_is_one_command(
    mongo_server: Server, mongo_database_name: str, listener: Listener
) -> None:
    async with mongo_stores(mongo_server.uri, mongo_database_name) as stores:
        commands = listener.begin()
        assert await stores.ledger.claim("worker", lease_s=30, model="m") is None
        listener.commands = None
    assert commands == ["find runs"]


async def test_a_run_that_another_worker_has_costs_one_that_was_notified_too_two_commands(
    mongo_server: Server, mongo_database_name: str, listener: Listener
) -> None:
    async with mongo_stores(mongo_server.uri, mongo_database_name) as stores:
        said = MessageUser(message_id="m1", text="hi")
        run_id = (await stores.ledger.accept(await stores.session(), ANNA, said)).run_id
        assert await stores.ledger.claim("one", lease_s=30, model="m", run_id=run_id) is not None
        commands = listener.begin()
        assert await stores.ledger.claim("two", lease_s=30, model="m", run_id=run_id) is None
        listener.commands = None
    assert commands == ["findAndModify runs", "abortTransaction"]
