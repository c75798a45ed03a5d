"""No key in what is said of a fault."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from dataclasses import replace

import pytest

from backend_api.agent.model import (
    FinishPart,
    ModelAuthError,
    ModelError,
    ModelRateLimitError,
    ModelRequest,
    ModelUnavailableError,
    TextPart,
    UserTurn,
)
from backend_api.models.wire.calls import ModelCalls, RetryPolicy
from backend_api.models.wire.key_masking import KeyMask, mask_key
from support.scripted import ScriptedModel

KEY = "sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"


@pytest.mark.parametrize(
    "said",
    [
        f"Incorrect API key provided: {KEY}.",
        "Incorrect API key provided: sk-proj-AbC*****************6789.",
        "your key AbCdEfGhIj…Yz0123456789 is wrong",
        "Authorization: Bearer sk-proj-AbCdEfGhIjKl was refused",
    ],
)
def test_neither_the_key_nor_a_part_of_it_is_left(said: str) -> None:
    told = mask_key(said, KEY)
    assert not any(KEY[start : start + 5] in told for start in range(len(KEY) - 4))
    assert "*" not in told
    assert told.split()[0] == said.split()[0]


@pytest.mark.parametrize(
    "said",
    [
        " ".join(KEY),
        "-".join(KEY[at : at + 4] for at in range(0, len(KEY), 4)),
        "\u200b".join(KEY[at : at + 3] for at in range(0, len(KEY), 3)),
        KEY.encode().hex(),
        *(b64encode(f"{before}{KEY}".encode()).decode() for before in ("", "a", "me:", "Bearer ")),
        urlsafe_b64encode(f"me:{KEY}".encode()).decode(),
    ],
)
def test_no_form_of_a_key_is_told(said: str) -> None:
    told = mask_key(f"You sent {said} to us.", KEY)
    assert told.startswith("You sent ")
    assert told.endswith(" to us.")
    shown = "".join(filter(str.isalnum, told.removeprefix("You sent ").removesuffix(" to us.")))
    assert len(shown) <= 16, told


def test_other_words_stay_and_so_do_those_of_servers_without_keys() -> None:
    said = "The model nonesuch does not exist (404)."
    assert mask_key(said, KEY) == mask_key(said, "none") == said


REQUEST = ModelRequest(model="m", system="", turns=[UserTurn(text="hi")], tools=[], max_output_tokens=9)


def calls_of(error: ModelError, *, is_own: bool) -> ModelCalls:
    mask = KeyMask(key=KEY, key_setting="OPENAI_API_KEY", is_own=is_own)
    return ModelCalls(ScriptedModel([error]), "openai", RetryPolicy(max_retries=0), key_mask=mask)


async def test_an_error_is_told_without_its_key_and_cause_and_says_whose_it_is() -> None:
    try:
        raise ValueError(KEY)
    except ValueError as cause:
        error = ModelAuthError(f"Refused the key (401): {KEY} Check OPENAI_API_KEY.")
        error.__cause__ = cause
    model = calls_of(error, is_own=True)
    with pytest.raises(ModelAuthError) as told:
        _ = [part async for part in model.stream(REQUEST)]
    assert told.value.detail == "Refused the key (401): … Check your own key in the settings."
    assert told.value.__suppress_context__
    assert told.value.__cause__ is None


async def test_what_a_retry_needs_is_kept() -> None:
    error = ModelRateLimitError("Wait.", may_retry=True, retry_after_s=3.0)
    model = calls_of(error, is_own=False)
    with pytest.raises(ModelRateLimitError) as told:
        _ = [part async for part in model.stream(REQUEST)]
    assert (told.value.detail, told.value.may_retry, told.value.retry_after_s) == ("Wait.", True, 3.0)


async def test_who_is_told_of_a_failed_attempt_reads_no_key() -> None:
    told: list[str] = []
    request = replace(REQUEST, on_failed_attempt=lambda error, _: told.append(error.detail))

    async def no_wait(_: float) -> None: ...

    busy = ModelUnavailableError(f"Busy: {KEY}", may_retry=True)
    mask = KeyMask(key=KEY, key_setting="OPENAI_API_KEY", is_own=False)
    model = ScriptedModel([busy], [TextPart("ok"), FinishPart("stop")])
    calls = ModelCalls(model, "openai", RetryPolicy(), key_mask=mask, sleep=no_wait)
    _ = [part async for part in calls.stream(request)]
    assert told == ["Busy: …"]
