"""The closed union of everything a session says, in order: one ordered stream per session.

`VOCABULARY_VERSION` grows when a type or a field is added; none is ever renamed or removed. While gateways are
replaced one by one, an older process meets types of a newer vocabulary (`NewerEvent`). Stored events carry the
session's next `seq`; live-only ones (`LIVE_TYPES`) have `seq` None and are contained in a stored event that follows,
or over by then. Envelope fields (`seq`, `at`, `session_id`, `run_id`) stand in `Event`, the rest in the payload. All
are in this one file, as it is the catalogue of what is on the wire: the union at its end and the version above it
change together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from backend_api.agent.options import AgentMode, ThinkingLevel

VOCABULARY_VERSION = 31
MAX_PREVIEW_CHARACTERS = 2_000
"""Of a call's output, or of what an agent said last, in the event itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of a run or a call, and what they cost; `by_model` maps a model to the same first five counts, and `costs`
    to its `cost` and `known_cost`.

    `input` is all that was sent: of it `cached` was read from the provider's cache, and `cache_write` written to it.
    `cost` is in US dollars and is that of all calls: None as soon as one of them has no known price, or where nothing
    was asked. `known_cost` is that of the calls whose price is known, and so the least it can have been. `new` is what
    was new to a conversation: what a call read beyond what the one before it had read and written, and what it wrote
    itself."""

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
    """What one agent says or does; `agent_id` is None for the main one, and then it stands in no log and on no wire."""

    agent_id: str | None = None


RunCause = Literal["message", "answer", "resume", "compact", "background", "schedule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQueued:
    """`cause` is what it begins or goes on for; `message_id` is None where that is no message."""

    type: Literal["run.queued"] = "run.queued"
    run_id: str
    message_id: str | None
    cause: RunCause = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """`model` is the one that the session chose, else the deployment's default, as it is known before the run is
    looked at; what is asked, which may be a preset's or the fallback, stands in `context.opened`."""

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
        """Whether the agent had said all it was to say, and not a limit ended it."""
        return self.status == "completed" and self.reason is None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageUser:
    type: Literal["message.user"] = "message.user"
    message_id: str
    text: str
    attachments: list[str] = field(default_factory=list[str])
    client_message_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleFired:
    """The user's message that follows is sent by a schedule. `due_at` is None where the user had it run; `missed` are
    the times, from `missed_from` to `missed_to`, at which none was sent, up to a thousand."""

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
    """A model call that ended before its answer did: `at` so many code points of the text the next call began, after
    this `note`."""

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
    """A piece of what a sub-agent or a teammate writes: of its answer, or of its thinking. It is no `message.delta`, so
    that who knows of the main agent alone never takes it for that one's."""

    type: Literal["agent.delta"] = "agent.delta"
    message_id: str
    kind: AgentTextKind
    offset: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingCompleted(AgentEvent):
    """`signature` and `opaque` go back to the provider unchanged, and are not shown; `offset` is the number of code
    points of the answer's text before it, and `continued` the number of continuations; `seen_seq` is the last message
    the model had read. `duration_ms` is the time from its first piece to its end, and null for one that was cut."""

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
    """Why a model's provider holds a call back until a person allows it, in the provider's words."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(AgentEvent):
    """Recorded before the call starts. One that `asks` starts with `tool.started`, and only if it is approved; one with
    `safety_checks` always does. `opaque` is what a provider had for the call, in JSON, and goes back to it; it is not
    shown. `after` is the call whose next action it is: it only starts once that succeeded. `via` is the tool through
    which the model called this one, and `said` the arguments of that where they are more than name and arguments."""

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
    """Where the whole of something long stands: `GET /api/sessions/{id}/events/{seq}/body`; `size` in bytes. Two of
    one `digest` are the same; it is empty where none was made. A body of several things, such as the pictures of one
    call, has `parts`."""

    size: int
    media_type: str = "text/plain"
    digest: str = ""
    parts: list[BodyPart] = field(default_factory=list[BodyPart])


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished(AgentEvent):
    """`preview` is at most 2,000 characters; `display` is one of the contract's typed views; `cancelled` says that a
    stop or a new message cut the call; `has_begun` is false where that, or a person who denied it, came before anything
    of it ran."""

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
    """Told once a question. `answers` by the questions' ids, None where nobody gave any."""

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
    """Told once a plan. An approved one ends plan mode."""

    type: Literal["plan.decided"] = "plan.decided"
    plan_id: str
    decision: PlanVerdict
    feedback: str | None = None
    by: ResolvedBy


StepStatus = Literal["pending", "in_progress", "done", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """A step of the agent's work; `result` is one line, empty where there is none."""

    title: str
    status: StepStatus
    result: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanUpdated:
    """What the agent is about to do and did, whole; no steps where it has no plan any more."""

    type: Literal["plan.updated"] = "plan.updated"
    steps: list[PlanStep]


TodoStatus = Literal["pending", "in_progress", "completed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """One thing an agent has to do; `active_form` is how it says so while it is at it, empty where it did not say."""

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
    """A part of the session's work. `blocked_by` are the ids of those that must be completed first, `blocks` the other
    way round; `owner` is who works on it, empty where nobody said so."""

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
    """The tasks of the session, whole: its agents and the person share them. Of two, the one of the higher `version` is
    the newer one, whichever was stored first; `last_id` is the highest number that was given, also to one that is
    deleted. `by` is who changed them, and `edits` counts the changes of the person that are in them."""

    type: Literal["tasks.updated"] = "tasks.updated"
    version: int
    last_id: int
    tasks: list[Task]
    by: Literal["agent", "person"] = "agent"
    edits: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionsFound(AgentEvent):
    """How work in a folder and below it is to be done, as the file at `path` says: the agent came to work there, or the
    file was changed since."""

    type: Literal["instructions.found"] = "instructions.found"
    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentRead:
    """What the model is shown of files at `paths` that are attached to a message, before it first reads that: the
    picture is the body, and `text` says what it is, or why there is none; without a text nothing is said of it.
    `call_id` is that of the tool's call that read it, which is recorded nowhere else."""

    type: Literal["attachment.read"] = "attachment.read"
    message_id: str
    paths: list[str]
    text: str
    call_id: str = ""
    body: BodyReference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpUpdated:
    """What is known by now of an MCP server, of all agents of the session. `tools` are the names of those that are
    offered, which stand whole in the body, a JSON list; what is offered stays so until the next of these of the server
    in a later run. `config` names how the server was configured. `changed`: it lists others by now."""

    type: Literal["mcp.updated"] = "mcp.updated"
    server: str
    status: Literal["ready", "changed", "failed"]
    tools: list[str] = field(default_factory=list[str])
    error: str | None = None
    config: str = ""
    body: BodyReference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesChanged:
    """`removed` are those of the `paths` at which nothing is any more."""

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
    """An attempt to ask a model for the main agent's answer, or for a summary of its conversation, failed by a fault of
    this `code`; it is asked again in `wait_s` seconds, which is attempt number `attempt` of at most `most`."""

    type: Literal["llm.retry"] = "llm.retry"
    code: str
    attempt: int
    most: int
    wait_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentReference:
    """A text by its SHA-256 (hexadecimal) and its size in bytes of UTF-8."""

    digest: str
    size: int


OpeningCause = Literal["started", "model", "thinking", "tools", "prompt", "history", "mode", "preset"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOpened(AgentEvent):
    """From here on the model is sent this system prompt and these tools, byte for byte, until the next of these. Both
    stand whole in the body, a JSON object with `system` and `tools`. `epoch` counts them from 1; `cause` says what
    changed first, of preset, model, thinking, mode, tools and prompt, or that less of the history is sent. `thinking`
    is what the model is asked for, None where it does as it does by itself; `vision` whether it is sent pictures, None
    where it was not even told of them; `pictures` of how many results before it pictures are still sent, the last ones,
    and `replaced` how many of the results before it, the first ones, the model reads one line of where they are
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
    """None in what an earlier version recorded."""
    missing_preset: str | None = None
    """The one that the session chose instead, where that is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextNote(AgentEvent):
    """What the model is told beside what people and tools say, right before its next answer. The last one of a `kind`
    is what it knows."""

    type: Literal["context.note"] = "context.note"
    kind: Literal[
        "day", "resume", "turns", "repetition", "budget", "instructions", "memories", "tools", "tasks", "branched"
    ]
    text: str
    about: str = ""
    """What of several of a kind it tells of, such as a file's path: each of them is known by itself."""

    @property
    def key(self) -> str:
        """What it takes the place of, once told."""
        return f"{self.kind} {self.about}" if self.about else self.kind


NOTES_OF_A_RUN = ("turns", "repetition")
"""Kinds of which the next run knows nothing."""


CompactionKind = Literal["auto", "manual"]
"""What has a summary written."""
MAX_FOCUS_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionWanted(AgentEvent):
    """The conversation is to be summed up before the next answer, and `focus` told most of."""

    type: Literal["context.compaction_wanted"] = "context.compaction_wanted"
    focus: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCompacted(AgentEvent):
    """The model reads the `summary` from here on instead of all up to the event `through_seq`, which the log keeps, as
    does the file `transcript` in the workspace, where there is one. `before` and `after` are about as many tokens as a
    call reads; `focus` is what the person asked to be kept most of. Of the kind `micro` there is no summary: the model
    reads one line each in place of the tools' long results up to `through_seq`, as the opening before it says."""

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
    """What the kind of an agent was as it began, where that is not built in: it goes on so, whatever becomes of that.
    `tools` are names and globs, null all, and without a maximum there is none but the run's."""

    prompt: str
    tools: list[str] | None = None
    model: str | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_minutes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentStarted:
    """An agent of its own works on a call's `task`: the first event of its thread. What follows of it carries this id
    as `agent_id`, until the call has its result. `kind` is a name: built in, or with its `definition`."""

    type: Literal["subagent.started"] = "subagent.started"
    subagent_id: str
    kind: str
    task: str
    parent_call_id: str
    definition: SubagentDefinition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentFinished:
    """Told with the result of the call. `summary` is what the agent said last, at most 2,000 characters of it."""

    type: Literal["subagent.finished"] = "subagent.finished"
    subagent_id: str
    summary: str
    usage: Usage = field(default_factory=Usage)
    tool_count: int = 0
    duration_ms: int = 0


TeammateStatus = Literal["working", "idle", "left"]
TeammateEnd = Literal["shutdown", "idle", "failed", "run_ended"]
"""As it agreed to a shutdown, found nothing more to do, could not go on, or as the run ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeammateUpdated(AgentEvent):
    """What an agent of the session's team is at. With its `prompt` it begins: that is the first event of its thread,
    whose other events carry the same `agent_id`, and `parent_call_id` is the call that began it. `reason` says why one
    left, and `detail` more of it."""

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
    """What one agent of a team tells others, by their names; the main agent's is `lead`. Each reads it before its next
    answer. A request and the answer to it have the same `request_id`, and the answer says whether it `approve`s.
    `task` tells of a task that its reader took, and `left` of an agent that could not go on."""

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
    """A port of the session's sandbox is open to its user's browser from here on; what listens there is another
    question. How it is reached stands in no event."""

    type: Literal["port.opened"] = "port.opened"
    port_id: str
    port: int
    label: str
    opened_by: PortOpener


@dataclass(frozen=True, slots=True, kw_only=True)
class PortClosed:
    """It is open no more."""

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
    """What agent and person keep with the session. `link` is an address, of a file its path in the workspace; of a text
    that is kept with it only the number of `characters` stands here. `version` grows with each change."""

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
    """What belongs to the session, whole: first what agent and person keep with it, in the order in which it was added,
    then what of its computer is open to its user's browser; the one opened last comes last. It follows
    each `port.opened` and `port.closed` at once; one that an earlier version told stands alone."""

    type: Literal["resources.updated"] = "resources.updated"
    resources: list[PortResource | KeptResource]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueUpdated:
    """What waits for the end of the run changed: it is so many messages now. What they say stands in `GET .../queue`
    alone, so that one that was taken away was never said."""

    type: Literal["queue.updated"] = "queue.updated"
    count: int


BackgroundEnd = Literal["ended", "timed_out", "stopped", "lost"]
"""By itself, at its time-out, by a person or the agent, or with the sandbox it ran on: then nobody knows how far it
came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundFinished:
    """Told once a background command. `exit_code` is None where it did not end by itself; `preview` is of what it
    wrote, at most 2,000 characters, all of which is the body where that is longer. Its model reads it before its next
    answer, but where it has read it as the result of the call `read_by`."""

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
    """Only what changed is there. `options` are all there are then, and `changed_options` names those that changed."""

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
    """One that waits is `starting` with a `queue_position`, 1 for the next one to be let in, and a `queue_reason`: the
    deployment has no room, or its user has as many running as allowed."""

    type: Literal["sandbox.updated"] = "sandbox.updated"
    status: SandboxState
    reason: str | None = None
    expires_at: datetime | None = None
    has_desktop: bool = True
    queue_position: int | None = None
    queue_reason: QueueReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlTaken:
    """A person controls the computer from here on, and no call of the agents starts. `holder` is who, in words;
    `client` the window or program that has the lease. A second one of another client took the lease over."""

    type: Literal["control.taken"] = "control.taken"
    holder: str
    client: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlReturned:
    """Nobody controls the computer any more: the person handed it back, with or without a `note` that the model reads
    before all else, or the lease expired as its client was heard no more."""

    type: Literal["control.returned"] = "control.returned"
    by: Literal["user", "timeout"]
    note: str | None = None


PathCause = Literal["edit", "regenerate", "undo", "select"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathSelected:
    """The conversation is another one from here on: of the events before this one those in `path`, each entry the
    first and the last number of some, then this one and all that follow. The others stay in the log, and can be
    selected again. `message_id` is what the `cause` was asked of."""

    type: Literal["path.selected"] = "path.selected"
    path: list[list[int]]
    cause: PathCause
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchDeleted:
    """A message that is on no path shown now, and all `messages` that follow it, itself among them, can't be selected
    any more. `at_seq` is its number."""

    type: Literal["branch.deleted"] = "branch.deleted"
    message_id: str
    at_seq: int
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageUpdated(AgentEvent):
    """`usage` is always the whole run's; `agent_usage` what the agent used of it, None for the main one. `context` are
    the tokens that the agent's last model call read and wrote, 0 where the provider did not tell."""

    type: Literal["usage.updated"] = "usage.updated"
    usage: Usage
    agent_usage: Usage | None = None
    context: int = 0


ModelRole = Literal["agent", "subagent", "teammate", "fallback", "compact", "title"]
"""What a model is asked for: the next answer of the main agent, a sub-agent or a teammate, an answer instead of a
model that failed, a summary of the conversation, a title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmRequest(AgentEvent):
    """A model is asked, in a session with `enable_tracing`; `number` counts the calls of a session from 1, those for
    titles by themselves, and is that of the `LlmResponse`. One without a response is under way, or its worker died.

    `payload` is what it is sent, with secrets masked, in one form for all providers: `model`, `max_output_tokens`,
    `thinking`, `system`, `tools`, `turns` and the `pictures` by the number of their event. It is None where it is long:
    then it is the body. Where it goes on from what was sent before, it has only the turns that are new: those of the
    events `extends`, in their order, stand before them, and `system` and `tools` in the first. `turn_count` counts all
    of them, and `digest` tells the whole from any other one. It is `omitted` where nothing more is kept, as the user's
    calls have reached their limit: then there is neither payload nor body."""

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
    """An attempt that failed before anything came of it, so that the same was asked again; `at_ms` after the call
    began."""

    code: str
    text: str
    at_ms: int


LlmOutcome = Literal["stop", "length", "tool_calls", "refusal", "error", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmResponse(AgentEvent):
    """What came of a call, all its `attempts` that failed among it. `payload` has `text`, `thinking` and `calls`, with
    secrets masked, and is None where it is long: then it is the body. An `outcome` of error has its `code` and `error`;
    stopped is one that was cut before its end. `first_ms` is the time until anything came, None where nothing did.
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
    """`text` says it in English; whoever knows the `code` may say it otherwise, filled with `params`."""

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
    """One of a newer vocabulary, which a process of a later version told while versions are mixed: it goes to readers
    as it came, and nothing is folded of it. `values` are all of its fields."""

    type: str
    values: dict[str, Any]


Payload = StoredPayload | LivePayload | NewerEvent

LIVE_TYPES: frozenset[str] = frozenset(
    {"message.delta", "thinking.delta", "agent.delta", "tool.output", "context.usage", "llm.retry"}
)
CHANGE_TYPES: frozenset[str] = frozenset({"session.updated"})
"""Of these only the fields that changed are told."""
FIELDS_OF_AGENTS: frozenset[str] = frozenset({"agent_id", "agent_usage"})
"""Left out where they are None, in every event of the main agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event with its envelope. `seq` is None for live-only events."""

    seq: int | None
    at: datetime
    session_id: str
    run_id: str | None
    payload: Payload
    _written: bytes | None = field(default=None, init=False, compare=False, repr=False)

    def written_once(self, write: Callable[[Event], bytes], *, is_kept: bool = True) -> bytes:
        """What `write` makes of it, not made again where it was kept: an event that is new goes to each of its readers.
        It must always be the same."""
        written = self._written
        if written is None:
            written = write(self)
            if is_kept:
                object.__setattr__(self, "_written", written)
        return written


def agent_of(payload: Payload) -> str | None:
    """Whose thread it belongs to; None for the main agent's, and for what is the session's or the run's."""
    return payload.subagent_id if isinstance(payload, SubagentStarted) else getattr(payload, "agent_id", None)


def is_for_the_person(payload: Payload) -> bool:
    """Whether it is something the main agent said."""
    return isinstance(payload, MessageCompleted) and payload.agent_id is None


def is_answer(payload: Payload) -> bool:
    """Whether a run ended with it that the person has to look at: who stopped one was there."""
    return isinstance(payload, RunFinished) and payload.status != "stopped"
