"""A character whose halves, or bytes, a provider sends apart, in each wire format."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import pytest

from backend_api.agent.events import RunFinished
from backend_api.agent.model import (
    FinishPart,
    ModelRequest,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserTurn,
)
from backend_api.models.wire.bounds import Timeouts
from backend_api.models.wire.tool_calls import arguments_of
from support.adapters import FORMS, adapter_of
from support.model_answers import Answer, Call, frames_of
from support.model_seals import Form
from support.scripted import HandlerBox
from support.stage import Stage, worker_for, working

SMILE = "\N{GRINNING FACE}"
HIGH, LOW = "\ud83d", "\ude00"
ASKED = ModelRequest(model="m", system="s", turns=[UserTurn(text="hi")], tools=[], max_output_tokens=100)
TIMEOUTS = Timeouts(connect_s=5.0, head_s=5.0, silence_s=5.0)


def escaped(form: Form, answer: Answer) -> bytes:
    """As a server writes it that escapes whatever is not ASCII, halves among it."""
    return b"".join(frames_of(form, _ascii(answer), ())).replace(b"HIGH", rb"\ud83d").replace(b"LOW", rb"\ude00")


def _ascii(answer: Answer) -> Answer:
    def of(texts: Sequence[str]) -> list[str]:
        return [text.replace(HIGH, "HIGH").replace(LOW, "LOW") for text in texts]

    calls = [Call(name=call.name, arguments=of([call.arguments])[0]) for call in answer.calls]
    return Answer(texts=of(answer.texts), thinking=of(answer.thinking), calls=calls)


@asynccontextmanager
async def serving(chunks: Sequence[bytes]) -> AsyncGenerator[str]:
    """A server that answers with these pieces, each in a packet of its own."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
        await reader.readexactly(int(length.split(b":")[1]))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for chunk in chunks:
            writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def parts_of(form: Form, chunks: Sequence[bytes]) -> list[Part]:
    async with serving(chunks) as url:
        model = adapter_of(form, url, timeouts=TIMEOUTS)
        parts = [part async for part in model.stream(ASKED)]
        await model.aclose()
    return parts


def texts(parts: Sequence[Part], kind: type[TextPart | ThinkingPart]) -> str:
    return "".join(part.text for part in parts if isinstance(part, kind))


@pytest.mark.parametrize("form", FORMS)
async def test_halves_in_two_deltas_are_one_character(form: Form) -> None:
    answer = Answer(texts=(f"so {HIGH}", f"{LOW} 好", f"{HIGH}{LOW}"), thinking=(f"hm{HIGH}", LOW))
    parts = await parts_of(form, [escaped(form, answer)])
    assert texts(parts, TextPart) == f"so {SMILE} 好{SMILE}"
    assert texts(parts, ThinkingPart) == f"hm{SMILE}"
    assert parts[-1] == FinishPart("stop")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ((f"a{HIGH}", "b"), "a\ufffdb"),
        ((f"a{LOW}b",), "a\ufffdb"),
        ((f"a{HIGH}",), "a\ufffd"),
        ((f"a{HIGH}", HIGH, f"{LOW}b"), f"a\ufffd{SMILE}b"),
    ],
    ids=["no second", "no first", "last", "two firsts"],
)
async def test_a_half_without_the_other_is_replaced(form: Form, said: Sequence[str], shown: str) -> None:
    parts = await parts_of(form, [escaped(form, Answer(texts=said, thinking=(f"hm{HIGH}",)))])
    assert (texts(parts, TextPart), texts(parts, ThinkingPart)) == (shown, "hm\ufffd")


@pytest.mark.parametrize("form", FORMS)
async def test_halves_in_two_pieces_of_a_calls_arguments_are_one_character(form: Form) -> None:
    calls = (Call(name="look", arguments=f'{{"t": "{HIGH}{LOW}"}}      '),)
    sent = escaped(form, Answer(texts=(), calls=calls))
    assert rb"\ud83d" + b'"' in sent, "they are in two pieces"
    parts = await parts_of(form, [sent])
    (call,) = [part.request for part in parts if isinstance(part, ToolCallPart)]
    assert call.arguments == {"t": SMILE}
    assert call.raw.strip() == f'{{"t": "{SMILE}"}}'


@pytest.mark.parametrize(
    "raw", ['{"t": "\\ud83d", "u": "\\\\ud83d\\ud83d\\ude00"}', '{"t": "\ud83d", "u": "\\\\ud83d\U0001f600"}']
)
def test_a_half_in_arguments_is_replaced_and_their_other_escapes_are_left(raw: str) -> None:
    assert arguments_of(raw) == {"t": "\ufffd", "u": f"\\ud83d{SMILE}"}


@pytest.mark.parametrize("form", FORMS)
async def test_bytes_of_a_character_may_come_in_any_number_of_packets(form: Form) -> None:
    whole = b"".join(frames_of(form, Answer(texts=(f"a{SMILE}好", "é")), ()))
    parts = await parts_of(form, [whole[at : at + 1] for at in range(len(whole))])
    assert texts(parts, TextPart) == f"a{SMILE}好é"


@pytest.mark.parametrize("form", FORMS)
async def test_bytes_that_are_no_text_are_replaced(form: Form) -> None:
    whole = b"".join(frames_of(form, Answer(texts=("a!b",)), ())).replace(b"a!b", b"a\xf0\x9fb")
    parts = await parts_of(form, [whole])
    assert texts(parts, TextPart) == "a\ufffdb"


@pytest.mark.parametrize("form", FORMS)
async def test_what_was_said_so_is_stored_and_the_conversation_goes_on(form: Form) -> None:
    answer = Answer(texts=(f"so {HIGH}", f"{LOW}{HIGH}"), thinking=(f"hm{HIGH}", LOW))
    async with serving([escaped(form, answer)]) as url:
        stage, chat = Stage(), adapter_of(form, url, timeouts=TIMEOUTS)
        session = await stage.open_session(title="named")
        async with working(worker_for(stage, chat, HandlerBox())):
            await stage.until_finished(await stage.say(session, "go"))
            await stage.until_finished(await stage.say(session, "and now?"))
        await chat.aclose()
    assert stage.said(session) == f"so {SMILE}\ufffd" * 2
    assert [end.status for end in stage.payloads(session, RunFinished)] == ["completed", "completed"]


@pytest.mark.parametrize("form", FORMS)
async def test_a_stream_whose_last_line_has_no_end_is_whole(form: Form) -> None:
    # The mark at the end is no part of every server's chat completions.
    whole = escaped(form, Answer(texts=("so",))).rstrip(b"\n").removesuffix(b"data: [DONE]").rstrip(b"\n")
    parts = await parts_of(form, [whole])
    assert parts[-1] == FinishPart("stop")
