"""Whether anything was lost, doubled or left: everything a storm may not have done."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from support.chaos.brain import tokens
from support.chaos.person import Person
from support.chaos.reader import Reader

END_STATES = {"completed", "failed", "stopped", "interrupted"}


@dataclass(slots=True, kw_only=True)
class Evidence:
    """All there is of one session at the end."""

    person: Person
    readers: Sequence[Reader]
    pages: Sequence[Sequence[dict[str, Any]]]
    stored: Sequence[Mapping[str, Any]]
    runs: Sequence[Mapping[str, Any]]
    session: Mapping[str, Any]
    ledger: str


@dataclass(slots=True)
class Verdict:
    """`wrong` is empty when all laws held."""

    wrong: list[str] = field(default_factory=list[str])
    endings: Counter[str] = field(default_factory=Counter[str])
    reasons: Counter[str] = field(default_factory=Counter[str])
    answered: int = 0
    messages: int = 0
    calls: Counter[str] = field(default_factory=Counter[str])
    attempts: int = 0

    def judge(self, evidence: Evidence) -> None:
        """All laws over one session."""
        said = self._fault_of(evidence.person.session_id)
        for law in (_numbers, _agreement, _endings, _messages, _side_effects):
            for fault in law(evidence, self):
                said(fault)

    def _fault_of(self, session_id: str) -> Callable[[str], None]:
        return lambda fault: self.wrong.append(f"{session_id[:8]}: {fault}")


def _events(evidence: Evidence) -> list[dict[str, Any]]:
    return list(evidence.pages[0])


def _numbers(evidence: Evidence, _: Verdict) -> list[str]:
    """1 to n, in the store, and the session knows n."""
    numbers = [document["seq"] for document in evidence.stored]
    wrong = [] if numbers == list(range(1, len(numbers) + 1)) else [f"numbers in the store: {numbers}"]
    if evidence.session["last_seq"] != len(numbers):
        wrong.append(f"last_seq {evidence.session['last_seq']} of {len(numbers)} events")
    return wrong


def _agreement(evidence: Evidence, _: Verdict) -> list[str]:
    """Readers, pages of every gateway and the store say the same, byte for byte."""
    wrong = [fault for reader in evidence.readers for fault in reader.wrong]
    truth = {event["seq"]: compact(event) for event in evidence.pages[0]}
    for page in evidence.pages[1:]:
        if {event["seq"]: compact(event) for event in page} != truth:
            wrong.append("gateways answer different histories")
    for reader in evidence.readers:
        differing = [seq for seq in truth.keys() | reader.stored.keys() if truth.get(seq) != reader.stored.get(seq)]
        wrong += [f"a reader has {reader.stored.get(seq)} where {truth.get(seq)} is stored" for seq in differing[:3]]
    for document in evidence.stored:
        payload = json.loads(document["data"])
        shown = json.loads(truth.get(document["seq"], "{}"))
        differs = {name for name, value in payload.items() if name != "run_id" and shown.get(name) != value}
        if differs:
            wrong.append(f"event {document['seq']} is shown with other {sorted(differs)} than stored")
    return wrong


def _endings(evidence: Evidence, verdict: Verdict) -> list[str]:
    """Every run ended once, with a reason where it was not completed; the session is free."""
    wrong: list[str] = []
    ended = Counter(event["run_id"] for event in _events(evidence) if event["type"] == "run.finished")
    for run in evidence.runs:
        verdict.endings[run["status"]] += 1
        verdict.attempts += run["attempt"]
        if run["status"] not in END_STATES:
            wrong.append(f"run {run['_id']} is {run['status']}")
        if ended[run["_id"]] != 1:
            wrong.append(f"run {run['_id']} ended {ended[run['_id']]} times in the stream")
        if run["status"] != "completed":
            verdict.reasons[str(run.get("reason"))] += 1
            if not run.get("reason"):
                wrong.append(f"run {run['_id']} is {run['status']} without a reason")
    if evidence.session.get("active_run_id") or evidence.session["status"] != "idle":
        wrong.append(f"session is {evidence.session['status']} with run {evidence.session.get('active_run_id')}")
    return wrong


def _messages(evidence: Evidence, verdict: Verdict) -> list[str]:
    """Every accepted message stands there once, and is answered or its run has a reason."""
    wrong: list[str] = []
    events = _events(evidence)
    taken = Counter(event["client_message_id"] for event in events if event["type"] == "message.user")
    told = {sent.client_message_id for sent in evidence.person.sent}
    if set(taken) != told:
        wrong.append(f"messages that differ from those accepted: {sorted(set(taken) ^ told)}")
    wrong += [f"{name} stands there {count} times" for name, count in taken.items() if count != 1]
    answers = " ".join(event["text"] for event in events if event["type"] == "message.completed")
    finished = {event["run_id"]: event for event in events if event["type"] == "run.finished"}
    for sent in evidence.person.sent:
        verdict.messages += 1
        end = finished.get(sent.run_id, {"status": "missing"})
        if f"answered {sent.task}. " in answers:
            verdict.answered += 1
        elif end["status"] == "completed" or not end.get("reason"):
            wrong.append(f"{sent.task} is neither answered nor has its run a reason: {end}")
    return wrong


def _side_effects(evidence: Evidence, verdict: Verdict) -> list[str]:
    """What was recorded happened once; what did not come back may have happened, and the stream says so."""
    wrong: list[str] = []
    done = Counter(tokens(evidence.ledger))
    events = _events(evidence)
    finished = {event["call_id"]: event for event in events if event["type"] == "tool.finished"}
    recorded: set[str] = set()
    steps: Counter[str] = Counter()
    for event in events:
        if event["type"] != "tool.called":
            continue
        found = tokens(json.dumps(event["arguments"]))
        recorded.update(found)
        result = finished.get(event["call_id"])
        if result is None:
            wrong.append(f"call {event['call_id']} has no result")
            continue
        verdict.calls["succeeded" if result["success"] else "reported"] += 1
        if event["name"] != "shell_exec":
            continue
        for token in found:
            steps[token.rpartition(".")[0]] += done[token]
            if done[token] > 1:
                wrong.append(f"{token} was done {done[token]} times")
            if result["success"] and done[token] != 1:
                wrong.append(f"{token} succeeded and was done {done[token]} times")
            if not result["success"] and done[token] and not _admits(result["preview"]):
                wrong.append(f"{token} was done, and the stream says: {result['preview'][:200]}")
    wrong += [f"{token} was done and never recorded" for token in done if token not in recorded]
    wrong += [f"step {step} was done {count} times" for step, count in steps.items() if count > 1]
    return wrong


def _admits(preview: str) -> bool:
    return "may have happened" in preview


def compact(event: dict[str, Any]) -> str:
    """As the stream writes it."""
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))
