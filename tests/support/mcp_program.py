"""An MCP server that is a program, as one command without files: what a sandbox has, Python alone, runs it."""

from __future__ import annotations

import base64
import zlib

_SOURCE = r"""
import json, os, subprocess, sys, threading, time

def tell(**fields):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **fields}) + "\n")
    sys.stdout.flush()

def tool(name, **properties):
    return {"name": name, "description": "Does " + name, "inputSchema": {"type": "object", "properties": properties}}

NUMBER = {"type": "number"}
TOOLS = [tool("add", a=NUMBER, b=NUMBER), *map(tool, ["fail", "wait", "die", "where", "flood"])]
print("a greeting that is no message", flush=True)

def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "program", "version": "1"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    name, given = params["name"], params.get("arguments") or {}
    if name == "fail":
        return {"content": [{"type": "text", "text": "no luck today"}], "isError": True}
    if name == "die":
        sys.stderr.write("out of coffee\n")
        sys.stderr.flush()
        os._exit(3)
    if name == "flood":
        sys.stdout.write("x" * (5 * 1024 * 1024) + "\n")
        sys.stdout.flush()
    if name == "where":
        text = os.getcwd() + " with " + os.environ.get("PROGRAM_KEY", "no key")
    else:
        text = str(given["a"] + given["b"])
    return {"content": [{"type": "text", "text": text}]}

for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "notifications/cancelled":
        open("cancelled.txt", "w").close()
    elif asked["method"] == "tools/call" and asked["params"]["name"] == "wait":
        subprocess.Popen(["sleep", os.environ.get("SLEEP_S", "600.5")], start_new_session=True)
        open("waiting.txt", "w").close()
    elif "id" in asked:
        tell(id=asked["id"], result=answer(asked["method"], asked["params"] if "params" in asked else {}))
"""


def program_config(**env: str) -> dict[str, object]:
    """An entry of `mcp.json`. Its tools: `add` two numbers, `fail`, `wait` for ever with a child of its own, `die`,
    `where` it is and with which PROGRAM_KEY, `flood` with too much."""
    packed = base64.b64encode(zlib.compress(_SOURCE.encode(), 9)).decode()
    code = f"import base64, zlib; exec(zlib.decompress(base64.b64decode('{packed}')).decode())"
    return {"command": "python3", "args": ["-u", "-c", code], "env": env}
