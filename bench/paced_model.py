"""A model server on loopback that paces its answers, so lean that it is not what is measured.

`python bench/paced_model.py --deltas 250 --every-ms 20` prints its address and answers every chat completion with so
many pieces of text, the first at once, each next one when its time has come. With `--text FILE` they are the pieces of
that text.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from itertools import pairwise
from pathlib import Path
from typing import cast

import uvloop

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_END = b"0\r\n\r\n"


def pieces(text: str, count: int) -> list[str]:
    """The text cut into so many pieces, as long as each other."""
    ends = [round(len(text) * number / count) for number in range(count + 1)]
    return [text[start:end] for start, end in pairwise(ends)]


def frames(texts: list[str]) -> list[bytes]:
    """HTTP chunks, one an event."""
    deltas = len(texts)
    chunks = [{"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]} for text in texts]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    chunks.append({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": deltas}})
    events = [b"data: " + json.dumps({"id": "c1", **chunk}).encode() + b"\n\n" for chunk in chunks]
    return [b"%x\r\n%b\r\n" % (len(event), event) for event in [*events, b"data: [DONE]\n\n"]]


class Paced(asyncio.Protocol):
    """One connection; a request is over when its body is."""

    def __init__(self, answer: list[bytes], every_s: float) -> None:
        self._answer = answer
        self._every_s = every_s
        self._received = b""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._loop = asyncio.get_running_loop()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        size = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) >= size:
            self._received = body[size:]
            self._begun = self._loop.time()
            self._transport.write(_HEAD)
            self._say(0)

    def _say(self, number: int) -> None:
        last = len(self._answer) - 3
        if number >= last:
            self._transport.write(b"".join(self._answer[number:]) + _END)
            return
        self._transport.write(self._answer[number])
        self._timer = self._loop.call_at(self._begun + (number + 1) * self._every_s, self._say, number + 1)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deltas", type=int, default=250)
    parser.add_argument("--every-ms", type=float, default=20.0)
    parser.add_argument("--text", type=Path)
    options = parser.parse_args()
    given: Path | None = options.text
    answer = frames(
        pieces(given.read_text(encoding="utf-8"), options.deltas)
        if given
        else [f"word{number} " for number in range(options.deltas)]
    )
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Paced(answer, options.every_ms / 1000), "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
