"""The shell tools on a remote host."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from backend_api.agent.tool import Done, ToolCall
from backend_api.sandboxes.domain.errors import SandboxLostError
from backend_api.targets.ssh.arguments import OfShell, ShellExec, ShellWait, ShellWrite
from backend_api.targets.ssh.commands import MOST_BYTES, Command
from backend_api.targets.ssh.connections import MAX_SHELLS, Connected
from backend_api.targets.ssh.shells import RemoteShell
from contracts.tools import ShellDisplay

DEFAULT_S = 120
WRITE_LOOK_S = 0.3
INTERRUPT, END_OF_INPUT = "\x03", "\x04"
_RESTARTED = "The shell is restarted for the next command: its folder is kept, its variables are not."
_ENDED = "The command was ended, with all it had started"


async def execute(on: Connected, call: ToolCall, arguments: ShellExec) -> Done:
    """Run a command. Stopping the call kills the shell's process group on the host before it returns."""
    busy = on.shells.get(arguments.shell)
    if busy is not None and busy.is_open and busy.command is not None and not busy.command.is_finished:
        return _failed(
            f"The shell {arguments.shell} is still running: {busy.command.text[:200]}\n"
            "Wait for it (shell_wait), end it (shell_kill), or use another shell."
        )
    open_shells = [name for name, shell in on.shells.items() if shell.is_open]
    if arguments.shell not in open_shells and len(open_shells) >= MAX_SHELLS:
        return _failed(f"Too many shells are open; use one of: {', '.join(open_shells)}.")
    shell = await _shell(on, arguments.shell)
    try:
        command = shell.run(arguments.command)
        if await _follow(call, command, arguments.timeout_s or DEFAULT_S):
            return await _finished(on, shell, command)
        if arguments.keep_running:
            return _result(shell, command)
        ended = await _end(on, shell)
    except asyncio.CancelledError:
        await asyncio.shield(_end(on, shell))
        raise
    reason = f"it ran longer than {arguments.timeout_s or DEFAULT_S} s"
    return _after_end(shell, command, reason, ended=ended)


async def view(on: Connected, arguments: OfShell) -> Done:
    shell = on.shells.get(arguments.shell)
    if shell is None or shell.command is None:
        return _no_command(on, arguments.shell)
    return replace(_result(shell, shell.command), success=True)


async def wait(on: Connected, call: ToolCall, arguments: ShellWait) -> Done:
    shell = on.shells.get(arguments.shell)
    if shell is None or shell.command is None:
        return _no_command(on, arguments.shell)
    if await _follow(call, shell.command, arguments.timeout_s or DEFAULT_S):
        return await _finished(on, shell, shell.command)
    return _result(shell, shell.command)


async def write(on: Connected, call: ToolCall, arguments: ShellWrite) -> Done:
    """Write to a command. There is no terminal that turns keys into signals: Ctrl+C kills the command."""
    shell = on.shells.get(arguments.shell)
    if shell is None or shell.command is None or shell.command.is_finished:
        return _failed(f"Nothing is running in the shell {arguments.shell} that could read input.")
    if INTERRUPT in arguments.text:
        return await kill(on, arguments)
    shell.command.take_unread()
    text = arguments.text.partition(END_OF_INPUT)[0]
    shell.type_text(text + ("\n" if arguments.press_enter and END_OF_INPUT not in arguments.text else ""))
    if END_OF_INPUT in arguments.text:
        shell.close_input()
    await _follow(call, shell.command, WRITE_LOOK_S)
    return replace(_result(shell, shell.command), success=True)


async def kill(on: Connected, arguments: OfShell) -> Done:
    shell = on.shells.get(arguments.shell)
    if shell is None or shell.command is None or shell.command.is_finished:
        return Done(success=True, output=f"Nothing was running in the shell {arguments.shell}.")
    command = shell.command
    ended = await asyncio.shield(_end(on, shell))
    if not ended:
        return _after_end(shell, command, "", ended=False)
    return Done(success=True, output=f"{_ENDED}. {_RESTARTED}", display=_display(shell, command))


async def _shell(on: Connected, name: str) -> RemoteShell:
    found = on.shells.get(name)
    if found is None or not found.is_open:
        found = await RemoteShell.start(name, on.ssh, on.folders.get(name, on.folder))
        on.shells[name] = found
    return found


async def _end(on: Connected, shell: RemoteShell) -> bool:
    on.folders[shell.name] = shell.cwd
    return await shell.end()


async def _follow(call: ToolCall, command: Command, limit_s: float) -> bool:
    """Show output as it comes; returns whether the command ended in time, or wrote so much that it is to be killed."""
    loop = asyncio.get_running_loop()
    until = loop.time() + limit_s
    while not command.is_finished:
        has_changed = await command.wait_for_change(until - loop.time())
        if text := command.take_unread():
            await call.on_output(text)
        if command.is_finished or command.is_flood:
            return True
        if not has_changed or loop.time() >= until:
            return False
    return True


async def _finished(on: Connected, shell: RemoteShell, command: Command) -> Done:
    if command.is_flood and not command.is_finished:
        ended = await asyncio.shield(_end(on, shell))
        return _after_end(shell, command, f"it wrote more than {MOST_BYTES // 1024**2} MB", ended=ended)
    if command.is_lost:
        raise SandboxLostError(
            "The connection to the host was lost while the command ran, which may still be running there"
            + (f" (process group {shell.process_group})." if shell.process_group else ".")
        )
    if not shell.is_open:
        on.folders[shell.name] = shell.cwd
    return _result(shell, command)


def _result(shell: RemoteShell, command: Command) -> Done:
    output = command.output
    if not command.is_finished:
        note = f"[still running in the shell {shell.name}]"
        return _done(shell, command, f"{output}\n{note}" if output else note)
    if command.exit_code == 0:
        return _done(shell, command, output or "[no output]")
    code = "was ended" if command.exit_code is None else f"exited with code {command.exit_code}"
    note = f"[the command {code}]"
    text = f"{output.rstrip()}\n{note}" if output else note
    return replace(_done(shell, command, text), success=False)


def _after_end(shell: RemoteShell, command: Command, reason: str, *, ended: bool) -> Done:
    as_it = f", as {reason}" if reason else ""
    note = f"{_ENDED}{as_it}. {_RESTARTED}"
    if not ended:
        note = (
            f"The host could not be reached to end the command{as_it}: its process group {shell.process_group} may "
            "run on there."
        )
    output = command.output
    text = f"{output.rstrip()}\n[{note}]" if output else f"[{note}]"
    return replace(_done(shell, command, text), success=False)


def _done(shell: RemoteShell, command: Command, text: str) -> Done:
    return Done(success=True, output=text, display=_display(shell, command))


def _display(shell: RemoteShell, command: Command) -> dict[str, object]:
    shown = ShellDisplay(command=command.text, shell=shell.name, exit_code=command.exit_code, cwd=command.cwd)
    return shown.model_dump(mode="json")


def _no_command(on: Connected, name: str) -> Done:
    return _failed(f"No command has run in the shell {name}. Open shells: {', '.join(on.shells) or 'none'}.")


def _failed(text: str) -> Done:
    return Done(success=False, output=text)
