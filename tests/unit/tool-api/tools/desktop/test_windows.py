"""What programs say of their windows is text of theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tool_api.tools.desktop import programs
from tool_api.tools.desktop.windows import MAX_TITLE, MAX_WINDOWS, windows_of

XPROP = r"""#!/bin/sh
case "$*" in
*-root*) printf '_NET_CLIENT_LIST_STACKING(WINDOW): window id # 0x1'; for i in $(seq 2 200); do printf ', 0x%x' $i; done
  printf '\n_NET_ACTIVE_WINDOW(WINDOW): window id # 0xc8\n';;
*) printf '_NET_WM_NAME(UTF8_STRING) = "a\033[31m\342\200\256%s"\n' "$(yes | head -c 9000)"
  printf 'WM_CLASS(STRING) = "x", "Prog"\n';;
esac
"""
XDOTOOL = "#!/bin/sh\nprintf 'X=-5\\nY=999999999999\\nWIDTH=10\\nHEIGHT=20\\n'\n"


async def test_windows_are_few_and_their_titles_short_and_of_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("xprop", XPROP), ("xdotool", XDOTOOL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)

    def found(name: str) -> str:
        return str(tmp_path / name)

    monkeypatch.setattr(programs, "find_program", found)  # the machine's are the real ones

    windows = await windows_of(":1")

    assert len(windows) == MAX_WINDOWS
    assert (windows[0].number, windows[0].is_focused, windows[1].is_focused) == (200, True, False)
    assert all(window.title.isprintable() and len(window.title) <= MAX_TITLE for window in windows)
    assert (windows[0].program, windows[0].x, windows[0].y, windows[0].width) == ("Prog", -5, 0, 10)
