"""A question of which several options may be chosen is answered by all of them, each in a line of its own."""

from __future__ import annotations

import pytest

from backend_api.agent.events import Question, QuestionAnswered, ToolFinished
from backend_api.agent.questions import Answers, Questions
from backend_api.kit.errors import InvalidError


def asked(*, several: bool = True, allow_text: bool = False) -> Questions:
    question = Question(
        id="q1", text="Which?", options=["red", "blue", "green"], allow_text=allow_text, several=several
    )
    return Questions(call_id="c", questions=[question])


@pytest.mark.parametrize("answer", ["red", "red\ngreen", "red\nblue\ngreen"])
def test_each_chosen_option_is_read_by_the_model(answer: str) -> None:
    answered, finished = asked().resolved("w", "user", Answers({"q1": answer}))
    assert isinstance(answered.payload, QuestionAnswered)
    assert answered.payload.answers == {"q1": answer}
    assert isinstance(finished.payload, ToolFinished)
    assert finished.payload.preview.splitlines()[-answer.count("\n") - 1 :] == [f"> {one}" for one in answer.split()]


@pytest.mark.parametrize("answer", ["red\nwhite", "white", "red\n", "red blue"])
def test_what_is_no_option_is_refused_unless_text_is_allowed(answer: str) -> None:
    with pytest.raises(InvalidError):
        asked().resolved("w", "user", Answers({"q1": answer}))
    assert asked(allow_text=True).resolved("w", "user", Answers({"q1": answer}))


def test_one_option_is_chosen_where_several_are_not_asked_for() -> None:
    with pytest.raises(InvalidError):
        asked(several=False).resolved("w", "user", Answers({"q1": "red\nblue"}))
