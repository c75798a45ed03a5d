"""Questions of one call, and its result when they are answered, or are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from backend_api.agent.events import (
    MAX_PREVIEW_CHARACTERS,
    Question,
    QuestionAnswered,
    QuestionAsked,
    ResolvedBy,
    ToolFinished,
)
from backend_api.agent.new_events import NewEvent
from backend_api.kit.errors import InvalidError

MAX_ANSWER_CHARACTERS = 10_000
_UNANSWERED: dict[ResolvedBy, str] = {
    "timeout": "The person did not answer in time. Go on without an answer, as well as you can.",
    "message": "The person did not answer, but wrote a message instead: it comes next.",
    "stop": "Stopped before it was answered.",
}


@dataclass(frozen=True, slots=True)
class Answers:
    """A person's answers by the questions' ids."""

    answers: Mapping[str, str]
    kind: Literal["question"] = "question"


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The questions of one call."""

    call_id: str
    questions: Sequence[Question]
    kind: Literal["question"] = "question"

    def refused_results(self, by: ResolvedBy) -> list[ToolFinished]:
        """The result of its call if a message or a stop came before it was asked."""
        unasked = ToolFinished(
            call_id=self.call_id, success=False, preview=_UNANSWERED[by], cancelled=by == "stop", has_begun=False
        )
        return [unasked]

    def request_event(self, wait_id: str, deadline: datetime) -> QuestionAsked:
        """The event that asks the questions."""
        return QuestionAsked(
            question_id=wait_id, call_id=self.call_id, questions=list(self.questions), expires_at=deadline
        )

    def resolved(self, wait_id: str, by: ResolvedBy, answer: Answers | None) -> list[NewEvent]:
        """The events of the end: the resolution, and the result of its call."""
        answers = None
        if answer is not None:
            self._check(answer.answers)
            answers = answer.answers
        answered = QuestionAnswered(question_id=wait_id, answers=dict(answers) if answers else None, by=by)
        output = self._read(answers) if answers else _UNANSWERED[by]
        finished = ToolFinished(
            call_id=self.call_id,
            success=bool(answers),
            preview=output[:MAX_PREVIEW_CHARACTERS],
            cancelled=by == "stop",
        )
        is_long = len(output) > MAX_PREVIEW_CHARACTERS
        return [NewEvent(payload=answered), NewEvent(payload=finished, output=output if is_long else None)]

    def _check(self, answers: Mapping[str, str]) -> None:
        """Raises `InvalidError` unless each question, and nothing else, has an answer that it allows."""
        questions = {question.id: question for question in self.questions}
        if set(answers) != set(questions):
            raise InvalidError(f"Answer each of {', '.join(questions)}, and nothing else.", field="body.answers")
        for name, answer in answers.items():
            question = questions[name]
            if not answer.strip() or len(answer) > MAX_ANSWER_CHARACTERS:
                reason = f"An answer has 1 to {MAX_ANSWER_CHARACTERS} characters."
                raise InvalidError(reason, field=f"body.answers.{name}")
            chosen = answer.split("\n") if question.several else [answer]
            if not question.allow_text and not set(chosen) <= set(question.options):
                raise InvalidError("This answer is not one of the options.", field=f"body.answers.{name}")

    def _read(self, answers: Mapping[str, str]) -> str:
        lines = [f"{question.text}\n> {_quoted(question, answers[question.id])}" for question in self.questions]
        return "The person answered:\n\n" + "\n\n".join(lines)


def _quoted(question: Question, answer: str) -> str:
    return answer.replace("\n", "\n> ") if question.several else answer
