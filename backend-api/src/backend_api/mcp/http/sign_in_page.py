"""The page shown to a browser that returns from signing in at an MCP server."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from backend_api.kit.http.accept_language import wants_chinese
from backend_api.mcp.domain.sign_in import SignInFault

_WORDS: Mapping[str, Mapping[SignInFault | None, tuple[str, str]]] = {
    # The detail of every fault is in English already.
    "en": {
        None: ("You are signed in", "{detail} can be used from your next message on. You may close this page."),
        "failed": ("Not signed in", "{detail}"),
    },
    "zh": {
        None: ("登录成功", "从你的下一条消息起即可使用 {detail}。你可以关闭此页面。"),
        "expired": ("未登录", "这次登录已过期或已结束，请在设置中重新开始。"),
        "other_browser": ("未登录", "这次登录是在另一个浏览器中开始的，请在当前浏览器的设置中重新开始。"),
        "denied": ("未登录", "登录被对方拒绝或已取消。"),
        "changed": ("未登录", "MCP 服务器在此期间被修改或删除，请重新登录。"),
        "failed": ("未登录", "登录未能完成。{detail}"),
    },
}
_PAGE = """\
<!doctype html>
<html lang="{language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style nonce="{nonce}">
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }}
body {{ margin: 20vh auto 0; max-width: 32rem; padding: 0 1.5rem; overflow-wrap: anywhere }}
h1 {{ font-size: 1.25rem; font-weight: 600; margin: 0 0 .5rem }}
p {{ margin: 0 }}
</style>
<main><h1>{title}</h1><p>{text}</p></main>
{script}</html>
"""
_CLOSES = '<script nonce="{nonce}">window.close()</script>\n'


def sign_in_page(accepted: str, nonce: str, fault: SignInFault | None, detail: str) -> str:
    """The page in the language that `accepted`, the header `Accept-Language`, prefers. It closes itself on success;
    `detail` names the server, or the reason for a failure."""
    language = "zh" if wants_chinese(accepted) else "en"
    words = _WORDS[language]
    title, text = words.get(fault, words["failed"])
    return _PAGE.format(
        language=language,
        nonce=nonce,
        title=escape(title),
        text=escape(text.format(detail=detail)),
        script=_CLOSES.format(nonce=nonce) if fault is None else "",
    )


def headers_of(nonce: str) -> dict[str, str]:
    """Response headers: nothing else runs or loads on the page, its address is not sent on, and it is not cached."""
    return {
        "Content-Security-Policy": (
            f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
