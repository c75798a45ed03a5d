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
    """What was thought after `offset` code points of the turn's text. `opaque` is what the provider made of it for
    itself, in JSON."""

    text: str
    signature: str | None = None
    opaque: str | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """A call the model asks for. `arguments` is None when the model's JSON was broken; `raw` keeps what it sent.
    `opaque` is what the provider had for it or added to it, in JSON; `safety_checks` are why the provider holds it back
    until a person allows it; `is_next_action`: the call before it and it are actions of one, so it is only run if that
    succeeded."""

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
        """An object, as providers are sent it: made once, as a long conversation is sent at each turn."""
        made = self._json
        if made is None:
            made = json.dumps(self.arguments or {})
            object.__setattr__(self, "_json", made)
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """Of a turn one thing that is made of it is kept, as a long conversation is sent again with each call."""

    _made: tuple[object, Any] | None = field(default=None, init=False, compare=False, repr=False)

    def once(self, key: object, make: Callable[[Self], T]) -> T:
        """What `make` makes of it, made anew only where something else was kept last: by the same `key` it must always
        be the same."""
        made = self._made
        if made is not None and made[0] == key:
            return made[1]
        value = make(self)
        object.__setattr__(self, "_made", (key, value))
        return value

    def forget(self) -> None:
        """Drop what `once` kept, as `RenderedTurns` has it."""
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
    """The result of one call as the model reads it: `note` is what the deployment says of it, and `pictures` are what
    it showed. `seq` numbers the event it was recorded as, 0 where it was not,
    and is nothing the model reads."""

    call_id: str
    name: str
    output: str
    success: bool
    pictures: tuple[Picture, ...] = ()
    note: str = ""
    seq: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteTurn(_Turn):
    """What the deployment tells the model, and nobody in the conversation said; `pictures` are what it shows with
    that."""

    text: str
    pictures: tuple[Picture, ...] = ()


Turn = UserTurn | NoteTurn | AssistantTurn | ToolTurn

MOST_RENDERED = 2
"""Of a conversation: for the model that is asked, and the one that answers where that fails."""


def pictures_in(turn: Turn) -> int:
    """How many it has."""
    return len(turn.pictures) if isinstance(turn, ToolTurn | NoteTurn) else 0


@dataclass(slots=True)
class RenderedTurns:
    """What an adapter made of the first turns of a conversation together, kept with it: made of each turn alone, a
    request took the longer the more had been said. At most `MOST_RENDERED` are kept, each under its own key."""

    _kept: dict[object, tuple[Sequence[Turn], Sequence[bytes]]] = field(
        default_factory=dict[object, tuple[Sequence[Turn], Sequence[bytes]]]
    )

    def known(self, key: object, turns: Sequence[Turn]) -> tuple[int, Sequence[bytes]]:
        """How many of these turns were made into what by this key; none where the first ones are others by now. Equal
        ones count as the same, which turns of one thread are."""
        before, made = self._kept.get(key, ((), ()))
        is_known = turns[: len(before)] == before
        return (len(before), made) if is_known else (0, ())

    def keep(self, key: object, turns: Sequence[Turn], made: Sequence[bytes]) -> None:
        """In place of what was kept by this key, by which it must always be the same, and of what was kept longest ago
        where that is one too many."""
        self._kept.pop(key, None)
        self._kept[key] = turns, made
        if len(self._kept) > MOST_RENDERED:
            del self._kept[next(iter(self._kept))]

    def forget(self) -> None:
        """Drop all: an adapter that keeps nothing here is asked by now."""
        self._kept.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class NextAttempt:
    """A call that is made again in `wait_s` seconds, as attempt `number`, counted from 1, of at most `most`."""

    number: int
    most: int
    wait_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """`thinking` is only asked of a model that can do it: see `ModelInfo.thinking_for`. `pictures` are those in its
    turns that can be sent; `is_retried` says whether it is made again after a passing fault. The first `lasting` turns
    are those that stay when older results are left out, so that it is worth their being cached by themselves.
    `rendered` is what was made of the conversation before. `on_failed_attempt` is told of each fault after which it is
    made again, before that is waited for."""

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
    """`signature` and `opaque` end a thought, and go back to the same model unchanged."""

    text: str
    signature: str | None = None
    opaque: str | None = None


@dataclass(frozen=True, slots=True)
class ThoughtSoFarPart:
    """All text of this call so far was thinking: some servers send only the mark that ends it."""


@dataclass(frozen=True, slots=True)
class AddedPart:
    """What a provider added to its answer here, in JSON: nothing a person reads, and sent back to the same model
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
    """A model call failed. `may_retry` is true for 429, 5xx, connection and time-out errors; `is_of_request` where
    another model would fail at the same request, `may_be_of_pictures` where a picture in it can be why."""

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
    """The provider says that its answer is not whole, or sent something else in its place."""

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
        """Ask once; the parts in the order they arrive."""
        ...


Thinks = Literal["never", "optional", "always"]
CONTEXT_WINDOW = 200_000
"""Tokens, of a model that nothing is known of, where the deployment says no other (`CONTEXT_WINDOW`)."""
MAX_OUTPUT_TOKENS = 16_384
"""Of one answer, where the deployment says no other (`MAX_OUTPUT_TOKENS`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """A model on offer. `is_demo` is shown wherever its name is; `thinking` says whether it thinks when asked to,
    cannot, or cannot be kept from it; `vision` whether it sees pictures. `is_official` is one that the provider itself
    serves, not another service that speaks its protocol. `context_window` and `output_limit` are tokens, `prices` None
    where not known; `knows_desktop`: its provider has a tool of its own for the desktop, which it knows."""

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
        """Of a call whose end nobody saw, in US dollars: None, as its use is not known, unless the model is free."""
        return 0.0 if self.prices is not None and self.prices.are_nothing else None

    def output_tokens(self, wanted: int) -> int:
        """How many of them it can be asked for in one answer."""
        return wanted if self.output_limit is None else min(wanted, self.output_limit)

    def thinking_for(self, wanted: ThinkingLevel | None) -> ThinkingLevel | None:
        """What of it this model can be asked for."""
        is_possible = self.thinking == "optional" or (self.thinking == "always" and wanted != "off")
        return wanted if is_possible else None
