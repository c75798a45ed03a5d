"""The closed union of all events of a session: one ordered stream per session.

`VOCABULARY_VERSION` grows when a type or a field is added; none is ever renamed or removed. While gateways are replaced
one by one, an older process meets types of a newer vocabulary (`NewerEvent`). Stored events carry the session's next
`seq`; live-only ones (`LIVE_TYPES`) have `seq` None and are contained in a stored event that follows, or over by then.
Envelope fields (`seq`, `at`, `session_id`, `run_id`) stand in `Event`, the rest in the payload. All are in this one
file, as it is the catalogue of what is on the wire: the union at its end and the version above it change together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from backend_api.agent.options import AgentMode, ThinkingLevel

VOCABULARY_VERSION = 32
MAX_PREVIEW_CHARACTERS = 2_000
"""The most characters of a call's output, or of an agent's last answer, that the event itself holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of a run or a call, and their cost; `by_model` maps a model to the same first five counts, and `costs` to
    its `cost` and `known_cost`.

    `input` is everything that was sent: `cached` of it was read from the provider's cache, and `cache_write` written to
    it. `cost` is in US dollars, of all calls: None as soon as one of them has no known price, or if there was no call.
    `known_cost` is the cost of the calls with a known price, and so a lower bound. `new` are tokens that were new to a
    conversation: what a call read beyond what the one before it had read and written, and what it wrote itself.
    """

    input: int = 0
    cached: int = 0
    output: int = 0
    thinking: int = 0
    cache_write: int = 0
    new: int = 0
    cost: float | None = None
    known_cost: float = 0.0
    by_model: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    costs: dict[str, dict[str, float | None]] = field(default_factory=dict[str, dict[str, float | None]])


NO_USAGE = Usage()
"""Shared: its dicts are never changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEvent:
    """An event of one agent; `agent_id` is None for the main one, and is then left out of log and wire."""

    agent_id: str | None = None


RunCause = Literal["message", "answer", "resume", "compact", "background", "schedule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQueued:
    """`cause` is why it begins or goes on; `message_id` is None if the cause is no message."""

    type: Literal["run.queued"] = "run.queued"
    run_id: str
    message_id: str | None
    cause: RunCause = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """`model` is the one that the session chose, else the deployment's default, as known before the run is set up; the
    model that is called, which may be a preset's or the fallback, stands in `context.opened`."""

    type: Literal["run.started"] = "run.started"
    run_id: str
    message_id: str | None
    model: str
    worker: str
    attempt: int = 1


RunEnd = Literal["completed", "failed", "stopped", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    type: Literal["run.finished"] = "run.finished"
    run_id: str
    status: RunEnd
    reason: str | None = None
    retryable: bool = False
    usage: Usage = field(default_factory=Usage)
    files: list[str] = field(default_factory=list[str])
    duration_ms: int = 0

    @property
    def is_by_itself(self) -> bool:
        """Whether the agent ended the run itself, and not a limit."""
        return self.status == "completed" and self.reason is None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageUser:
    type: Literal["message.user"] = "message.user"
    message_id: str
    text: str
    attachments: list[str] = field(default_factory=list[str])
    client_message_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageWithdrawn:
    """The person took a message back before the agent had read it: it is not part of the conversation. `at_seq` is the
    number of its `message.user`."""

    type: Literal["message.withdrawn"] = "message.withdrawn"
    message_id: str
    at_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleFired:
    """The user's message that follows is sent by a schedule. `due_at` is None if the user started it; `missed` is the
    number of times, from `missed_from` to `missed_to`, at which none was sent, up to a thousand."""

    type: Literal["schedule.fired"] = "schedule.fired"
    schedule_id: str
    message_id: str
    due_at: datetime | None = None
    missed: int = 0
    missed_from: datetime | None = None
    missed_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDelta:
    """A piece of an answer; `seen_seq` as in its `message.completed`."""

    type: Literal["message.delta"] = "message.delta"
    message_id: str
    offset: int
    text: str
    seen_seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """A model call that ended before its answer did: the next call began at code point `at` of the text, after this
    `note`."""

    at: int
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCompleted(AgentEvent):
    """`turn` numbers the model's answer within the run; `partial` is true when stop or a fault cut the text;
    `seen_seq` is the last user message the model had read, 0 where not known; `continuations` are the calls it took
    beyond the first."""

    type: Literal["message.completed"] = "message.completed"
    message_id: str
    text: str
    turn: int = 0
    partial: bool = False
    seen_seq: int = 0
    continuations: list[Continuation] = field(default_factory=list[Continuation])


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    """A piece of thinking; `seen_seq` as in its `thinking.completed`."""

    type: Literal["thinking.delta"] = "thinking.delta"
    message_id: str
    offset: int
    text: str
    seen_seq: int = 0


AgentTextKind = Literal["text", "thinking"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDelta(AgentEvent):
    """A piece of the answer or the thinking of a sub-agent or a teammate. It is no `message.delta`, so that a client
    that only knows the main agent never shows it as that agent's text."""

    type: Literal["agent.delta"] = "agent.delta"
    message_id: str
    kind: AgentTextKind
    offset: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingCompleted(AgentEvent):
    """`signature` and `opaque` are sent back to the provider unchanged, and are not shown; `offset` is the number of
    code points of the answer's text before it, and `continued` the number of continuations; `seen_seq` is the last
    message the model had read. `duration_ms` is the time from its first piece to its end, null if it was cut."""

    type: Literal["thinking.completed"] = "thinking.completed"
    message_id: str
    text: str
    effort: str | None = None
    duration_ms: int | None = None
    turn: int = 0
    signature: str | None = None
    offset: int = 0
    continued: int = 0
    seen_seq: int = 0
    opaque: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyCheck:
    """The provider's reason for holding a call back until a person allows it, in the provider's words."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(AgentEvent):
    """Recorded before the call starts. One that `asks` starts with `tool.started`, and only if it is approved; one with
    `safety_checks` always asks. `opaque` is the provider's own data for the call, in JSON, and is sent back to it; it
    is not shown. `after` is the call whose action it continues: it only starts once that one succeeded. `via` is the
    tool through which the model called this one, and `said` that tool's arguments if they are more than name and
    arguments."""

    type: Literal["tool.called"] = "tool.called"
    call_id: str
    name: str
    arguments: dict[str, Any]
    phrase: str
    parent_call_id: str | None = None
    dangerous: bool = False
    read_only: bool = False
    needs_computer: bool = True
    turn: int = 0
    seen_seq: int = 0
    asks: bool = False
    opaque: str | None = None
    safety_checks: list[SafetyCheck] = field(default_factory=list[SafetyCheck])
    after: str | None = None
    via: str | None = None
    said: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(AgentEvent):
    """Recorded before a call starts that asked for approval; any other one starts with `tool.called`."""

    type: Literal["tool.started"] = "tool.started"
    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    type: Literal["tool.output"] = "tool.output"
    call_id: str
    offset: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyPart:
    """`size` bytes of a body, from `offset` on."""

    offset: int
    size: int
    media_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyReference:
    """A reference to a long content, served by `GET /api/sessions/{id}/events/{seq}/body`; `size` in bytes. Equal
    `digest`s mean equal contents; it is empty if none was made. A body of several things, such as the pictures of one
    call, has `parts`."""

    size: int
    media_type: str = "text/plain"
    digest: str = ""
    parts: list[BodyPart] = field(default_factory=list[BodyPart])


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished(AgentEvent):
    """`preview` is at most 2,000 characters; `display` is one of the contract's typed views; `cancelled` means that a
    stop or a new message cut the call; `has_begun` is false if that, or a person's denial, came before anything of it
    ran."""

    type: Literal["tool.finished"] = "tool.finished"
    call_id: str
    success: bool
    preview: str
    cancelled: bool = False
    has_begun: bool = True
    body: BodyReference | None = None
    duration_ms: int = 0
    display: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One thing the agent asks: `options` to choose from, and whether another text may be the answer. Of `several`
    options more than one may be chosen: the answer has each in a line of its own."""

    id: str
    text: str
    options: list[str] = field(default_factory=list[str])
    allow_text: bool = True
    several: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAsked:
    """The run waits for the answer to a call, without a process; the person may also write a message instead."""

    type: Literal["question.asked"] = "question.asked"
    question_id: str
    call_id: str
    questions: list[Question]
    expires_at: datetime | None = None


ResolvedBy = Literal["user", "timeout", "message", "stop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAnswered:
    """Recorded once for each question. `answers` by the questions' ids, None if nobody answered."""

    type: Literal["question.answered"] = "question.answered"
    question_id: str
    answers: dict[str, str] | None
    by: ResolvedBy


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalCall:
    """A call as it would run, and why its model's provider holds it back, if it does."""

    call_id: str
    name: str
    arguments: dict[str, Any]
    safety_checks: list[SafetyCheck] = field(default_factory=list[SafetyCheck])


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested(AgentEvent):
    """The run waits, without a process, until each of these calls is decided; at `expires_at` the rest is denied."""

    type: Literal["approval.requested"] = "approval.requested"
    approval_id: str
    calls: list[ApprovalCall]
    expires_at: datetime | None = None


Decided = Literal["approve", "deny", "approve_all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalResolved(AgentEvent):
    """One decision on some calls of an approval, or on all; no call is decided twice. After `approve_all` this session
    asks no more."""

    type: Literal["approval.resolved"] = "approval.resolved"
    approval_id: str
    call_ids: list[str]
    decision: Decided
    feedback: str | None = None
    by: ResolvedBy


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEntered:
    """The agent is in plan mode from here on: it only reads, until a plan of it is approved."""

    type: Literal["plan.entered"] = "plan.entered"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProposed:
    """The run waits, without a process, until the person decides about this plan (Markdown); at `expires_at` it is
    rejected."""

    type: Literal["plan.proposed"] = "plan.proposed"
    plan_id: str
    call_id: str
    plan: str
    expires_at: datetime | None = None


PlanVerdict = Literal["approve", "reject"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDecided:
    """Recorded once for each plan. An approved one ends plan mode."""

    type: Literal["plan.decided"] = "plan.decided"
    plan_id: str
    decision: PlanVerdict
    feedback: str | None = None
    by: ResolvedBy


StepStatus = Literal["pending", "in_progress", "done", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """A step of the agent's work; `result` is one line, empty if there is none."""

    title: str
    status: StepStatus
    result: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanUpdated:
    """The steps of the agent's plan, whole; empty if it no longer has a plan."""

    type: Literal["plan.updated"] = "plan.updated"
    steps: list[PlanStep]


TodoStatus = Literal["pending", "in_progress", "completed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """One item of an agent's to-do list; `active_form` is its text while it is in progress, empty if there is none."""

    content: str
    status: TodoStatus
    active_form: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TodosUpdated(AgentEvent):
    """An agent's own working list, whole; at most one of it is in progress."""

    type: Literal["todos.updated"] = "todos.updated"
    todos: list[Todo]


TaskStatus = Literal["pending", "in_progress", "completed"]
TaskPriority = Literal["low", "normal", "high"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A part of the session's work. `blocked_by` are the ids of tasks that must be completed first, `blocks` is the
    inverse; `owner` is who works on it, empty if unassigned."""

    id: str
    subject: str
    description: str = ""
    active_form: str = ""
    status: TaskStatus = "pending"
    owner: str = ""
    blocked_by: list[str] = field(default_factory=list[str])
    blocks: list[str] = field(default_factory=list[str])
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    priority: TaskPriority = "normal"


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksUpdated:
    """The tasks of the session, whole: its agents and the person share them. Of two events, the one with the higher
    `version` is the newer one, whichever was stored first; `last_id` is the highest number given so far, deleted tasks
    included. `by` is who changed them, and `edits` counts the person's changes so far."""

    type: Literal["tasks.updated"] = "tasks.updated"
    version: int
    last_id: int
    tasks: list[Task]
    by: Literal["agent", "person"] = "agent"
    edits: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionsFound(AgentEvent):
    """Instructions for work in a folder and below it, from the file at `path`: the agent came to work there, or the
    file was changed since."""

    type: Literal["instructions.found"] = "instructions.found"
    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentRead:
    """Attached files at `paths` as the model is shown them, before it first reads their message: the picture is the
    body, and `text` describes it, or why there is none; without a text the model reads nothing of it. `call_id` is the
    call of the tool that read it, which has no event of its own."""

    type: Literal["attachment.read"] = "attachment.read"
    message_id: str
    paths: list[str]
    text: str
    call_id: str = ""
    body: BodyReference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpUpdated:
    """The state of an MCP server, for all agents of the session. `tools` are the names of the tools on offer, whose
    definitions are the body, a JSON list; they stay on offer until the server's next event of this type in a later run.
    `config` identifies the server's configuration. `changed`: the server lists other tools by now."""

    type: Literal["mcp.updated"] = "mcp.updated"
    server: str
    status: Literal["ready", "changed", "failed"]
    tools: list[str] = field(default_factory=list[str])
    error: str | None = None
    config: str = ""
    body: BodyReference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesChanged:
    """`removed` are those of the `paths` that no longer exist."""

    type: Literal["files.changed"] = "files.changed"
    paths: list[str]
    origin: Literal["agent", "user"]
    removed: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextUsage:
    type: Literal["context.usage"] = "context.usage"
    used: int
    max: int
    ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRetry:
    """A model call for the main agent's answer, or for a summary of its conversation, failed with the error `code`; it
    is repeated in `wait_s` seconds, as attempt number `attempt` of at most `most`."""

    type: Literal["llm.retry"] = "llm.retry"
    code: str
    attempt: int
    most: int
    wait_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentReference:
    """A reference to a text: its SHA-256 (hexadecimal) and its size in bytes of UTF-8."""

    digest: str
    size: int


OpeningCause = Literal["started", "model", "thinking", "tools", "prompt", "history", "mode", "preset"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOpened(AgentEvent):
    """The system prompt and tools that the model is sent from here on, byte for byte, until the next opening. Both
    stand whole in the body, a JSON object with `system` and `tools`. `epoch` counts openings from 1; `cause` is the
    first that changed of preset, model, thinking, mode, tools and prompt, or that less of the history is sent.
    `thinking` is the level requested from the model, None for its own default; `vision` is whether it is sent pictures,
    None if they are not even mentioned to it; `pictures` is the number of last results before the opening whose
    pictures are still sent, and `replaced` the number of first results that are sent as one line each if they are
    long."""

    type: Literal["context.opened"] = "context.opened"
    epoch: int
    cause: OpeningCause
    model: str
    system: ContentReference
    tools: ContentReference
    thinking: ThinkingLevel | None = None
    body: BodyReference | None = None
    vision: bool | None = None
    pictures: int = 0
    replaced: int = 0
    mode: AgentMode = "normal"
    preset: str | None = None
    """This is None in events of an earlier version."""
    missing_preset: str | None = None
    """The preset that the session chose and that no longer exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextNote(AgentEvent):
    """A note to the model, right before its next answer, beside messages and tool results. The last note of a `kind` is
    the one that holds."""

    type: Literal["context.note"] = "context.note"
    kind: Literal[
        "day", "resume", "turns", "repetition", "budget", "instructions", "memories", "tools", "tasks", "branched"
    ]
    text: str
    about: str = ""
    """The subject of the note, such as a file's path, if a kind has several: each subject has its own last note."""

    @property
    def key(self) -> str:
        """The key of the note: a later note replaces an earlier one with the same key."""
        return f"{self.kind} {self.about}" if self.about else self.kind


NOTES_OF_A_RUN = ("turns", "repetition")
"""Kinds of notes that end with their run."""


CompactionKind = Literal["auto", "manual"]
"""The reason why a summary is written."""
MAX_FOCUS_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionWanted(AgentEvent):
    """The conversation is to be summarised before the next answer, with most detail on `focus`."""

    type: Literal["context.compaction_wanted"] = "context.compaction_wanted"
    focus: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCompacted(AgentEvent):
    """The model reads the `summary` from here on in place of all events up to `through_seq`. The log keeps them, as
    does the file `transcript` in the workspace, if there is one. `before` and `after` are estimates of the tokens in a
    model call; `focus` is what the person wanted kept most. The kind `micro` has no summary: long tool results up to
    `through_seq` are sent as one line each, as the opening before it records."""

    type: Literal["context.compacted"] = "context.compacted"
    kind: CompactionKind | Literal["micro"]
    before: int
    after: int
    through_seq: int
    summary: str
    focus: str | None = None
    transcript: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentDefinition:
    """The definition of a kind of agent that is not built in, as it was when the agent began: the agent keeps it,
    whatever changes later. `tools` are names and globs; null means all. Without a
    maximum only the budget of the run limits it."""

    prompt: str
    tools: list[str] | None = None
    model: str | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_minutes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentStarted:
    """A sub-agent works on a call's `task`: the first event of its thread. Its further events carry this id as
    `agent_id`, until the call has its result. `kind` is a name: built in, or with its `definition`."""

    type: Literal["subagent.started"] = "subagent.started"
    subagent_id: str
    kind: str
    task: str
    parent_call_id: str
    definition: SubagentDefinition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentFinished:
    """Recorded with the result of the call. `summary` is the agent's last answer, at most 2,000 characters of it."""

    type: Literal["subagent.finished"] = "subagent.finished"
    subagent_id: str
    summary: str
    usage: Usage = field(default_factory=Usage)
    tool_count: int = 0
    duration_ms: int = 0


TeammateStatus = Literal["working", "idle", "left"]
TeammateEnd = Literal["shutdown", "idle", "failed", "run_ended"]
"""The reason why a teammate left: it agreed to a shutdown, had nothing more to do, could not go on, or the run
ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeammateUpdated(AgentEvent):
    """The state of an agent of the session's team. The event with a `prompt` is the first of its thread, whose other
    events carry the same `agent_id`; `parent_call_id` is the call that began it. `reason` is why a teammate left, and
    `detail` says more."""

    type: Literal["teammate.updated"] = "teammate.updated"
    name: str
    role: str
    status: TeammateStatus
    parent_call_id: str
    prompt: str | None = None
    reason: TeammateEnd | None = None
    detail: str | None = None


TeamMessageKind = Literal[
    "message",
    "question",
    "result",
    "broadcast",
    "task",
    "left",
    "shutdown_request",
    "shutdown_answer",
    "plan_request",
    "plan_review",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamMessage:
    """A message from one agent of a team to others, by their names; the main agent's is `lead`. Each reads it before
    its next answer. A request and the answer to it have the same `request_id`, and the answer says whether it
    `approve`s. `task` reports a task that its reader took, and `left` an agent that could not go on."""

    type: Literal["team.message"] = "team.message"
    message_id: str
    sender: str
    recipients: list[str]
    content: str
    msg_type: TeamMessageKind = "message"
    request_id: str | None = None
    approve: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundStarted:
    """A command runs in the background of the session's sandbox from here on, for `timeout_s` at most; `command` is
    at most 2,000 characters of it, the whole stands in the call."""

    type: Literal["background.started"] = "background.started"
    background_id: str
    call_id: str
    command: str
    timeout_s: int


PortOpener = Literal["agent", "person"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortOpened:
    """A port of the session's sandbox is open to its user's browser from here on, whether a program listens there or
    not. No event holds its address."""

    type: Literal["port.opened"] = "port.opened"
    port_id: str
    port: int
    label: str
    opened_by: PortOpener


@dataclass(frozen=True, slots=True, kw_only=True)
class PortClosed:
    """The port is closed."""

    type: Literal["port.closed"] = "port.closed"
    port_id: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PortResource:
    """A port that is open."""

    kind: Literal["port"] = "port"
    id: str
    port: int
    label: str
    opened_at: datetime
    opened_by: PortOpener


ResourceKind = Literal["paper", "page", "file", "data", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptResource:
    """A resource that agent and person keep with the session. `link` is an address, or for a file its path in the
    workspace; of a text kept with it only the number of `characters` stands here. `version` grows with each change."""

    kind: ResourceKind
    id: str
    title: str
    link: str
    characters: int
    added_by: Literal["agent", "person"]
    updated_at: datetime
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourcesUpdated:
    """All resources of the session: first those that agent and person keep with it, in the order in which they were
    added, then the ports that are open to the user's browser, the one opened last at the end. It follows each
    `port.opened` and `port.closed` at once; an event of an earlier version holds ports alone."""

    type: Literal["resources.updated"] = "resources.updated"
    resources: list[PortResource | KeptResource]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueUpdated:
    """The number of messages that wait for the end of the run, after a change. Their texts stand in `GET .../queue`
    alone, so that a message that is taken back leaves no trace."""

    type: Literal["queue.updated"] = "queue.updated"
    count: int


BackgroundEnd = Literal["ended", "timed_out", "stopped", "lost"]
"""The way it ended: by itself, at its time-out, stopped by a person or the agent, or lost with the sandbox it ran on;
then nobody knows how far it came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundFinished:
    """Recorded once for each background command. `exit_code` is None if it did not end by itself; `preview` is at most
    2,000 characters of its output, and the body is the whole if that is longer. The model reads it before its next
    answer, unless it has read it as the result of the call `read_by`."""

    type: Literal["background.finished"] = "background.finished"
    background_id: str
    command: str
    exit_code: int | None
    preview: str
    state: BackgroundEnd
    duration_ms: int = 0
    body: BodyReference | None = None
    read_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionUpdated:
    """The fields that changed; the others are left out. `options` are all options after the change, and
    `changed_options` names those that changed."""

    type: Literal["session.updated"] = "session.updated"
    title: str | None = None
    status: str | None = None
    model: str | None = None
    preset: str | None = None
    options: dict[str, Any] | None = None
    changed_options: list[str] | None = None


SandboxState = Literal["none", "starting", "ready", "paused", "failed", "gone"]
QueueReason = Literal["capacity", "user_limit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxUpdated:
    """A sandbox that waits is `starting` with a `queue_position`, 1 for the next one to start, and a `queue_reason`:
    the deployment has no room, or its user has as many running as allowed."""

    type: Literal["sandbox.updated"] = "sandbox.updated"
    status: SandboxState
    reason: str | None = None
    expires_at: datetime | None = None
    has_desktop: bool = True
    queue_position: int | None = None
    queue_reason: QueueReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlTaken:
    """A person controls the computer from here on, and no call of the agents starts. `holder` is the person, in words;
    `client` the window or program that has the lease. A second event with another client means that it took the lease
    over."""

    type: Literal["control.taken"] = "control.taken"
    holder: str
    client: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlReturned:
    """The computer is free again: the person handed it back, with or without a `note` that the model reads before all
    else, or the lease expired because its client was silent."""

    type: Literal["control.returned"] = "control.returned"
    by: Literal["user", "timeout"]
    note: str | None = None


PathCause = Literal["edit", "regenerate", "undo", "select"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathSelected:
    """The conversation is another one from here on: the events before this one that are in `path` (each entry is the
    first and the last number of a range), then this one and all that follow. The others stay in the log, and can be
    selected again. `message_id` is the message to which the `cause` applies, and `client_request_id` the client's name
    of the request."""

    type: Literal["path.selected"] = "path.selected"
    path: list[list[int]]
    cause: PathCause
    message_id: str
    client_request_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchDeleted:
    """A message that is on no path shown now is deleted with all that follow it (`messages` in number, itself
    included): they can't be selected any more. `at_seq` is its number."""

    type: Literal["branch.deleted"] = "branch.deleted"
    message_id: str
    at_seq: int
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageUpdated(AgentEvent):
    """`usage` is always the whole run's; `agent_usage` is the agent's share of it, None for the main one. `context` are
    the tokens that the agent's last model call read and wrote, 0 if the provider did not report them."""

    type: Literal["usage.updated"] = "usage.updated"
    usage: Usage
    agent_usage: Usage | None = None
    context: int = 0


ModelRole = Literal["agent", "subagent", "teammate", "fallback", "compact", "title"]
"""The purpose of a model call: the next answer of the main agent, a sub-agent or a teammate, an answer in place of a
model that failed, a summary of the conversation, or a title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmRequest(AgentEvent):
    """A model call begins, in a session with `enable_tracing`; `number` counts the calls of a session from 1 (calls for
    titles are counted apart), and is the same in its `LlmResponse`. One without a response is under way, or its worker
    died. `payload` is the request with secrets masked, in one form for all providers: `model`, `max_output_tokens`,
    `thinking`, `system`, `tools`, `turns` and the `pictures` by the number of their event. It is None if it is long:
    then it is the body. A request that extends earlier ones has only the new turns: those of the events `extends`, in
    their order, stand before them, and `system` and `tools` in the first. `turn_count` counts all turns, and `digest`
    identifies the whole. It is `omitted` if nothing more is kept because the user's calls have reached their limit:
    then there is neither payload nor body."""

    type: Literal["llm.request"] = "llm.request"
    number: int
    role: ModelRole
    model: str
    provider: str
    turn_count: int
    digest: str
    payload: dict[str, Any] | None = None
    body: BodyReference | None = None
    extends: list[int] = field(default_factory=list[int])
    omitted: Literal["limit"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAttempt:
    """An attempt that failed before it returned anything, so that the same request was sent again; `at_ms` after the
    call began."""

    code: str
    text: str
    at_ms: int


LlmOutcome = Literal["stop", "length", "tool_calls", "refusal", "error", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmResponse(AgentEvent):
    """The outcome of a model call, with the `attempts` that failed. `payload` has `text`, `thinking` and `calls`, with
    secrets masked, and is None if it is long: then it is the body. An `outcome` of error has its `code` and `error`;
    stopped is one that was cut before its end. `first_ms` is the time until the first part arrived, None if none did.
    `omitted` is as in `LlmRequest`."""

    type: Literal["llm.response"] = "llm.response"
    number: int
    role: ModelRole
    model: str
    outcome: LlmOutcome
    usage: Usage
    duration_ms: int
    first_ms: int | None = None
    payload: dict[str, Any] | None = None
    body: BodyReference | None = None
    code: str | None = None
    error: str | None = None
    attempts: list[FailedAttempt] = field(default_factory=list[FailedAttempt])
    omitted: Literal["limit"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(AgentEvent):
    """`text` is in English; a client that knows the `code` may show its own text, filled with `params`."""

    type: Literal["notice"] = "notice"
    text: str
    code: str | None = None
    params: dict[str, str | int] = field(default_factory=dict[str, str | int])


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent:
    type: Literal["error"] = "error"
    text: str
    code: str
    retryable: bool = False


StoredPayload = (
    RunQueued
    | RunStarted
    | RunFinished
    | ScheduleFired
    | MessageUser
    | MessageWithdrawn
    | MessageCompleted
    | ThinkingCompleted
    | ToolCalled
    | ToolStarted
    | ToolFinished
    | QuestionAsked
    | QuestionAnswered
    | ApprovalRequested
    | ApprovalResolved
    | PlanEntered
    | PlanProposed
    | PlanDecided
    | PlanUpdated
    | TodosUpdated
    | TasksUpdated
    | InstructionsFound
    | AttachmentRead
    | McpUpdated
    | FilesChanged
    | ContextOpened
    | ContextNote
    | CompactionWanted
    | ContextCompacted
    | SubagentStarted
    | SubagentFinished
    | TeammateUpdated
    | TeamMessage
    | BackgroundStarted
    | BackgroundFinished
    | PortOpened
    | PortClosed
    | ResourcesUpdated
    | QueueUpdated
    | SessionUpdated
    | SandboxUpdated
    | ControlTaken
    | ControlReturned
    | PathSelected
    | BranchDeleted
    | UsageUpdated
    | LlmRequest
    | LlmResponse
    | Notice
    | ErrorEvent
)
LivePayload = MessageDelta | ThinkingDelta | AgentDelta | ToolOutput | ContextUsage | ModelRetry


@dataclass(frozen=True, slots=True, kw_only=True)
class NewerEvent(AgentEvent):
    """An event of a newer vocabulary, written by a process of a later version while versions are mixed: it is sent to
    readers unchanged, and no state is derived from it. `values` are all of its fields."""

    type: str
    values: dict[str, Any]


Payload = StoredPayload | LivePayload | NewerEvent

LIVE_TYPES: frozenset[str] = frozenset(
    {"message.delta", "thinking.delta", "agent.delta", "tool.output", "context.usage", "llm.retry"}
)
CHANGE_TYPES: frozenset[str] = frozenset({"session.updated"})
"""Types of which only the fields that changed are sent."""
FIELDS_OF_AGENTS: frozenset[str] = frozenset({"agent_id", "agent_usage"})
"""Fields that are left out if they are None, which they are in every event of the main agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event with its envelope. `seq` is None for live-only events."""

    seq: int | None
    at: datetime
    session_id: str
    run_id: str | None
    payload: Payload
    _written: bytes | None = field(default=None, init=False, compare=False, repr=False)

    def serialized_once(self, write: Callable[[Event], bytes], *, is_kept: bool = True) -> bytes:
        """The result of `write` for this event, cached if `is_kept`: a new event goes to each of its readers. `write`
        must always return the same."""
        written = self._written
        if written is None:
            written = write(self)
            if is_kept:
                object.__setattr__(self, "_written", written)
        return written


def agent_of(payload: Payload) -> str | None:
    """The agent whose thread the event belongs to; None for the main agent, and for events of the session or the
    run."""
    return payload.subagent_id if isinstance(payload, SubagentStarted) else getattr(payload, "agent_id", None)


def is_for_the_person(payload: Payload) -> bool:
    """Whether it is an answer of the main agent."""
    return isinstance(payload, MessageCompleted) and payload.agent_id is None


def is_answer(payload: Payload) -> bool:
    """Whether it ends a run in a way that the person has to look at: a person who stops a run is there already."""
    return isinstance(payload, RunFinished) and payload.status != "stopped"


def is_failure(payload: Payload) -> bool:
    """Whether it ends a run that neither did what it was asked nor was stopped."""
    return isinstance(payload, RunFinished) and payload.status in ("failed", "interrupted")
