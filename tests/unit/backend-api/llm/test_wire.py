from __future__ import annotations

import anthropic
import httpx2
import openai
import pytest

from backend_api.infrastructure.llm.wire import TIMEOUT, Endpoint


@pytest.mark.parametrize(
    ("client", "base_url"),
    [
        (openai.AsyncOpenAI, None),
        (openai.AsyncOpenAI, "http://models.test/v1"),
        (anthropic.AsyncAnthropic, None),
        (anthropic.AsyncAnthropic, "http://models.test/a/b/"),
    ],
)
async def test_a_call_is_what_the_sdk_itself_would_send(
    client: type[openai.AsyncOpenAI | anthropic.AsyncAnthropic], base_url: str | None
) -> None:
    sent: list[httpx2.Request] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(200, json={}, headers={"set-cookie": "place=7"})

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(respond), timeout=TIMEOUT) as http:
        sdk = client(api_key="k", base_url=base_url, max_retries=0, timeout=TIMEOUT, http_client=http)
        endpoint = Endpoint(sdk, http, "/v1/messages")
        await (await endpoint.post(b"{}")).aclose()
        await (await endpoint.post(b"{}")).aclose()
        await sdk.post("/v1/messages", cast_to=httpx2.Response, content=b"{}", stream=True)
    first, ours, theirs = sent
    assert (ours.method, ours.url, ours.content) == (theirs.method, theirs.url, theirs.content)
    assert ours.extensions["timeout"] == theirs.extensions["timeout"]
    assert _without_notes(ours.headers) == _without_notes(theirs.headers)
    assert "cookie" not in first.headers
    assert ours.headers["cookie"] == "place=7"


def _without_notes(headers: httpx2.Headers) -> list[tuple[str, str]]:
    """Less what an SDK notes of its own retries and time-outs."""
    notes = {"x-stainless-retry-count", "x-stainless-read-timeout", "x-stainless-timeout", "x-stainless-async"}
    return sorted(one for one in headers.multi_items() if one[0] not in notes)
