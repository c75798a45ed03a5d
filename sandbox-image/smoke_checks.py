#!/usr/bin/env python3
"""What a sandbox must be able to do, and must not, seen from inside. Prints a line a check; ends with 1 on a failure.

Reads the endpoint token from TOKEN and leaves a picture of the desktop in /workspace/desktop.png.
"""

import asyncio
import json
import os
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

ENDPOINT = "127.0.0.1:7000"
HEADERS = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
TEXT = "你好 こんにちは 안녕 😀"
PAGE = f"data:text/html;charset=utf-8,<title>Smoke</title><body style='background:teal;font-size:60px'>{TEXT}"
PROGRAMS = ("python3", "pip", "node", "npm", "git", "rg", "jq")
PICTURE = Path("/workspace/desktop.png")


def run_command(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


async def call(client: httpx.AsyncClient, name: str, **arguments: object) -> dict[str, Any]:
    answer = await client.post(f"/tools/{name}", json={"call_id": name, "arguments": arguments})
    answer.raise_for_status()
    result: dict[str, Any] = json.loads(answer.text.splitlines()[-1])["result"]
    assert result["success"], result["output"]
    return result


async def services(client: httpx.AsyncClient) -> str:
    health = (await client.get("/healthz")).json()
    assert health["ready"], health
    assert health["has_desktop"], health
    assert set(health["services"].values()) == {"ready"}, health
    return ", ".join(health["services"])


async def shell(client: httpx.AsyncClient) -> str:
    command = "; ".join(("pwd", *(f"{program} --version | sed -n 1p" for program in PROGRAMS)))
    output = (await call(client, "shell_exec", command=command))["output"]
    assert output.startswith("/workspace\n"), output
    assert not re.search("not found|No such|error", output), output
    return " | ".join(line[:20] for line in output.splitlines()[1 : len(PROGRAMS) + 1])


async def code(client: httpx.AsyncClient) -> str:
    plot = "import pandas as pd, matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()\npd.DataFrame({'a': [1]})"
    result = await call(client, "code_run", code=plot, timeout_s=50)
    shown = [one["type"] for one in result["display"]["outputs"]]
    assert shown == ["picture", "table"], result["output"]
    return f"shown: {', '.join(shown)}"


async def environment_is_clean(client: httpx.AsyncClient) -> str:
    output = (await call(client, "shell_exec", command="env"))["output"]
    assert "SANDBOX_PUBLIC_KEY" not in output, output
    assert "LANG=C.UTF-8" in output, output
    return f"{len(output.splitlines())} variables"


async def browser(client: httpx.AsyncClient) -> str:
    result = await call(client, "browser_navigate", url=PAGE)
    assert TEXT in result["output"], result["output"]
    assert result["display"]["image"], "no screenshot"
    return f"{result['duration_ms']} ms, screenshot of {len(result['display']['image']) * 3 // 4} bytes"


async def desktop(_: httpx.AsyncClient) -> str:
    async with connect(
        f"ws://{ENDPOINT}/vnc",
        additional_headers=HEADERS,
        subprotocols=[Subprotocol("binary")],
        max_size=None,
        compression=None,
        proxy=None,
    ) as socket:
        held = bytearray()

        async def read(size: int) -> bytes:
            while len(held) < size:
                part = await asyncio.wait_for(socket.recv(), 10)
                assert isinstance(part, bytes)
                held.extend(part)
            piece = bytes(held[:size])
            del held[:size]
            return piece

        await socket.send(await read(12))
        await read((await read(1))[0])
        await socket.send(b"\x01")
        assert await read(4) == b"\0\0\0\0"
        await socket.send(b"\x01")
        head = await read(24)
        width, height = struct.unpack(">HH", head[:4])
        await read(struct.unpack(">I", head[20:24])[0])
        await socket.send(struct.pack(">BxHi", 2, 1, 0) + struct.pack(">BBHHHH", 3, 0, 0, 0, width, height))
        screen = bytearray(width * height * 4)
        covered = 0
        while covered < width * height:
            _, rectangles = struct.unpack(">BxH", await read(4))
            for _ in range(rectangles):
                x, y, w, h, _encoding = struct.unpack(">HHHHi", await read(12))
                for row in range(y, y + h):
                    at = (row * width + x) * 4
                    screen[at : at + w * 4] = await read(w * 4)
                covered += w * h
    save_png(screen, width, height)
    teal = bytes(screen).count(b"\x80\x80\x00")
    assert teal > width * height // 3, "the page is not on the screen"
    return f"{width}x{height}, saved as {PICTURE}"


def save_png(screen: bytearray, width: int, height: int) -> None:
    rows = bytearray()
    for y in range(height):
        line = screen[y * width * 4 : (y + 1) * width * 4]
        rgb = bytearray(width * 3)
        rgb[0::3], rgb[1::3], rgb[2::3] = line[2::4], line[1::4], line[0::4]
        rows += b"\0" + rgb

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packed = zlib.compress(bytes(rows), 6)
    PICTURE.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b""))


async def fonts(_: httpx.AsyncClient) -> str:
    found: list[str] = []
    for wanted in (":lang=zh-cn", ":lang=ja", ":lang=ko", "emoji"):
        family = run_command("fc-match", "-f", "%{family}", wanted).stdout
        assert re.search("CJK|Emoji", family), f"{wanted}: {family}"
        found.append(family.split(",")[0])
    return ", ".join(found)


def processes() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            lines = (folder / "status").read_text().splitlines()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        found[folder.name] = {**dict(line.split(":", 1) for line in lines if ":" in line), "command": command}
    return found


async def chrome_sandbox(_: httpx.AsyncClient) -> str:
    seen = processes()
    assert not [one for one in seen.values() if "--no-sandbox" in one["command"]]
    own = int(seen[str(os.getpid())].get("Seccomp_filters", "0"))
    renderers = [one for one in seen.values() if "--type=renderer" in one["command"]]
    assert renderers, "no renderer runs"
    for one in renderers:
        assert len(one["NSpid"].split()) > 1, "a renderer has no pid namespace of its own"
        assert int(one.get("Seccomp_filters", "0")) > own, "a renderer has no filter of its own"
    return (
        f"{len(renderers)} renderers, each in its own namespaces with {renderers[0]['Seccomp_filters'].strip()} filters"
    )


async def hardening(_: httpx.AsyncClient) -> str:
    mine = processes()[str(os.getpid())]
    assert os.getuid() == 1000
    assert int(mine["CapEff"], 16) == 0
    assert int(mine["CapBnd"], 16) == 0
    assert mine["NoNewPrivs"].strip() == "1"
    assert mine["Seccomp"].strip() == "2"
    for path in ("/etc/smoke", "/opt/smoke", "/usr/smoke", "/smoke"):
        try:
            Path(path).write_text("x")
        except OSError:
            continue
        raise AssertionError(f"{path} can be written")
    set_user = run_command("find", "/", "-xdev", "-perm", "/6000", "-type", "f")
    assert not set_user.stdout.strip(), set_user.stdout
    assert run_command("mount", "-t", "tmpfs", "none", "/mnt").returncode != 0
    return "no capability, no new privileges, read-only root, no set-user files, no mount"


async def memory(_: httpx.AsyncClient) -> str:
    total = sum(int(one["VmRSS"].split()[0]) for one in processes().values() if "VmRSS" in one)
    tool_api = next(
        one for one in processes().values() if "-m tool_api" in one["command"] and "tini" not in one["command"]
    )
    return f"resident sum {total // 1024} MB, tool API {int(tool_api['VmRSS'].split()[0]) // 1024} MB"


CHECKS: tuple[Callable[[httpx.AsyncClient], Awaitable[str]], ...] = (
    services,
    shell,
    code,
    environment_is_clean,
    browser,
    desktop,
    fonts,
    chrome_sandbox,
    hardening,
    memory,
)


async def main() -> int:
    failed = 0
    async with httpx.AsyncClient(base_url=f"http://{ENDPOINT}", headers=HEADERS, timeout=60, trust_env=False) as client:
        for check in CHECKS:
            name = check.__name__.replace("_", " ")
            try:
                line = f"ok      {name}: {await check(client)}"
            except Exception as error:  # noqa: BLE001  # the outermost handler of each check
                failed += 1
                line = f"FAILED  {name}: {type(error).__name__}: {str(error)[:800]}"
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    return 1 if failed else 0


sys.exit(asyncio.run(main()))
