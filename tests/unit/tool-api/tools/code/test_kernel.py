"""Starting and ending kernels, with small programs in the place of Jupyter's."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from support.endpoint import processes_with
from tool_api.tools.code.execution import Execution
from tool_api.tools.code.kernel import Kernel
from tool_api.tools.code.kernels import Kernels
from tool_api.tools.code.kernelspecs import KernelSpec, KernelStartError

PYTHON = Path(sys.executable)
ENVIRONMENT = {"PATH": os.environ["PATH"]}
UNREADABLE = """
import hashlib, hmac, json, sys, zmq
info = json.load(open(sys.argv[1]))
context = zmq.Context()
at = lambda kind, channel: (s := context.socket(kind), s.bind(f"ipc://{info['ip']}-{info[channel + '_port']}"))[0]
shell, iopub, control = at(zmq.ROUTER, "shell"), at(zmq.PUB, "iopub"), at(zmq.ROUTER, "control")

def send(socket, kind, parent, content, to=()):
    header = {"msg_type": kind, "msg_id": "1", "session": "1", "username": "1", "version": "5.4"}
    parts = [json.dumps(part).encode() for part in (header, parent, {}, content)]
    mark = hmac.new(info["key"].encode(), b"".join(parts), hashlib.sha256).hexdigest().encode()
    socket.send_multipart([*to, b"<IDS|MSG>", mark, *parts])

while True:
    frames = shell.recv_multipart()
    parent = json.loads(frames[frames.index(b"<IDS|MSG>") + 2])
    if parent["msg_type"] == "kernel_info_request":
        send(iopub, "status", parent, {"execution_state": "idle"})
        send(shell, "kernel_info_reply", parent, {"protocol_version": "5.4"}, frames[:1])
    else:
        iopub.send_multipart([b"no message"])
"""


def spec(*argv: str) -> KernelSpec:
    return KernelSpec(name="x", argv=list(argv), language="x")


async def test_a_kernel_that_does_not_answer_is_ended(tmp_path: Path) -> None:
    command = spec("bash", "-c", "sleep 61.25 & sleep 61.25")
    begun = time.monotonic()
    with pytest.raises(KernelStartError, match="did not answer within"):
        await Kernel.start_kernel(command, PYTHON, tmp_path, ENVIRONMENT, limit_s=0.2)
    assert time.monotonic() - begun < 10
    assert processes_with("sleep 61.25") == []


async def test_a_kernel_whose_program_is_missing_says_so(tmp_path: Path) -> None:
    with pytest.raises(KernelStartError, match="No such file"):
        await Kernel.start_kernel(spec(str(tmp_path / "none")), PYTHON, tmp_path, ENVIRONMENT, limit_s=5)


async def test_a_kernel_that_sends_no_messages_of_jupyter_is_gone(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(UNREADABLE)
    command = spec("python", str(program), "{connection_file}")
    kernel = await Kernel.start_kernel(command, PYTHON, tmp_path, ENVIRONMENT, limit_s=30)
    try:
        execution = Execution("1")
        kernel.run_code(execution)
        assert await execution.wait(10)
        assert (execution.success, execution.ended) == (False, "its messages can't be read")
        assert not kernel.is_alive
    finally:
        await kernel.close()
    assert processes_with(str(program)) == []


async def test_without_the_environment_of_kernels_there_are_none(tmp_path: Path) -> None:
    assert await Kernels(tmp_path, tmp_path / "none", tmp_path).specs() == []
