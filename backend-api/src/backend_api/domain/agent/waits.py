"""What a run waits for without a process, and what its call comes to when the wait is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from backend_api.domain.agent.events import Question, QuestionAnswered, QuestionAsked, ResolvedBy, ToolFinished
from backend_api.domain.agent.recorded import Recorded
from backend_api.domain.errors import InvalidError

MAX_ANSWER_CHARACTERS = 10_000
_PREVIEW_CHARACTERS = 2_000
_UNANSWERED: dict[ResolvedBy, str] = {
    "timeout": "The person did not answer in time. Go on without an answer, as well as you can.",
    "message": "The person did not answer, but wrote a message instead: it comes next.",
    "stop": "Stopped before it was answered.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Something one call waits for, until its deadline `expires_s` after it was stored, by the store's clock."""

    id: str
    call_id: str
    questions: Sequence[Question]
    expires_s: float
    kind: Literal["question"] = "question"

    def begun(self, at: datetime) -> OpenWait:
        """As it is stored."""
        deadline = at + timedelta(seconds=self.expires_s)
        return OpenWait(id=self.id, call_id=self.call_id, kind=self.kind, questions=self.questions, deadline=deadline)

    def not_begun(self) -> ToolFinished:
        """The result of its call where a message or a stop came before it was stored."""
        return ToolFinished(call_id=self.call_id, success=False, preview=_UNANSWERED["message"])


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWait:
    """A wait as it is stored. It is resolved exactly once: by an answer, its deadline, a message or a stop."""

    id: str
    call_id: str
    kind: Literal["question"]
    questions: Sequence[Question]
    deadline: datetime

    def asked(self) -> QuestionAsked:
        """What tells of it."""
        return QuestionAsked(
            question_id=self.id, call_id=self.call_id, questions=list(self.questions), expires_at=self.deadline
        )

    def check(self, answers: Mapping[str, str]) -> None:
        """Raises `InvalidError` unless each question, and nothing else, has an answer that it allows."""
        questions = {question.id: question for question in self.questions}
        if set(answers) != set(questions):
            raise InvalidError(f"Answer each of {', '.join(questions)}, and nothing else.", field="body.answers")
        for name, answer in answers.items():
            question = questions[name]
            if not answer.strip() or len(answer) > MAX_ANSWER_CHARACTERS:
                reason = f"An answer has 1 to {MAX_ANSWER_CHARACTERS} characters."
                raise InvalidError(reason, field=f"body.answers.{name}")
            if answer not in question.options and not question.allow_text:
                raise InvalidError("This answer is none of the options.", field=f"body.answers.{name}")

    def resolved(self, by: ResolvedBy, answers: Mapping[str, str] | None = None) -> list[Recorded]:
        """What is recorded when it is over: the resolution, and the result of its call."""
        told = QuestionAnswered(question_id=self.id, answers=dict(answers) if answers else None, by=by)
        output = self._read(answers) if answers else _UNANSWERED[by]
        finished = ToolFinished(
            call_id=self.call_id,
            success=bool(answers),
            preview=output[:_PREVIEW_CHARACTERS],
            cancelled=by == "stop",
        )
        is_long = len(output) > _PREVIEW_CHARACTERS
        return [Recorded(payload=told), Recorded(payload=finished, output=output if is_long else None)]

    def _read(self, answers: Mapping[str, str]) -> str:
        lines = [f"{question.text}\n> {answers[question.id]}" for question in self.questions]
        return "The person answered:\n\n" + "\n\n".join(lines)
