"""Shells on a remote host: one Bash each, whose process group is killed as a whole."""

from __future__ import annotations

import asyncio
import logging
import secrets
import shlex
from contextlib import suppress

import asyncssh

from backend_api.sandboxes.domain.errors import SandboxLostError
from backend_api.targets.errors import HostUnusableError
from backend_api.targets.ssh.commands import Command
from backend_api.targets.ssh.outputs import output_of

logger = logging.getLogger(__name__)

START_S = 15.0
END_S = 3.0
PIECE = 64 * 1024
MAX_SAID_BYTES = 16 * 1024
"""What may come of a script that says next to nothing."""
_MARK = b"\x1e"
_MAX_MARKED = 16 * 1024
# The nonce and the folder come first, then commands, all ended by NUL: Bash reads no further than that, so that the
# rest of the input is for the programs it runs. Input that a program did not read is skipped, as it does not begin with
# the nonce.
_LOOP = r"""
IFS= read -r -d '' __n; IFS= read -r -d '' __d
exec 3>&1 2>&1
__s=ready; cd -- "$__d" 2>/dev/null || __s=nofolder
printf '\036%s %s %s\036' "$__n" "$__s" "$$"
export TERM=dumb PAGER=cat GIT_PAGER=cat
while IFS= read -r -d '' __c; do
  case "$__c" in "$__n "*) ;; *) continue ;; esac
  eval "${__c#"$__n "}" 3>&-
  printf '\036%s end %s %s\036' "$__n" "$?" "$PWD" >&3
done
"""
# On a server that does not give each command a session of its own, more than the shell would be killed.
_START = """
command -v bash >/dev/null 2>&1 || { echo "there is no bash" >&2; exit 127; }
if [ "$(ps -o pgid= -p $$ 2>/dev/null | tr -d ' ')" != "$$" ] && command -v setsid >/dev/null 2>&1; then
  exec setsid bash -c "$1"
fi
exec bash -c "$1"
"""
_END = """
kill -TERM -{pid} 2>/dev/null || exit 0
i=0
while [ $i -lt 4 ]; do kill -0 -{pid} 2>/dev/null || exit 0; sleep 0.1 2>/dev/null || sleep 1; i=$((i+1)); done
kill -KILL -{pid} 2>/dev/null; exit 0
"""


def quoted(script: str, *arguments: str) -> str:
    """A script, quoted for any log-in shell of the user."""
    return " ".join(["exec sh -c", *map(shlex.quote, (script, "sh", *arguments))])


class RemoteShell:
    """An open shell. Its folder and variables persist from command to command."""

    def __init__(self, name: str, connection: asyncssh.SSHClientConnection, process: asyncssh.SSHClientProcess[bytes]):
        self.name = name
        self.command: Command | None = None
        self.is_open = True
        self.cwd = ""
        self._connection = connection
        self._process = process
        self._pid = 0
        self._nonce = secrets.token_hex(8)
        self._buffer = bytearray()
        self._ready = asyncio.Event()
        self._has_folder = True
        self._reading: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, name: str, connection: asyncssh.SSHClientConnection, folder: str) -> RemoteShell:
        """Start a shell in this folder. Raises `HostUnusableError`, `SandboxLostError`."""
        try:
            async with asyncio.timeout(START_S):
                process = await connection.create_process(quoted(_START, _LOOP), encoding=None)
                shell = cls(name, connection, process)
                shell.cwd = folder
                await shell._begin()
        except TimeoutError as error:
            raise HostUnusableError(f"No shell started on the host within {START_S:.0f} s.") from error
        except (asyncssh.Error, OSError) as error:
            raise SandboxLostError(f"The host did not open a shell: {_text(error)}.") from error
        return shell

    async def _begin(self) -> None:
        self._process.stdin.write(f"{self._nonce}\0{self.cwd}\0".encode())
        self._reading = asyncio.create_task(self._read())
        await self._ready.wait()
        if not self.is_open:
            said = bytearray()
            with suppress(asyncssh.Error, OSError, TimeoutError):
                async with asyncio.timeout(END_S):
                    said += await self._process.stderr.read(PIECE)
            raise HostUnusableError(f"No Bash started on the host: {_line(bytes(said)) or 'it ended at once'}.")
        if not self._has_folder:
            await self.end()
            raise HostUnusableError(f"The folder {self.cwd} can't be opened on the host.")

    def run(self, text: str) -> Command:
        """Begin a command. Raises `SandboxLostError`."""
        command = Command(text=text, cwd=self.cwd)
        self.command = command
        self._write(f"\0{self._nonce} {text}\0".encode())
        return command

    def type_text(self, text: str) -> None:
        """Send input to the running command. Raises `SandboxLostError`."""
        self._write(text.encode())

    def close_input(self) -> None:
        """Close the input as Ctrl+D does; the shell ends after the command."""
        with suppress(OSError):
            self._process.stdin.write_eof()

    def _write(self, data: bytes) -> None:
        try:
            self._process.stdin.write(data)
        except (asyncssh.Error, OSError) as error:
            raise SandboxLostError("The connection to the host was lost.") from error

    async def end(self) -> bool:
        """Kill its process group; False if the host could not be reached for that, in which case it may run on."""
        ended = await self._kill()
        if self.command is not None:
            self.command.finish(None)
        self._drop()
        return ended

    async def _kill(self) -> bool:
        if not self._pid:
            return True
        try:
            async with asyncio.timeout(END_S):
                await output_of(self._connection, quoted(_END.format(pid=self._pid)), MAX_SAID_BYTES)
        except (asyncssh.Error, OSError, TimeoutError) as error:
            logger.warning("a remote process group was not ended", extra={"pid": self._pid, "reason": _text(error)})
            return False
        return True

    def _drop(self) -> None:
        self.is_open = False
        self._process.close()
        if self._reading is not None:
            self._reading.cancel()

    @property
    def process_group(self) -> int:
        """The process group that would have to be killed if the connection is lost."""
        return self._pid

    async def _read(self) -> None:
        try:
            while data := await self._process.stdout.read(PIECE):
                self._take(data)
            is_lost = await self._is_lost()
        except (asyncssh.Error, OSError):
            is_lost = True
        self.is_open = False
        self._ready.set()
        if self.command is not None:
            if self._buffer:
                self.command.feed(bytes(self._buffer))
            code = self._process.exit_status
            self.command.finish(code if code is None or code >= 0 else None, is_lost=is_lost)

    async def _is_lost(self) -> bool:
        """Whether its exit status is unknown; it may come after the last of its output."""
        with suppress(TimeoutError):
            async with asyncio.timeout(END_S):
                await self._process.wait_closed()
        return self._process.exit_status is None and self._process.exit_signal is None

    def _take(self, data: bytes) -> None:
        """Process output: text goes to the command, our own end marks end it."""
        self._buffer += data
        start = f"\x1e{self._nonce} ".encode()
        while (at := self._buffer.find(_MARK)) >= 0:
            self._feed(at)
            if len(self._buffer) < len(start) and start.startswith(self._buffer):
                return
            if not self._buffer.startswith(start):
                self._feed(1)
                continue
            end = self._buffer.find(_MARK, 1)
            if end < 0 and len(self._buffer) < _MAX_MARKED:
                return
            self._act(bytes(self._buffer[len(start) : end]).decode(errors="replace"))
            del self._buffer[: end + 1]
        self._feed(len(self._buffer))

    def _feed(self, count: int) -> None:
        if count and self.command is not None and not self.command.is_finished:
            self.command.feed(bytes(self._buffer[:count]))
        del self._buffer[:count]

    def _act(self, said: str) -> None:
        what, _, rest = said.partition(" ")
        if what in ("ready", "nofolder"):
            self._pid, self._has_folder = int(rest) if rest.isdecimal() else 0, what == "ready"
            self._ready.set()
        elif what == "end" and self.command is not None:
            code, _, folder = rest.partition(" ")
            self.cwd = folder or self.cwd
            self.command.finish(int(code) if code.isdecimal() else None, self.cwd)


def _text(error: BaseException) -> str:
    return _line(str(error).encode()) or type(error).__name__


def _line(data: bytes) -> str:
    text = data.decode(errors="replace").strip().partition("\n")[0][:200]
    return "".join(one if one.isprintable() else " " for one in text).strip().rstrip(".")
