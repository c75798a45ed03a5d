"""`mcp.json` of a deployment."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from backend_api.kit.http_address import HttpAddressError
from backend_api.mcp.client.config_file import McpFileError, read_mcp_file, user_server
from backend_api.mcp.domain.entity import McpTarget


def written(folder: Path, servers: Any) -> Path:
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


def test_each_form_is_read_and_variables_are_put_in(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {
            "time": {"url": "https://time.example.org/${ZONE:-UTC}", "env": {"KEY": "${KEY}"}},
            "wiki": {"url": "https://wiki.example.org/${PLACE}/mcp", "headers": {"Authorization": "Bearer ${KEY}"}},
            "old": {"url": "https://old.example.org/sse"},
            "named": {"type": "streamable-http", "url": "https://named.example.org/sse", "tools": ["get_*"]},
            "off": {"command": "x", "enabled": False, "env": {"X": "${MISSING}"}},
            "notes": {"command": "uvx", "args": ["notes", "${PLACE}"], "env": {"TOKEN": "${KEY}"}},
        },
    )
    clock, wiki, old, named, notes = read_mcp_file(
        path, {"KEY": "k3y-of-all", "PLACE": "one", "OTHER": "not-asked-for"}
    )
    assert (clock.server.transport, wiki.server.transport, old.server.transport) == ("http", "http", "sse")
    assert (named.server.transport, named.server.tools) == ("http", frozenset({"get_*"}))
    assert (notes.server.transport, notes.filled.args) == ("stdio", ["notes", "one"])
    assert notes.filled.env == {"TOKEN": "k3y-of-all"}
    assert clock.filled.url == "https://time.example.org/UTC"
    assert clock.filled.env == {"KEY": "k3y-of-all"}
    assert wiki.filled.url == "https://wiki.example.org/one/mcp"
    assert wiki.filled.headers == {"Authorization": "Bearer k3y-of-all"}
    assert "k3y-of-all" in clock.secrets()
    assert "k3y-of-all" in wiki.secrets()
    assert "not-asked-for" not in str([clock.values, wiki.values])
    assert "k3y-of-all" not in repr([clock, wiki])


def test_the_client_by_which_users_sign_in_is_read_and_its_secret_is_one(tmp_path: Path) -> None:
    entry = {"url": "https://a.example.org", "oauth": {"client_id": "us", "client_secret": "${KEY}"}}
    [target] = read_mcp_file(written(tmp_path, {"a": entry}), {"KEY": "k3y-of-all"})
    assert (target.filled.client_id, target.filled.client_secret) == ("us", "k3y-of-all")
    assert "k3y-of-all" in target.secrets()
    assert "k3y-of-all" not in repr(target) + repr(target.filled)
    assert target.filled.issuer == ""
    pinned = {**entry, "oauth": {"client_id": "us", "issuer": "https://login.example.org"}}
    assert read_mcp_file(written(tmp_path, {"a": pinned}), {})[0].filled.issuer == "https://login.example.org"
    wrongs: list[dict[str, str]] = [
        {"client_secret": "x"},
        {"client_id": ""},
        {"client_id": "a\nb"},
        {"client_id": "a", "other": "b"},
        {"client_id": "a", "issuer": "login.example.org"},
        {"client_id": "a", "issuer": "https://login.example.org:x"},
    ]
    for wrong in wrongs:
        with pytest.raises(McpFileError, match="oauth"):
            read_mcp_file(written(tmp_path, {"a": {**entry, "oauth": wrong}}), {})


def test_what_one_is_known_by_says_nothing_of_a_secret_and_changes_with_what_it_is(tmp_path: Path) -> None:
    def config(**entry: Any) -> str:
        [target] = read_mcp_file(written(tmp_path, {"a": entry}), {"KEY": "x"})
        return target.server.config

    first = config(url="https://a.example.org", headers={"K": "one"})
    assert first == config(url="https://a.example.org", headers={"K": "two"})
    assert first != config(url="https://b.example.org", headers={"K": "one"})
    assert first != config(url="https://a.example.org", headers={"K": "one"}, tools=["x"])


@pytest.mark.parametrize(
    ("servers", "reason"),
    [
        ({"a": {"url": "http://x", "headers": {f"X-{one}": "v" for one in range(21)}}}, "at most 20"),
        ({"a": {"url": "http://x", "env": {f"X{one}": "v" for one in range(21)}}}, "at most 20"),
        (
            {"a": {"url": "http://x", "env": {f"X{one}": "v" * 4_000 for one in range(5)}}},
            "more than 16,384 characters",
        ),
        ({"a": {"url": "https://x.example.org", "env": {"K": "${MISSING}"}}}, "a needs the variable MISSING"),
        ({"a": {"command": "x", "args": ["${MISSING}"]}}, "a needs the variable MISSING"),
        ({"a": {"command": "x", "args": ["${K:-}"] * 51}}, "more than 50 variables"),
        ({"a": {"command": "x", "args": ["y" * 4_000] * 17}}, "more than 65,536 characters"),
        ({"a": {}}, "either a command or a url"),
        ({"a": {"command": ""}}, "either a command or a url"),
        ({"a": {"command": "", "url": ""}}, "either a command or a url"),
        ({"a": {"command": "x", "url": "https://x.example.org"}}, "either a command or a url"),
        ({"a": {"command": "x", "headers": {"A": "b"}}}, "can't have headers"),
        ({"a": {"url": "https://x.example.org", "type": "stdio"}}, "can't have args or"),
        ({"a": {"url": "file:///etc/passwd"}}, "its url can't be used: an address must begin with http"),
        ({"a": {"url": "https://x.example.org:70000/mcp"}}, "a: its url can't be used: its port must be a number"),
        ({"a": {"url": "https://${HOST:-}/mcp"}}, "a: its url can't be used: the host is missing"),
        ({"a": {"url": "https://x.example.org", "headers": {"Host": "b"}}}, "can't be set"),
        ({"a": {"url": "https://x.example.org", "headers": {"A": "b\r\nC: d"}}}, "headers.A: it has more than one"),
        (
            {"a": {"command": "x", "args": ["-c", "a\0b"]}},
            r"args\.1: it contains NUL, which can't be passed to a program",
        ),
        ({"a": {"command": "x", "env": {"K": "a\0b"}}}, r"env\.K: it contains NUL, which can't be passed to a program"),
        ({"a": {"command": "x\ny"}}, r"command: it has more than one line, or contains NUL$"),
        (
            {"a": {"url": "https://x.example.org", "env": {"K": "a\nb"}}},
            "a variable of a server with a url must be one line",
        ),
        ({"a": {"url": "https://x.example.org", "headers": {"A b": "c"}}}, "a header's name has"),
        ({"a": {"url": "https://x.example.org", "oauth": {"client_id": "\u5b57"}}}, "client_id: it has non-ASCII"),
        ({"a": {"command": "x", "cwd": "/"}}, "cwd"),
        ({"a__b": {"command": "x"}}, "'a__b' is not a valid server name"),
        ({"a": {"command": "x", "env": {"A=B": "c"}}}, "a variable's name has"),
        ([], "mcpServers"),
        ({f"s{number}": {"url": "https://x.example.org"} for number in range(21)}, "more than 20"),
    ],
)
def test_what_is_wrong_is_said_with_the_file_and_the_server(tmp_path: Path, servers: Any, reason: str) -> None:
    path = written(tmp_path, servers)
    with pytest.raises(McpFileError, match=reason) as refused:
        read_mcp_file(path, {})
    assert str(path) in str(refused.value)


def test_texts_that_are_nearly_variables_are_read_at_once() -> None:
    began = time.process_time()
    server = user_server("a", {"command": "x", "args": ["${K:-" * 800] * 16, "env": {"K": "v"}})
    target = McpTarget(server=server, values=server.env)
    assert [*target.filled.args] == [*server.args]
    assert target.secrets() == ["v"]
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${K}", "v"),
        ("a ${K:-x} ${L:-y$z} ${L:-}.", "a v y$z ."),
        ("${L:-$}", "$"),
        ("$K ${} ${1} ${K", "$K ${} ${1} ${K"),
    ],
)
def test_what_is_put_in_for_variables(text: str, filled: str) -> None:
    server = user_server("a", {"command": "x", "args": [text], "env": {"K": "v"}})
    assert [*McpTarget(server=server, values=server.env).filled.args] == [filled]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\xff", b"[" * 100_000])
def test_what_is_no_such_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(content)
    with pytest.raises(McpFileError):
        read_mcp_file(path, {})
    with pytest.raises(McpFileError, match="can't be read"):
        read_mcp_file(tmp_path / "nowhere.json", {})


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        *((url, "form") for url in ("wss://x.example.org", "x.example.org/mcp", "http://a b/mcp", " http://x/mcp")),
        *((url, "form") for url in ("http://x\\@y/mcp", "http://x/\u00a0", "https:/x/mcp", "")),
        *((url, "host") for url in ("http://", "https:///mcp", "http://?x=1", "http://:80/mcp", "http://[::1/mcp")),
        *(
            (url, "host")
            for url in ("http://[v1.a]/mcp", "http://[::1]x/mcp", "http://x[::1]/mcp", "http://300.1.1.1/mcp")
        ),
        *((url, "host") for url in ("http://xn--a/mcp", "http://\u24d0.example/mcp")),
        *((url, "host") for url in ("http://[x]/mcp", "http://a..b/mcp", "http://a%20b/mcp", "http://*.example.org")),
        *((f"http://x:{port}/mcp", "port") for port in ("0", "65536", "abc", "-1", "80:80")),
        *((f"http://{user}@x/mcp", "credentials") for user in ("", "anna", "anna:pw", ":")),
        *((f"https://x/mcp{rest}", "fragment") for rest in ("#", "#a", "?b=c#a")),
    ],
)
def test_an_address_where_no_server_can_be_is_no_users(url: str, fault: str) -> None:
    with pytest.raises(HttpAddressError) as refused:
        user_server("a", {"url": "${URL}", "env": {"URL": url}})
    assert refused.value.fault == fault


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:8080/mcp", "HTTPS://Tools.example.org", "http://[::1]:9000/sse", "http://my_tools:3000/a"),
        *("https://x.example.org/mcp?key=a%20b&c=$", "https://b\u00fccher.example/mcp", "https://x.example.org./mcp"),
        *(
            "http://[fe80::1%25eth0]:80/mcp",
            "http://[::ffff:127.0.0.1]/mcp",
            "http://1.2.3.4.:80/mcp",
            "http://127.1/mcp",
        ),
    ],
)
def test_an_address_where_a_server_can_be_is_taken_as_it_is(url: str) -> None:
    assert user_server("a", {"url": url}).url == url


def test_arguments_and_variables_of_a_program_may_have_several_lines() -> None:
    script = "import sys\nprint(1)\r\n"
    server = user_server("a", {"command": "python3", "args": ["-c", script], "env": {"KEY": "a\nb"}})
    filled = McpTarget(server=server, values=server.env).filled
    assert ([*filled.args], filled.env) == (["-c", script], {"KEY": "a\nb"})
