"""Starts a kernel, passes code to it and what it says on: JSON lines from standard input and to standard output.

The first line says what to start. Nothing waits for the kernel but this program, and it waits for nothing but its
files: a kernel that floods, says nonsense or says nothing is interrupted and ended all the same.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

import zmq

from tool_api.tools.code.bridge.channel import MAX_MESSAGE_MB, Channel
from tool_api.tools.code.bridge.kernel_process import KernelProcess, adopt_orphans
from tool_api.tools.code.bridge.outputs import Outputs, line_of
from tool_api.tools.code.bridge.wire import Fields, Message, Wire, text_of

_ASK_AGAIN_S = 0.5
_OTHER_HALF_S = 1.0
_LAST_WORDS_S = 0.2
_LOOK_MS = 2000
_SOON_MS = 50
_AT_ONCE = 100
_LOST = f"\n[What it said at once was larger than {MAX_MESSAGE_MB} MB and is left out; save it to a file.]\n"


def main() -> None:
    adopt_orphans()
    commands = Commands()
    while (start := commands.next_one()) is None:
        if not commands.read():
            return
    try:
        kernel = KernelProcess(start["argv"], start["env"])
    except (OSError, ValueError, TypeError) as error:
        tell({"type": "ended", "reason": f"it could not be started: {error}"})
        return
    try:
        Bridge(kernel, commands, interrupts_by_message=start["interrupt_mode"] == "message").serve_tool_api()
    finally:
        kernel.remove_folder()


def tell(fields: Fields) -> None:
    line = memoryview(line_of(fields))
    while line:
        line = line[os.write(1, line) :]


class Commands:
    """Lines of the tool API, which is trusted."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def read(self) -> bool:
        """False once there will be no more."""
        data = os.read(0, 65536)
        self._buffer += data
        return bool(data)

    def next_one(self) -> Fields | None:
        end = self._buffer.find(b"\n")
        if end < 0:
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return json.loads(line)


class Execution:
    """An execution is over with the reply and the word that the kernel is idle, which come by different sockets."""

    def __init__(self, message_id: str) -> None:
        self.message_id = message_id
        self.outputs = Outputs()
        self.status: str | None = None
        self.is_idle = False
        self.until: float | None = None
        self.is_cut = False
        """Something of it was lost: it is over once the kernel answers again."""


class Bridge:
    """One kernel, one execution at a time."""

    def __init__(self, kernel: KernelProcess, commands: Commands, *, interrupts_by_message: bool) -> None:
        self._kernel = kernel
        self._commands = commands
        self._interrupts_by_message = interrupts_by_message
        self._wire = Wire(kernel.key.encode())
        self._context = zmq.Context[zmq.Socket[bytes]]()
        self._poller = zmq.Poller()
        self._shell = self._connected(zmq.DEALER, "shell")
        self._control = self._connected(zmq.DEALER, "control")
        self._iopub = self._connected(zmq.SUB, "iopub")
        for file in (0, kernel.stray_fd):
            self._poller.register(file, zmq.POLLIN)
        self._is_ready = self._has_answered = self._was_heard = False
        self._asked_at = 0.0
        self._execution: Execution | None = None

    def serve_tool_api(self) -> None:
        """Until the tool API is gone. A kernel that has ended is told of, and its orphans stay in sight."""
        while True:
            found = dict(self._poller.poll(_LOOK_MS if self._is_ready and self._execution is None else _SOON_MS))
            if 0 in found and not self._commands.read():
                return None
            while (command := self._commands.next_one()) is not None:
                self._obey(command)
            if self._kernel.stray_fd in found and not self._kernel.read_stray_output():
                self._poller.unregister(self._kernel.stray_fd)
            self._receive()
            self._kernel.reap()
            if self._kernel.exit_code is not None:
                return self._report_kernel_end()
            self._reconnect()
            if not self._is_ready:
                self._ask()
            self._finish_if_over()

    def _obey(self, command: Fields) -> None:
        if command["op"] == "interrupt":
            if self._interrupts_by_message:
                self._send(self._control, "interrupt_request", {})
            else:
                self._kernel.interrupt()
            return
        content: Fields = {
            "code": command["code"],
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
        }
        self._execution = Execution(self._send(self._shell, "execute_request", content))

    def _receive(self) -> None:
        for _ in range(_AT_ONCE):
            if (message := self._next(self._iopub)) is None:
                break
            self._was_heard = True
            self._on_message(message)
        while (message := self._next(self._shell)) is not None:
            self._has_answered = True
            execution = self._execution
            if message.kind == "execute_reply" and execution is not None and message.parent == execution.message_id:
                execution.status = text_of(message.content.get("status")) or "error"
        while self._next(self._control) is not None:
            pass

    def _on_message(self, message: Message) -> None:
        execution = self._execution
        if execution is None or message.parent != execution.message_id:
            return
        if message.kind == "status":
            execution.is_idle = message.content.get("execution_state") == "idle"
            return
        execution.until = None
        for fields in execution.outputs.take_message(message):
            tell(fields)

    def _finish_if_over(self) -> None:
        execution = self._execution
        if execution is None or not (execution.is_idle or execution.status is not None or execution.is_cut):
            return
        if execution.is_cut:
            if self._is_ready:
                self._finish(execution)
            return
        if execution.until is None:
            execution.until = time.monotonic() + _OTHER_HALF_S
        if (execution.is_idle and execution.status is not None) or time.monotonic() > execution.until:
            self._finish(execution)

    def _finish(self, execution: Execution) -> None:
        self._execution = None
        for fields in execution.outputs.rest():
            tell(fields)
        if execution.is_cut:
            tell({"type": "text", "text": _LOST})
        known = ("ok",) if execution.is_cut else ("ok", None)
        has_failed = execution.outputs.has_failed or execution.status not in known
        tell({"type": "finished", "success": not has_failed})

    def _reconnect(self) -> None:
        """To what was cut. The kernel answers what it is asked then once it has run the code."""
        found = [channel.reconnect_if_cut() for channel in (self._shell, self._control, self._iopub)]
        if not any(found):
            return
        self._is_ready = self._has_answered = self._was_heard = False
        if self._execution is not None:
            self._execution.is_cut = True

    def _ask(self) -> None:
        if self._has_answered and self._was_heard:
            self._is_ready = True
            tell({"type": "ready"})
        elif time.monotonic() - self._asked_at > _ASK_AGAIN_S:
            self._asked_at = time.monotonic()
            self._send(self._shell, "kernel_info_request", {})

    def _report_kernel_end(self) -> None:
        until = time.monotonic() + _LAST_WORDS_S
        while time.monotonic() < until and self._iopub.wait(_SOON_MS):
            self._receive()
        if self._execution is not None:
            for fields in self._execution.outputs.rest():
                tell(fields)
        self._kernel.read_stray_output()
        said = "" if self._is_ready else f": {self._kernel.said}"
        tell({"type": "ended", "reason": f"it ended with exit code {self._kernel.exit_code}{said}"})
        while self._commands.read():
            self._kernel.reap()

    def _connected(self, kind: int, name: str) -> Channel:
        return Channel(self._context, kind, self._kernel.address(name), self._poller)

    def _send(self, channel: Channel, kind: str, content: dict[str, Any]) -> str:
        message_id, frames = self._wire.pack(kind, content)
        channel.send(frames)
        return message_id

    def _next(self, channel: Channel) -> Message | None:
        """The next that is one; what is none is passed over."""
        for _ in range(_AT_ONCE):
            if (frames := channel.receive()) is None:
                return None
            if (message := self._wire.unpack(frames)) is not None:
                return message
        return None


if __name__ == "__main__":
    main()
