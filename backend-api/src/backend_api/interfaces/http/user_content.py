"""Headers for bytes that users or agents made: they may never act as a page of ours."""

from __future__ import annotations

from urllib.parse import quote

_SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "text/plain", "application/pdf"})
SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def content_headers(name: str, media_type: str, *, inline: bool = False) -> dict[str, str]:
    """Attachment unless the type is harmless; sandboxed in either case."""
    kind = media_type.partition(";")[0].strip().lower()
    disposition = "inline" if inline and kind in _SHOWN else "attachment"
    plain = "".join(char if (char.isascii() and char.isalnum()) or char in "._- " else "_" for char in name)
    encoded = quote(name.encode("utf-8", "replace"), safe="")
    return {
        "Content-Type": media_type,
        "Content-Disposition": f"{disposition}; filename=\"{plain}\"; filename*=UTF-8''{encoded}",
        "Content-Security-Policy": SANDBOX,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-store",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
