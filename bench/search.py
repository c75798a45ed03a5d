"""Search in a user's messages: how soon all of them are indexed, how long a query takes, and a new message is found.

.venv/bin/python bench/search.py [messages]
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from backend_api.agent.events import Event, MessageCompleted, MessageUser
from backend_api.conversations.mongo.event_documents import to_documents
from backend_api.kit.ids import UserId
from backend_api.kit.mongo.database import Database
from backend_api.main.stores import connect
from backend_api.search.application import SearchMessages
from backend_api.search.mongo import MongoMessageIndex
from setting import machine
from support.modules import MODULE_DOCUMENTS
from support.servers import run_mongod

MESSAGES = 100_000
OF_A_SESSION = 50
WORDS = 50_000
USER = UserId("anna")
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def vocabulary(chance: random.Random) -> list[str]:
    """Words of two to eleven letters, each once."""
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    found: dict[str, None] = {}
    while len(found) < WORDS:
        found["".join(chance.choices(letters, k=chance.randint(2, 11)))] = None
    return list(found)


def written(chance: random.Random, words: list[str], weights: list[float]) -> str:
    """About forty words as frequent as in a language, or, of every fifth message, Chinese characters."""
    if chance.random() < 0.2:
        return "".join(chr(0x4E00 + min(int(chance.paretovariate(0.6)) - 1, 3000)) for _ in range(60))
    return " ".join(chance.choices(words, cum_weights=weights, k=chance.randint(5, 80)))


async def fill(database: Database, messages: int, texts: list[str]) -> None:
    for first in range(0, messages, OF_A_SESSION):
        session_id, at = f"s{first}", BEGAN + timedelta(minutes=first)
        events: list[dict[str, object]] = []
        for number in range(OF_A_SESSION):
            text, seq = texts[first + number], number + 1
            payload = (
                MessageUser(message_id=f"m{seq}", text=text)
                if number % 2 == 0
                else MessageCompleted(message_id=f"m{seq}", text=text)
            )
            event = Event(
                seq=seq, at=at + timedelta(seconds=number), session_id=session_id, run_id=None, payload=payload
            )
            events += to_documents(event)
        await database["events"].insert_many(events)
        session = {"_id": session_id, "user_id": USER, "title": texts[first][:60], "status": "idle"}
        times = {"created_at": at, "updated_at": at, "last_seq": OF_A_SESSION}
        await database["sessions"].insert_one(session | times)


def queries(chance: random.Random, words: list[str], texts: list[str]) -> dict[str, list[str]]:
    """Kinds of queries, a hundred of each."""

    def of(text: str, count: int) -> str:
        parts = text.split() if " " in text else [text[at : at + 3] for at in range(0, len(text) - 3, 3)]
        return " ".join(chance.sample(parts, min(count, len(parts))))

    some = [chance.choice(texts) for _ in range(100)]
    return {
        "one word that is rare": [chance.choice(words[5_000:]) + " " for _ in range(100)],
        "one word that is frequent": [chance.choice(words[:30]) + " " for _ in range(100)],
        "two words of one message": [of(text, 2) + " " for text in some],
        "four words of one message": [of(text, 4) + " " for text in some],
        "two frequent words": [" ".join(chance.sample(words[:30], 2)) + " " for _ in range(100)],
        "beginning of a word": [chance.choice(words)[: chance.randint(2, 4)] for _ in range(100)],
        "words nobody wrote": [f"nobody{n} wrote{n} " for n in range(100)],
        "2,000 characters": [" ".join(chance.choices(words, k=400))[:2000] for _ in range(100)],
    }


async def measure(database: Database, messages: int) -> None:
    chance = random.Random(7)
    words, total = vocabulary(chance), 0.0
    weights = [total := total + 1 / (rank + 2) for rank in range(WORDS)]
    texts = [written(chance, words, weights) for _ in range(messages)]
    await fill(database, messages, texts)
    index = MongoMessageIndex(database)
    search = SearchMessages(index=index)
    begun = time.perf_counter()
    while not await index.catch_up(USER, most=500):
        pass
    took = time.perf_counter() - begun
    print(f"{messages:,} messages indexed in {took:.1f} s, {messages / took:,.0f}/s")
    stats = await database.command("collStats", "search_messages")
    print(f"index: {stats['storageSize'] / 1e6:.0f} MB of documents, {stats['totalIndexSize'] / 1e6:.0f} MB of indexes")
    everything: list[float] = []
    for kind, asked in queries(chance, words, texts).items():
        times: list[float] = []
        for text in asked:
            began = time.perf_counter()
            await search(USER, text, limit=20, before=None)
            times.append((time.perf_counter() - began) * 1000)
        everything += times
        print(f"{kind}: p50 {statistics.median(times):.1f} ms, p95 {statistics.quantiles(times, n=20)[18]:.1f} ms")
    print(f"all: p50 {statistics.median(everything):.1f} ms, p95 {statistics.quantiles(everything, n=20)[18]:.1f} ms")
    payload = MessageUser(message_id="new", text="the newest zebrafinch")
    session_id, seq = "s0", OF_A_SESSION + 1
    now = datetime.now(UTC)
    await database["events"].insert_many(
        to_documents(Event(seq=seq, at=now, session_id=session_id, run_id=None, payload=payload))
    )
    await database["sessions"].update_one({"_id": session_id}, {"$set": {"last_seq": seq, "updated_at": now}})
    began = time.perf_counter()
    found = await search(USER, "zebrafinch", limit=20, before=None)
    assert [one.message_id for one in found.items] == ["new"]
    print(f"a new message is found by the next query, which took {(time.perf_counter() - began) * 1000:.1f} ms")


async def run(uri: str, messages: int) -> None:
    async with connect(uri, "search", documents=MODULE_DOCUMENTS) as database:
        await measure(database, messages)


def main() -> None:
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES
    print(machine())
    with tempfile.TemporaryDirectory() as folder, run_mongod(Path(folder)) as mongod:
        asyncio.run(run(mongod.uri, messages))


if __name__ == "__main__":
    main()
