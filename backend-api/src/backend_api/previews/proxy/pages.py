"""Pages shown in place of an app: in English, or in Chinese if the browser prefers it."""

from __future__ import annotations

import html
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from backend_api.kit.errors import DomainError, LimitError, UnauthenticatedError, UnavailableError
from backend_api.kit.http.accept_language import wants_chinese
from backend_api.previews.domain.errors import (
    AppFailedError,
    NothingListensError,
    PortNotFoundError,
    PortRefusedError,
    PreviewTokenError,
    SandboxNotRunningError,
)
from backend_api.previews.proxy.origin import ForeignRequestError
from backend_api.sandboxes.domain.errors import RemoteHostError

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.6 system-ui,sans-serif;max-width:32rem;margin:18vh auto;"
    "padding:0 1.5rem}h1{font-size:1.25rem}"
)


@dataclass(frozen=True, slots=True)
class _Text:
    title: str
    text: str


_Page = tuple[int, _Text, _Text]

_PAGES: dict[type[DomainError], _Page] = {
    PreviewTokenError: (
        401,
        _Text("Open this from the conversation", "This address works only where it was opened from the conversation. "
               "Open the app there, under “Ports” of its computer."),
        _Text("请从对话中打开", "这个地址只有从对话中打开才能使用。请在对话的电脑的“端口”中打开这个应用。"),
    ),
    PortNotFoundError: (
        404,
        _Text("This port is closed", "There is no open port at this address. It was closed, or its conversation "
               "deleted."),
        _Text("端口已关闭", "这个地址没有开放的端口：它已被关闭，或者所属的对话已被删除。"),
    ),
    UnauthenticatedError: (
        410,
        _Text("This log-in has ended", "Log in again and open the app from the conversation."),
        _Text("登录已结束", "请重新登录，然后从对话中打开这个应用。"),
    ),
    ForeignRequestError: (
        403,
        _Text("Not from another page", "Other pages may link to this app, but not call or frame it."),
        _Text("不能从其他页面访问", "其他页面可以链接到这个应用，但不能调用或嵌入它。"),
    ),
    PortRefusedError: (
        403,
        _Text("This port can't be reached", "It belongs to a service of the computer's own. Have the app started on "
               "another port."),
        _Text("无法访问这个端口", "它属于电脑自身的服务。请让应用使用另一个端口。"),
    ),
    SandboxNotRunningError: (
        409,
        _Text("The computer is not running", "Its apps ended with it. Go on with the conversation, and have the app "
               "started again."),
        _Text("电脑没有运行", "应用已随电脑一起结束。请继续对话，让智能体重新启动应用。"),
    ),
    LimitError: (
        429,
        _Text("Too much at once", "Too many requests to this app are in progress. Wait a moment, then reload."),
        _Text("请求太多", "同时访问这个应用的请求太多。请稍等片刻再刷新。"),
    ),
    NothingListensError: (
        502,
        _Text("No app here yet", "Nothing listens on this port yet. Once the app is started, reload this page."),
        _Text("这里还没有应用", "这个端口上还没有应用在监听。应用启动后，请刷新页面。"),
    ),
    AppFailedError: (
        502,
        _Text("The app did not answer", "Its response was cut off, took too long, or was not valid HTTP. Reload "
               "this page, or ask the agent to look at it."),
        _Text("应用没有正常响应", "它中断了、耗时太长，或者返回的不是网页应用的响应。请刷新页面，或让智能体检查。"),
    ),
    RemoteHostError: (
        502,
        _Text("The remote host can't show it", "This conversation works on a remote host of yours, which reported this "
               "problem:"),
        _Text("远程主机无法显示它", "这个对话在你的远程主机上工作，原因如下："),
    ),
    UnavailableError: (
        503,
        _Text("The computer does not answer", "It can't be reached right now. Reload this page in a moment."),
        _Text("电脑没有响应", "现在无法连接它。请稍等片刻再刷新页面。"),
    ),
}  # fmt: skip
_FAILED: _Page = (
    500,
    _Text("Something went wrong", "Reload this page in a moment."),
    _Text("出错了", "请稍等片刻再刷新页面。"),
)


def page_of(error: DomainError, scope: Scope) -> Response:
    """The page that describes the error, with its status."""
    found = next((_PAGES[kind] for kind in type(error).__mro__ if kind in _PAGES), _FAILED)
    status, english, chinese = found
    is_chinese = wants_chinese(Headers(scope=scope).get("accept-language", ""))
    words, language = (chinese, "zh") if is_chinese else (english, "en")
    title, text = html.escape(words.title), html.escape(words.text)
    # Only the error itself describes what is wrong with a machine of the user's own.
    reason = f"<p>{html.escape(error.detail)}</p>" if isinstance(error, RemoteHostError) else ""
    body = (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{_STYLE}</style>'
        f"<h1>{title}</h1><p>{text}</p>{reason}</html>"
    )
    retry = {"Retry-After": str(error.retry_after_s)} if isinstance(error, LimitError) else {}
    return HTMLResponse(body, status, headers=_HEADERS | retry)
