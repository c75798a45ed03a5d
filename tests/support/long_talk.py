"""A long conversation for measures of the page, and the text of a long answer that is streamed to it."""

from __future__ import annotations

import itertools

from backend_api.agent.events import ToolCalled, ToolFinished
from backend_api.kit.ids import SessionId
from backend_api.runs.mongo.run_ledger import MongoRunLedger
from support.recorded_runs import record_run, record_until

CALLS_A_RUN = 5
LAST_WORDS = "The very last words."
_CODE = """```python
def read_rows(path: str) -> list[dict[str, str]]:
    # Each row by the names of the head.
    with open(path, encoding="utf-8") as file:
        return [dict(row) for row in csv.DictReader(file)]
```
"""


def asked(run: int) -> str:
    """What the person says to begin a run."""
    return f"Question {run}: what is in the folder, and which of it is new? " * 2


def _answer(run: int) -> str:
    points = "".join(f"- **File {at}** has `{at * 7}` rows and is *new*.\n" for at in range(6))
    table = "| File | Rows |\n| --- | ---: |\n" + "".join(f"| `part-{at}.csv` | {at * 11} |\n" for at in range(4))
    code = f"\n{_CODE}" if run % 3 == 0 else ""
    return f"## Answer {run}\n\nThere are twelve files, and two of them are new.\n\n{points}\n{table}{code}"


def long_answer(size: int = 16_000) -> str:
    """Markdown of every common kind, about so many characters of it."""
    parts: list[str] = []
    at = 0
    while sum(map(len, parts)) < size:
        at += 1
        words = (
            f"Paragraph {at} tells of **one** thing and of _another_, with `names` and [a link](https://example.org). "
        )
        parts.append(f"## Part {at}\n\n{words * 4}\n\n{_answer(at).partition(chr(10))[2]}\n\n")
    return "".join(parts)[:size]


async def fill_talk(mongo_uri: str, database: str, session_id: str, events: int) -> int:
    """So many events or a few more; answers the last number."""
    runs = itertools.count(1)

    async def record(ledger: MongoRunLedger, last: int) -> int:
        run, is_last = next(runs), last + 2 * CALLS_A_RUN + 6 >= events
        answer = f"{_answer(run)}\n{LAST_WORDS if is_last else ''}"
        return await record_run(ledger, SessionId(session_id), said=asked(run), calls=_calls(run), answer=answer)

    return await record_until(events, mongo_uri, database, record)


def _calls(run: int) -> list[tuple[ToolCalled, ToolFinished]]:
    made: list[tuple[ToolCalled, ToolFinished]] = []
    for call in range(CALLS_A_RUN):
        name, arguments = ("shell", {"command": f"ls -l part-{call}"}) if call % 2 else ("file_read", {"path": "a.csv"})
        called = ToolCalled(call_id=f"{run}-{call}", name=name, arguments=arguments, phrase="Looking")
        preview = "-rw-r--r-- 1 agent notes.txt\n" * 10
        made.append((called, ToolFinished(call_id=called.call_id, success=call != 3, preview=preview)))
    return made
