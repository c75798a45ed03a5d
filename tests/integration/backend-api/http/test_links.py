"""Signed links and attachments, on a real tool API."""

from __future__ import annotations

import io
import zipfile
from collections.abc import AsyncGenerator, Generator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import httpx
import pytest

from backend_api.agent.tool import ToolCall
from backend_api.computers.application.link_file import LinkFile
from backend_api.computers.tools import SignedLink, generate_download_url
from backend_api.kit.http.ports import WebOptions
from backend_api.sandboxes.domain.errors import SandboxLostError
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.workspace import ToolApiWorkspace
from support.endpoint import RunningEndpoint, running_endpoint
from support.endpoint_tokens import FixedTokens
from support.gateway import Gateway, run_gateway
from support.servers import Server


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningEndpoint]:
    with running_endpoint(tmp_path_factory.mktemp("endpoint")) as running:
        (running.workspace / "folder").mkdir()
        (running.workspace / "folder" / "inside.txt").write_text("inside")
        (running.workspace / "outside").symlink_to("/etc/passwd")
        yield running


OPTIONS = WebOptions(allowed_hosts=("chat.example.org",))


@pytest.fixture
def options() -> WebOptions:
    return OPTIONS


@pytest.fixture
async def gateway(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, endpoint: RunningEndpoint, options: WebOptions
) -> AsyncGenerator[Gateway]:
    async with (
        Endpoints(FixedTokens(endpoint)) as endpoints,
        run_gateway(
            mongo_server.uri, mongo_database_name, redis_server.uri, options=options, files=ToolApiWorkspace(endpoints)
        ) as running,
    ):
        yield running


@pytest.fixture
async def anna(gateway: Gateway) -> dict[str, str]:
    return await gateway.user("anna")


@pytest.fixture
async def session(gateway: Gateway, anna: dict[str, str], endpoint: RunningEndpoint) -> str:
    (endpoint.workspace / "page.html").write_text("<p>hello</p>")
    return f"/api/sessions/{await gateway.session(anna)}"


async def link(
    gateway: Gateway, session: str, headers: dict[str, str], path: str, *, folder: bool = False
) -> httpx.Response:
    body = {"path": path} | ({"folder": True} if folder else {})
    return await gateway.client.post(f"{session}/files/link", json=body, headers=headers)


async def test_a_link_is_made_only_of_a_file_that_is_there(
    gateway: Gateway, anna: dict[str, str], session: str
) -> None:
    made = await link(gateway, session, anna, "page.html")
    assert made.status_code == 200
    left = datetime.fromisoformat(made.json()["expires_at"]) - datetime.now(UTC)
    assert timedelta(seconds=3_540) < left <= timedelta(hours=1), "of which nothing is said, it is an hour"
    for path, folder, status in (
        ("none.txt", False, 404),
        ("page.html/none", False, 404),
        ("folder", False, 404),
        (".", False, 404),
        ("page.html", True, 404),
        ("none", True, 404),
        ("../up", False, 403),
        ("outside", False, 403),
    ):
        refused = await link(gateway, session, anna, path, folder=folder)
        assert refused.status_code == status, (path, refused.text)
    assert (await link(gateway, "/api/sessions/none", anna, "page.html")).status_code == 404


async def test_a_folder_is_linked_where_it_is_asked_for_and_a_file_that_became_one_is_not(
    gateway: Gateway, anna: dict[str, str], session: str, endpoint: RunningEndpoint
) -> None:
    packed = await gateway.client.get((await link(gateway, session, anna, "folder", folder=True)).json()["url"])
    assert packed.headers["content-type"] == "application/zip"
    assert zipfile.ZipFile(io.BytesIO(packed.content)).namelist() == ["inside.txt"]

    (endpoint.workspace / "turning").write_text("a file")
    url = (await link(gateway, session, anna, "turning")).json()["url"]
    assert (await gateway.client.get(url)).text == "a file"
    (endpoint.workspace / "turning").unlink()
    assert (await gateway.client.get(url)).status_code == 404
    (endpoint.workspace / "turning").symlink_to("folder")
    for verb in ("GET", "HEAD"):
        assert (await gateway.client.request(verb, url)).status_code == 404
    (endpoint.workspace / "turning").unlink()


async def test_files_beside_a_page_are_those_of_the_linked_folder_alone(
    gateway: Gateway, anna: dict[str, str], session: str, endpoint: RunningEndpoint
) -> None:
    site = endpoint.workspace / "site"
    (site / "deep").mkdir(parents=True)
    parts = {
        "index.html": "<p>hi",
        "app.js": "let a",
        "style.css": "p {}",
        "deep/a.svg": "<svg xmlns='x'/>",
        "data.bin": "\0",
    }
    for name, content in parts.items():
        (site / name).write_text(content)
    (site / "away").symlink_to(endpoint.workspace / "page.html")
    (site / "outside").symlink_to("/etc/passwd")
    url = (await link(gateway, session, anna, "site", folder=True)).json()["url"]
    types = dict[str, str]()
    for name in parts:
        answer = await gateway.client.get(f"{url}/{name}", headers={"Sec-Fetch-Dest": "iframe"})
        assert (answer.status_code, answer.text) == (200, parts[name])
        types[name] = answer.headers["Content-Type"].partition(";")[0]
        assert answer.headers["Content-Security-Policy"].startswith(
            "sandbox allow-scripts allow-modals; default-src 'none'"
        )
        assert "allow-same-origin" not in answer.headers["Content-Security-Policy"]
        assert (answer.headers["X-Content-Type-Options"], answer.headers["Referrer-Policy"]) == (
            "nosniff",
            "no-referrer",
        )
    assert types == {
        "index.html": "text/html",
        "app.js": "text/javascript",
        "style.css": "text/css",
        "deep/a.svg": "image/svg+xml",
        "data.bin": "application/octet-stream",
    }
    on_its_own = await gateway.client.get(f"{url}/index.html", headers={"Sec-Fetch-Dest": "document"})
    assert on_its_own.headers["Content-Disposition"].startswith("attachment")
    for path in (
        "%2e%2e/page.html",
        "deep/%2e%2e/%2e%2e/page.html",
        "deep",
        "none",
        "",
        "deep//a.svg",
        "%5c..%5cpage.html",
        "outside",
    ):
        refused = await gateway.client.get(f"{url}/{path}")
        assert refused.status_code in (403, 404), path
    of_file = (await link(gateway, session, anna, "page.html")).json()["url"]
    assert (await gateway.client.get(f"{of_file}/page.html")).status_code == 404
    assert (await gateway.client.get("/api/files/none/page.html")).status_code == 404
    whole = (await link(gateway, session, anna, ".", folder=True)).json()["url"]
    assert (await gateway.client.get(f"{whole}/page.html")).text == "<p>hello</p>"


async def test_head_says_of_a_link_what_get_does(gateway: Gateway, anna: dict[str, str], session: str) -> None:
    for path, folder in (("page.html", False), ("folder", True)):
        url = (await link(gateway, session, anna, path, folder=folder)).json()["url"]
        whole, head = await gateway.client.get(url), await gateway.client.head(url)
        assert (head.status_code, head.content) == (200, b"")
        named = ("content-type", "content-disposition", "content-length", "content-security-policy", "cache-control")
        assert {name: head.headers.get(name) for name in named} == {name: whole.headers.get(name) for name in named}
        assert head.headers["x-content-type-options"] == "nosniff"
    assert (await gateway.client.head("/api/files/none")).status_code == 404


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("chat.example.org", "http://chat.example.org"),
        pytest.param("chat.example.org:8443", "http://chat.example.org:8443", marks=pytest.mark.thorough),
        ("localhost:8000", "http://localhost:8000"),
        pytest.param("127.0.0.1:8000", "http://127.0.0.1:8000", marks=pytest.mark.thorough),
        ("203.0.113.9", ""),
        pytest.param("[2001:db8::1]:80", "", marks=pytest.mark.thorough),
    ],
)
async def test_a_link_leads_to_no_address_that_only_the_caller_names(
    gateway: Gateway, anna: dict[str, str], session: str, host: str, origin: str
) -> None:
    url = (await link(gateway, session, anna | {"Host": host}, "page.html")).json()["url"]
    assert url.startswith(f"{origin}/api/files/")
    assert (await gateway.client.get(urlsplit(url).path)).text == "<p>hello</p>"


@pytest.mark.parametrize("options", [WebOptions(public_url="https://deskmate.example.org")])
async def test_the_address_that_is_set_comes_first(gateway: Gateway, anna: dict[str, str], session: str) -> None:
    for host in ("203.0.113.9", "localhost"):
        url = (await link(gateway, session, anna | {"Host": host}, "page.html")).json()["url"]
        assert url.startswith("https://deskmate.example.org/api/files/")


async def test_without_a_path_the_whole_workspace_comes_as_zip(
    gateway: Gateway, anna: dict[str, str], session: str
) -> None:
    for query in ("", "?path=", "?path=."):
        answer = await gateway.client.get(f"{session}/files/download{query}", headers=anna)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip"), query
        assert 'filename="workspace.zip"' in answer.headers["content-disposition"]
        assert {"page.html", "folder/inside.txt"} <= set(zipfile.ZipFile(io.BytesIO(answer.content)).namelist())


async def test_what_is_attached_must_be_a_file_of_the_session(
    gateway: Gateway, anna: dict[str, str], session: str, endpoint: RunningEndpoint
) -> None:
    (endpoint.workspace / "second.txt").write_text("2")
    for way in ("messages", "runs", "runs/stream"):
        for path in ("none.txt", "folder", "../up", "/etc/passwd", ""):
            body = {"text": "see", "attachments": ["page.html", path]}
            refused = await gateway.client.post(f"{session}/{way}", json=body, headers=anna)
            assert refused.status_code == 422, (way, path, refused.text)
            (error,) = refused.json()["errors"]
            assert error["field"] == "body.attachments.1"
            assert repr(path) in error["message"] or not path
    events = (await gateway.client.get(f"{session}/events?format=json", headers=anna)).json()
    assert events["items"] == []
    body = {"text": "see", "attachments": ["page.html", "second.txt"]}
    assert (await gateway.client.post(f"{session}/messages", json=body, headers=anna)).status_code == 202


async def test_files_of_one_name_keep_theirs_with_a_number_everywhere(
    gateway: Gateway, anna: dict[str, str], session: str, endpoint: RunningEndpoint
) -> None:
    async def upload(*contents: bytes, query: str = "") -> list[str]:
        files = [("files", ("pasted 图.png", content)) for content in contents]
        answer = await gateway.client.post(f"{session}/files?subdir=in{query}", files=files, headers=anna)
        assert answer.status_code == 201, answer.text
        return answer.json()["uploaded"]

    names = ["in/pasted 图.png", "in/pasted 图 (2).png", "in/pasted 图 (3).png"]
    assert await upload(b"one", b"two") == names[:2]
    assert await upload(b"three") == names[2:]
    assert [(endpoint.workspace / name).read_bytes() for name in names] == [b"one", b"two", b"three"]
    body = {"text": "see", "attachments": names}
    assert (await gateway.client.post(f"{session}/messages", json=body, headers=anna)).status_code == 202
    events = (await gateway.client.get(f"{session}/events?format=json", headers=anna)).json()["items"]
    changed = [path for event in events if event["type"] == "files.changed" for path in event["paths"]]
    assert changed == names
    assert next(event["attachments"] for event in events if event["type"] == "message.user") == names
    assert await upload(b"other", query="&replace=true") == names[:1]
    assert (endpoint.workspace / names[0]).read_bytes() == b"other"


@pytest.mark.thorough
async def test_the_agents_tool_tells_that_the_file_is_missing(
    gateway: Gateway, anna: dict[str, str], session: str
) -> None:
    user_id = (await gateway.client.get("/api/auth/me", headers=anna)).json()["id"]
    session_id = session.rpartition("/")[2]

    async def sign(session_id: str, user_id: str, path: str, *, expires_s: int) -> SignedLink:
        if path == "lost":
            raise SandboxLostError("It went away.")
        made = await gateway.port("link_file", LinkFile)(session_id, user_id, path, expires_s)  # type: ignore[arg-type]
        return SignedLink(url=f"/api/files/{made.token}", expires_at=made.expires_at)

    tool = generate_download_url(sign)
    call = ToolCall(session_id=session_id, user_id=user_id, run_id="r", call_id="c", name="generate_download_url")

    async def asked(path: str) -> tuple[bool, str]:
        outcome = await tool.run_call(replace(call, arguments={"path": path}))
        return outcome.success, outcome.output

    assert await asked("none.txt") == (False, "There is no none.txt in the workspace.")
    assert await asked("folder") == (False, "folder is a folder.")
    assert await asked("lost") == (False, "No link was made: It went away.")
    success, output = await asked("page.html")
    assert success
    assert (await gateway.client.get(output.splitlines()[0])).text == "<p>hello</p>"
