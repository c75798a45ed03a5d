"""Who reaches an opened port: the browser that its user opened it in, and nobody else."""

from __future__ import annotations

import logging
import time
from dataclasses import replace

import pytest
from jose import jwt

from backend_api.identity.domain.entity import AccessClaims
from backend_api.kit.ids import UserId
from backend_api.previews.domain.entity import PortId, PreviewGrant
from backend_api.previews.domain.errors import PreviewTokenError
from backend_api.previews.preview_tokens import JwtPreviewTokens
from service_kit.observation.context import work_fields
from support.endpoint import RunningEndpoint
from support.gateway import SECRET, Gateway
from support.previews import Reached, preview_gateway, reach, web_app
from support.servers import Server

NOBODYS = "a" * 26


def tokens(clock: float | None = None) -> JwtPreviewTokens:
    return JwtPreviewTokens(SECRET, algorithm="HS256", clock=lambda: clock or time.time())


async def status(app: Reached, cookie: str) -> int:
    return (await app.get("/echo", Cookie=f"preview-access={cookie}")).status_code


async def test_no_token_but_the_ports_own_cookie_opens_it(gateway: Gateway) -> None:
    async with web_app() as port:
        app, other = await reach(gateway, port), await reach(gateway, port, "bert")
        own = app.headers["Cookie"].partition("=")[2]
        token = app.address.partition("preview_token=")[2]
        claims = jwt.get_unverified_claims(own)
        bert = jwt.get_unverified_claims(other.headers["Cookie"].partition("=")[2])
        forged = {
            "none": "",
            "an address's token": token,
            "an access token": app.owner["Authorization"].removeprefix("Bearer "),
            "another port's": other.headers["Cookie"].partition("=")[2],
            "of another user for this port": jwt.encode(claims | {"sub": bert["sub"]}, SECRET, algorithm="HS256"),
            "of another log-in's generation": jwt.encode(claims | {"ver": 7}, SECRET, algorithm="HS256"),
            "expired": jwt.encode(claims | {"exp": 1}, SECRET, algorithm="HS256"),
            "of another kind": jwt.encode(claims | {"typ": "preview-address"}, SECRET, algorithm="HS256"),
            "unsigned": jwt.encode(claims, "other" * 10, algorithm="HS256"),
            "too long": "x" * 5000,
        }
        found = {case: await status(app, cookie) for case, cookie in forged.items()}
        beside = await app.get("/echo", Cookie=f"preview-access=planted; {app.headers['Cookie']}")

    assert {case for case, code in found.items() if code not in (401, 410)} == set()
    assert beside.status_code == 200


async def test_an_address_that_is_over_forged_or_of_another_port_opens_nothing(gateway: Gateway) -> None:
    async with web_app() as port:
        app, other = await reach(gateway, port), await reach(gateway, port, "bert")
        for token in (
            other.address.partition("preview_token=")[2],
            app.headers["Cookie"].partition("=")[2],
            jwt.encode(
                jwt.get_unverified_claims(app.address.partition("preview_token=")[2]) | {"exp": 1},
                SECRET,
                algorithm="HS256",
            ),
        ):
            answer = await gateway.client.get(app.url(f"/?preview_token={token}"), headers={"Host": app.host})
            assert answer.status_code == 401
            assert "set-cookie" not in answer.headers
            assert "Open this from the conversation" in answer.text
        # A browser that was let in before is not sent away by an old address.
        again = await gateway.client.get(app.url("/?preview_token=old"), headers=app.headers, follow_redirects=False)
        assert (again.status_code, again.headers["location"]) == (303, f"http://{app.host}/")


async def test_a_forged_id_and_a_name_that_is_none_are_no_ports(gateway: Gateway) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)
        for label in (NOBODYS, "x", "a" * 27, app.port_id[:-1] + ("a" if app.port_id[-1] != "a" else "b")):
            host = app.host.replace(app.port_id, label)
            answer = await app.get("/echo", Host=host)
            assert answer.status_code in (401, 404), label
        elsewhere = await app.get("/echo", Host=app.host.replace("localhost", "localhost.evil.example"))
        assert (elsewhere.status_code, elsewhere.json()["code"]) == (403, "host_forbidden")


async def test_a_ports_host_has_nothing_of_the_gateway_and_the_gateway_nothing_of_it(gateway: Gateway) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)
        bearer = app.headers | app.owner
        on_port = await gateway.client.get(app.url("/api/auth/me"), headers=bearer)
        page = await gateway.client.get(app.url("/healthz"), headers={"Host": app.host})
        on_gateway = await gateway.client.get("/api/auth/me", headers={"Cookie": app.headers["Cookie"]})
        plain = await gateway.client.get("/echo", headers={"Cookie": app.headers["Cookie"]})
        from_page = await gateway.client.post(
            "/api/auth/refresh", json={}, headers={"Origin": f"http://{app.host}", "Sec-Fetch-Site": "same-site"}
        )

    assert on_port.status_code == 404
    assert on_port.text == "Not Found"  # the app's own answer
    assert page.status_code == 401
    assert on_gateway.status_code == 401
    assert plain.status_code == 404
    assert from_page.status_code in (401, 403, 422)


class Told(logging.Handler):
    """For whom each line of a log was written."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(work_fields())


async def test_a_request_is_logged_as_nobodys_whatever_it_says_of_itself(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log, told = logging.getLogger("backend_api.access"), Told()
    caplog.set_level(logging.INFO, logger=log.name)
    monkeypatch.setattr(log, "handlers", [told])
    claimed = {"X-Request-ID": "of-another-request", "X-Session-ID": "of-another", "X-Run-ID": "of-another"}
    host = f"p-{NOBODYS}.localhost"
    answer = await gateway.client.get("/", headers={"Host": host, **claimed})

    assert answer.headers["x-request-id"] != claimed["X-Request-ID"]
    assert told.found == [{"request_id": answer.headers["x-request-id"]}]


@pytest.mark.parametrize(
    "end", ["log out", pytest.param("disabled", marks=pytest.mark.thorough), "deleted", "handed over"]
)
async def test_it_ends_with_the_log_in_the_account_and_the_session(gateway: Gateway, end: str) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)
        assert (await app.get("/echo")).status_code == 200
        if end == "log out":
            await gateway.client.post("/api/auth/logout", json={}, headers=app.owner)
        elif end == "disabled":
            await gateway.database["users"].update_one({"username": "anna"}, {"$set": {"is_active": False}})
        elif end == "deleted":
            await gateway.client.delete(f"/api/sessions/{app.session_id}", headers=app.owner)
        else:
            await gateway.database["sessions"].update_one({"_id": app.session_id}, {"$set": {"user_id": "another"}})
        answer = await app.get("/echo")

    assert answer.status_code == (404 if end in ("deleted", "handed over") else 410)


async def test_no_computer_is_started_for_it(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)

        async def none(_: str) -> None:
            return None

        monkeypatch.setattr(gateway.sandboxes, "running", none)
        answer = await app.get("/echo")

    assert answer.status_code == 409
    assert "The computer is not running" in answer.text


async def test_where_the_public_address_has_tls_the_cookie_is_for_tls_alone(
    endpoint: RunningEndpoint, mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    async with (
        preview_gateway(
            mongo_server, redis_server, mongo_database_name, endpoint, public_url="https://chat.example.org"
        ) as gateway,
        web_app() as port,
    ):
        app = await reach(gateway, port)
        answer = await app.get("/redirect", Origin=f"https://{app.host}")
        assert app.address.startswith(f"https://p-{app.port_id}.localhost/?")
        assert app.headers["Cookie"].startswith("__Host-preview-access=")
        assert answer.headers["location"] == f"https://{app.host}/echo"


def test_a_grant_is_read_as_it_was_signed_until_it_is_over() -> None:
    claims = AccessClaims(user_id=UserId("u"), family="f", token_version=3, expires_at=1060.0)
    grant = PreviewGrant(port_id=PortId(NOBODYS), claims=claims)
    local = replace(grant, claims=replace(claims, family="", expires_at=None))
    address = tokens(1000).sign_address(grant, expires_s=60)
    cookie = tokens(1000).sign_cookie(local, expires_s=60)

    assert tokens(1059).read_address(address) == grant
    assert tokens(1059).read_cookie(cookie) == local
    for late in (lambda: tokens(1061).read_address(address), lambda: tokens(1059).read_cookie(address)):
        with pytest.raises(PreviewTokenError):
            late()
