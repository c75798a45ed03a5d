"""Headers for bytes of users or agents, so that they never act as a page of ours, nor as a part of one."""

from __future__ import annotations

import re
from urllib.parse import quote

from backend_api.sandboxes.domain.content import active_type, beside_type, inert_type

SANDBOX = "sandbox; default-src 'none'"
RUN = (
    "sandbox allow-scripts allow-modals; default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "media-src 'self' data: blob:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
"""Its origin is none: it has nothing of ours, reads no answer, and loads only what is beside it."""
RUN_CONNECTIONS = "(response-origin)"
"""All that it may connect to. Of browsers that know this header it holds what no content policy does, as WebRTC and
connections made ahead, also in frames that the page makes."""
_ON_ITS_OWN = f"{SANDBOX}; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'"
MAX_NAME_CHARACTERS = 150
# Control characters, and characters that change the writing direction: they make a name look like another one.
_MISLEADING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")
_SHOWN = ("image/", "audio/", "video/", "text/plain", "text/html")
"""Types that browsers show; PDF is not among them, as browsers show it in no sandbox."""


def content_headers(name: str, head: bytes, *, shown: bool = False, has_own_origin: bool = False) -> dict[str, str]:
    """Headers for a content that begins with `head`.

    It is an attachment, unless it is to be shown and browsers show its type without running anything. A page keeps its
    type if it is only saved, or with `has_own_origin`, on an origin that serves nothing but such content. Scripts are
    disabled in every case, in case a browser shows what it is told to save.
    """
    media_type = active_type(name, head) if has_own_origin or not shown else inert_type(name, head)
    disposition = "inline" if shown and media_type.startswith(_SHOWN) else "attachment"
    return {
        "Content-Type": media_type,
        "Content-Disposition": f"{disposition}; {_file_name(name)}",
        "Content-Security-Policy": _ON_ITS_OWN if has_own_origin else SANDBOX,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-store",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


def running_headers(name: str, head: bytes, *, is_framed: bool) -> dict[str, str]:
    """For a page that runs in a frame of ours, closed off, and for what is beside it. On its own it is only saved: it
    would look like a page of this server."""
    media_type = beside_type(name, head)
    is_saved = not is_framed and media_type.startswith(("text/html", "image/svg"))
    return {
        "Content-Type": media_type,
        "Content-Disposition": f"{'attachment' if is_saved else 'inline'}; {_file_name(name)}",
        "Content-Security-Policy": RUN,
        "Connection-Allowlist": RUN_CONNECTIONS,
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-store",
        # Of no origin, it is a stranger to the files beside it too; the link alone is the right to them.
        "Cross-Origin-Resource-Policy": "cross-origin",
    }


def _file_name(name: str) -> str:
    """The file name by RFC 6266: plain for old clients, complete for all others (RFC 8187)."""
    last = name.rstrip("/").rsplit("/", 1)[-1].rsplit("\\", 1)[-1]
    safe = _MISLEADING.sub("_", last).strip()[-MAX_NAME_CHARACTERS:] or "file"
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "._- ") else "_" for char in safe)
    return f"filename=\"{plain}\"; filename*=UTF-8''{quote(safe.encode('utf-8', 'replace'), safe='')}"
