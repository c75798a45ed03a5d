"""Problem responses of an OpenAPI document: every status a call can answer, each the same shared response."""

from __future__ import annotations

from typing import Any

from contracts.errors import PROBLEM_MEDIA_TYPE, FieldError, Problem

Document = dict[str, Any]

_SHARED = {"$ref": "#/components/responses/Problem"}
_REFUSED_BODY = ("HTTPValidationError", "ValidationError")


def document_problems(app: Any) -> None:
    """Have the OpenAPI document that a FastAPI application generates list them."""
    generate = app.openapi

    def openapi() -> Document:
        return app.openapi_schema if app.openapi_schema is not None else list_problems(generate())

    app.openapi = openapi


def list_problems(document: Document) -> Document:
    """Complete a document in place, by the parts of each operation.

    Any may be 500 and 503; with a parameter or a body 422, with a parameter 414, with a body 400 and 413, with a token
    401 and 429, under a path that names something 404. Other problems are listed at their route, by status alone
    (`responses={409: {}}`); the tests that generate calls from the document find those that are missing.
    """
    components: Document = document.setdefault("components", {})
    schemas: Document = components.setdefault("schemas", {})
    for name in _REFUSED_BODY:
        schemas.pop(name, None)
    template = "#/components/schemas/{model}"
    schemas["Problem"] = Problem.model_json_schema(ref_template=template, mode="serialization")
    schemas["Problem"].pop("$defs", None)
    schemas["FieldError"] = FieldError.model_json_schema(ref_template=template, mode="serialization")
    components.setdefault("responses", {})["Problem"] = {
        "description": "What went wrong, in a stable code, and what to do (RFC 9457).",
        "content": {PROBLEM_MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for path, operations in document.get("paths", {}).items():
        for operation in operations.values():
            _complete(path, operation)
    return document


def _complete(path: str, operation: Document) -> None:
    responses: Document = operation.setdefault("responses", {})
    validation = responses.get("422", {}).get("content", {}).get("application/json")
    if validation is not None:
        del responses["422"]
    for status in _statuses(path, operation):
        responses.setdefault(str(status), dict(_SHARED))
    for status, response in responses.items():
        if status >= "400" and "content" not in response:
            responses[status] = dict(_SHARED)
    operation["responses"] = dict(sorted(responses.items()))


def _statuses(path: str, operation: Document) -> set[int]:
    found = {500, 503}
    if operation.get("parameters"):
        found |= {414, 422}
    if "requestBody" in operation:
        found |= {400, 413, 422}
    if operation.get("security"):
        found |= {401, 429}
    if "{" in path:
        found |= {404}
    return found
