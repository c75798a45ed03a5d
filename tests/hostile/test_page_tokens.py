"""What a script in the page, or another page, could get hold of; and that how it is kept logs nobody out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, Response, expect

from backend_api.identity.mongo.users import MongoUsers
from backend_api.kit.http.ports import WebOptions
from support.gateway import Gateway
from support.page import WIDE, chromium, composer
from support.stack import ROOT

PASSWORD = "anna-password"
NEW = "quite another one"
_WITHOUT_LOCKS = "Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })"
_EVERYTHING_KEPT = """async () => {
    const kept = [{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state, window.name]
    for (const { name } of await indexedDB.databases()) kept.push(name)
    for (const name of await caches.keys())
        for (const request of await (await caches.open(name)).keys()) kept.push(request.url)
    for (const name of Object.getOwnPropertyNames(window)) {
        const value = window[name]
        if (typeof value === 'string') kept.push(value)
    }
    return JSON.stringify(kept)
}"""
_STEAL = """async () => {
    const answer = await fetch('/api/auth/refresh', {
        method: 'POST', body: '{"cookie":true}', headers: { 'Content-Type': 'application/json' } })
    return { status: answer.status, text: await answer.text(), cookie: answer.headers.get('set-cookie') }
}"""
_WHO = "() => JSON.parse(localStorage.getItem('log-in')).user"
_FROM_ELSEWHERE = """async (address) => {
    for (const body of [undefined, '{"cookie":true}'])
        for (const call of ['refresh', 'logout'])
            await fetch(`${address}/api/auth/${call}`, {
                method: 'POST', mode: 'no-cors', credentials: 'include', body }).catch(() => null)
}"""


@pytest.fixture
def web_options() -> WebOptions:
    """With the page."""
    return WebOptions(frontend=ROOT / "frontend" / "dist")


@pytest.fixture
async def gateway(gateways: list[Gateway]) -> Gateway:
    """The first of the two, with an account."""
    await gateways[0].user("anna")
    return gateways[0]


@pytest.fixture
async def browser() -> AsyncGenerator[Browser]:
    async with chromium() as running:
        yield running


async def new_context(browser: Browser, *, locks: bool = True) -> BrowserContext:
    context = await browser.new_context(viewport=WIDE, locale="en")
    if not locks:
        await context.add_init_script(_WITHOUT_LOCKS)
    return context


async def log_in(page: Page, gateway: Gateway, password: str = PASSWORD) -> Response:
    await page.goto(f"{gateway.url}/login")
    await page.get_by_label("User name").fill("anna")
    await page.get_by_label("Password").fill(password)
    async with page.expect_response("**/api/auth/login") as answering:
        await page.get_by_role("button", name="Log in").click()
    await expect(composer(page)).to_be_visible()
    return await answering.value


async def expect_log_in_page(page: Page) -> None:
    await expect(page.get_by_label("User name")).to_be_visible(timeout=20_000)


async def account(page: Page) -> None:
    await page.get_by_role("button", name="Settings").click()
    await page.get_by_role("dialog").get_by_role("tab", name="Account").click()


async def planted_cookie(gateway: Gateway) -> tuple[str, str]:
    """The name of the page's cookie, and a token of the attacker's own account."""
    body = {"username": "mallory", "password": "mallory-password"}
    granted = (await gateway.client.post("/api/auth/register", json=body)).json()
    return f"refresh-{gateway.url.rpartition(':')[2]}", granted["refresh_token"]


async def visit(evil: Page, body: str, headers: dict[str, str]) -> None:
    """A page of another server on the same host."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        lines = {"Content-Type": "text/html", "Content-Length": str(len(body)), "Connection": "close"} | headers
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"HTTP/1.1 200 OK\r\n{head}\r\n{body}".encode())
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        await evil.goto(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")


async def user_id(gateway: Gateway, name: str) -> str:
    account = await gateway.port("users", MongoUsers).by_username(name)
    assert account is not None
    return account.user.id


async def test_no_script_finds_a_token_and_a_reload_keeps_the_person_logged_in(
    gateway: Gateway, browser: Browser
) -> None:
    context = await new_context(browser)
    page = await context.new_page()
    granted = await (await log_in(page, gateway)).json()
    (cookie,) = await context.cookies(f"{gateway.url}/api/auth/refresh")
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/api/auth")
    assert granted["refresh_token"] is None
    for _ in range(2):
        kept = await page.evaluate(_EVERYTHING_KEPT)
        assert "log-in" in kept
        for secret in (cookie["value"], granted["access_token"], granted["access_token"].split(".")[2]):
            assert secret not in kept
        await page.reload()
        await expect(composer(page)).to_be_visible()
    stolen = await page.evaluate(_STEAL)
    (now,) = await context.cookies(f"{gateway.url}/api/auth/refresh")
    assert (stolen["status"], stolen["cookie"]) == (200, None)
    assert now["value"] not in stolen["text"]
    assert await context.cookies(gateway.url) == [], "the cookie goes along with more than the log-in's own calls"


async def test_a_page_of_elsewhere_neither_renews_nor_ends_the_log_in(gateway: Gateway, browser: Browser) -> None:
    """One of the same host, which is the same site: the browser sends it the cookie along."""
    context = await new_context(browser)
    page = await context.new_page()
    await log_in(page, gateway)
    before = await context.cookies(f"{gateway.url}/api/auth/refresh")
    evil = await context.new_page()
    await visit(evil, "<p>evil</p>", {})
    answers: list[int] = []
    evil.on("response", lambda answer: answers.append(answer.status))
    await evil.evaluate(_FROM_ELSEWHERE, gateway.url)
    # Without a body it reaches what judges where it comes from; a text is none that the calls take.
    assert answers == [422, 401, 422, 422]
    assert await context.cookies(f"{gateway.url}/api/auth/refresh") == before
    assert await gateway.database["refresh_tokens"].count_documents({"used_at": {"$ne": None}}) == 0
    await page.reload()
    await expect(composer(page)).to_be_visible()


async def test_a_cookie_planted_from_another_port_makes_nobody_another_user(gateway: Gateway, browser: Browser) -> None:
    """By a script of a page there, which can set a cookie for the whole host beside ours."""
    name, token = await planted_cookie(gateway)
    for path in ("/", "/api/auth/refresh"):
        context = await new_context(browser)
        page = await context.new_page()
        await log_in(page, gateway)
        evil = await context.new_page()
        script = f"<script>document.cookie = '{name}={token}; path={path}'</script>"
        await visit(evil, script, {})
        assert len(await context.cookies(f"{gateway.url}/api/auth/refresh")) == 2, path
        for _ in range(2):
            await page.reload()
            await expect(composer(page)).to_be_visible()
            assert await page.evaluate(_WHO) == await user_id(gateway, "anna"), path
        await context.close()


async def test_a_cookie_planted_in_the_place_of_ours_logs_nobody_in(gateway: Gateway, browser: Browser) -> None:
    context = await new_context(browser)
    page = await context.new_page()
    await log_in(page, gateway)
    name, token = await planted_cookie(gateway)
    evil = await context.new_page()
    await visit(evil, "<p>evil</p>", {"Set-Cookie": f"{name}={token}; Path=/api/auth; HttpOnly; SameSite=Strict"})
    (cookie,) = await context.cookies(f"{gateway.url}/api/auth/refresh")
    assert cookie["value"] == token
    await page.reload()
    await expect_log_in_page(page)
    assert await gateway.database["refresh_tokens"].count_documents({"used_at": {"$ne": None}}) == 0
    await log_in(page, gateway)
    await page.reload()
    await expect(composer(page)).to_be_visible()
    assert await page.evaluate(_WHO) == await user_id(gateway, "anna")


@pytest.mark.parametrize("locks", [True, pytest.param(False, marks=pytest.mark.thorough)])
@pytest.mark.timeout(180)
async def test_tabs_that_renew_at_once_stay_logged_in_and_leave_together(
    gateway: Gateway, browser: Browser, locks: bool
) -> None:
    context = await new_context(browser, locks=locks)
    first, second = await context.new_page(), await context.new_page()
    await log_in(first, gateway)
    await second.goto(gateway.url)
    await expect(composer(second)).to_be_visible()
    for _ in range(3):
        await asyncio.gather(first.reload(), second.reload())
        await asyncio.gather(*(expect(composer(page)).to_be_visible() for page in (first, second)))
    await account(first)
    await first.get_by_role("button", name="Log out", exact=True).click()
    await asyncio.gather(expect_log_in_page(first), expect_log_in_page(second))
    assert await context.cookies(f"{gateway.url}/api/auth/refresh") == []
    await log_in(first, gateway)
    await expect(composer(second)).to_be_visible(timeout=20_000)


@pytest.mark.thorough
async def test_an_answer_that_is_lost_logs_nobody_out(gateway: Gateway, browser: Browser) -> None:
    context = await new_context(browser)
    page = await context.new_page()
    await log_in(page, gateway)
    lost: list[int] = []

    async def lose(route: Any) -> None:
        if len(lost) < 2:
            lost.append((await route.fetch()).status)
            await route.abort("connectionreset")
        else:
            await route.continue_()

    await page.route("**/api/auth/refresh", lose)
    await page.reload()
    await expect(composer(page)).to_be_visible(timeout=20_000)
    assert lost == [200, 200]
    await page.reload()
    await expect(composer(page)).to_be_visible()


@pytest.mark.thorough
async def test_tokens_that_a_page_of_before_kept_are_traded_and_gone(gateway: Gateway, browser: Browser) -> None:
    body = {"username": "anna", "password": PASSWORD}
    kept = (await gateway.client.post("/api/auth/login", json=body)).json()
    context = await new_context(browser)
    page = await context.new_page()
    await page.goto(f"{gateway.url}/login")
    await page.evaluate(
        "kept => localStorage.setItem('tokens', JSON.stringify({ access: kept[0], refresh: kept[1] }))",
        [kept["access_token"], kept["refresh_token"]],
    )
    await page.goto(gateway.url)
    await expect(composer(page)).to_be_visible()
    left = await page.evaluate(_EVERYTHING_KEPT)
    assert kept["access_token"] not in left
    assert kept["refresh_token"] not in left
    again = await gateway.client.post("/api/auth/refresh", json={"refresh_token": kept["refresh_token"]})
    assert again.status_code == 401


@pytest.mark.thorough
async def test_a_password_changed_in_the_page_leaves_this_browser_alone_logged_in(
    gateway: Gateway, gateways: list[Gateway], browser: Browser
) -> None:
    mine, thiefs = await new_context(browser), await new_context(browser)
    page, beside, thief = await mine.new_page(), await mine.new_page(), await thiefs.new_page()
    await log_in(page, gateway)
    await beside.goto(gateway.url)
    await log_in(thief, gateways[1])
    await account(page)
    await page.get_by_role("button", name="Change password").click()
    await page.get_by_label("Current password").fill("not this one")
    await page.get_by_label("New password", exact=False).first.fill(NEW)
    await page.get_by_label("New password again").fill(NEW)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert")).to_have_text("This is not your current password.")
    await page.get_by_label("Current password").fill(PASSWORD)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("status").filter(has_text="Your password is changed")).to_be_visible()
    await expect_log_in_page(thief)
    for own in (page, beside):
        await own.goto(gateway.url)
        await expect(composer(own)).to_be_visible()
    await log_in(thief, gateways[1], NEW)
