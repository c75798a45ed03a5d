"""The tool API as a process: start, refusal, end."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
import pytest

from contracts.sandboxes import UNCLAIMED
from support.endpoint import KeyPair, await_true, endpoint_environment, processes_with, running_endpoint
from support.tls import NO_TLS

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("SANDBOX_ID", None),
        ("SANDBOX_ID", ""),
        ("SANDBOX_GENERATION", None),
        ("SANDBOX_GENERATION", "-1"),
        ("SANDBOX_PUBLIC_KEY", None),
        ("SANDBOX_PUBLIC_KEY", "short"),
        ("SANDBOX_DOOR", "http://x"),
        ("SANDBOX_DOOR", "fd:2"),
        ("SANDBOX_DOOR", "unix:/tmp/endpoint.sock"),
        ("WORKSPACE", "here"),
        ("BASH_TIMEOUT", "0"),
        ("MAX_UPLOAD_BYTES", "lots"),
    ],
)
def test_a_missing_or_bad_setting_stops_the_start_by_name(tmp_path: Path, setting: str, value: str | None) -> None:
    environment = endpoint_environment(KeyPair(), tmp_path)
    environment.pop(setting, None)
    if value is not None:
        environment[setting] = value
    command = [sys.executable, "-m", "tool_api"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=20, check=False)
    assert ended.returncode == 2
    assert setting in ended.stderr
    assert "Traceback" not in ended.stderr


def test_sigterm_ends_the_endpoint_and_every_child_quickly(tmp_path: Path) -> None:
    seconds = f"6{os.getpid()}.{random.getrandbits(24)}"
    with running_endpoint(tmp_path) as endpoint:
        endpoint.call("shell_exec", command=f"setsid sleep {seconds} & (trap '' TERM; sleep {seconds}) &", shell="main")
        body = {"call_id": "last", "arguments": {"command": f"echo on; sleep {seconds}", "shell": "other"}}
        with endpoint.client() as client, client.stream("POST", "/tools/shell_exec", json=body) as answer:
            lines = answer.iter_lines()
            assert "on" in next(lines)
            await_true(lambda: len(processes_with(f"sleep {seconds}")) >= 3)
            started = time.monotonic()
            endpoint.process.terminate()
            assert "cancelled" in next(lines)
        assert endpoint.process.wait(30) == 0
        assert time.monotonic() - started < 3
        assert processes_with(f"sleep {seconds}") == []


def test_an_endpoint_on_a_port_answers(tmp_path: Path) -> None:
    keys = KeyPair()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = endpoint_environment(keys, tmp_path, SANDBOX_DOOR=f"tcp://127.0.0.1:{port}")
    with subprocess.Popen(
        [sys.executable, "-m", "tool_api"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "tool-api: ready desktop=no\n"
            assert httpx.get(f"http://127.0.0.1:{port}/healthz", verify=NO_TLS).status_code == 200
        finally:
            process.terminate()
            process.wait(30)


def test_an_endpoint_handed_over_open_answers_and_is_inherited_by_nobody(tmp_path: Path) -> None:
    keys, path = KeyPair(), tmp_path / "handed.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        number = listener.fileno()
        inode = f"socket:[{os.fstat(number).st_ino}]"
        environment = endpoint_environment(
            keys, tmp_path, SANDBOX_DOOR=f"fd:{number}", SANDBOX_GENERATION=str(UNCLAIMED)
        )
        process = subprocess.Popen(
            [sys.executable, "-m", "tool_api"], env=environment, stdout=subprocess.PIPE, text=True, pass_fds=[number]
        )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "tool-api: ready desktop=no\n"
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://endpoint") as client:
            assert client.get("/healthz").status_code == 200
        children = psutil.Process(process.pid).children(recursive=True)
        assert children, "the shell of one that waits to be claimed"
        held = [os.readlink(one) for child in children for one in Path(f"/proc/{child.pid}/fd").iterdir()]
        assert inode not in held
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()
    with socket.socket(socket.AF_UNIX) as late, pytest.raises(ConnectionRefusedError):
        late.connect(str(path))


def test_only_the_allowed_commands_run_where_they_are_named(tmp_path: Path) -> None:
    with running_endpoint(tmp_path, ALLOWED_COMMANDS="echo, cat") as endpoint:
        assert endpoint.call("shell_exec", command="echo yes | cat").output == "yes\n"
        for command in (
            "touch made",
            "echo x; touch made",
            "echo $(touch made)",
            "echo `touch made`",
            "A=1 touch made",
        ):
            refused = endpoint.call("shell_exec", command=command)
            assert not refused.success
            assert "not allowed" in refused.output
        assert not (endpoint.workspace / "made").exists()
