"""Calls of the sandbox manager's REST contract: repeated while it is away, its problems raised as the domain's
errors."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from backend_api.kit.context_headers import context_headers
from backend_api.kit.tls import trusted_certificates
from backend_api.sandboxes.domain.errors import SandboxLimitError, SandboxNotAllowedError, SandboxUnavailableError
from contracts.errors import Problem
from service_kit.bounded_http import (
    Answer,
    BoundedHttp,
    Bounds,
    RefusedAnswerError,
    Transport,
    TransportError,
    tcp_or_socket,
)

LONG_POLL_MS = 10_000
CONNECT_S = 5.0
BODY_BYTES = 16 * 1024 * 1024
"""A list of all sandboxes has some 600 bytes for each."""
BOUNDS = Bounds(body_bytes=BODY_BYTES, head_s=LONG_POLL_MS / 1000 + 20.0, silent_s=20.0)
"""Longer than one long poll, shorter than a person waits."""
REACH_FOR_S = 15.0
"""Seconds in which a manager that is being replaced is back, or another one answers. Every call may be repeated."""
RETRY_S = 60
NOT_ALLOWED = frozenset({"sandbox_image_not_allowed", "sandbox_size_not_allowed", "sandbox_image_missing"})
PASSING = frozenset({"registry_unavailable", "sandbox_busy"})
UNREACHED = "The service that runs the computers can't be reached. Try again in a moment."
UNUSABLE = (
    "The service that runs the computers answered with something else than was asked for. Try again in a moment; if "
    "that does not help, whoever runs this installation should check that `SANDBOX_MANAGER_URL` leads to it."
)
AnswerT = TypeVar("AnswerT", bound=BaseModel)


def manager_http(url: str, token: str, transport: Transport | None = None) -> BoundedHttp:
    """Connections to the manager, which the caller closes; without a `transport` over TCP."""
    return BoundedHttp(
        transport or tcp_or_socket(certificates=trusted_certificates(), most_idle=20, idle_s=5.0),
        base_url=url,
        connect_s=CONNECT_S,
        fields={"peer": "sandbox manager"},
        headers={"Authorization": f"Bearer {token}"},
        headers_of_call=context_headers,
    )


async def ask_manager(http: BoundedHttp, method: str, path: str, *, reach_for_s: float, **fields: Any) -> Answer:
    """The first answer that is no passing error, or the last one after `reach_for_s` seconds. Raises
    `SandboxUnavailableError` if the manager can't be reached for that long."""
    loop = asyncio.get_running_loop()
    until = loop.time() + reach_for_s
    pause = 0.05
    while True:
        try:
            answer = await http.ask(method, path, BOUNDS, **fields)
            if loop.time() >= until or answer.status != 503 or problem_of(answer)[0] not in PASSING:
                return answer
        except RefusedAnswerError as error:
            raise SandboxUnavailableError(UNUSABLE) from error
        except TransportError as error:
            if loop.time() >= until:
                raise SandboxUnavailableError(UNREACHED) from error
        await asyncio.sleep(pause)
        pause = min(pause * 2, 1.0)


def problem_of(response: Answer) -> tuple[str, str]:
    """Code and detail of an answer that is no success."""
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:
        return "", f"The service that runs the computers answered {response.status}."
    return problem.code, problem.detail


def raise_for(response: Answer) -> None:
    """Raise `SandboxLimitError`, `SandboxNotAllowedError` or `SandboxUnavailableError` for an answer that is no
    success."""
    if response.is_success:
        return
    code, detail = problem_of(response)
    if code in NOT_ALLOWED:
        raise SandboxNotAllowedError.of(detail)
    if response.status == 429:
        after = response.headers.get("retry-after", "")
        raise SandboxLimitError(detail, retry_after_s=int(after) if after.isdecimal() and len(after) < 6 else RETRY_S)
    raise SandboxUnavailableError(detail)


def parse(model: type[AnswerT], response: Answer) -> AnswerT:
    """The parsed body of a successful answer. Raises `SandboxUnavailableError` if the body is not the manager's, such
    as the page of a proxy."""
    try:
        return model.model_validate_json(response.content)
    except ValidationError as error:
        raise SandboxUnavailableError(UNUSABLE) from error
