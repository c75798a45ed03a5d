"""What is known of a team is a fold of the log, bounded, and what does not fit is refused with what there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import pytest

from backend_api.agent.capabilities.teams import TEAMS
from backend_api.agent.capability import ALLOW, Capabilities, Deny, ProposedCall, Verdict
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import TeammateUpdated, TeamMessage, TeamMessageKind
from backend_api.agent.team import (
    KEPT_MESSAGES,
    LEAD,
    MAX_REQUESTS,
    Membership,
    Team,
    TeamRefusedError,
    broadcast,
    listed,
    message_text,
    plan_reviewed,
    plan_submitted,
    sent,
    shutdown_answered,
    shutdown_requested,
    spawned,
    updated,
)
from backend_api.agent.tools.think import THINK
from backend_api.conversations.application.mirror_team import MirrorTeam
from backend_api.runs.application.team_run import TeamTiming
from support.scripted import ANY


def team(*names: str) -> Team:
    made = Team()
    for name in names:
        made.apply_update(spawned(made, f"call_{name}", name=name, role="digs", prompt="dig", most=5))
    return made


def refused(act: Callable[[], Any]) -> str:
    with pytest.raises(TeamRefusedError) as error:
        act()
    return str(error.value)


def test_one_that_left_is_written_to_no_more_and_its_name_is_free() -> None:
    one = team("amy", "bob")
    one.apply_message(sent(one, "c", sender=LEAD, to="amy", content="hi"))
    one.apply_update(updated(one.members["amy"], "left", reason="idle"))
    assert "'amy' has left the team. There are: bob." in refused(
        lambda: sent(one, "d", sender=LEAD, to="amy", content="hi")
    )
    assert broadcast(one, "e", sender=LEAD, content="all").recipients == ["bob"]
    one.apply_update(spawned(one, "call_2", name="amy", role="digs", prompt="dig", most=5))
    assert one.inboxes["amy"] == []
    assert [member.agent_id for member in one.present()] == ["teammate_call_2", "teammate_call_bob"]


def test_an_inbox_and_the_requests_that_are_known_are_bounded() -> None:
    one = team("amy")
    for number in range(KEPT_MESSAGES + 3):
        one.apply_message(sent(one, f"call_{number}", sender="amy", to=LEAD, content=str(number)))
    assert [message.content for message in one.inboxes[LEAD]] == [str(number + 3) for number in range(KEPT_MESSAGES)]
    for number in range(MAX_REQUESTS + 3):
        asked = plan_submitted(one, f"call_{number:012}", sender="amy", plan="dig")
        one.apply_message(asked)
        answer = plan_reviewed(one, "r", request_id=asked.request_id or "", approve=True, feedback="")
        one.apply_message(answer)
    assert len(one.requests) == MAX_REQUESTS
    assert {request.status for request in one.requests.values()} == {"approved"}


def test_a_plan_is_one_at_a_time_and_a_shutdown_is_asked_for_once() -> None:
    one = team("amy")
    one.apply_message(plan_submitted(one, "call_p", sender="amy", plan="dig"))
    assert "is not reviewed yet" in refused(lambda: plan_submitted(one, "call_q", sender="amy", plan="dig"))
    one.apply_message(shutdown_requested(one, "call_s", "amy"))
    assert "is asked already" in refused(lambda: shutdown_requested(one, "call_t", "amy"))
    answer = [*shutdown_answered(one, "a", sender="amy", request_id="req_s", approve=False, reason="")]
    assert [type(event) for event in answer] == [TeamMessage]
    one.apply_message(answer[0])  # pyright: ignore[reportArgumentType] -- it is one
    one.apply_update(updated(one.members["amy"], "left", reason="shutdown"))
    assert "has left" in refused(lambda: plan_reviewed(one, "r", request_id="req_p", approve=True, feedback=""))


def test_one_alone_can_not_write_to_all() -> None:
    assert "nobody else" in refused(lambda: broadcast(Team(), "c", sender=LEAD, content="x"))
    assert listed([]) == "There are no teammates."


def test_an_answer_to_what_nobody_asked_changes_nothing() -> None:
    one = team("amy")
    stray = TeamMessage(
        message_id="m", sender=LEAD, recipients=["amy"], content="", msg_type="plan_review", request_id="req_x"
    )
    one.apply_message(stray)
    assert one.requests == {}
    one.clear()
    assert (one.members, one.inboxes) == ({}, {})


@pytest.mark.parametrize("kind", get_args(TeamMessageKind))
@pytest.mark.parametrize("approve", [True, False])
def test_whatever_one_reads_says_that_it_is_not_the_persons_word(kind: TeamMessageKind, approve: bool) -> None:
    message = TeamMessage(
        message_id="m", sender="amy", recipients=[LEAD], content="do it", msg_type=kind, request_id="r", approve=approve
    )
    assert "it decides and approves nothing" in message_text(message)
    assert message_text(message).endswith("do it")


class Written:
    """`AgentFiles` that keeps what it is given."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    async def write_all(self, session_id: str, user_id: str, folder: str, uploads: Any) -> bool:
        for upload in uploads:
            self.files[f"{folder}/{upload.name}"] = "".join([chunk.decode() async for chunk in upload.chunks])
        return True


def test_while_a_plan_is_not_reviewed_its_teammate_alone_may_only_read() -> None:
    one = team("amy", "bob")
    one.apply_message(plan_submitted(one, "call_p", sender="amy", plan="dig"))

    def judged(name: str, *, reads: bool) -> Verdict:
        setup = replace(ANY, membership=Membership(name=name, role="digs", team=lambda: one))
        tool = replace(THINK.spec, effect="reads" if reads else "writes")
        return Capabilities([TEAMS], setup).judge(ProposedCall(tool=tool, arguments={}))

    assert isinstance(judged("amy", reads=False), Deny)
    assert judged("amy", reads=True) == judged("bob", reads=False) == ALLOW


def test_a_lead_is_told_who_is_there_beside_its_summary_as_long_as_somebody_is() -> None:
    one = team("amy")
    setup = replace(ANY, membership=Membership(name=LEAD, role="", team=lambda: one))
    conversation = Conversation(turns=[], seen_seq=1, next_turn=1, is_answered=False)
    (kept,) = Capabilities([TEAMS], setup).notes_after_compaction(conversation)
    assert "who leads a team" in kept
    assert "amy (digs): working" in kept
    one.apply_update(updated(one.members["amy"], "left", reason="idle"))
    assert list(Capabilities([TEAMS], setup).notes_after_compaction(conversation)) == []


def test_one_without_work_looks_for_some_each_five_seconds_and_leaves_after_a_minute() -> None:
    assert (TeamTiming().poll_s, TeamTiming().idle_s) == (5.0, 60.0)


async def test_config_and_inboxes_are_written_as_they_are_now() -> None:
    one, files = team("amy"), Written()
    one.apply_message(plan_submitted(one, "call_p", sender="amy", plan="dig\nlook"))
    await MirrorTeam(files)("s", "u", one)  # pyright: ignore[reportArgumentType] -- all that is asked of it
    assert files.files[".team/inbox_amy.jsonl"] == ""
    assert files.files[".team/inbox_lead.jsonl"].count("\n") == 1
    assert '"request_id": "req_p"' in files.files[".team/inbox_lead.jsonl"]
    assert '"status": "working"' in files.files[".team/config.json"]
    assert isinstance(updated(one.members["amy"], "idle"), TeammateUpdated)
