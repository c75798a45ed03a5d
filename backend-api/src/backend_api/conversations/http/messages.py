"""Messages and the runs that answer them."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Annotated

from fastapi import APIRouter, Request, Response

from backend_api.agent.events import ApprovalResolved
from backend_api.agent.questions import Answers
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.application.compact_session import CompactSession
from backend_api.conversations.application.follow_run import FollowRun, RunTakesTooLongError
from backend_api.conversations.application.resume_run import ResumeRun
from backend_api.conversations.application.send_message import SendMessage
from backend_api.conversations.application.stop_run import StopRun
from backend_api.conversations.application.stream_slots import StreamSlots
from backend_api.conversations.domain.entity import RunId
from backend_api.conversations.http.event_stream import EventStream, event_frame, wait_for_disconnect
from backend_api.conversations.http.events import STREAM
from backend_api.conversations.http.message_schemas import (
    AcceptedBody,
    AnsweredBody,
    AnswersBody,
    CompactBody,
    CompactingBody,
    DecidedBody,
    DecisionBody,
    MessageBody,
    PlanDecidedBody,
    PlanDecisionBody,
    ResumedBody,
    RunResultBody,
    StopBody,
    StoppedBody,
)
from backend_api.identity.application.connection_auth import ConnectionAuth
from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import Options, port
from backend_api.kit.ids import SessionId

router = APIRouter(prefix="/api/sessions/{session_id}", tags=["runs"])
_MESSAGE = {"text": "Summarise report.pdf in five lines.", "client_message_id": "m-1"}

GATEWAY_ENDS = "This gateway is shutting down; the run continues. Follow its events."
CALLER_LEFT = "The client disconnected; the run continues."


@router.post("/messages", status_code=202, responses={409: {}}, openapi_extra=with_example(_MESSAGE))
async def send_message(
    session_id: str,
    body: MessageBody,
    caller: CurrentCaller,
    send_message: Annotated[SendMessage, port("send_message")],
) -> AcceptedBody:
    """Send a message. The run that answers it continues after this call returns. A run that waits for a person keeps
    waiting and reads it after the decision; with `interrupt` what it waits for is denied, and it reads it at once."""
    accepted = await send_message(SessionId(session_id), caller.user.id, body.message())
    return AcceptedBody.model_validate(accepted)


@router.post(
    "/questions/{question_id}", responses={409: {}}, openapi_extra=with_example({"answers": {"format": "As a table"}})
)
async def answer_question(
    session_id: str,
    question_id: str,
    body: AnswersBody,
    caller: CurrentCaller,
    answer_wait: Annotated[AnswerWait, port("answer_wait")],
) -> AnsweredBody:
    """Answer a question of the agent (`question.asked`); its run continues once it waits for nothing else. 409 if it
    was answered or expired."""
    resolved = await answer_wait(SessionId(session_id), caller.user.id, question_id, Answers(body.answers))
    return AnsweredBody(question_id=question_id, is_waiting=not resolved.is_queued)


@router.post(
    "/approvals/{approval_id}",
    responses={409: {}},
    openapi_extra=with_example({"decision": "deny", "feedback": "Leave that file as it is."}),
)
async def decide_approval(
    session_id: str,
    approval_id: str,
    body: DecisionBody,
    caller: CurrentCaller,
    answer_wait: Annotated[AnswerWait, port("answer_wait")],
) -> DecidedBody:
    """Approve or deny calls that wait for it (`approval.requested`); their run continues once all are decided. 409 if
    one of them was decided already, with who did it; nothing changes then."""
    resolved = await answer_wait(SessionId(session_id), caller.user.id, approval_id, body.decided())
    resolution = next(event.payload for event in resolved.events if isinstance(event.payload, ApprovalResolved))
    return DecidedBody(
        approval_id=approval_id,
        call_ids=resolution.call_ids,
        decision=resolution.decision,
        is_waiting=not resolved.is_queued,
    )


@router.post(
    "/plans/{plan_id}",
    responses={409: {}},
    openapi_extra=with_example({"decision": "reject", "feedback": "Write the tests first."}),
)
async def decide_plan(
    session_id: str,
    plan_id: str,
    body: PlanDecisionBody,
    caller: CurrentCaller,
    answer_wait: Annotated[AnswerWait, port("answer_wait")],
) -> PlanDecidedBody:
    """Approve a plan (`plan.proposed`), which ends plan mode, or reject it with feedback; its run continues. 409 if it
    was decided already."""
    await answer_wait(SessionId(session_id), caller.user.id, plan_id, body.decided())
    return PlanDecidedBody(plan_id=plan_id, decision=body.decision)


@router.post("/runs", responses={409: {}}, openapi_extra=with_example(_MESSAGE))
async def run(
    session_id: str,
    body: MessageBody,
    caller: CurrentCaller,
    stream_slots: Annotated[StreamSlots, port("stream_slots")],
    follow_run: Annotated[FollowRun, port("follow_run")],
    options: Options,
    request: Request,
) -> RunResultBody:
    """Send a message and wait until the run ends, or waits for a person (status `waiting`), as it may already.
    Disconnecting early frees the slot and does not stop the run."""
    with stream_slots.claim_slot(caller.claims, "run") as auth:
        following = follow_run.wait_for_result(
            SessionId(session_id), caller.user.id, body.message(), timeout_s=options.run_wait_s
        )
        waiting, leaving = asyncio.create_task(following), asyncio.create_task(wait_for_disconnect(request.receive))
        try:
            await asyncio.wait({waiting, leaving, auth.ended}, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                return RunResultBody.of(waiting.result())
            if auth.ended.done():
                raise auth.ended.result() or RunTakesTooLongError(GATEWAY_ENDS)
            raise RunTakesTooLongError(CALLER_LEFT)
        finally:
            waiting.cancel()
            leaving.cancel()
            await asyncio.wait({waiting, leaving})


@router.post(
    "/runs/stream",
    responses={200: {"content": {"text/event-stream": {"schema": STREAM}}}, 409: {}},
    response_class=Response,
    openapi_extra=with_example(_MESSAGE),
)
async def stream_run(
    session_id: str,
    body: MessageBody,
    caller: CurrentCaller,
    follow_run: Annotated[FollowRun, port("follow_run")],
    stream_slots: Annotated[StreamSlots, port("stream_slots")],
    options: Options,
) -> Response:
    """Send a message and stream the events of the run until `run.finished`."""
    with ExitStack() as taking:
        # Taken before the message, so that a caller without a slot sends none.
        auth = taking.enter_context(stream_slots.claim_slot(caller.claims, "sse"))
        accepted = await follow_run.send_first(SessionId(session_id), caller.user.id, body.message())
        events = follow_run.follow_events_of(SessionId(session_id), caller.user.id, accepted)
        return EventStream(events, event_frame, slot=_holding(auth, taking.pop_all()), heartbeat_s=options.heartbeat_s)


@contextmanager
def _holding(auth: ConnectionAuth, taken: ExitStack) -> Generator[ConnectionAuth]:
    """The slot that was taken before, released at the end of the block."""
    with taken:
        yield auth


@router.post("/runs/{run_id}/resume", status_code=202, responses={409: {}})
async def resume(
    session_id: str, run_id: str, caller: CurrentCaller, resume_run: Annotated[ResumeRun, port("resume_run")]
) -> ResumedBody:
    """Resume the session's last run if it failed, was stopped or was interrupted: a run without a message. 409 if there
    is nothing to resume."""
    resumed = await resume_run(SessionId(session_id), caller.user.id, RunId(run_id))
    return ResumedBody(run_id=resumed)


@router.post(
    "/compact",
    status_code=202,
    responses={409: {}},
    openapi_extra=with_example({"focus": "What was decided, and why."}),
)
async def compact(
    session_id: str,
    caller: CurrentCaller,
    compact_session: Annotated[CompactSession, port("compact_session")],
    body: CompactBody | None = None,
) -> CompactingBody:
    """Replace the conversation so far by a summary of it for the model, before the next answer of an active run,
    otherwise at once. A request with a focus while a summary is being written takes effect after it. 409 if there are
    no messages yet."""
    run_id = await compact_session(SessionId(session_id), caller.user.id, body.focus if body else None)
    return CompactingBody(run_id=run_id)


_NOT_ACTIVE = "There is nothing to stop: the session is idle, or the run of `run_id` is not its active one."


@router.post(
    "/stop",
    status_code=202,
    responses={202: {"model": StoppedBody}, 204: {"description": _NOT_ACTIVE}},
    response_model=None,
    openapi_extra=with_example({"run_id": "3f6c0e0a9d5b4c7e8a1b2c3d4e5f6071"}),
)
async def stop(
    session_id: str, caller: CurrentCaller, stop_run: Annotated[StopRun, port("stop_run")], body: StopBody | None = None
) -> StoppedBody | Response:
    """Stop the active run of the session, and its background work. With a `run_id` only if that is the active run:
    otherwise nothing is stopped, and the answer is 204."""
    wanted = RunId(body.run_id) if body and body.run_id is not None else None
    run_id = await stop_run(SessionId(session_id), caller.user.id, wanted)
    return Response(status_code=204) if run_id is None else StoppedBody(run_id=run_id)
