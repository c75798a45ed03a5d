"""The port to a language model, and the conversation as a model reads it.

Sources: OpenAI chat completions and responses streaming, Anthropic messages streaming; all translate to these parts.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self, TypeVar

from backend_api.agent.events import SafetyCheck, Usage
from backend_api.agent.options import ThinkingLevel
from backend_api.agent.pictures import Image, Picture
from backend_api.agent.prices import Prices
from backend_api.agent.tool import ToolSpec
from backend_api.kit.errors import InvalidError, UpstreamError

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """A thought after `offset` code points of the turn's text. `opaque` is the provider's own form of it, in JSON."""

    text: str
    signature: str | None = None
    opaque: str | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """A call that the model requests. `arguments` is None if the model's JSON was broken; `raw` keeps what it sent.
    `opaque` is what the provider sent instead of it or beside it, in JSON; `safety_checks` are why the provider holds
    it back until a person allows it; `is_next_action`: it continues the action of the call before it, so it is only run
    if that succeeded."""

    call_id: str
    name: str
    arguments: dict[str, Any] | None
    raw: str = ""
    opaque: str | None = field(default=None, repr=False)
    safety_checks: Sequence[SafetyCheck] = ()
    is_next_action: bool = False
    _json: str | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def arguments_json(self) -> str:
        """The arguments as a JSON object for providers, cached, as a long conversation is sent at each turn."""
        made = self._json
        if made is None:
            made = json.dumps(self.arguments or {})
            object.__setattr__(self, "_json", made)
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """A turn with a cache of one value derived from it, as a long conversation is sent again with each call."""

    _made: tuple[object, Any] | None = field(default=None, init=False, compare=False, repr=False)

    def once(self, key: object, make: Callable[[Self], T]) -> T:
        """The result of `make`, cached under `key` until another key replaces it; for one key it must always be the
        same."""
        made = self._made
        if made is not None and made[0] == key:
            return made[1]
        value = make(self)
        object.__setattr__(self, "_made", (key, value))
        return value

    def forget(self) -> None:
        """Drop the cached value, as `RenderedTurns` caches all turns together."""
        object.__setattr__(self, "_made", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn(_Turn):
    text: str
    attachments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantTurn(_Turn):
    text: str
    thinking: tuple[Thinking, ...] = ()
    calls: tuple[ToolRequest, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTurn(_Turn):
    """The result of one call as the model reads it: `note` is the deployment's remark on it, and `pictures` are those
    it showed. `seq` is the number of its event, 0 if it has none, and is not sent to the model."""

    call_id: str
    name: str
    output: str
    success: bool
    pictures: tuple[Picture, ...] = ()
    note: str = ""
    seq: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteTurn(_Turn):
    """A note from the deployment to the model, which nobody in the conversation wrote; `pictures` belong to it."""

    text: str
    pictures: tuple[Picture, ...] = ()


Turn = UserTurn | NoteTurn | AssistantTurn | ToolTurn

MOST_RENDERED = 2
"""The most forms kept for a conversation: for the model that answers, and for its fallback."""


def pictures_in(turn: Turn) -> int:
    """The number of pictures of a turn."""
    return len(turn.pictures) if isinstance(turn, ToolTurn | NoteTurn) else 0


@dataclass(slots=True)
class RenderedTurns:
    """A cache of the first turns of a conversation as an adapter renders them, kept with it: rendered anew each time, a
    request took longer the longer the conversation was. At most `MOST_RENDERED` are kept, each under its own key."""

    _kept: dict[object, tuple[Sequence[Turn], Sequence[bytes]]] = field(
        default_factory=dict[object, tuple[Sequence[Turn], Sequence[bytes]]]
    )

    def known(self, key: object, turns: Sequence[Turn]) -> tuple[int, Sequence[bytes]]:
        """The number of these turns that are cached under this key, and their rendered form; none if the first ones
        have changed. Turns are compared by value; turns of one thread are the same objects."""
        before, made = self._kept.get(key, ((), ()))
        is_known = turns[: len(before)] == before
        return (len(before), made) if is_known else (0, ())

    def keep(self, key: object, turns: Sequence[Turn], made: Sequence[bytes]) -> None:
        """Replace the form cached under this key, for which rendering must be deterministic; the oldest other one is
        dropped if there are too many."""
        self._kept.pop(key, None)
        self._kept[key] = turns, made
        if len(self._kept) > MOST_RENDERED:
            del self._kept[next(iter(self._kept))]

    def forget(self) -> None:
        """Drop everything: an adapter that caches nothing here is used by now."""
        self._kept.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class NextAttempt:
    """A call that is repeated in `wait_s` seconds, as attempt `number`, counted from 1, of at most `most`."""

    number: int
    most: int
    wait_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """`thinking` is only set for a model that can do it: see `ModelInfo.thinking_for`. `pictures` are those in its
    turns that can be sent; `is_retried` is whether it is repeated after a passing fault. The first `lasting` turns stay
    when older results are left out, so that caching them by themselves pays. `rendered` is the cache of the
    conversation's rendered turns. `on_failed_attempt` is called with each fault after which it is repeated, before the
    wait."""

    model: str
    system: str
    turns: Sequence[Turn]
    tools: Sequence[ToolSpec]
    max_output_tokens: int
    thinking: ThinkingLevel | None = None
    pictures: Mapping[Picture, Image] = field(default_factory=dict[Picture, Image])
    is_retried: bool = True
    lasting: int = 0
    rendered: RenderedTurns = field(default_factory=RenderedTurns, compare=False, repr=False)
    on_failed_attempt: Callable[[ModelError, NextAttempt], None] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingPart:
    """`signature` and `opaque` end a thought, and are sent back to the same model unchanged."""

    text: str
    signature: str | None = None
    opaque: str | None = None


@dataclass(frozen=True, slots=True)
class ThoughtSoFarPart:
    """The whole text of this call so far was thinking: some servers send only the mark that ends it."""


@dataclass(frozen=True, slots=True)
class AddedPart:
    """An addition of the provider to its answer, in JSON: not shown to people, and sent back to the same model
    unchanged."""

    opaque: str


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A whole call, given once its arguments are complete."""

    request: ToolRequest


@dataclass(frozen=True, slots=True)
class UsagePart:
    """The call's usage so far: cumulative, the last one counts."""

    usage: Usage


FinishReason = Literal["stop", "length", "tool_calls", "refusal"]


@dataclass(frozen=True, slots=True)
class FinishPart:
    """Always the last part of a stream that ended by itself."""

    reason: FinishReason


Part = TextPart | ThinkingPart | ThoughtSoFarPart | AddedPart | ToolCallPart | UsagePart | FinishPart


class ModelError(UpstreamError):
    """A model call failed. `may_retry` is true for 429, 5xx, connection and time-out errors; `is_of_request` if another
    model would fail at the same request, `may_be_of_pictures` if a picture in it can be the reason."""

    code = "model_error"
    is_of_request = False
    may_be_of_pictures = True

    def __init__(self, detail: str, *, may_retry: bool = False, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.may_retry = may_retry
        self.retry_after_s = retry_after_s


class ModelAuthError(ModelError):
    """The provider refused the key (401, 403)."""

    code = "model_auth"
    may_be_of_pictures = False


class ModelRateLimitError(ModelError):
    """The provider says too many requests (429)."""

    code = "model_rate_limit"
    may_be_of_pictures = False


class ModelUnavailableError(ModelError):
    """The provider answers 5xx, does not answer in time, or can't be reached."""

    code = "model_unavailable"


class ModelStreamCutError(ModelError):
    """The stream ended without its closing part."""

    code = "model_stream_cut"


class ModelAnswerError(ModelError):
    """The provider reports that its answer is not whole, or sent something else in its place."""

    code = "model_answer"


class ModelRequestError(ModelError):
    """The provider refused the request itself (400, 422)."""

    code = "model_request"
    is_of_request = True


class ModelMissingError(ModelRequestError):
    """The provider has no such model, or not for this request (404)."""

    code = "model_missing"
    is_of_request = False


class ModelContextError(ModelRequestError):
    """The conversation is longer than the model takes."""

    code = "model_context"


class UnknownModelError(InvalidError):
    """A model that is not on offer."""

    code = "unknown_model"


class ChatModel(Protocol):
    """A language model.

    `stream` yields parts and ends with `FinishPart`; closing the generator closes the connection to the provider.
    Raises the `ModelError` family; nothing is retried here, a wrapper does it.
    """

    def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """Send the request once, and yield the parts in the order they arrive."""
        ...


Thinks = Literal["never", "optional", "always"]
CONTEXT_WINDOW = 200_000
"""The context window in tokens of a model without a known one, unless the deployment sets another
(`CONTEXT_WINDOW`)."""
MAX_OUTPUT_TOKENS = 16_384
"""The most tokens of one answer, unless the deployment sets another limit (`MAX_OUTPUT_TOKENS`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """A model on offer. `is_demo` is shown wherever its name is; `thinking` is whether it can think on request, never
    thinks, or always does; `vision` whether it sees pictures. `is_official`: the provider itself serves it, and not
    another service that speaks its protocol. `context_window` and `output_limit` are tokens, `prices` None if not
    known; `knows_desktop`: the model knows a desktop tool of its provider."""

    id: str
    label: str
    provider: str
    is_demo: bool = False
    is_default: bool = False
    is_official: bool = True
    context_window: int = CONTEXT_WINDOW
    notes: list[str] = field(default_factory=list[str])
    thinking: Thinks = "optional"
    vision: bool = False
    output_limit: int | None = None
    prices: Prices | None = None
    knows_desktop: bool = False

    @property
    def cost_when_cut(self) -> float | None:
        """The cost in US dollars of a call that was cut: None, as its usage is not known, unless the model is free."""
        return 0.0 if self.prices is not None and self.prices.are_nothing else None

    def output_tokens(self, wanted: int) -> int:
        """The wanted number of output tokens, at most the model's limit."""
        return wanted if self.output_limit is None else min(wanted, self.output_limit)

    def thinking_for(self, wanted: ThinkingLevel | None) -> ThinkingLevel | None:
        """The wanted thinking level, or None if this model does not support it."""
        is_possible = self.thinking == "optional" or (self.thinking == "always" and wanted != "off")
        return wanted if is_possible else None
