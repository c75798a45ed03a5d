"""A run without a message goes on from what stands in the log, with the same bytes."""

from __future__ import annotations

import itertools

import pytest

from backend_api.agent.events import ContextOpened, RunFinished
from backend_api.agent.model import ModelRequestError, NoteTurn, TextPart, UserTurn
from backend_api.conversations.application.resume_run import NOTE, ResumeRun
from backend_api.conversations.domain.entity import RunId
from backend_api.conversations.domain.errors import NothingToResumeError
from backend_api.identity.application.limits import Limits
from backend_api.identity.in_process_rate_limiter import InProcessRateLimiter
from support.acting import STOP
from support.scripted import ScriptedModel
from support.stage import USER, Stage, worker_for, working


@pytest.mark.parametrize("other_worker", [False, True])
async def test_the_model_is_sent_what_was_said_with_a_note_and_the_same_after_it(other_worker: bool) -> None:
    stage = Stage()
    session = await stage.open_session(title="named")
    resume = ResumeRun(
        stage.ledger, stage.stream, stage.notifier, InProcessRateLimiter(), Limits(messages_per_minute=0)
    )
    failing = [TextPart("Half"), ModelRequestError("No.")]
    model = ScriptedModel(failing, failing, [TextPart("Whole."), STOP], [TextPart("Yes."), STOP])
    worker = worker_for(stage, model)
    runs: list[RunId] = []
    async with working(worker):
        runs.append(await stage.say(session, "go"))
        assert (await stage.until_finished(runs[-1])).status == "failed"
        runs.append(await resume(session, USER, runs[-1]))
        assert (await stage.until_finished(runs[-1])).status == "failed"
    async with working(worker_for(stage, model, name="worker_2") if other_worker else worker_for(stage, model)):
        runs.append(await resume(session, USER, runs[-1]))
        assert (await stage.until_finished(runs[-1])).status == "completed"
        with pytest.raises(NothingToResumeError):
            await resume(session, USER, runs[-1])
        runs.append(await stage.say(session, "more"))
        await stage.until_finished(runs[-1])
    sent = [request.turns for request in model.requests]
    assert all(list(later[: len(earlier)]) == list(earlier) for earlier, later in itertools.pairwise(sent))
    assert isinstance(sent[0][0], UserTurn)
    assert [sum(turn == NoteTurn(text=NOTE.text) for turn in turns) for turns in sent] == [0, 1, 2, 2]
    assert len(stage.payloads(session, ContextOpened)) == 1
    assert len(stage.payloads(session, RunFinished)) == 4
    assert [stage.run(run).message_id is None for run in runs] == [False, True, True, False]
