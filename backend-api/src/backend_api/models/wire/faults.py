"""Providers' errors as the domain's model errors."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Any, cast

from backend_api.agent.model import (
    ModelAuthError,
    ModelContextError,
    ModelError,
    ModelMissingError,
    ModelRateLimitError,
    ModelRequestError,
    ModelUnavailableError,
)

MAX_MESSAGE_CHARACTERS = 300
_MAX_DEPTH = 20
"""The deepest nesting in which an error's message is looked for."""
_TITLE = re.compile(r"<title[^>]*>([^<]{1,300})", re.IGNORECASE)
_STATUS = re.compile(r"[1-5][0-9]{2}")
PASSING = frozenset({408, 409})
"""Statuses that may pass, besides all from 500 on: the same request may succeed a moment later."""
QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_NO_MODEL_CODES = frozenset({"model_not_found"})
_TOO_LONG_CODES = frozenset({"context_length_exceeded", "request_too_large"})
_TOO_LONG = re.compile(
    r"prompt is too long|input is too long|(?:maximum|exceeds?).{0,40}context (?:length|window|limit|size)"
    r"|context (?:length|window|limit|size).{0,40}exceed|input length and `?max_tokens"
    r"|input token count.{0,40}exceed|exceed\w*.{0,40}token limit|maximum (?:prompt|input) length|range of input length"
    r"|too (?:large|long) for (?:the |this )?model|reduce the length"
    r"|tokens to keep from the initial prompt|context length of only|context.{0,10}overflow",
    re.IGNORECASE,
)
_WAIT = re.compile(
    r"(?:try again|retry) (?:in|after) ((?:[0-9.]{1,12} ?(?:hours?|h|minutes?|ms|m|seconds?|s)(?![a-z]) ?)+)",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"([0-9.]+) ?(h|ms|m|s)", re.IGNORECASE)
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_MAX_HEAD = 150
"""Characters of the model's output in the error, if its server could not parse it."""
STATUS_OF_TYPE: dict[str, int] = {
    "authentication_error": 401,
    "permission_error": 403,
    "invalid_request_error": 400,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "too_many_requests": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
    "context_length_exceeded": 400,
    "invalid_prompt": 400,
    "invalid_image": 400,
    "invalid_image_format": 400,
    "invalid_base64_image": 400,
    "unsupported_image_media_type": 400,
    "image_too_large": 400,
    "image_too_small": 400,
    "image_parse_error": 400,
    "image_content_policy_violation": 400,
    "empty_image_file": 400,
}


def fault_of(status: int, error: object, *, provider: str, key_setting: str, headers: Mapping[str, str]) -> ModelError:
    """The error for an answer with this status. `error` is the provider's error object, if it sent one."""
    message, code = _message(error)
    said = f": {message}" if message else "."
    if status in (401, 403):
        return ModelAuthError(f"{provider} refused the key ({status}){_sentence(said)} Check {key_setting}.")
    if status == 429:
        return ModelRateLimitError(
            f"{provider} accepts no more requests for now ({status}){said}",
            may_retry=code not in QUOTA_CODES,
            retry_after_s=_requested_wait_s(headers, error, message),
        )
    is_too_long = _is_too_long(status, message, code)
    if status in PASSING or (status >= 500 and not is_too_long):
        return ModelUnavailableError(
            f"{provider} is not available now ({status}){said}",
            may_retry=True,
            retry_after_s=_requested_wait_s(headers, error, message),
        )
    if 300 <= status < 400:
        elsewhere = "and redirects are not followed. Set its final address."
        return ModelRequestError(f"{provider} redirects to another address ({status}), {elsewhere}")
    if is_too_long:
        return ModelContextError(
            f"This conversation is too long for the model ({in_sentence(provider)}, {status}){_sentence(said)} "
            "Go on in a new conversation, or choose a model with a larger context window."
        )
    if status == 404 or code in _NO_MODEL_CODES:
        return ModelMissingError(f"{provider} has no such model for this request ({status}){said}")
    return ModelRequestError(f"{provider} refused the request ({status}){said}")


def _sentence(said: str) -> str:
    """The text with a full stop, so that another sentence can follow."""
    said = said.rstrip()
    return said if said.endswith((".", "!", "?", "。")) else f"{said}."


def fault_in_stream(error: object, *, provider: str, key_setting: str) -> ModelError:
    """The error for one that a provider sends in the middle of a stream."""
    status = status_in(error) or 500
    return fault_of(status, error, provider=provider, key_setting=key_setting, headers={})


def status_in(error: object) -> int | None:
    """The status an error object stands for, if it gives one."""
    for _ in range(_MAX_DEPTH):
        fields = as_object(error)
        if (status := _status_of(fields)) is not None or not isinstance(fields.get("error"), dict):
            return status
        error = fields["error"]
    return None


def _status_of(fields: Mapping[str, Any]) -> int | None:
    for name in ("status", "code", "type"):
        value = fields.get(name)
        if isinstance(value, int) and 100 <= value < 600:
            return value
        if (status := STATUS_OF_TYPE.get(str(value).lower())) is not None:
            return status
        if isinstance(value, str) and _STATUS.fullmatch(value):
            return int(value)
    return None


def is_fault(answer: Mapping[str, Any]) -> bool:
    """Whether an object that is no answer reports an error, in any form."""
    is_named = answer.get("type") == "error" or answer.get("object") == "error" or bool(answer.get("error"))
    return is_named or bool(_text(answer))


def as_object(value: object) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The wait in seconds by `retry-after-ms`, or by `Retry-After` as seconds or as a date."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return _wait(float(milliseconds) / 1000)
        wanted = headers.get("retry-after")
        if not wanted:
            return None
        if wanted.replace(".", "", 1).isdigit():
            return _wait(float(wanted))
        return _wait((parsedate_to_datetime(wanted) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _requested_wait_s(headers: Mapping[str, str], error: object, message: str) -> float | None:
    """The wait, in seconds, that the provider requests: in its headers, in the details of its error (Google), or in
    words."""
    asked = retry_after_s(headers)
    if asked is not None:
        return asked
    details: object = as_object(_innermost(error)).get("details")
    told = cast("list[object]", details) if isinstance(details, list) else []
    delays = [delay for one in told if isinstance(delay := as_object(one).get("retryDelay"), str)]
    words = _WAIT.search(message)
    amounts = _AMOUNT.findall(delays[0][:20] if delays else words[1] if words else "")
    try:
        return _wait(sum(float(amount) * _SECONDS[unit.lower()] for amount, unit in amounts)) if amounts else None
    except ValueError:
        return None


def _wait(seconds: float) -> float | None:
    return None if math.isnan(seconds) else max(seconds, 0.0)


def _is_too_long(status: int, message: str, code: str) -> bool:
    """Whether the input was too long. Some providers report a code for it, others only words, and a proxy in front only
    the status. 500 is assumed for an error in a stream without a status."""
    is_told = code in _TOO_LONG_CODES or _TOO_LONG.search(message) is not None
    return status == 413 or (status in (400, 422, 500) and is_told)


def message_of(error: object) -> str:
    """The message of an error in any form, or empty if there is no text."""
    return _message(error)[0]


def _message(error: object) -> tuple[str, str]:
    """The message of an error, and its code."""
    inner = _innermost(error)
    fields = as_object(inner)
    code = fields.get("code") or fields.get("type")
    said = _text(fields) if fields else _readable(inner)
    if wrote := _head(fields.get("failed_generation")):
        said = f"{said[: MAX_MESSAGE_CHARACTERS - _MAX_HEAD - 20]} The model wrote: {wrote}"
    return said[:MAX_MESSAGE_CHARACTERS], str(code) if isinstance(code, (str, int)) else ""


def _innermost(error: object) -> object:
    """The innermost value under keys named error; None if it is nested too deep."""
    for _ in range(_MAX_DEPTH):
        if isinstance(error, list):
            # Google's errors are lists with one entry.
            error = next(iter(cast("list[object]", error)), None)
            continue
        inner: object = as_object(error).get("error")
        if not isinstance(inner, (dict, list, str)) or not inner:
            return error
        error = cast("object", inner)
    return None


def _head(text: object) -> str:
    """The beginning of the model's output, which Groq reports if it could not parse a call in it."""
    if not isinstance(text, str):
        return ""
    wrote = " ".join(text[: 2 * _MAX_HEAD].split())
    return wrote if len(wrote) <= _MAX_HEAD else wrote[: _MAX_HEAD - 1] + "…"


def _text(fields: Mapping[str, Any], depth: int = 0) -> str:
    """The message in the fields, with the one a gateway passes on from the provider behind it."""
    named = [fields.get(name) for name in ("message", "detail", "msg", "status_msg", "error_description")]
    said = next((text for value in named if (text := _words(value, depth))), "")
    if not said and (base := as_object(fields.get("base_resp"))):
        # MiniMax sends this field in successful answers too.
        said = _words(base.get("status_msg"), depth) if base.get("status_code") else ""
    raw = _words(as_object(fields.get("metadata")).get("raw"), depth)
    return f"{said}: {raw}" if said and raw else said


def _words(value: object, depth: int) -> str:
    """The text in a value: validation errors are lists of objects."""
    if depth >= _MAX_DEPTH:
        return ""
    if isinstance(value, list):
        return "; ".join(text for one in cast("list[object]", value) if (text := _words(one, depth + 1)))
    if isinstance(value, dict):
        return _text(as_object(cast("object", value)), depth + 1)
    return _readable(value)


def _readable(value: object) -> str:
    """A text; the title if it is a web page."""
    if not isinstance(value, str):
        return ""
    text = value.strip()
    if text[:1] != "<":
        return text
    title = _TITLE.search(text[:10_000])
    return " ".join(unescape(title[1]).split()) if title else ""


def in_sentence(provider: str) -> str:
    """The provider's name for the middle of a sentence."""
    return f"the {provider.removeprefix('The ')}" if provider.startswith("The ") else provider
