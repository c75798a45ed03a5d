"""The first command of a shell that was started before anybody asked for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tool_api.tools.shell import bash as bash_module
from tool_api.tools.shell import shells as module
from tool_api.tools.shell.shells import Shells


@pytest.mark.parametrize("warm_up_s", [30.0, 0.0], ids=["in-time", "not-in-time"])
async def test_it_tells_its_own_output_and_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_up_s: float
) -> None:
    """Also on a machine so busy that bash was given up on before it was through with what it reads first."""
    once = f"[[ -e {tmp_path}/told ]] || {{ : > {tmp_path}/told; sleep 2; }}"
    slow = bash_module._REPORT.replace("  printf '\\036", f"  {once}; printf '\\036")
    assert slow != bash_module._REPORT
    monkeypatch.setattr(bash_module, "_REPORT", slow)
    monkeypatch.setattr(module, "_WARM_UP_S", warm_up_s)
    async with Shells(tmp_path) as shells:
        shell = await shells.open("main")
        await shell.warm_up()

        command = await shell.start_command("echo own; (exit 3)", wait_s=1)

        assert await command.wait(30)
        assert (command.output, command.exit_code) == ("own\n", 3)
