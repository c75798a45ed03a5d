"""`RunLedger`, `EventLog`, `SessionRepository`, `Transcripts`, and their doubles."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from backend_api.agent.events import (
    BodyReference,
    FilesChanged,
    MessageCompleted,
    MessageUser,
    RunFinished,
    SandboxUpdated,
    Task,
    TasksUpdated,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
)
from backend_api.agent.new_events import Body, NewEvent
from backend_api.conversations.domain.deletions import Deleted
from backend_api.conversations.domain.entity import Claimant, InboxMessage, RunId, RunStatus, Session, SessionStatus
from backend_api.conversations.domain.errors import (
    EventBodyNotFoundError,
    LeaseLostError,
    MessageDiffersError,
    SessionNotFoundError,
    TasksEditedError,
)
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import SessionId
from service_kit.observation.context import working_for
from service_kit.observation.spans import following
from support.backend_stores import ANNA, BERT, DOUBLES_TOO, ConversationStores

pytestmark = DOUBLES_TOO
CLAIMANT = Claimant(worker="here", lease_s=30, model="m")


def said(text: str, client_message_id: str | None = None) -> MessageUser:
    return MessageUser(message_id=f"m-{text}", text=text, client_message_id=client_message_id)


def ended(run_id: str, status: str = "completed") -> RunFinished:
    return RunFinished(run_id=run_id, status=status, usage=Usage(input=3, output=2, by_model={"gpt-4.1": {"input": 3}}))


async def types(stores: ConversationStores, session_id: SessionId) -> list[str]:
    events = await stores.log.read(session_id, after=0, limit=1000)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert (await stores.sessions.get(session_id, ANNA)).last_seq == len(events)
    return [event.payload.type for event in events]


async def test_a_message_to_an_idle_session_queues_a_run(stores: ConversationStores) -> None:
    session_id = await stores.session()
    accepted = await stores.ledger.accept(session_id, ANNA, said("hello"))
    assert (accepted.seq, accepted.duplicate, len(accepted.events)) == (1, False, 2)
    assert await types(stores, session_id) == ["message.user", "run.queued"]
    session = await stores.sessions.get(session_id, ANNA)
    assert (session.status, session.active_run_id) == (SessionStatus.QUEUED, accepted.run_id)
    run = await stores.ledger.get(accepted.run_id)
    assert run is not None
    assert (run.status, run.message_id) == (RunStatus.QUEUED, "m-hello")


async def test_a_session_is_active_when_something_is_said_and_not_when_its_computer_or_title_changes(
    stores: ConversationStores,
) -> None:
    session_id = await stores.session()

    async def active_since(before: Session) -> bool:
        return (await stores.sessions.get(session_id, ANNA)).active_at > before.active_at

    async def now() -> Session:
        await asyncio.sleep(0.002)  # the stores' times are milliseconds
        return await stores.sessions.get(session_id, ANNA)

    fresh = await now()
    await stores.ledger.accept(session_id, ANNA, said("hello"))
    assert await active_since(fresh)
    asked = await now()
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    await stores.log.append(session_id, [SandboxUpdated(status="ready")])
    await stores.sessions.change(session_id, ANNA, {"title": "Mine"})
    assert not await active_since(asked)
    await stores.ledger.record(lease, [NewEvent(payload=MessageCompleted(message_id="a", text="Hi"))])
    assert await active_since(asked)
    answered = await now()
    await stores.ledger.finish(lease, ended(lease.run.id), seen_seq=1)
    assert not await active_since(answered)


async def test_of_many_that_claim_a_run_by_its_name_at_once_one_gets_it(stores: ConversationStores) -> None:
    for _ in range(5):
        session_id = await stores.session()
        run_id = (await stores.ledger.accept(session_id, ANNA, said("hello"))).run_id
        claims = [stores.ledger.claim(f"w{n}", lease_s=30, model="m", run_id=run_id) for n in range(8)]
        leases = [lease for lease in await asyncio.gather(*claims) if lease is not None]
        assert len(leases) == 1
        assert await types(stores, session_id) == ["message.user", "run.queued", "run.started"]


async def test_a_run_is_leased_in_the_moment_it_is_queued(stores: ConversationStores) -> None:
    session_id = await stores.session()
    accepted = await stores.ledger.accept(session_id, ANNA, said("hello"), claimant=CLAIMANT)
    lease = accepted.lease
    assert lease is not None
    assert (lease.run.id, lease.worker, lease.run.attempt, lease.has_begun_before) == (
        accepted.run_id,
        "here",
        1,
        False,
    )
    assert not lease.taken_over
    assert await types(stores, session_id) == ["message.user", "run.queued", "run.started"]
    assert (await stores.sessions.get(session_id, ANNA)).status == SessionStatus.RUNNING
    assert await stores.ledger.claim("elsewhere", lease_s=30, model="m") is None
    assert await stores.ledger.renew(lease, lease_s=30) == ()
    assert await stores.ledger.finish(lease, ended(lease.run.id), seen_seq=accepted.seq)
    again = await stores.ledger.accept(session_id, ANNA, said("more"), claimant=CLAIMANT)
    assert again.lease is not None


async def test_of_many_messages_at_once_one_gets_the_lease(stores: ConversationStores) -> None:
    session_id = await stores.session()
    accepted = await asyncio.gather(
        *(stores.ledger.accept(session_id, ANNA, said(str(n)), claimant=CLAIMANT) for n in range(12))
    )
    assert len([one for one in accepted if one.lease is not None]) == 1
    assert sorted(await types(stores, session_id)) == ["message.user"] * 12 + ["run.queued", "run.started"]


async def test_a_lease_given_at_once_lapses_like_any_other(stores: ConversationStores) -> None:
    session_id = await stores.session()
    dead = Claimant(worker="here", lease_s=-1, model="m")
    lease = (await stores.ledger.accept(session_id, ANNA, said("hello"), claimant=dead)).lease
    taken = await stores.ledger.claim("elsewhere", lease_s=30, model="m")
    assert lease is not None
    assert taken is not None
    assert (taken.run.id, taken.has_begun_before, taken.taken_over) == (lease.run.id, True, True)
    with pytest.raises(LeaseLostError):
        await stores.ledger.record(lease, [NewEvent(payload=MessageCompleted(message_id="late", text="late"))])


async def test_twenty_messages_at_once_make_one_run_and_lose_none(stores: ConversationStores) -> None:
    session_id = await stores.session()
    accepted = await asyncio.gather(*(stores.ledger.accept(session_id, ANNA, said(str(n))) for n in range(20)))
    assert len({one.run_id for one in accepted}) == 1
    assert len({one.seq for one in accepted}) == 20
    assert sorted(await types(stores, session_id)) == ["message.user"] * 20 + ["run.queued"]


async def test_the_same_client_message_id_is_accepted_once(stores: ConversationStores) -> None:
    session_id = await stores.session()
    results = await asyncio.gather(*(stores.ledger.accept(session_id, ANNA, said("hi", "c1")) for _ in range(6)))
    assert len({(one.run_id, one.seq, one.message_id) for one in results}) == 1
    assert [one.duplicate for one in results].count(False) == 1
    assert await types(stores, session_id) == ["message.user", "run.queued"]


async def test_another_message_under_the_same_client_message_id_is_refused(stores: ConversationStores) -> None:
    session_id = await stores.session()
    first = await stores.ledger.accept(session_id, ANNA, said("one", "c1"))
    for other in (said("two", "c1"), replace(said("one", "c1"), attachments=["a.txt"])):
        with pytest.raises(MessageDiffersError):
            await stores.ledger.accept(session_id, ANNA, other)
    assert await stores.ledger.accept(session_id, ANNA, said("one", "c1")) == replace(
        first, duplicate=True, events=(), lease=None
    )
    assert await types(stores, session_id) == ["message.user", "run.queued"]


async def test_a_client_message_id_is_a_sessions_own(stores: ConversationStores) -> None:
    first, second = await stores.session(), await stores.session()
    assert not (await stores.ledger.accept(first, ANNA, said("hi", "c1"))).duplicate
    assert not (await stores.ledger.accept(second, ANNA, said("hi", "c1"))).duplicate


async def test_a_foreign_session_takes_no_message(stores: ConversationStores) -> None:
    session_id = await stores.session()
    with pytest.raises(SessionNotFoundError):
        await stores.ledger.accept(session_id, BERT, said("hello"))
    with pytest.raises(SessionNotFoundError):
        await stores.ledger.request_stop(session_id, BERT)
    assert await types(stores, session_id) == []


async def test_a_queued_run_is_claimed_by_one_of_many_workers(stores: ConversationStores) -> None:
    session_id = await stores.session()
    accepted = await stores.ledger.accept(session_id, ANNA, said("hello"))
    claims = await asyncio.gather(*(stores.ledger.claim(f"w{n}", lease_s=30, model="m") for n in range(8)))
    leases = [lease for lease in claims if lease is not None]
    assert [lease.run.id for lease in leases] == [accepted.run_id]
    assert not leases[0].has_begun_before
    assert await types(stores, session_id) == ["message.user", "run.queued", "run.started"]
    assert (await stores.sessions.get(session_id, ANNA)).status == SessionStatus.RUNNING


async def test_a_lapsed_lease_is_taken_over_and_fences_the_first_worker(stores: ConversationStores) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, said("hello"))
    first = await stores.ledger.claim("w1", lease_s=-1, model="m")
    second = await stores.ledger.claim("w2", lease_s=30, model="m")
    assert first is not None
    assert second is not None
    assert (second.has_begun_before, second.run.attempt, second.fence > first.fence) == (True, 2, True)
    answer = NewEvent(payload=MessageCompleted(message_id="a", text="late"))
    with pytest.raises(LeaseLostError):
        await stores.ledger.record(first, [answer])
    with pytest.raises(LeaseLostError):
        await stores.ledger.renew(first, lease_s=30)
    with pytest.raises(LeaseLostError):
        await stores.ledger.finish(first, ended(first.run.id), seen_seq=9)
    assert await types(stores, session_id) == ["message.user", "run.queued", "run.started", "run.started"]
    assert len(await stores.ledger.record(second, [answer])) == 1


async def test_a_renewed_lease_is_not_taken_over(stores: ConversationStores) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, said("hello"))
    lease = await stores.ledger.claim("w1", lease_s=-1, model="m")
    assert lease is not None
    assert await stores.ledger.renew(lease, lease_s=30) == ()
    assert await stores.ledger.claim("w2", lease_s=30, model="m") is None


async def test_of_leases_renewed_at_once_each_holds_or_is_lost_by_itself(stores: ConversationStores) -> None:
    sessions = [await stores.session() for _ in range(4)]
    for session_id in sessions:
        await stores.ledger.accept(session_id, ANNA, said("hello"))
    claims = [await stores.ledger.claim("w1", lease_s=30, model="m") for _ in sessions]
    leases = [lease for lease in claims if lease is not None]
    await stores.ledger.release(leases[0])
    taken_over = await stores.ledger.claim("w1", lease_s=-1, model="m")
    assert taken_over is not None
    assert taken_over.run.id == leases[0].run.id
    await stores.ledger.finish(leases[1], ended(leases[1].run.id), seen_seq=9)
    await stores.ledger.request_stop(leases[2].run.session_id, ANNA)
    renewed = await asyncio.gather(
        *(stores.ledger.renew(lease, lease_s=30) for lease in leases), return_exceptions=True
    )
    assert [type(answer) for answer in renewed[:2]] == [LeaseLostError, LeaseLostError]
    assert renewed[2] == (InboxMessage(number=1, kind="stop", seq=3),)
    assert renewed[3] == ()
    lapsed = await stores.ledger.claim("w2", lease_s=30, model="m")
    assert lapsed is not None
    assert lapsed.run.id == taken_over.run.id
    assert await stores.ledger.claim("w2", lease_s=30, model="m") is None


async def test_a_run_that_saw_everything_ends_and_frees_the_session(stores: ConversationStores) -> None:
    session_id = await stores.session()
    accepted = await stores.ledger.accept(session_id, ANNA, said("hello"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    (event,) = await stores.ledger.finish(lease, ended(lease.run.id), seen_seq=accepted.seq)
    assert event.seq == 4
    session = await stores.sessions.get(session_id, ANNA)
    assert (session.status, session.active_run_id) == (SessionStatus.IDLE, None)
    assert (await stores.ledger.get(lease.run.id)).status == RunStatus.COMPLETED
    with pytest.raises(LeaseLostError):
        await stores.ledger.record(lease, [NewEvent(payload=MessageCompleted(message_id="a", text="late"))])
    usage = await stores.transcripts.usage(session_id)
    assert (usage.input, usage.output, usage.by_model) == (3, 2, {"gpt-4.1": {"input": 3}})
    assert not (await stores.ledger.accept(session_id, ANNA, said("again"))).duplicate


async def test_a_session_costs_what_its_runs_do_and_more_than_is_known_once_one_has_no_price(
    stores: ConversationStores,
) -> None:
    session_id = await stores.session()
    for run_cost, total, known in ((0.25, 0.25, 0.25), (0.5, 0.75, 0.75), (None, None, 0.75), (0.25, None, 1.0)):
        seen = await stores.ledger.accept(session_id, ANNA, said("hello"))
        lease = await stores.ledger.claim("w", lease_s=30, model="m")
        assert lease is not None
        used = Usage(input=1, cache_write=1, cost=run_cost, known_cost=run_cost or 0.0, by_model={"m": {"input": 1}})
        finished = RunFinished(run_id=lease.run.id, status="completed", usage=used)
        await stores.ledger.finish(lease, finished, seen_seq=seen.seq)
        usage = await stores.transcripts.usage(session_id)
        assert (usage.cost, usage.known_cost) == (total, known)
    assert (usage.input, usage.cache_write) == (4, 4)


async def test_a_message_that_came_meanwhile_keeps_the_run_going(stores: ConversationStores) -> None:
    session_id = await stores.session()
    seen = await stores.ledger.accept(session_id, ANNA, said("hello"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    joined = await stores.ledger.accept(session_id, ANNA, said("and this"))
    assert joined.run_id == seen.run_id
    assert await stores.ledger.finish(lease, ended(lease.run.id), seen_seq=seen.seq) == []
    assert await stores.ledger.finish(lease, ended(lease.run.id), seen_seq=joined.seq)


async def test_what_was_said_last_is_stored_with_the_end_or_not_at_all(stores: ConversationStores) -> None:
    session_id = await stores.session()
    seen = await stores.ledger.accept(session_id, ANNA, said("hi"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    payloads = [MessageCompleted(message_id="a", text="Hello."), UsageUpdated(usage=Usage(input=1))]
    last = [NewEvent(payload=payload) for payload in payloads]
    joined = await stores.ledger.accept(session_id, ANNA, said("and this"))
    assert await stores.ledger.finish(lease, ended(lease.run.id), seen_seq=seen.seq, said=last) == []
    assert (await types(stores, session_id))[3:] == ["message.user"]
    events = await stores.ledger.finish(lease, ended(lease.run.id), seen_seq=joined.seq, said=last)
    assert [(event.seq, event.payload.type) for event in events] == [
        (5, "message.completed"),
        (6, "usage.updated"),
        (7, "run.finished"),
    ]
    assert await stores.log.read(session_id, after=4, limit=10) == events
    session = await stores.sessions.get(session_id, ANNA)
    assert (session.last_seq, session.unread, session.status) == (7, 1, SessionStatus.IDLE)


async def test_what_a_model_read_of_a_result_is_kept_and_read_with_its_event(stores: ConversationStores) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, said("hi"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    called = ToolCalled(call_id="c", name="look", arguments={}, phrase="Look", turn=1)
    finished = ToolFinished(call_id="c", success=True, preview="short")
    await stores.ledger.record(lease, [NewEvent(payload=called), NewEvent(payload=finished, output="all of it")])
    entries, is_end = await stores.log.read_entries(session_id, after=2, limit=10)
    assert is_end
    assert [(entry.event.payload.type, entry.output) for entry in entries] == [
        ("run.started", None),
        ("tool.called", None),
        ("tool.finished", "all of it"),
    ]
    assert [entry.event for entry in entries] == await stores.log.read(session_id, after=2, limit=10)
    assert await stores.log.read_entries(session_id, after=3, limit=1) == ([entries[1]], False)
    assert await stores.log.read_entries(session_id, after=2, limit=10, most=1) == ([entries[0]], False)


async def test_what_was_said_before_another_ending_comes_before_the_run_that_follows(
    stores: ConversationStores,
) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, said("hi"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    await stores.ledger.accept(session_id, ANNA, said("and this"))
    last = [NewEvent(payload=MessageCompleted(message_id="a", text="Hel", partial=True))]
    events = await stores.ledger.finish(lease, ended(lease.run.id, "failed"), seen_seq=1, said=last)
    assert [event.seq for event in events] == [5, 6]
    stored = await stores.log.read(session_id, after=4, limit=10)
    assert stored[:2] == events
    assert [(event.seq, event.payload.type) for event in stored[2:]] == [(7, "run.queued")]
    assert stored[2].run_id not in (None, lease.run.id)


async def test_a_run_is_claimed_by_its_name_while_older_ones_wait(stores: ConversationStores) -> None:
    runs = [(await stores.ledger.accept(await stores.session(), ANNA, said("hi"))).run_id for _ in range(3)]
    lease = await stores.ledger.claim("w", lease_s=30, model="m", run_id=runs[1])
    assert lease is not None
    assert lease.run.id == runs[1]
    assert await stores.ledger.claim("w", lease_s=30, model="m", run_id=runs[1]) is None
    assert await stores.ledger.claim("w", lease_s=30, model="m", run_id=RunId("nobody's")) is None
    others = [await stores.ledger.claim("w", lease_s=30, model="m") for _ in range(2)]
    assert [other.run.id for other in others if other] == [runs[0], runs[2]]


@pytest.mark.parametrize("is_named", [False, True])
async def test_a_lease_says_whether_its_session_has_a_title(stores: ConversationStores, is_named: bool) -> None:
    for claimant in (None, CLAIMANT):
        session_id = await stores.session(title="Named" if is_named else "")
        accepted = await stores.ledger.accept(session_id, ANNA, said("hi"), claimant=claimant)
        lease = accepted.lease or await stores.ledger.claim("w", lease_s=30, model="m")
        assert lease is not None
        assert lease.is_named is is_named


@pytest.mark.parametrize(
    ("status", "reason"), [("failed", None), ("stopped", None), ("interrupted", None), ("completed", "max_turns")]
)
async def test_a_message_unseen_at_another_ending_gets_a_run_of_its_own(
    stores: ConversationStores, status: str, reason: str | None
) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, said("hello"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    await stores.ledger.accept(session_id, ANNA, said("and this"))
    finished = replace(ended(lease.run.id, status), reason=reason)
    assert await stores.ledger.finish(lease, finished, seen_seq=1)
    assert (await types(stores, session_id))[-2:] == ["run.finished", "run.queued"]
    following = await stores.ledger.claim("w", lease_s=30, model="m")
    assert following is not None
    assert (following.run.message_id, following.run.id != lease.run.id) == ("m-and this", True)


async def test_a_message_after_a_stop_left_for_a_dead_worker_gets_a_run_of_its_own(stores: ConversationStores) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, said("one"))
    assert await stores.ledger.claim("dead", lease_s=-1, model="m") is not None
    await stores.ledger.request_stop(session_id, ANNA)
    await stores.ledger.accept(session_id, ANNA, said("two"))
    lease = await stores.ledger.claim("next", lease_s=30, model="m")
    assert lease is not None
    (stop,) = lease.messages
    assert await stores.ledger.finish(lease, ended(lease.run.id, "stopped"), seen_seq=stop.seq)
    following = await stores.ledger.claim("next", lease_s=30, model="m")
    assert following is not None
    assert (following.run.message_id, following.run.id != lease.run.id, following.messages) == ("m-two", True, ())


async def test_a_run_that_fails_at_once_does_not_begin_again(stores: ConversationStores) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, said("hello"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    await stores.ledger.finish(lease, ended(lease.run.id, "failed"), seen_seq=0)
    assert await stores.ledger.claim("w", lease_s=30, model="m") is None


async def test_accepting_and_finishing_at_once_never_leaves_a_message_without_a_run(
    stores: ConversationStores,
) -> None:
    for _ in range(10):
        session_id = await stores.session()
        first = await stores.ledger.accept(session_id, ANNA, said("one"))
        lease = await stores.ledger.claim("w", lease_s=30, model="m")
        assert lease is not None
        second, end = await asyncio.gather(
            stores.ledger.accept(session_id, ANNA, said("two")),
            stores.ledger.finish(lease, ended(lease.run.id), seen_seq=first.seq),
        )
        session = await stores.sessions.get(session_id, ANNA)
        assert session.active_run_id == second.run_id
        assert (second.run_id == first.run_id) == (end == [])
        await types(stores, session_id)
        last = lease if end == [] else await stores.ledger.claim("w", lease_s=30, model="m")
        assert last is not None
        await stores.ledger.finish(last, ended(last.run.id), seen_seq=second.seq)


async def test_a_stop_before_the_start_ends_the_run(stores: ConversationStores) -> None:
    session_id = await stores.session()
    assert await stores.ledger.request_stop(session_id, ANNA) is None
    await stores.ledger.accept(session_id, ANNA, said("hello"))
    run = await stores.ledger.request_stop(session_id, ANNA)
    assert run is not None
    assert run.status == RunStatus.STOPPED
    assert (await types(stores, session_id))[-1] == "run.finished"
    assert await stores.ledger.claim("w", lease_s=30, model="m") is None
    assert (await stores.sessions.get(session_id, ANNA)).status == SessionStatus.IDLE


async def test_concurrent_writers_leave_no_hole(stores: ConversationStores) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, said("hello"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    changed = FilesChanged(paths=["a"], origin="user")
    answer = NewEvent(payload=MessageCompleted(message_id="a", text="b"))
    await asyncio.gather(
        *(stores.log.append(session_id, [changed, changed]) for _ in range(8)),
        *(stores.ledger.record(lease, [answer]) for _ in range(8)),
        *(stores.ledger.accept(session_id, ANNA, said(str(n))) for n in range(8)),
    )
    assert len(await types(stores, session_id)) == 3 + 16 + 8 + 8


async def test_a_long_body_stands_beside_its_event(stores: ConversationStores) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, said("hello"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    content = b"0123456789abcdef" * 1_250_000
    finished = ToolFinished(call_id="c", success=True, preview="p", body=BodyReference(size=len(content)))
    item = NewEvent(payload=finished, body=Body(content=content, media_type="text/plain"))
    (event,) = await stores.ledger.record(lease, [item])
    assert event.seq is not None
    assert await stores.log.body(session_id, event.seq) == Body(content=content, media_type="text/plain")
    assert (await stores.log.read(session_id, after=event.seq - 1, limit=1))[0].payload == finished
    with pytest.raises(EventBodyNotFoundError):
        await stores.log.body(session_id, 1)


async def test_what_was_said_is_read_back_in_order(stores: ConversationStores) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, said("hello"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    answer = MessageCompleted(message_id="a", text="hé \U0001f600 \ud800 $x.y")
    await stores.ledger.record(lease, [NewEvent(payload=answer)])
    said_so_far = await stores.transcripts.messages(session_id, up_to=4, limit=10)
    assert [event.payload for event in said_so_far] == [said("hello"), answer]
    assert len(await stores.transcripts.messages(session_id, up_to=3, limit=10)) == 1
    assert [e.seq for e in await stores.transcripts.messages(session_id, up_to=4, limit=1)] == [4]


async def test_sessions_are_paged_newest_first(stores: ConversationStores) -> None:
    created = [await stores.session(title=f"Talk {n}") for n in range(7)]
    await stores.session(BERT)
    seen: list[str] = []
    cursor = None
    while True:
        page = await stores.sessions.page(ANNA, limit=3, cursor=cursor, query=None)
        seen += [session.id for session in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted(created)
    assert len((await stores.sessions.page(ANNA, limit=9, cursor=None, query="talk 3")).items) == 1
    with pytest.raises(InvalidError):
        await stores.sessions.page(ANNA, limit=3, cursor="nonsense", query=None)


async def test_a_deleted_session_is_gone_with_all_that_belongs_to_it(stores: ConversationStores) -> None:
    session_id = await stores.session()
    accepted = await stores.ledger.accept(session_id, ANNA, said("hello"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    with pytest.raises(SessionNotFoundError):
        await stores.sessions.delete(session_id, BERT)
    await stores.sessions.delete(session_id, ANNA)
    with pytest.raises(SessionNotFoundError):
        await stores.sessions.get(session_id, ANNA)
    with pytest.raises(LeaseLostError):
        await stores.ledger.record(lease, [NewEvent(payload=MessageCompleted(message_id="a", text="late"))])
    with pytest.raises(SessionNotFoundError):
        await stores.log.append(session_id, [FilesChanged(paths=["a"], origin="user")])
    assert await stores.log.read(session_id, after=0, limit=10) == []
    assert await stores.ledger.get(accepted.run_id) is None


async def test_a_deletion_stays_until_it_is_finished_and_is_worked_at_by_one_at_a_time(
    stores: ConversationStores,
) -> None:
    soon, later = stores.deletions(0.0), stores.deletions(30.0)
    session_id = await stores.session()
    assert await soon.claim_next() is None
    await stores.sessions.delete(session_id, ANNA)
    assert await later.claim_next() is None
    assert await soon.claim_next() == Deleted(session_id=session_id, user_id=ANNA)
    assert await later.claim_next() is None
    await soon.finish(session_id)
    assert await soon.claim_next() is None


async def test_whoever_runs_it_goes_on_under_its_messages_request_and_trace(stores: ConversationStores) -> None:
    first, second = f"00-{'a' * 32}-{'1' * 16}-01", f"00-{'b' * 32}-{'2' * 16}-01"
    session_id = await stores.session()
    with working_for(request_id="request-one"), following(first):
        await stores.ledger.accept(session_id, ANNA, said("hello"))
    lost = await stores.ledger.claim("one", lease_s=-1, model="m")
    taken = await stores.ledger.claim("two", lease_s=30, model="m")
    assert lost is not None
    assert taken is not None
    for lease in (lost, taken):
        assert (lease.run.request_id, lease.run.trace) == ("request-one", first)

    with working_for(request_id="request-two"), following(second):
        await stores.ledger.accept(session_id, ANNA, said("more"))
    await stores.ledger.finish(taken, ended(taken.run.id, "failed"), seen_seq=1)
    following_run = await stores.ledger.claim("two", lease_s=30, model="m")
    assert following_run is not None
    assert following_run.run.id != taken.run.id
    assert (following_run.run.request_id, following_run.run.trace) == ("request-two", second)


async def test_tasks_of_a_run_that_lack_a_change_of_the_person_are_not_stored(stores: ConversationStores) -> None:
    session_id = await stores.session()
    accepted = await stores.ledger.accept(session_id, ANNA, said("hello"), claimant=CLAIMANT)
    lease = accepted.lease
    assert lease is not None
    older = TasksUpdated(version=1, last_id=1, tasks=[Task(id="1", subject="Dig")])
    edited = replace(older, version=2, by="person", edits=1)
    await stores.ledger.record(lease, [NewEvent(payload=older)])
    await stores.ledger.record(lease, [NewEvent(payload=edited)])
    before = await types(stores, session_id)
    with pytest.raises(TasksEditedError):
        await stores.ledger.record(lease, [NewEvent(payload=replace(older, version=2))])
    assert await types(stores, session_id) == before
    await stores.ledger.record(lease, [NewEvent(payload=replace(edited, version=3, by="agent"))])
    assert len(await types(stores, session_id)) == len(before) + 1
