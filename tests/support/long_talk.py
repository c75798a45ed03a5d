"""A long conversation for measures of the page, and the text of a long answer that is streamed to it."""

from __future__ import annotations

import uuid

from backend_api.agent.events import (
    MessageCompleted,
    MessageUser,
    RunFinished,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
)
from backend_api.agent.recorded import Recorded
from backend_api.conversations.domain.entity import Claimant
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Client
from backend_api.runs.mongo.run_ledger import MongoRunLedger

LOCAL = UserId("local")
CALLS_A_RUN = 5
LAST_WORDS = "The very last words."
_CLAIMANT = Claimant(worker="filler", lease_s=3600, model="demo")
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
    """So many events or a few more, recorded by the ledger itself; answers the last number."""
    client: Client = Client(mongo_uri, tz_aware=True)
    last = run = 0
    try:
        ledger = MongoRunLedger(client[database])
        while last < events:
            run += 1
            is_last = last + 2 * CALLS_A_RUN + 6 >= events
            last = await _one_run(ledger, SessionId(session_id), run, LAST_WORDS if is_last else "")
    finally:
        await client.close()
    return last


async def _one_run(ledger: MongoRunLedger, session_id: SessionId, run: int, last_words: str) -> int:
    said = MessageUser(message_id=uuid.uuid4().hex, text=asked(run))
    accepted = await ledger.accept(session_id, LOCAL, said, claimant=_CLAIMANT)
    assert accepted.lease is not None
    items: list[Recorded] = []
    for call in range(CALLS_A_RUN):
        name, arguments = ("shell", {"command": f"ls -l part-{call}"}) if call % 2 else ("file_read", {"path": "a.csv"})
        called = ToolCalled(call_id=f"{run}-{call}", name=name, arguments=arguments, phrase="Looking")
        finished = ToolFinished(
            call_id=called.call_id, success=call != 3, preview="-rw-r--r-- 1 agent notes.txt\n" * 10
        )
        items += [Recorded(payload=called), Recorded(payload=finished)]
    usage = Usage(input=9000, output=300, by_model={"demo": {"input": 9000, "output": 300}})
    answer = MessageCompleted(message_id=uuid.uuid4().hex, text=f"{_answer(run)}\n{last_words}")
    items += [Recorded(payload=UsageUpdated(usage=usage)), Recorded(payload=answer)]
    await ledger.record(accepted.lease, items)
    end = RunFinished(run_id=accepted.run_id, status="completed", usage=usage, duration_ms=1200)
    events = await ledger.finish(accepted.lease, end, seen_seq=accepted.seq)
    return events[-1].seq or 0
