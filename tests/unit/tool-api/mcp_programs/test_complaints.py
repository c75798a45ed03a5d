"""Of what a program that ended wrote, the reason is told."""

from __future__ import annotations

import sys

import pytest

from tool_api.mcp_programs.complaints import MAX_CHARACTERS, complaint

NPM = """npm {word} code E404
npm {word} 404 Not Found - GET https://registry.example.org/no-such-server - Not found
npm {word} 404
npm {word} 404  'no-such-server@*' is not in this registry.
npm {word} 404
npm {word} 404 Note that you can also install from a
npm {word} 404 tarball, folder, http url, or git folder.
npm notice New major version of npm available! 11.0.0 -> 12.0.0
"""


@pytest.mark.parametrize(
    ("word", "log"),
    [
        ("error", "npm error A complete log of this run can be found in: /cache/.npm/_logs/2026-01-01-debug-0.log"),
        (
            "ERR!",
            "npm ERR! A complete log of this run can be found in:\nnpm ERR!     /cache/.npm/_logs/2026-debug-0.log",
        ),
    ],
)
def test_the_reason_of_npm_is_told_and_not_where_its_log_lies(word: str, log: str) -> None:
    told = complaint(NPM.format(word=word) + "\n" + log)
    assert told.splitlines() == [
        f"npm {word} code E404",
        f"npm {word} 404 Not Found - GET https://registry.example.org/no-such-server - Not found",
        f"npm {word} 404  'no-such-server@*' is not in this registry.",
    ]


def test_of_pip_and_uv_all_but_news_of_versions_is_told() -> None:
    pip = "ERROR: No matching distribution found for no-such\n\n[notice] A new release of pip is available: 1 -> 2\n"
    assert complaint(pip) == "ERROR: No matching distribution found for no-such"
    uv = "  × No solution found:\n  ╰─▶ Because no-such was not found in the package registry, it is unsatisfiable.\n"
    assert complaint(uv) == uv.strip()


def test_of_a_long_complaint_the_end_is_told_and_what_says_nothing_is_told_if_it_is_all() -> None:
    told = complaint("Traceback\n" + "  line\n" * 1_000 + "ValueError: no")
    assert told.startswith("...")
    assert told.endswith("ValueError: no")
    assert len(told) == MAX_CHARACTERS
    assert complaint("npm notice hello") == "npm notice hello"
    assert complaint(" \n") == ""


def test_where_python_is_installed_on_the_host_is_left_out() -> None:
    said = (
        f"{sys.prefix}/bin/python3: No module named no_such\n"
        'File "/srv/product/.venv/lib/python3.11/runpy.py", line 1\nValueError: no key'
    )
    assert complaint(said).splitlines() == [
        "\u2026/bin/python3: No module named no_such",
        'File "\u2026/lib/python3.11/runpy.py", line 1',
        "ValueError: no key",
    ]
