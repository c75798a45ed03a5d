"""Requests no honest client sends, as bytes, and what a server may answer to them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

Open = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
ANSWER_S = 20.0
SILENT = 0
"""The server closed the connection without a word."""


def request(line: str, *headers: str, body: bytes = b"") -> bytes:
    """A request in one piece, closed by the server."""
    head = "\r\n".join([f"{line} HTTP/1.1", "Host: localhost", "Connection: close", *headers])
    return head.encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body


def post(path: str, body: bytes, token: str, kind: str = "application/json") -> bytes:
    """A body whose length is true."""
    return request(
        f"POST {path}",
        f"Authorization: Bearer {token}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        body=body,
    )


async def status_of(opened: Open, sent: bytes) -> int:
    """The status of the answer; `SILENT` when there is none. Fails when the server keeps us waiting."""
    reader, writer = await opened()
    try:
        async with asyncio.timeout(ANSWER_S):
            writer.write(sent)
            try:
                await writer.drain()
                line = await reader.readline()
            except ConnectionError:
                return SILENT
        return int(line.split()[1]) if line.startswith(b"HTTP/1.1 ") else SILENT
    finally:
        writer.close()


async def tried(opened: Open, requests: dict[str, bytes]) -> dict[str, str]:
    """What was answered wrongly."""
    wrong: dict[str, str] = {}
    for name, sent in requests.items():
        try:
            status = await status_of(opened, sent)
        except TimeoutError:
            wrong[name] = "no answer"
            continue
        if status >= 500:
            wrong[name] = str(status)
    return wrong


def bodies(field: str) -> dict[str, bytes]:
    """JSON that is none, or more than anybody wants; `field` is one that takes text."""
    name = field.encode()
    return {
        "nothing": b"",
        "half": b'{"' + name,
        "not a number": b'{"' + name + b'": NaN}',
        "an endless number": b'{"' + name + b'": 1e999999}',
        "a long number": b'{"' + name + b'": ' + b"9" * 5000 + b"}",
        "deep lists": b"[" * 100_000,
        "deep and whole": b"[" * 5000 + b"]" * 5000,
        "deep objects": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
        "a lone surrogate": b'{"' + name + b'": "\\ud800"}',
        "a surrogate as a name": b'{"\\udfff": 1}',
        "no UTF-8": b'{"' + name + b'": "\xff\xfe"}',
        "UTF-16": '{"a": 1}'.encode("utf-16"),
        "a byte order mark": b'\xef\xbb\xbf{"' + name + b'": "x"}',
        "NUL": b'{"' + name + b'": "a\\u0000b"}',
        "raw NUL": b'{"' + name + b'": "a\x00b"}',
        "a list": b"[]",
        "text": b'"x"',
        "null": b"null",
        "the same name twice": b'{"' + name + b'": "x", "' + name + b'": {}}',
        "an operator": b'{"' + name + b'": {"$gt": ""}}',
        "many names": b"{" + b",".join(b'"k%d":1' % number for number in range(20_000)) + b"}",
    }


def heads(path: str, token: str) -> dict[str, bytes]:
    """Whole requests that break the rules of HTTP or stretch them."""
    bearer = f"Authorization: Bearer {token}"
    get, post_to = f"GET {path}", f"POST {path}"
    chunked = (bearer, "Content-Type: application/json", "Transfer-Encoding: chunked")
    return {
        "garbage": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200) + b"\r\n\r\n",
        "no version": f"{get}\r\n\r\n".encode(),
        "a version of its own": f"{get} HTTP/9.9\r\nHost: localhost\r\n\r\n".encode(),
        "no host": f"{get} HTTP/1.1\r\nConnection: close\r\n\r\n".encode(),
        "a long path": request(f"GET {path}/{'a' * 20_000}", bearer),
        "a long query": request(f"GET {path}?q={'a' * 20_000}", bearer),
        "a long header": request(get, bearer, f"X-Long: {'a' * 70_000}"),
        "many headers": request(get, bearer, *(f"X-{number}: a" for number in range(5000))),
        "NUL in the path": request(f"GET {path}%00", bearer),
        "no UTF-8 in the path": request(f"GET {path}%ff%fe", bearer),
        "an escape cut off": request(f"GET {path}%", bearer),
        "up and away": request(f"GET {path}/..%2f..%2f..%2fetc%2fpasswd", bearer),
        "no UTF-8 in the query": request(f"GET {path}?q=%ff%00%ed%a0%80&limit=%ff", bearer),
        "raw bytes in the path": f"{get}/".encode() + b"\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "an absolute target": request("GET http://evil.example/", bearer),
        "another host": f"{get} HTTP/1.1\r\nHost: evil.example:99999\r\n{bearer}\r\nConnection: close\r\n\r\n".encode(),
        "a host that is none": f"{get} HTTP/1.1\r\nHost: [::1\r\n{bearer}\r\nConnection: close\r\n\r\n".encode(),
        "an origin that is none": request(get, bearer, "Origin: http://[::1"),
        "a strange request id": request(get, bearer, "X-Request-ID: \udcff\t<script>"),
        "a strange trace": request(get, bearer, "traceparent: 00-zz-\udcff-01"),
        "a strange bearer": request(get, "Authorization: Bearer \udcff\udcfe"),
        "bytes as a bearer": request(get, "Authorization: Bearer \udce9.\udce9.\udce9"),
        "a strange last event": request(get, bearer, "Last-Event-ID: \udcb2\udcb3", "Accept: text/event-stream"),
        "a strange kind": request(
            post_to, bearer, "Content-Type: \udcff;;=;charset=\udcff", "Content-Length: 2", body=b"{}"
        ),
        "an unknown charset": post(path, b"{}", token, "application/json; charset=none-such"),
        "a length that is none": request(post_to, bearer, "Content-Length: many", body=b"{}"),
        "a length below nothing": request(post_to, bearer, "Content-Length: -1", body=b"{}"),
        "two lengths": request(post_to, bearer, "Content-Length: 2", "Content-Length: 3", body=b"{}x"),
        "a length beyond all": request(post_to, bearer, "Content-Length: 99999999999999999999", body=b"{}"),
        "a length that is over the limit": request(post_to, bearer, "Content-Length: 99999999999", body=b"{}"),
        "length and chunks": request(post_to, *chunked, "Content-Length: 2", body=b"2\r\n{}\r\n0\r\n\r\n"),
        "a chunk that is none": request(post_to, *chunked, body=b"zz\r\n{}\r\n0\r\n\r\n"),
        "a chunk beyond all": request(post_to, *chunked, body=b"fffffffffffffffff\r\n{}"),
        "chunks over the limit": request(
            post_to, *chunked, body=(b"10000\r\n" + b" " * 65536 + b"\r\n") * 300 + b"0\r\n\r\n"
        ),
        "no end of chunks": request(post_to, *chunked, body=b"2\r\n{}\r\n0\r\nX: " + b"a" * 70_000 + b"\r\n\r\n"),
        "a coding of its own": request(post_to, bearer, "Transfer-Encoding: identity, chunked", body=b"0\r\n\r\n"),
        "a promise": request(post_to, bearer, "Expect: 200-maybe", "Content-Length: 2", body=b"{}"),
        "a socket without a key": request(get, bearer, "Upgrade: websocket", "Connection: Upgrade"),
        "a second protocol": request(get, bearer, "Upgrade: h2c", "HTTP2-Settings: x", "Connection: Upgrade"),
    }


def forms(path: str, token: str) -> dict[str, bytes]:
    """Multipart bodies that are broken."""
    kind = "multipart/form-data; boundary=b"

    def part(head: str, body: bytes = b"text") -> bytes:
        return f"--b\r\n{head}\r\n\r\n".encode("utf-8", "surrogateescape") + body + b"\r\n"

    def named(name: str) -> bytes:
        return part(f'Content-Disposition: form-data; name="files"; filename="{name}"') + b"--b--\r\n"

    names = [
        "../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "..\\..\\x",
        "C:\\x",
        "CON",
        "a" * 5000,
        "\u202egpj.exe",
        "/etc/x",
    ]
    names += ["", ".", "..", "a\x00b", "\udcff\udcfe", "a/../../b", "\u200b", "\n", "~/x", "-rf", "\U0001f600" * 200]
    return {f"a file named {name[:20]!r}": post(path, named(name), token, kind) for name in names} | {
        "no boundary": post(path, b"x", token, "multipart/form-data"),
        "an empty boundary": post(path, b"----\r\n", token, "multipart/form-data; boundary="),
        "a long boundary": post(path, b"x", token, f"multipart/form-data; boundary={'b' * 5000}"),
        "another boundary": post(path, b"--c\r\n\r\n--c--", token, kind),
        "no end": post(path, part('Content-Disposition: form-data; name="files"; filename="a"'), token, kind),
        "no name": post(path, part("Content-Disposition: form-data") + b"--b--", token, kind),
        "no disposition": post(path, part("X: y") + b"--b--", token, kind),
        "a long part head": post(path, part(f"X: {'a' * 100_000}") + b"--b--", token, kind),
        "many part heads": post(path, part("\r\n".join(["X: y"] * 5000)) + b"--b--", token, kind),
        "many parts": post(
            path, part('Content-Disposition: form-data; name="files"; filename="a"') * 500 + b"--b--", token, kind
        ),
        "many fields": post(path, part('Content-Disposition: form-data; name="x"') * 500 + b"--b--", token, kind),
        "a field as file": post(path, part('Content-Disposition: form-data; name="files"') + b"--b--", token, kind),
        "JSON": post(path, b"{}", token),
        "nothing": post(path, b"", token, kind),
    }
