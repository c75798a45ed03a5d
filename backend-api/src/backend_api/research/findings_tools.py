"""`findings_submit`: the findings of a research agent, checked against the texts it has read."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from backend_api.agent.capability import Setup
from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.local import Arguments, Line, Words, local_tool
from backend_api.kit.ids import UserId
from backend_api.research.findings import CheckFindings, Confirmed, Finding, FindingRefusedError

KIND = "research"
DEADLINE_MS = 60_000
MOST = 40
MAX_CLAIM_CHARACTERS = 600
MAX_QUOTE_CHARACTERS = 800


class FindingArguments(Arguments):
    claim: Words = Field(min_length=1, max_length=MAX_CLAIM_CHARACTERS, description="What is so, in one sentence.")
    record: Line = Field(default="", max_length=60, description="The id of the record, as corpus_add tells it.")
    section: Line = Field(
        default="", max_length=200, description="Its number in the outline of paper_read, or `abstract`."
    )
    page: int | None = Field(default=None, ge=1, le=100_000, description="In the place of a section.")
    quote: str = Field(
        default="", max_length=MAX_QUOTE_CHARACTERS, description="The passage it rests on, word for word."
    )


class SubmitArguments(Arguments):
    findings: list[FindingArguments] = Field(min_length=1, max_length=MOST)


def findings_tool(check: CheckFindings | None) -> Tool:
    """The tool. Without `check` it only describes itself and can't be called."""

    async def submit(call: ToolCall, arguments: SubmitArguments) -> Done:
        assert check is not None
        confirmed, refused = list[Confirmed](), list[str]()
        for number, one in enumerate(arguments.findings, 1):
            finding = Finding(claim=one.claim, record=one.record, section=one.section, page=one.page, quote=one.quote)
            try:
                confirmed.append(await check(UserId(call.user_id), call.run_id, finding))
            except FindingRefusedError as error:
                refused.append(f"Finding {number} was refused: {error}")
        lines = [*(_describe(one) for one in confirmed), *refused]
        if confirmed:
            lines.append("In your answer, put the mark in brackets behind each sentence that rests on a finding.")
        return Done(success=bool(confirmed), output="\n".join(lines), display=displayed(confirmed, len(refused)))

    return local_tool(
        name="findings_submit",
        description=(
            "Hand in what you found: claims, each with the record, its section or page, and the passage word for word. "
            "A passage that is not in what this run has read by paper_read is refused, with the reason."
        ),
        arguments=SubmitArguments,
        phrase="Handing in findings",
        effect="reads",
        run_call=submit,
        deadline_ms=DEADLINE_MS,
    )


class FindingsTools:
    """`ToolSource` of the tool: only research agents have it."""

    def __init__(self, check: CheckFindings) -> None:
        self._tools = [findings_tool(check)]

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        """The tool; an empty list for the main agent and other kinds."""
        return self._tools if setup.kind == KIND else []


def displayed(confirmed: Sequence[Confirmed], refused: int) -> dict[str, object] | None:
    """The view for the page: each claim with a link to its record."""
    if not confirmed:
        return None
    items = [
        {
            "claim": one.finding.claim,
            "quote": one.finding.quote,
            "record": one.record.id,
            "title": one.record.paper.title[:300],
            "place": one.place[:200],
            "url": one.record.paper.address,
        }
        for one in confirmed
    ]
    return {"type": "findings", "items": items, "refused": refused}


def _describe(one: Confirmed) -> str:
    return f"[{one.record.id}, {one.place}] {one.finding.claim} ({one.record.paper.title[:120]})"
