"""Links to conversations, for strangers, and conversations as files."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pypandoc
import pypdfium2
import pytest

from backend_api.agent.events import (
    MessageCompleted,
    MessageUser,
    RunFinished,
    RunStarted,
    StoredPayload,
    ThinkingCompleted,
    ToolCalled,
    ToolFinished,
)
from backend_api.identity.application.limits import Limits
from backend_api.kit.ids import SessionId
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.ports import Download
from backend_api.sharing.application import export_session
from support.gateway import Gateway, run_gateway
from support.memory.sandboxes import MemoryWorkspace
from support.servers import Server

KEY = "sk-abcdefghijklmnop1234567890"
WORK: list[StoredPayload] = [
    MessageUser(message_id="m1", text="What is in notes.txt?", attachments=["uploads/notes.txt"]),
    ThinkingCompleted(message_id="a1", text="PONDERED", signature="SIGNATURE", opaque="OPAQUE"),
    ToolCalled(call_id="c1", name="file_read", arguments={"path": "ARGUMENT"}, phrase="Reading ARGUMENT"),
    ToolFinished(call_id="c1", success=True, preview="OUTPUT", display={"kind": "file", "content": "DISPLAYED"}),
    MessageCompleted(message_id="a0", text="OF A SUB-AGENT", agent_id="sub"),
    MessageCompleted(message_id="a1", text=f"The key is {KEY}."),
]


async def written(gateway: Gateway, headers: dict[str, str], payloads: list[StoredPayload] = WORK) -> str:
    session_id = await gateway.session(headers)
    await gateway.client.patch(f"/api/sessions/{session_id}", json={"title": "Notes"}, headers=headers)
    await say(gateway, session_id, *payloads)
    return session_id


async def say(gateway: Gateway, session_id: str, *payloads: StoredPayload) -> None:
    events = await gateway.ports.log.append(SessionId(session_id), payloads)
    await gateway.ports.stream.append(SessionId(session_id), events)


async def shared(
    gateway: Gateway, headers: dict[str, str], session_id: str, **wanted: Any
) -> tuple[str, dict[str, str]]:
    """The path of what a stranger asks, and the headers they ask it with."""
    body = {"mode": "snapshot"} | wanted
    made = await gateway.client.post(f"/api/sessions/{session_id}/shares", json=body, headers=headers)
    assert made.status_code == 201, made.text
    address, _, token = made.json()["url"].partition("#")
    assert made.headers["Cache-Control"] == "no-store"
    return f"/api/shared/{address.rpartition('/')[2]}", {"X-Share-Token": token}


async def all_that_is_read(gateway: Gateway, path: str, headers: dict[str, str]) -> str:
    answers = [await gateway.client.get(f"{path}{rest}", headers=headers) for rest in ("", "/events")]
    assert [answer.status_code for answer in answers] == [200, 200], answers[0].text
    return "".join(answer.text for answer in answers)


def assert_problem(answer: httpx.Response, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


async def test_a_snapshot_has_no_byte_that_is_newer_or_left_out(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await written(gateway, anna)
    path, token = await shared(gateway, anna, session_id)
    await say(gateway, session_id, MessageUser(message_id="m2", text="NEWER"))
    await gateway.client.patch(f"/api/sessions/{session_id}", json={"title": "RENAMED"}, headers=anna)
    read = await all_that_is_read(gateway, path, token)
    assert "What is in notes.txt?" in read
    assert "The key is" in read
    assert "Notes" in read
    hidden = ("NEWER", "RENAMED", "PONDERED", "SIGNATURE", "OPAQUE", "ARGUMENT", "OUTPUT", "DISPLAYED", "SUB-AGENT")
    assert [one for one in (*hidden, KEY, "uploads", session_id) if one in read] == []
    first = (await gateway.client.get(f"{path}/events", headers=token)).json()["items"][0]
    assert (first["attachments"], first["files_left_out"]) == ([], 1)
    path_with, token_with = await shared(gateway, anna, session_id, include=["tools"], mode="live")
    with_tools = (await gateway.client.get(f"{path_with}/events", headers=token_with)).json()["items"][0]
    assert (with_tools["attachments"], with_tools["files_left_out"]) == ([], 1)
    page = (await gateway.client.get(f"{path}/events", params={"after": 10**6}, headers=token)).json()
    assert page["items"] == []
    assert page["has_more"] is False


async def test_what_goes_along_is_what_was_chosen_and_secrets_stay_masked(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await written(gateway, anna)
    tools = await all_that_is_read(gateway, *await shared(gateway, anna, session_id, include=["tools"]))
    thinking = await all_that_is_read(gateway, *await shared(gateway, anna, session_id, include=["thinking"]))
    assert all(one in tools for one in ("ARGUMENT", "OUTPUT", "DISPLAYED"))
    assert "PONDERED" not in tools
    assert "PONDERED" in thinking
    assert "OUTPUT" not in thinking
    assert [one for one in ("SIGNATURE", "OPAQUE", "SUB-AGENT", KEY) if one in tools + thinking] == []


@pytest.mark.thorough
async def test_pages_go_on_where_the_one_before_ended(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await written(gateway, anna, [MessageUser(message_id=f"m{n}", text=f"text {n}") for n in range(7)])
    path, token = await shared(gateway, anna, session_id)
    texts: list[str] = []
    after, has_more = 0, True
    while has_more:
        page = (await gateway.client.get(f"{path}/events", params={"after": after, "limit": 3}, headers=token)).json()
        texts += [one["text"] for one in page["items"]]
        after, has_more = page["last_seq"], page["has_more"]
    assert texts == [f"text {n}" for n in range(7)]


async def test_answers_are_kept_by_no_cache_and_tell_no_other_page(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    path, token = await shared(gateway, anna, await written(gateway, anna))
    for rest in ("", "/events", "/stream"):
        answer = await gateway.client.get(f"{path}{rest}", headers=token)
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["X-Robots-Tag"] == "noindex"


async def test_a_link_that_is_no_link_any_more_says_so_to_whoever_has_its_token(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await written(gateway, anna)
    path, token = await shared(gateway, anna, session_id)
    http = gateway.client
    assert_problem(await http.get(path), 404, "share_not_found")
    assert_problem(await http.get(path, headers={"X-Share-Token": "wrong"}), 404, "share_not_found")
    assert_problem(await http.get("/api/shared/none/events", headers=token), 404, "share_not_found")
    await gateway.database["shares"].update_many({}, {"$set": {"expires_at": datetime.now(UTC) - timedelta(seconds=1)}})
    assert_problem(await http.get(path, headers=token), 410, "share_expired")
    assert_problem(await http.get(path, headers={"X-Share-Token": "wrong"}), 404, "share_not_found")
    of_deleted, token = await shared(gateway, anna, session_id)
    await http.delete(f"/api/sessions/{session_id}", headers=anna)
    assert_problem(await http.get(of_deleted, headers=token), 404, "share_not_found")
    assert await gateway.database["shares"].count_documents({}) == 0


async def test_only_a_digest_of_the_token_is_stored(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    _, token = await shared(gateway, anna, await written(gateway, anna), passphrase="open sesame")
    stored = json.dumps(await gateway.database["shares"].find({}).to_list(), default=str)
    assert token["X-Share-Token"] not in stored
    assert "open sesame" not in stored


async def test_links_are_listed_and_revoked_by_their_owner_alone(gateway: Gateway) -> None:
    http, anna, bert = gateway.client, await gateway.user("anna"), await gateway.user("bert")
    session_id = await written(gateway, anna)
    path, token = await shared(gateway, anna, session_id, include=["tools"], passphrase="open sesame")
    share_id = path.rpartition("/")[2]
    listed = (await http.get("/api/shares", headers=anna)).json()["items"]
    assert [(one["id"], one["mode"], one["include"], one["title"]) for one in listed] == [
        (share_id, "snapshot", ["tools"], "Notes")
    ]
    assert listed == (await http.get(f"/api/sessions/{session_id}/shares", headers=anna)).json()["items"]
    assert listed[0]["has_passphrase"]
    assert not listed[0]["is_expired"]
    assert "url" not in listed[0]
    assert (await http.get("/api/shares", headers=bert)).json()["items"] == []
    assert_problem(await http.delete(f"/api/shares/{share_id}", headers=bert), 404, "share_not_found")
    refused = await http.post(f"/api/sessions/{session_id}/shares", json={"mode": "live"}, headers=bert)
    assert_problem(refused, 404, "session_not_found")
    assert (await http.delete(f"/api/shares/{share_id}", headers=anna)).status_code == 204
    assert_problem(await http.get(path, headers=token), 404, "share_not_found")
    assert_problem(await http.delete(f"/api/shares/{share_id}", headers=anna), 404, "share_not_found")


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({"expires_at": "2001-01-01T00:00:00Z"}, "body.expires_at"),
        pytest.param({"expires_at": "2090-01-01T00:00:00"}, "body.expires_at", marks=pytest.mark.thorough),
        pytest.param({"expires_at": "soon"}, "body.expires_at", marks=pytest.mark.thorough),
        ({"passphrase": "short"}, "body.passphrase"),
        pytest.param({"mode": "all"}, "body.mode", marks=pytest.mark.thorough),
        ({"include": ["everything"]}, "body.include.0"),
    ],
)
async def test_a_link_that_can_not_be_is_refused_by_field(gateway: Gateway, wanted: dict[str, Any], field: str) -> None:
    anna = await gateway.user("anna")
    body = {"mode": "snapshot"} | wanted
    url = f"/api/sessions/{await gateway.session(anna)}/shares"
    answer = await gateway.client.post(url, json=body, headers=anna)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


async def test_a_passphrase_opens_the_link_for_a_while(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await written(gateway, anna)
    path, token = await shared(gateway, anna, session_id, passphrase="open sesame")
    other, other_token = await shared(gateway, anna, session_id, passphrase="open sesame")
    http = gateway.client
    for rest in ("", "/events", "/stream", "/files", "/events/1/body"):
        refused = await http.get(f"{path}{rest}", headers=token)
        assert_problem(refused, 401, "passphrase_required")
        assert "Notes" not in refused.text
    wrong = await http.post(f"{path}/unlock", json={"passphrase": "open says me"}, headers=token)
    assert_problem(wrong, 403, "passphrase_wrong")
    right = await http.post(f"{path}/unlock", json={"passphrase": "open sesame"}, headers=token)
    access = {"X-Share-Access": right.json()["access"]}
    assert "The key is" in await all_that_is_read(gateway, path, token | access)
    assert_problem(await http.get(other, headers=other_token | access), 401, "passphrase_required")
    later = access["X-Share-Access"].replace(access["X-Share-Access"][0], "9", 1)
    for forged in ("", "1.", "9" * 19, later, "²." + "0" * 64):
        answer = await http.get(path, headers={**token, "X-Share-Access": forged.encode()})  # type: ignore[dict-item]
        assert_problem(answer, 401, "passphrase_required")


async def test_who_guesses_a_passphrase_is_limited(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    limits = Limits(login_per_minute=3)
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, limits=limits) as gateway:
        anna = await gateway.user("anna")
        path, token = await shared(gateway, anna, await written(gateway, anna), passphrase="open sesame")
        guesses = [
            await gateway.client.post(f"{path}/unlock", json={"passphrase": f"guess {n}"}, headers=token)
            for n in range(5)
        ]
    assert [guess.status_code for guess in guesses] == [403, 403, 403, 429, 429]
    assert int(guesses[-1].headers["Retry-After"]) > 0


WITHIN_S = pytest.mark.parametrize("within", [5, pytest.param(1, marks=pytest.mark.quiet)])
"""Seconds in which a link ends: one on a quiet machine; on a busy one everything else takes its part."""


@WITHIN_S
async def test_a_live_link_shows_what_is_said_and_ends_once_it_is_revoked(within: float, gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await written(gateway, anna)
    path, token = await shared(gateway, anna, session_id, mode="live")
    lines: list[str] = []
    heard = asyncio.Event()

    async def follow() -> None:
        async with gateway.client.stream("GET", f"{path}/stream", headers=token) as answer:
            assert answer.headers["Cache-Control"] == "no-store"
            async for line in answer.aiter_lines():
                lines.append(line)
                if "LATER" in line:
                    heard.set()

    following = asyncio.create_task(follow())
    await say(gateway, session_id, MessageUser(message_id="m2", text="LATER"), *WORK[1:4])
    await asyncio.wait_for(heard.wait(), 5)
    async with asyncio.timeout(within):
        await gateway.client.delete(f"/api/shares/{path.rpartition('/')[2]}", headers=anna)
        await say(gateway, session_id, MessageUser(message_id="m3", text="TOO LATE"))
        await following
    read = "\n".join(lines)
    assert [one for one in ("PONDERED", "ARGUMENT", "OUTPUT", KEY) if one in read] == []


@WITHIN_S
@pytest.mark.parametrize("end", ["disabled", "deleted"])
async def test_links_end_with_the_account_of_their_owner(
    within: float, end: str, mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    files = ZippedWorkspace()
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, files=files) as gateway:
        anna = await gateway.user("anna")
        session_id = await written(gateway, anna)
        await with_computer(gateway, session_id)
        files.archive = zipped({"notes.txt": "of then"})
        live, token = await shared(gateway, anna, session_id, mode="live")
        locked, other = await shared(gateway, anna, session_id, passphrase="open sesame", include=["files"])
        reading = asyncio.Event()

        async def follow() -> None:
            async with gateway.client.stream("GET", f"{live}/stream", headers=token) as answer:
                async for _ in answer.aiter_lines():
                    reading.set()

        following = asyncio.create_task(follow())
        await asyncio.wait_for(reading.wait(), 5)
        users = gateway.database["users"]
        if end == "disabled":
            await users.update_one({"username": "anna"}, {"$set": {"is_active": False}})
        else:
            await users.delete_one({"username": "anna"})
        await asyncio.wait_for(following, within)
        for rest in ("", "/events", "/stream", "/files"):
            assert_problem(await gateway.client.get(f"{live}{rest}", headers=token), 404, "share_not_found")
        unlock = await gateway.client.post(f"{locked}/unlock", json={"passphrase": "open sesame"}, headers=other)
        assert_problem(unlock, 404, "share_not_found")
        if end == "disabled":
            await users.update_one({"username": "anna"}, {"$set": {"is_active": True}})
            assert (await gateway.client.get(live, headers=token)).status_code == 200


@pytest.mark.thorough
async def test_a_live_stream_ends_with_its_time_and_with_its_conversation(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await written(gateway, anna)
    path, token = await shared(gateway, anna, session_id, mode="live")
    await gateway.database["shares"].update_many({}, {"$set": {"expires_at": datetime.now(UTC) + timedelta(seconds=3)}})
    whole = await asyncio.wait_for(gateway.client.get(f"{path}/stream", headers=token), 30)
    assert "What is in notes.txt?" in whole.text
    path, token = await shared(gateway, anna, session_id, mode="live")
    following = asyncio.create_task(gateway.client.get(f"{path}/stream", headers=token))
    await asyncio.sleep(0)
    await gateway.client.delete(f"/api/sessions/{session_id}", headers=anna)
    await asyncio.wait_for(following, 30)


class ZippedWorkspace(MemoryWorkspace):
    """One whose whole is an archive, as that of a sandbox."""

    archive = b""

    @asynccontextmanager
    async def download(self, sandbox: Sandbox, path: str) -> AsyncGenerator[Download]:
        del sandbox, path

        async def chunks() -> AsyncIterator[bytes]:
            for start in range(0, len(self.archive), 1000):
                yield self.archive[start : start + 1000]

        yield Download(name="workspace.zip", size=None, chunks=chunks(), is_folder=True)


def zipped(files: dict[str, str]) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return whole.getvalue()


async def with_computer(gateway: Gateway, session_id: str) -> None:
    await gateway.database["sessions"].update_one({"_id": session_id}, {"$set": {"sandbox": "ready"}})


async def test_files_that_go_along_are_those_of_then(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    files = ZippedWorkspace()
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, files=files) as gateway:
        anna = await gateway.user("anna")
        session_id = await written(gateway, anna)
        await with_computer(gateway, session_id)
        files.archive = zipped({"notes.txt": "of then", "笔记/a.txt": "x"})
        path, token = await shared(gateway, anna, session_id, include=["files"])
        without, other = await shared(gateway, anna, session_id)
        files.archive = zipped({"notes.txt": "of later"})
        info = (await gateway.client.get(path, headers=token)).json()
        assert info["files"] == [{"path": "notes.txt", "size": 7}, {"path": "笔记/a.txt", "size": 1}]
        # A live link names no file either that is not among the copies.
        attached = ["/workspace/notes.txt", "./notes.txt", "笔记/a.txt", "../notes.txt"]
        await say(gateway, session_id, MessageUser(message_id="m9", text="These.", attachments=attached))
        live, token_live = await shared(gateway, anna, session_id, include=["files"], mode="live")
        items = (await gateway.client.get(f"{live}/events", headers=token_live)).json()["items"]
        told = [(one["attachments"], one["files_left_out"]) for one in items if one["type"] == "message.user"]
        assert told == [([], 1), (attached[:2], 2)]
        got = await gateway.client.get(f"{path}/files", headers=token)
        assert zipfile.ZipFile(io.BytesIO(got.content)).read("notes.txt") == b"of then"
        assert got.headers["Cache-Control"] == "no-store"
        assert "attachment" in got.headers["Content-Disposition"]
        assert_problem(await gateway.client.get(f"{without}/files", headers=other), 404, "share_not_found")
        files.archive = b"x" * (21 * 1024 * 1024)
        body = {"mode": "snapshot", "include": ["files"]}
        refused = await gateway.client.post(f"/api/sessions/{session_id}/shares", json=body, headers=anna)
        assert_problem(refused, 413, "shared_files_too_large")


@pytest.mark.thorough
async def test_long_outputs_are_read_where_tools_go_along_and_only_of_what_is_shown(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await written(gateway, anna)
    with_tools, token = await shared(gateway, anna, session_id, include=["tools"])
    without, other = await shared(gateway, anna, session_id)
    finished = (await gateway.client.get(f"{with_tools}/events", headers=token)).json()["items"][2]
    assert finished["type"] == "tool.finished"
    body = {"session_id": session_id, "seq": finished["seq"], "part": 0, "media_type": "text/plain"}
    await gateway.database["bodies"].insert_one(body | {"content": f"LONG {KEY}".encode()})
    data = json.loads(
        (await gateway.database["events"].find_one({"session_id": session_id, "seq": body["seq"]}) or {})["data"]
    )
    data["body"] = {"size": 5, "media_type": "text/plain"}
    await gateway.database["events"].update_one(
        {"session_id": session_id, "seq": body["seq"]}, {"$set": {"data": json.dumps(data)}}
    )
    read = await gateway.client.get(f"{with_tools}/events/{body['seq']}/body", headers=token)
    assert read.text == "LONG [masked]"
    for seq in (body["seq"], 0, -1, 10**9):
        refused = await gateway.client.get(f"{without}/events/{seq}/body", headers=other)
        assert refused.status_code == 404


async def test_a_conversation_is_exported_as_markdown_and_json(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    session_id = await written(gateway, anna)
    url = f"/api/sessions/{session_id}/export"
    markdown = await gateway.client.get(url, headers=anna)
    begins = "# Notes\n\n## You\n\nWhat is in notes.txt?\n\n*1 file left out*\n\n## Agent\n"
    assert markdown.text.startswith(begins)
    assert markdown.headers["Content-Disposition"].startswith('attachment; filename="Notes.md"')
    assert [one for one in ("PONDERED", "OUTPUT", KEY) if one in markdown.text] == []
    asked = {"format": "json", "tools": "true", "thinking": "true"}
    exported = (await gateway.client.get(url, params=asked, headers=anna)).json()
    assert exported["session"]["title"] == "Notes"
    assert [one["type"] for one in exported["events"]] == [
        "message.user",
        "thinking.completed",
        "tool.called",
        "tool.finished",
        "message.completed",
    ]
    assert KEY not in json.dumps(exported)
    assert_problem(await gateway.client.get(url, headers=bert), 404, "session_not_found")
    assert (await gateway.client.get(url, params={"format": "docx"}, headers=anna)).status_code == 422


@pytest.mark.parametrize("form", ["md", "pdf", "zip"])
async def test_our_own_words_in_an_export_are_in_the_language_asked_for_or_of_the_account(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, form: str
) -> None:
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, files=ZippedWorkspace()) as gateway:
        anna = await gateway.user("anna")
        cut = MessageCompleted(message_id="a", text="SAID ![plot](plot.png)", partial=True, seen_seq=1)
        stopped = RunFinished(run_id="r", status="stopped")
        session_id = await written(gateway, anna, [MessageUser(message_id="m", text="ASKED"), *WORK[2:4], cut, stopped])
        url = f"/api/sessions/{session_id}/export"

        async def exported(accepts: str = "", **asked: str) -> str:
            headers = anna | {"Accept-Language": accepts}
            answer = await gateway.client.get(url, params={"format": form, "tools": "true", **asked}, headers=headers)
            assert answer.status_code == 200, answer.text
            if form == "pdf":
                return pdf_text(answer.content)
            if form == "md":
                return answer.text
            return zipfile.ZipFile(io.BytesIO(answer.content)).read("conversation.md").decode()

        english, chinese = ("You", "Agent", "Tool", "Result", "Stopped"), ("你", "智能体", "工具", "结果", "已停止")
        if form == "pdf":
            english, chinese = (*english, "[picture: plot.png]"), (*chinese, "[图片: plot.png]")

        def words_of(text: str) -> tuple[bool, bool]:
            return all(one in text for one in english), all(one in text for one in chinese)

        assert words_of(await exported()) == (True, False)
        assert words_of(await exported("zh-CN,en;q=0.5")) == (False, True)
        assert words_of(await exported("zh-CN", language="en")) == (True, False)
        setting = await gateway.client.put("/api/settings/appearance/language", json={"value": "zh"}, headers=anna)
        assert setting.status_code == 200, setting.text
        assert words_of(await exported("en")) == (False, True)
        assert (await gateway.client.get(url, params={"language": "fr"}, headers=anna)).status_code == 422


async def test_an_interrupted_conversation_is_exported_as_it_is_shown(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    cut = MessageCompleted(message_id="a1", text="CUT", partial=True, seen_seq=1)
    stopped = MessageCompleted(message_id="a2", text="STOPPED", partial=True, seen_seq=4)
    await say(
        gateway,
        session_id,
        MessageUser(message_id="m1", text="FIRST"),
        RunStarted(run_id="r1", message_id="m1", model="m", worker="w"),
        ToolCalled(call_id="c1", name="file_read", arguments={}, phrase="", seen_seq=1),
        MessageUser(message_id="m2", text="MEANWHILE"),
        ToolFinished(call_id="c1", success=True, preview="RESULT"),
        cut,
        MessageUser(message_id="m3", text="LAST"),
        stopped,
        RunFinished(run_id="r1", status="stopped"),
    )
    url = f"/api/sessions/{session_id}/export"
    markdown = (await gateway.client.get(url, headers=anna)).text
    assert [line for line in markdown.splitlines()[2:] if line] == [
        *("## You", "FIRST", "## Agent", "CUT", "*Interrupted here*", "## You", "MEANWHILE"),
        *("## Agent", "STOPPED", "*Stopped*", "## You", "LAST"),
    ]
    exported = (await gateway.client.get(url, params={"format": "json", "tools": "true"}, headers=anna)).json()
    assert [one["seq"] for one in exported["events"]] == [1, 3, 5, 6, 4, 8, 9, 7]
    printed = pdf_text((await gateway.client.get(url, params={"format": "pdf"}, headers=anna)).content)
    words = ("FIRST", "CUT", "Interrupted here", "MEANWHILE", "STOPPED", "Stopped", "LAST")
    assert sorted(words, key=printed.index) == [*words]
    # A reader of a link gets what it needs to show the same.
    path, token = await shared(gateway, anna, session_id)
    page = (await gateway.client.get(f"{path}/events", headers=token)).json()
    assert [one["seen_seq"] for one in page["items"] if one["type"] == "message.completed"] == [1, 4]
    assert page["items"][-1]["seen_seq"] == 4
    # Also of work that is left out.
    await say(
        gateway,
        session_id,
        *(MessageUser(message_id="m4", text="NEXT"), RunStarted(run_id="r2", message_id="m4", model="m", worker="w")),
        *(ToolCalled(call_id="c2", name="file_read", arguments={}, phrase="", seen_seq=10),),
        *(MessageUser(message_id="m5", text="TOO LATE"), RunFinished(run_id="r2", status="stopped")),
    )
    live, token = await shared(gateway, anna, session_id, mode="live")
    ended = (await gateway.client.get(f"{live}/events", headers=token)).json()["items"][-1]
    assert (ended["type"], ended["status"], ended["seen_seq"]) == ("run.finished", "stopped", 10)


@pytest.mark.thorough
async def test_papers_are_named_by_title_and_address_in_what_is_read_elsewhere(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    bibtex = b"@article{l, title={Deep *learning*}, author={LeCun, Yann}, year=2015, doi={10.1038/nature14539}}"
    for headers in (anna, bert):
        file = {"file": ("refs.bib", bibtex)}
        made = await gateway.client.post("/api/corpus/import?format=bibtex", files=file, headers=headers, timeout=240)
        assert made.status_code == 201, made.text
    own, foreign = [
        (await gateway.client.get("/api/corpus", headers=headers)).json()["items"][0]["id"] for headers in (anna, bert)
    ]
    text = f"It learns [`{own}`, abstract; {own}, p. 2]. Not [{foreign}]."
    session_id = await written(gateway, anna, [WORK[0], MessageCompleted(message_id="a1", text=text)])
    url = f"/api/sessions/{session_id}/export"
    markdown = (await gateway.client.get(url, headers=anna)).text
    name = r"Deep \*learning\*, 2015, https://doi.org/10.1038/nature14539"
    assert f"It learns [{name}, abstract; {name}, p. 2]. Not [{foreign}]." in markdown
    printed = (await gateway.client.get(url, params={"format": "pdf"}, headers=anna)).content
    assert "Deep *learning*, 2015, https://doi.org/10.1038/nature14539" in " ".join(pdf_text(printed).split())
    exported = (await gateway.client.get(url, params={"format": "json"}, headers=anna)).json()
    assert exported["events"][-1]["text"] == text


async def test_a_conversation_is_exported_as_pages_whose_text_can_be_selected(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    asked = MessageUser(message_id="m1", text="Is *this* a list?\n  - <b>no</b> @anna", attachments=[])
    answered = MessageCompleted(message_id="a1", text="# 结果\n\n**你好，世界**。 See ![plot](plot.png)\n\n```\nopen")
    thanked = MessageUser(message_id="m2", text=f"谢谢 {KEY}", attachments=[])
    session_id = await written(gateway, anna, [WORK[1], asked, answered, thanked, *WORK[2:4]])
    url = f"/api/sessions/{session_id}/export"
    exported = await gateway.client.get(url, params={"format": "pdf"}, headers=anna)
    assert (exported.status_code, exported.headers["Content-Type"]) == (200, "application/pdf"), exported.text
    assert exported.headers["Content-Disposition"].startswith('attachment; filename="Notes.pdf"')
    lines = pdf_text(exported.content).splitlines()
    assert lines[:7] == [
        "Notes",
        "You",
        "Is *this* a list?",
        "\u00a0\u00a0- <b>no</b> @anna",
        "Agent",
        "结果",
        "你好，世界。 See [picture: plot.png]",
    ]
    assert lines[7:] == ["open", "You", "谢谢 [masked]", "1"]
    with_all = {"format": "pdf", "tools": "true", "thinking": "true"}
    whole = pdf_text((await gateway.client.get(url, params=with_all, headers=anna)).content)
    assert [one for one in ("PONDERED", "OUTPUT", "ARGUMENT") if one not in whole] == []
    assert_problem(await gateway.client.get(url, params={"format": "pdf"}, headers=bert), 404, "session_not_found")
    monkeypatch.setattr(export_session, "MOST_PRINTED_CHARACTERS", 20)
    assert_problem(await gateway.client.get(url, params={"format": "pdf"}, headers=anna), 413, "too_long_to_print")


@pytest.mark.thorough
async def test_where_the_programs_for_a_pdf_are_missing_it_is_said_and_all_else_works(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> str:
        raise OSError("No pandoc was found")

    monkeypatch.setattr(pypandoc, "get_pandoc_path", missing)
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri) as gateway:
        anna = await gateway.user("anna")
        url = f"/api/sessions/{await written(gateway, anna)}/export"
        refused = await gateway.client.get(url, params={"format": "pdf"}, headers=anna)
        assert_problem(refused, 503, "no_pdf")
        assert refused.json()["detail"] == "This server makes no PDF. Save the conversation as Markdown."
        assert (await gateway.client.get(url, params={"format": "md"}, headers=anna)).status_code == 200


def pdf_text(content: bytes) -> str:
    document = pypdfium2.PdfDocument(content)
    return "\n".join(page.get_textpage().get_text_range() for page in document)


@pytest.mark.thorough
async def test_a_zip_has_the_conversation_beside_the_files_of_its_workspace(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    files = ZippedWorkspace()
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, files=files) as gateway:
        anna = await gateway.user("anna")
        session_id = await written(gateway, anna)
        url = f"/api/sessions/{session_id}/export"

        async def exported() -> dict[str, bytes]:
            got = await gateway.client.get(url, params={"format": "zip"}, headers=anna)
            assert got.status_code == 200, got.text
            archive = zipfile.ZipFile(io.BytesIO(got.content))
            return {name: archive.read(name) for name in archive.namelist()}

        assert set(await exported()) == {"conversation.md", "conversation.json"}
        await with_computer(gateway, session_id)
        files.archive = zipped({"notes.txt": "hi", "conversation.md": "own"})
        whole = await exported()
        assert (whole["notes.txt"], whole["conversation.md"]) == (b"hi", b"own")
        assert whole["_conversation.md"].startswith(b"# Notes")
        files.archive = b"no archive at all"
        assert (await exported())["workspace.zip"] == b"no archive at all"


async def test_a_server_that_lets_nobody_share_says_so(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENABLE_SHARING", "false")
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri) as gateway:
        anna = await gateway.user("anna")
        url = f"/api/sessions/{await gateway.session(anna)}/shares"
        refused = await gateway.client.post(url, json={"mode": "live"}, headers=anna)
        assert_problem(refused, 403, "sharing_disabled")
