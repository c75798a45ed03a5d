"""Whatever a model does, the run ends with a clear event and the session stays usable."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from support.api_client import ApiClient
from support.model_server import Answer, Call, ModelServer
from support.stack import Stack, run_stack

pytestmark = pytest.mark.asyncio(loop_scope="module")
Json = dict[str, Any]
FORMS = ("chat", "responses", "messages")
WORDS = ("All", " is", " well")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=FORMS)
async def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[ModelServer, Stack, str]]:
    """Model, stack and wire format."""
    form: str = request.param
    async with ModelServer(Answer(texts=WORDS)) as model:
        with run_stack(
            tmp_path_factory.mktemp("faults"), SANDBOX_DESKTOP="false", **settings_for(model, form)
        ) as stack:
            yield model, stack, form


def settings_for(model: ModelServer, form: str) -> dict[str, str]:
    openai = {"LLM_PROVIDER": "openai", "OPENAI_API_KEY": "sk-scripted", "OPENAI_BASE_URL": model.openai_url}
    anthropic = {"LLM_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-scripted", "ANTHROPIC_BASE_URL": model.url}
    return {
        **(anthropic if form == "messages" else {**openai, "OPENAI_API": form}),
        "MODEL": "scripted",
        "LLM_MAX_RETRIES": "1",
        "LLM_RETRY_BASE_DELAY": "0.01",
        "LLM_RETRY_MAX_DELAY": "0.05",
    }


# Of responses one that is not whole, and does not say why, was cut: it goes on.
NO_REASON = {False: ("failed", "without a finish reason"), True: ("completed", "")}


async def test_every_fault_of_a_model_ends_in_a_clear_event_and_a_usable_session(
    served: tuple[ModelServer, Stack, str],
) -> None:
    model, stack, form = served
    key = "ANTHROPIC_API_KEY" if form == "messages" else "OPENAI_API_KEY"
    cases: list[tuple[str, list[Answer], str, str]] = [
        ("401", [Answer(status=401)], "failed", key),
        ("429 for ever", [Answer(status=429)] * 4, "failed", "429"),
        ("500 for ever", [Answer(status=500)] * 4, "failed", "500"),
        ("cut in mid-answer", [Answer(texts=("Half", " an", " answer"), cut_after=3)], "failed", "lost"),
        ("500 once", [Answer(status=500)], "completed", ""),
        ("broken arguments", [Answer(texts=(), calls=(Call(name="shell_exec", arguments='{"comm'),))], "completed", ""),
        ("no such tool", [Answer(texts=(), calls=(Call(name="teleport"),))], "completed", ""),
        ("a name too long", [Answer(texts=(), calls=(Call(name="shell_exec" * 9),))], "completed", ""),
        ("one id twice", [Answer(texts=(), calls=(Call(name="utc_now"), Call(name="utc_now")))], "completed", ""),
        ("nothing", [Answer(texts=())], "completed", ""),
        ("only thinking", [Answer(texts=(), thinking=("hm",))], "completed", ""),
        ("no reason", [Answer(texts=WORDS, finish="")], *NO_REASON[form == "responses"]),
    ]
    async with ApiClient(stack.base_url) as api:
        for name, answers, status, told in cases:
            session = await api.new_session()
            model.script.clear()
            model.answer(*answers)
            events = await api.ask(session, name)
            end = events[-1]
            assert end["status"] == status, (name, end)
            assert told in (end["reason"] or ""), (name, end)
            if status == "failed":
                error = next(event for event in events if event["type"] == "error")
                assert error["code"].startswith("model_"), (name, error)
            model.script.clear()
            again = await api.ask(session, "and now?")
            assert again[-1]["status"] == "completed", (name, again[-1])
            said = [event["text"] for event in again if event["type"] == "message.completed"]
            assert said[-1] == "".join(WORDS)
    assert model.refusals == []


async def test_a_model_that_hangs_can_be_stopped_at_once(served: tuple[ModelServer, Stack, str]) -> None:
    model, stack, _ = served
    model.script.clear()
    async with ApiClient(stack.base_url) as api:
        session = await api.new_session()
        model.answer(Answer(texts=("Let", " me", " think"), hang_after=3))
        accepted = await api.send(session, "hello")
        await api.until(session, "message.delta", after=accepted["seq"])
        await api.json("POST", f"/sessions/{session}/stop", expect=202)
        events = await api.until(session, "run.finished", after=accepted["seq"], timeout_s=30)
        assert events[-1]["status"] == "stopped"
        kept = next(event for event in events if event["type"] == "message.completed")
        assert kept["text"].startswith("Let")
        assert (await api.ask(session, "again"))[-1]["status"] == "completed"
