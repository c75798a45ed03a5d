"""Calls made up from an OpenAPI document, judged by it. `FUZZ_SEED` and `FUZZ_EXAMPLES` choose others and more."""

# Schemathesis types its cases by what it finds in the document.
# pyright: basic, reportMissingTypeArgument=false

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.core.transport import Response
from schemathesis.generation.case import Case
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

SEED = int(os.environ.get("FUZZ_SEED", "20261122"))
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "12"))
ANSWER_S = 30
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
Things = Mapping[str, str]
Opened = Callable[[str], tuple[Things, dict[str, str]]]
"""For an operation such as `GET /api/x/{id}`: values of its path that exist, and headers that may call it."""


def fuzz(
    document: dict[str, Any],
    base_url: str,
    opened: Opened,
    *,
    session: requests.Session | None = None,
    may_say: frozenset[str] = frozenset(),
) -> list[str]:
    """Call every operation with what fits its schema and what does not; answers what went wrong, an operation once.

    `may_say` are codes of 502 and 503 that say nothing of the gateway is broken.
    """
    load_all_checks()
    wrong: list[str] = []
    with session or requests.Session() as http:
        http.trust_env = False
        for found in schemathesis.openapi.from_dict(document).get_all_operations():
            assert isinstance(found, Ok), found.err()
            operation = found.ok()
            things, headers = opened(operation.label)
            known = {name: value for name, value in things.items() if f"{{{name}}}" in operation.path}
            strategies = [
                operation.as_strategy(generation_mode=mode, path_parameters=known or None)
                for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
                if mode is GenerationMode.POSITIVE or _can_be_wrong(operation)
            ]
            if known:
                strategies.append(operation.as_strategy())
            try:
                # Where nothing but the path can differ, there is less to find.
                count = EXAMPLES if _can_be_wrong(operation) else EXAMPLES // 2
                _call_all(st.one_of(strategies), count, http, base_url, headers, may_say)
            except (Exception, FailureGroup) as error:  # noqa: BLE001 -- the report names each operation that failed
                told = [str(one) for one in getattr(error, "exceptions", ())]
                wrong.append(f"{operation.label}: {error} {told} (FUZZ_SEED={SEED})")
    return wrong


def _can_be_wrong(operation: Any) -> bool:
    return bool(operation.body or operation.query or operation.headers)


def _call_all(
    cases: st.SearchStrategy[Case],
    count: int,
    http: requests.Session,
    base_url: str,
    headers: dict[str, str],
    may_say: frozenset[str],
) -> None:
    @seeded(SEED)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),  # pyright: ignore[reportArgumentType] - its iteration leaves out what is deprecated
        report_multiple_bugs=False,
    )
    @given(case=cases)
    def call(case: Case) -> None:
        request = case.as_transport_kwargs(base_url=base_url, headers=headers)
        with http.request(**request, stream=True, timeout=ANSWER_S, allow_redirects=False) as answer:
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                # It goes on for ever; its head is what the document speaks of.
                answer._content = next(answer.iter_content(64))
            is_said = answer.status_code in (502, 503) and answer.json().get("code") in may_say
            checks = [check for check in CHECKS if not is_said or check is not not_a_server_error]
            case.validate_response(Response.from_requests(answer, verify=True), checks=checks)

    call()
