"""Of each request only what is new is kept, and all of it can be put together again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from backend_api.agent.model import (
    AssistantTurn,
    ModelRequest,
    NoteTurn,
    Thinking,
    ToolRequest,
    ToolTurn,
    Turn,
    UserTurn,
)
from backend_api.agent.model_traces import TracedRequest
from backend_api.agent.pictures import Image, Picture
from backend_api.agent.tool import ToolSpec
from backend_api.kit.masking import MASKED, Mask
from backend_api.runs.application.traced_requests import (
    MAX_BYTES,
    MOST_PARTS,
    SentBefore,
    WrittenRequest,
    write_request,
)

TOOL = ToolSpec(
    name="look", description="Look.", parameters={"properties": {"password": {"type": "string"}}}, phrase=""
)
PICTURE = Picture(seq=7, media_type="image/png", size=123)
TURNS: list[Turn] = [
    UserTurn(text="look", attachments=("a.txt",)),
    NoteTurn(text="today"),
    AssistantTurn(
        text="So",
        thinking=(Thinking(text="hm", signature="SIGNED"), Thinking(text="", opaque="OPAQUE")),
        calls=(ToolRequest(call_id="c", name="look", arguments={"api_key": "words"}),),
    ),
    ToolTurn(call_id="c", name="look", output="seen", success=True, pictures=(PICTURE,), note="cut"),
]


def request(turns: list[Turn], **changes: Any) -> ModelRequest:
    asked = ModelRequest(model="m", system="You.", turns=turns, tools=[TOOL], max_output_tokens=10)
    return replace(asked, **changes)


def stored(written: WrittenRequest, seq: int) -> tuple[SentBefore, TracedRequest]:
    seqs = (*written.extends, seq)
    return replace(written.sent, seqs=seqs), TracedRequest(
        seqs=seqs, turn_count=len(written.sent.turns), digest=written.digest
    )


def first(turns: list[Turn], **changes: Any) -> WrittenRequest:
    return write_request(request(turns, **changes), Mask(), known=None, stored=None)


def test_it_tells_what_was_sent_without_what_is_nobodys_to_read() -> None:
    picture = Image(base64="PIXELS", media_type="image/png")
    written = write_request(request(TURNS, pictures={PICTURE: picture}), Mask(["look"]), known=None, stored=None)
    assert json.loads(written.text) == written.payload
    said = written.payload["turns"]
    assert [turn["role"] for turn in said] == ["user", "note", "assistant", "tool"]
    assert (said[2]["thinking"], said[2]["calls"][0]["arguments"]) == (["hm"], {"api_key": MASKED})
    assert said[3]["pictures"] == [{"seq": 7, "media_type": "image/png", "size": 123}]
    assert (written.payload["pictures"], written.payload["tools"][0]["parameters"]) == ([7], TOOL.parameters)
    for hidden in ("SIGNED", "OPAQUE", "PIXELS"):
        assert hidden not in written.text


def test_the_next_one_has_only_what_is_new_whether_this_process_sent_the_first_or_the_log_tells_of_it() -> None:
    known, told = stored(first(TURNS[:2]), 5)
    for before in ((known, None), (None, told)):
        written = write_request(request(TURNS), Mask(), known=before[0], stored=before[1])
        assert (written.extends, len(written.payload["turns"])) == ((5,), 2)
        assert "system" not in written.payload
        assert written.digest == first(TURNS).digest, "the same on any worker"


def test_one_that_is_no_longer_its_beginning_is_kept_whole() -> None:
    known, told = stored(first(TURNS[:2]), 5)
    changed: list[ModelRequest] = [
        request([UserTurn(text="another"), *TURNS[1:]]),
        request(TURNS[:1]),
        request(TURNS, system="Another."),
        request(TURNS, tools=[]),
    ]
    for asked in changed:
        for before in ((known, None), (None, told)):
            written = write_request(asked, Mask(), known=before[0], stored=before[1])
            assert (written.extends, len(written.payload["turns"])) == ((), len(asked.turns))


def test_one_that_was_never_stored_is_not_gone_on_from() -> None:
    written = write_request(request(TURNS), Mask(), known=first(TURNS[:2]).sent, stored=None)
    assert written.extends == ()


def test_it_is_kept_whole_now_and_then_so_that_few_reads_put_it_together() -> None:
    turns, known, parts = [*TURNS], None, list[int]()
    for seq in range(1, MOST_PARTS + 5):
        turns = [*turns, NoteTurn(text=str(seq))]
        written = write_request(request(turns), Mask(), known=known, stored=None)
        known = stored(written, seq)[0]
        parts.append(len(known.seqs))
    assert (max(parts), parts[-5:]) == (MOST_PARTS, [MOST_PARTS, 1, 2, 3, 4])


def test_one_longer_than_any_model_reads_is_cut_and_says_so() -> None:
    written = first([UserTurn(text="x" * MAX_BYTES)])
    assert written.payload["is_cut"] is True
    assert len(written.text) < 10_000
