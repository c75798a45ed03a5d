"""The tools of a team: `spawn_teammate` and the others of its lead, and those of a teammate."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from backend_api.agent.capability import Setup
from backend_api.agent.events import StoredPayload, TeamMessage
from backend_api.agent.team import (
    LEAD,
    MAX_CONTENT_CHARACTERS,
    MAX_PROMPT_CHARACTERS,
    MAX_ROLE_CHARACTERS,
    MAX_TEAMMATES,
    Membership,
    Team,
    TeamRefusedError,
    broadcast,
    listed,
    plan_reviewed,
    plan_submitted,
    request_with,
    sent,
    shutdown_answered,
    shutdown_requested,
    spawned,
)
from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.local import Arguments, Line, Words, local_tool

SHOWN_MESSAGES = 20
NOBODY = Membership(name=LEAD, role="", team=Team)
"""The membership for tool definitions outside of a team."""
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
Content = Annotated[Words, StringConstraints(min_length=1, max_length=MAX_CONTENT_CHARACTERS)]
RequestId = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]


_note = partial(local_tool, effect="notes")
_look = partial(local_tool, effect="reads", waits=True)
"""Makes tools that may be called until something has come, without counting as a repetition."""


class SpawnArguments(Arguments):
    name: Name = Field(description="What it is called, such as `tester`: a-z, 0-9, _ and -.")
    role: Line = Field(min_length=1, max_length=MAX_ROLE_CHARACTERS, description="What it is there for, in one line.")
    prompt: Words = Field(
        min_length=1,
        max_length=MAX_PROMPT_CHARACTERS,
        description="What it is to do, with all it needs to know: it knows nothing of this conversation.",
    )


class NoArguments(Arguments):
    pass


class SendArguments(Arguments):
    to: Name = Field(description=f"A teammate's name, or `{LEAD}`.")
    content: Content
    msg_type: Literal["message", "question", "result"] = Field(default="message", description="What it is.")


class BroadcastArguments(Arguments):
    content: Content


class ShutdownArguments(Arguments):
    teammate: Name = Field(description="Who is to leave.")


class ProtocolArguments(Arguments):
    request_id: RequestId = Field(description="The id that shutdown_request answered, or that a plan came with.")


class ReviewArguments(Arguments):
    request_id: RequestId = Field(description="The id that the plan came with.")
    approve: bool
    feedback: str = Field(
        default="", max_length=MAX_CONTENT_CHARACTERS, description="What is to be different, or to be minded."
    )


class PlanArguments(Arguments):
    plan: Content = Field(description="What you are about to do, and how you will check it.")


class AnswerArguments(Arguments):
    request_id: RequestId = Field(description="The id that the request came with.")
    approve: bool = Field(description="true: you leave now.")
    reason: str = Field(default="", max_length=MAX_CONTENT_CHARACTERS)


class TeamTools:
    """`ToolSource` of the team's tools, by the agent's part; none without a team."""

    def __init__(self, max_teammates: int = MAX_TEAMMATES) -> None:
        self._most = max_teammates

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        """The tools of the lead, or of a teammate."""
        member = setup.membership
        if member is None:
            return []
        return lead_tools(member, self._most) if member.is_lead else teammate_tools(member)


def lead_tools(member: Membership, most: int = MAX_TEAMMATES) -> list[Tool]:
    """The tools of the lead. Messages are stored with the call's result, and read from the log alone."""

    async def spawn(call: ToolCall, arguments: SpawnArguments) -> Done:
        return _apply(
            lambda team: [
                spawned(
                    team, call.call_id, name=arguments.name, role=arguments.role, prompt=arguments.prompt, most=most
                )
            ],
            member,
            f"{arguments.name} has begun. Its messages come before your next answer; to wait for them end this one.",
        )

    async def tell(call: ToolCall, arguments: NoArguments) -> Done:
        del call, arguments
        return Done(success=True, output=listed(list(member.team().members.values())))

    async def shut_down(call: ToolCall, arguments: ShutdownArguments) -> Done:
        return _request(lambda team: shutdown_requested(team, call.call_id, arguments.teammate), member)

    async def check(call: ToolCall, arguments: ProtocolArguments) -> Done:
        del call
        try:
            asked = request_with(member.team(), arguments.request_id)
        except TeamRefusedError as refused:
            return _refusal(refused)
        text = f" They said: {asked.feedback}" if asked.feedback else ""
        output = f"{asked.id}: {asked.kind} request of {asked.sender} to {asked.recipient}, {asked.status}.{text}"
        return Done(success=True, output=output)

    async def review(call: ToolCall, arguments: ReviewArguments) -> Done:
        return _apply(
            lambda team: [
                plan_reviewed(
                    team,
                    call.call_id,
                    request_id=arguments.request_id,
                    approve=arguments.approve,
                    feedback=arguments.feedback,
                )
            ],
            member,
            "It is told.",
        )

    return [
        _note(
            name="spawn_teammate",
            description=(
                f"Begin a teammate, an agent that works beside you until it has nothing more to do: at most {most} at "
                "a time. It shares your computer and the session's tasks."
            ),
            arguments=SpawnArguments,
            phrase="Adding {name} to the team",
            run_call=spawn,
        ),
        _look(
            name="list_teammates",
            description="Who is in the team, and whether they work, are idle or have left.",
            arguments=NoArguments,
            phrase="Looking at the team",
            run_call=tell,
        ),
        *_messages(member),
        _note(
            name="shutdown_request",
            description="Ask a teammate to leave. It answers by itself; its answer comes as a message.",
            arguments=ShutdownArguments,
            phrase="Asking {teammate} to leave",
            run_call=shut_down,
        ),
        _look(
            name="check_protocol",
            description="What became of a shutdown request or of a plan.",
            arguments=ProtocolArguments,
            phrase="Looking at the request {request_id}",
            run_call=check,
        ),
        _note(
            name="plan_review",
            description="Approve or reject the plan of a teammate, which changes nothing before you do.",
            arguments=ReviewArguments,
            phrase="Reviewing a plan",
            run_call=review,
        ),
    ]


def teammate_tools(member: Membership) -> list[Tool]:
    """The tools of a teammate, which work like the lead's."""

    async def submit(call: ToolCall, arguments: PlanArguments) -> Done:
        return _request(
            lambda team: plan_submitted(team, call.call_id, sender=member.name, plan=arguments.plan), member
        )

    async def answer(call: ToolCall, arguments: AnswerArguments) -> Done:
        return _apply(
            lambda team: shutdown_answered(
                team,
                call.call_id,
                sender=member.name,
                request_id=arguments.request_id,
                approve=arguments.approve,
                reason=arguments.reason,
            ),
            member,
            "You leave the team." if arguments.approve else "It is told.",
        )

    return [
        *_messages(member),
        _note(
            name="submit_plan",
            description=(
                f"Have {LEAD} review what you are about to do. End your answer then: the review comes as a message, "
                "and until it does you can change nothing."
            ),
            arguments=PlanArguments,
            phrase="Submitting a plan",
            run_call=submit,
        ),
        _note(
            name="answer_shutdown",
            description="Answer a request to leave the team. Agree only if nothing of your work is left half done.",
            arguments=AnswerArguments,
            phrase="Answering the request to leave",
            run_call=answer,
        ),
    ]


def team_tools() -> list[Tool]:
    """All tools of a team, each once."""
    tools = {tool.spec.name: tool for tool in (*lead_tools(NOBODY), *teammate_tools(NOBODY))}
    return list(tools.values())


def _messages(member: Membership) -> list[Tool]:
    """The tools that every member has."""

    async def send(call: ToolCall, arguments: SendArguments) -> Done:
        return _apply(
            lambda team: [
                sent(
                    team,
                    call.call_id,
                    sender=member.name,
                    to=arguments.to,
                    content=arguments.content,
                    msg_type=arguments.msg_type,
                )
            ],
            member,
            f"Sent to {arguments.to}.",
        )

    async def send_all(call: ToolCall, arguments: BroadcastArguments) -> Done:
        return _apply(
            lambda team: [broadcast(team, call.call_id, sender=member.name, content=arguments.content)],
            member,
            "Sent to all others of the team.",
        )

    async def read(call: ToolCall, arguments: NoArguments) -> Done:
        del call, arguments
        inbox = member.team().inboxes.get(member.name, [])[-SHOWN_MESSAGES:]
        return Done(success=True, output="\n".join(map(_line, inbox)) or "There are no messages for you.")

    return [
        _note(
            name="send_message",
            description="Tell another one of the team something; it reads that before its next answer.",
            arguments=SendArguments,
            phrase="Writing to {to}",
            run_call=send,
        ),
        _look(
            name="read_inbox",
            description=(
                f"The last {SHOWN_MESSAGES} messages that you were sent in this team, a JSON object each. New ones "
                "come by themselves before your next answer; this is for reading them again."
            ),
            arguments=NoArguments,
            phrase="Reading messages of the team",
            run_call=read,
        ),
        _note(
            name="broadcast",
            description="Tell all others of the team something. Each of them reads it: use it for what concerns all.",
            arguments=BroadcastArguments,
            phrase="Writing to the team",
            run_call=send_all,
        ),
    ]


def _apply(events: Callable[[Team], Sequence[StoredPayload]], member: Membership, text: str) -> Done:
    try:
        return Done(success=True, output=text, events=events(member.team()))
    except TeamRefusedError as refused:
        return _refusal(refused)


def _request(message: Callable[[Team], TeamMessage], member: Membership) -> Done:
    try:
        asked = message(member.team())
    except TeamRefusedError as refused:
        return _refusal(refused)
    return Done(success=True, output=f"Asked: {asked.request_id}. The answer comes as a message.", events=[asked])


def _refusal(refused: TeamRefusedError) -> Done:
    return Done(success=False, output=f"Nothing was done: {refused}")


def _line(message: TeamMessage) -> str:
    fields = {"from": message.sender, "msg_type": message.msg_type, "request_id": message.request_id}
    fields = {name: value for name, value in fields.items() if value is not None} | {"content": message.content}
    return json.dumps(fields, ensure_ascii=False)
