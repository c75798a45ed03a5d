"""Tracebacks do not show where Python is installed on the host."""

from __future__ import annotations

import time

import pytest

from tool_api.installed_paths import without_installed_paths

ROOTS = ("/opt/my product/.venv-kernels", "/root/.pyenv/versions/3.11.7")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "File /root/.pyenv/versions/3.11.7/lib/python3.11/json/decoder.py:355",
            "File …/lib/python3.11/json/decoder.py:355",
        ),
        (
            'File "/srv/x/.venv/lib/python3.12/site-packages/a.py", line 1',
            'File "…/lib/python3.12/site-packages/a.py", line 1',
        ),
        ("File \x1b[32m/srv/x/lib64/python3/a.py:1\x1b[39m", "File \x1b[32m…/lib64/python3/a.py:1\x1b[39m"),
        ("File /opt/my product/.venv-kernels/lib/python3.11/a.py:1", "File …/lib/python3.11/a.py:1"),
        ("File /workspace/.venv/lib/python3.11/a.py:1", "File /workspace/.venv/lib/python3.11/a.py:1"),
        ("File /workspace/app/main.py:7", "File /workspace/app/main.py:7"),
        ("Cell In[1], line 1", "Cell In[1], line 1"),
    ],
)
def test_the_path_before_the_library_is_left_out(said: str, shown: str) -> None:
    assert without_installed_paths(said, ROOTS) == shown


@pytest.mark.parametrize("said", ["/-" * 100_000, "/" * 200_000, ("/-" + "a" * 250) * 800])
def test_what_is_hardly_a_path_takes_no_time(said: str) -> None:
    began = time.process_time()
    assert without_installed_paths(said, ROOTS) == said
    # It was more than ten minutes.
    assert time.process_time() - began < 20
