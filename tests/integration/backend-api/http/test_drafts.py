"""What a user is writing to a conversation, kept over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from backend_api.conversations.domain.entity import MAX_MESSAGE_CHARACTERS
from support.gateway import Gateway


async def test_a_draft_is_saved_over_what_was_read_and_over_nothing_newer(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url, client = f"/api/sessions/{await gateway.session(anna)}/draft", gateway.client
    empty = await client.get(url, headers=anna)
    assert empty.json() == {"text": "", "files": [], "version": 0, "updated_at": None}
    first = await client.put(url, json={"text": "half a th", "version": 0}, headers=anna)
    assert (first.status_code, first.json()["version"]) == (200, 1)
    body = {"text": "half a thought", "files": ["figures.csv"], "version": 1}
    saved = await client.put(url, json=body, headers=anna)
    assert saved.json() == body | {"version": 2, "updated_at": saved.json()["updated_at"]}
    assert (await client.get(url, headers=anna)).json() == saved.json()

    for version in (0, 1, 3):
        late = await client.put(url, json={"text": "something else", "version": version}, headers=anna)
        assert (late.status_code, late.json()["code"], late.json()["draft"]) == (409, "draft_changed", saved.json())
    unseen = await client.delete(url, params={"version": 1}, headers=anna)
    assert (unseen.status_code, unseen.json()["draft"]) == (409, saved.json())
    # The answer was lost, and the call is repeated.
    assert (await client.put(url, json=body, headers=anna)).json() == saved.json()

    sent = await client.delete(url, params={"version": 2}, headers=anna)
    assert (sent.status_code, sent.json()["text"], sent.json()["files"], sent.json()["version"]) == (200, "", [], 3)
    stale = await client.put(url, json=body, headers=anna)
    assert (stale.status_code, stale.json()["draft"]["text"]) == (409, "")
    assert (await client.put(url, json=body | {"version": 3}, headers=anna)).json()["version"] == 4
    events = await client.get(f"{url.removesuffix('/draft')}/events?format=json", headers=anna)
    assert events.json()["items"] == []


async def test_of_drafts_saved_at_once_one_is_kept_and_the_others_are_told_so(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}/draft"
    for version in (0, 1):
        calls = [
            gateway.client.put(url, json={"text": f"{version}{number}", "version": version}, headers=anna)
            for number in range(5)
        ]
        answers = await asyncio.gather(*calls)
        assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]
        kept = (await gateway.client.get(url, headers=anna)).json()
        assert [answer.json() for answer in answers if answer.status_code == 200] == [kept]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"text": "x" * (MAX_MESSAGE_CHARACTERS + 1), "version": 0}, "body.text"),
        ({"text": "x", "files": ["a"] * 51, "version": 0}, "body.files"),
        ({"text": "x", "files": ["a" * 4_097], "version": 0}, "body.files.0"),
        ({"text": "x", "version": -1}, "body.version"),
        ({"text": "x"}, "body.version"),
        ({"text": "\x00", "version": 0}, "body.text"),
    ],
)
async def test_a_draft_is_bounded_as_a_message_is(gateway: Gateway, body: dict[str, Any], field: str) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}/draft"
    refused = await gateway.client.put(url, json=body, headers=anna)
    assert (refused.status_code, [one["field"] for one in refused.json()["errors"]]) == (422, [field])
    longest = {"text": "字" * MAX_MESSAGE_CHARACTERS, "version": 0}
    assert (await gateway.client.put(url, json=longest, headers=anna)).status_code == 200


async def test_a_draft_goes_with_its_session_and_is_its_users_alone(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    session = f"/api/sessions/{await gateway.session(anna)}"
    body = {"text": "mine", "version": 0}
    assert (await gateway.client.put(f"{session}/draft", json=body, headers=anna)).status_code == 200
    others = [
        await gateway.client.get(f"{session}/draft", headers=bert),
        await gateway.client.put(f"{session}/draft", json=body, headers=bert),
        await gateway.client.delete(f"{session}/draft", params={"version": 1}, headers=bert),
    ]
    assert [(one.status_code, one.json()["code"]) for one in others] == [(404, "session_not_found")] * 3
    assert await gateway.database["drafts"].count_documents({}) == 1
    assert (await gateway.client.delete(session, headers=anna)).status_code == 204
    assert await gateway.database["drafts"].count_documents({}) == 0
    gone = await gateway.client.put(f"{session}/draft", json=body, headers=anna)
    assert (gone.status_code, await gateway.database["drafts"].count_documents({})) == (404, 0)
