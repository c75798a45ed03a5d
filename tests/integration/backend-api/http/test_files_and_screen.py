"""Files and the screen through the wire, on computers in memory."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
import websockets
from websockets.typing import Origin, Subprotocol

from backend_api.agent.events import SandboxUpdated
from backend_api.kit.http.ports import WebOptions
from backend_api.kit.ids import SessionId
from support.gateway import Gateway, run_gateway
from support.servers import Server


async def test_files_go_up_and_come_back(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    url = f"/api/sessions/{session_id}/files"
    files = [("files", ("a.txt", b"one")), ("files", ("page ü.html", b"<script>1</script>"))]
    uploaded = await gateway.client.post(f"{url}?subdir=in", files=files, headers=anna)
    assert (uploaded.status_code, uploaded.json()) == (201, {"uploaded": ["in/a.txt", "in/page ü.html"]})
    assert [entry["is_dir"] for entry in (await gateway.client.get(url, headers=anna)).json()] == [True]
    shown = (await gateway.client.get(f"{url}/content", params={"path": "in/a.txt"}, headers=anna)).json()
    assert (shown["content"], shown["binary"]) == ("one", False)
    page = await gateway.client.get(f"{url}/download", params={"path": "in/page ü.html"}, headers=anna)
    assert page.content == b"<script>1</script>"
    assert page.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in page.headers["content-security-policy"]
    events = (await gateway.client.get(f"/api/sessions/{session_id}/events?format=json", headers=anna)).json()
    assert events["items"][-1]["origin"] == "user"
    for path, status in (("../etc/passwd", 403), ("none.txt", 404)):
        refused = await gateway.client.get(f"{url}/content", params={"path": path}, headers=anna)
        assert refused.status_code == status


async def test_a_signed_link_opens_one_file_until_it_is_tampered_with(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    url = f"/api/sessions/{session_id}/files"
    await gateway.client.post(url, files={"files": ("a.txt", b"one")}, headers=anna)
    link = (await gateway.client.post(f"{url}/link", json={"path": "a.txt"}, headers=anna)).json()
    assert (await gateway.client.get(link["url"])).content == b"one"
    head, payload, signature = link["url"].rpartition("/")[2].split(".")
    assert (await gateway.client.get(f"/api/files/{head}.{payload}.{signature[:-4]}AAAA")).status_code == 404
    token = anna["Authorization"].removeprefix("Bearer ")
    assert (await gateway.client.get(f"/api/files/{token}")).status_code == 404


async def test_an_upload_over_the_limit_leaves_nothing(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    options = WebOptions(max_upload_bytes=1000, max_files=2, max_body_bytes=4000)
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, options=options) as gateway:
        anna = await gateway.user("anna")
        url = f"/api/sessions/{await gateway.session(anna)}/files"
        for size in (1001, 50_000):
            answer = await gateway.client.post(url, files={"files": ("a", b"x" * size)}, headers=anna)
            assert answer.status_code == 413
        assert not gateway.workspace.files


async def test_a_form_that_ends_before_its_end_is_refused_and_leaves_nothing(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}/files"
    named = 'Content-Disposition: form-data; name="files"; filename='
    whole = f'--b\r\n{named}"a"\r\n\r\none\r\n--b\r\n{named}"b"\r\n\r\ntwo\r\n--b--\r\n'.encode()
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    for length in range(0, len(whole) - len("--\r\n"), 5):
        answer = await gateway.client.post(url, content=whole[:length], headers=anna | kind)
        assert (answer.status_code, answer.json()["detail"]) == (422, "The form data ends too early."), length
        assert not gateway.workspace.files
    assert (await gateway.client.post(url, content=whole, headers=anna | kind)).status_code == 201


async def test_a_computer_that_cannot_be_had_gives_its_reason(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    gateway.sandboxes.fault = "The engine is full."
    answer = await gateway.client.get(f"/api/sessions/{await gateway.session(anna)}/files", headers=anna)
    assert (answer.status_code, answer.json()["detail"], answer.json()["retryable"]) == (
        503,
        "The engine is full.",
        True,
    )


async def ticket(gateway: Gateway, session_id: str, headers: dict[str, str], mode: str) -> str:
    answer = await gateway.client.post(f"/api/sessions/{session_id}/vnc/ticket", json={"mode": mode}, headers=headers)
    assert answer.status_code == 201
    return gateway.url.replace("http", "ws") + str(answer.json()["url"])


async def close_code(url: str, **options: object) -> int:
    async with asyncio.timeout(30), websockets.connect(url, **options) as socket:  # type: ignore[arg-type]
        with suppress(websockets.ConnectionClosed):
            while True:
                await socket.recv()
        return socket.close_code or 0


async def test_a_ticket_opens_the_screen_once(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    url = await ticket(gateway, session_id, anna, "control")
    async with asyncio.timeout(30), websockets.connect(url, subprotocols=[Subprotocol("binary")]) as socket:
        assert socket.subprotocol == "binary"
        assert await socket.recv() == b"RFB 003.008\n"
        await socket.send(b"echo")
        assert await socket.recv() == b"echo"
        assert await close_code(url) == 4401
        other = await ticket(gateway, session_id, anna, "view")
        async with websockets.connect(other) as second:
            assert await second.recv() == b"RFB 003.008\n"
    assert gateway.sandboxes.activity[session_id] > 1


async def test_a_ticket_of_another_session_or_none_is_refused(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    first, second = await gateway.session(anna), await gateway.session(anna)
    url = await ticket(gateway, first, anna, "view")
    assert await close_code(url.replace(first, second)) == 4401
    assert await close_code(url.partition("?")[0]) == 4401


async def test_a_computer_without_desktop_closes_with_4404(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    gateway.sandboxes.has_desktop = False
    assert await close_code(await ticket(gateway, await gateway.session(anna), anna, "view")) == 4404


async def test_a_strange_page_cannot_open_the_screen(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = await ticket(gateway, await gateway.session(anna), anna, "view")
    with pytest.raises(websockets.InvalidStatus):
        await close_code(url, origin=Origin("https://evil.example"))


async def test_a_computer_starts_when_asked_and_not_when_looked_at(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}/sandbox"

    looked = await gateway.client.get(url, headers=anna)
    none = await gateway.client.post(f"{url}/renew", headers=anna)
    assert (looked.json()["status"], none.status_code) == ("none", 503)
    assert not gateway.sandboxes.living

    started = await gateway.client.post(url, headers=anna)
    kept = await gateway.client.post(f"{url}/renew", headers=anna)
    assert (started.json()["status"], kept.json()["status"]) == ("ready", "ready")


async def test_what_is_said_of_a_computer_names_the_last_event_before_it(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session = await gateway.session(anna)
    url = f"/api/sessions/{session}"
    assert (await gateway.client.get(f"{url}/sandbox", headers=anna)).json()["seq"] == 0
    (told,) = await gateway.ports.log.append(SessionId(session), [SandboxUpdated(status="ready")])

    started = await gateway.client.post(f"{url}/sandbox", headers=anna)
    kept = await gateway.client.post(f"{url}/sandbox/renew", headers=anna)
    looked = await gateway.client.get(f"{url}/sandbox", headers=anna)
    state = await gateway.client.get(f"{url}/state", headers=anna)
    numbers = [answer.json()["seq"] for answer in (started, kept, looked)]
    last = state.json()["last_seq"]
    assert numbers == [last] * 3
    assert state.json()["sandbox"]["seq"] == last >= (told.seq or 0) > 0
