"""What can go wrong with sessions and runs."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.approvals import ApprovalDecidedError, PastDecision
from backend_api.agent.events import MessageUser
from backend_api.agent.waits import Answer
from backend_api.kit.errors import ConflictError, LimitError, NotFoundError, TooLargeError, UnavailableError


class SessionNotFoundError(NotFoundError):
    """No such session, or another user's."""

    code = "session_not_found"


class EventBodyNotFoundError(NotFoundError):
    """The event has no body, or there is no such event."""

    code = "event_body_not_found"


class MessageTooLongError(TooLargeError):
    """A message over 100,000 characters."""

    code = "message_too_long"


class MessageDiffersError(ConflictError):
    """Another message of the session was sent under this `client_message_id`; nothing was stored."""

    code = "message_differs"

    @classmethod
    def unless_same(cls, first: MessageUser, again: MessageUser) -> None:
        """Raise it where one that was sent `again` is not the `first`."""
        if (first.text, first.attachments) != (again.text, again.attachments):
            raise cls("Another message was sent under this client_message_id. Send each message under one of its own.")


class NotAloneError(ConflictError):
    """A run is active, and the message was to begin one of its own; nothing was stored."""

    code = "not_alone"


class LeaseLostError(ConflictError):
    """Another worker took the run over, or it ended; nothing was written."""

    code = "lease_lost"


class NothingToResumeError(ConflictError):
    """It is not the session's last run, it goes on, or it was completed; nothing was queued."""

    code = "nothing_to_resume"


class NothingToCompactError(ConflictError):
    """Nothing was said yet; nothing was queued."""

    code = "nothing_to_compact"


class FeedLostError(UnavailableError):
    """The feed of sessions lost its place; its readers come again and get every session as it is."""

    code = "feed_lost"


class QuestionNotFoundError(NotFoundError):
    """The agent asked no such question in this session."""

    code = "question_not_found"


class QuestionAnsweredError(ConflictError):
    """The question has its answer, or waits for none any more; nothing changed."""

    code = "question_answered"


class ApprovalNotFoundError(NotFoundError):
    """The agent asked for no such approval in this session."""

    code = "approval_not_found"


class PlanNotFoundError(NotFoundError):
    """The agent proposed no such plan in this session."""

    code = "plan_not_found"


class PlanDecidedError(ConflictError):
    """The plan is decided already; nothing changed."""

    code = "plan_decided"


def no_open_wait(answer: Answer) -> NotFoundError:
    """An answer to what was never asked."""
    if answer.kind == "approval":
        return ApprovalNotFoundError("There is no such approval request in this session.")
    if answer.kind == "plan":
        return PlanNotFoundError("There is no such plan in this session.")
    return QuestionNotFoundError("There is no such question in this session.")


def already_over(answer: Answer, past: Sequence[PastDecision]) -> ConflictError:
    """An answer to what is over already."""
    if answer.kind == "approval":
        return ApprovalDecidedError.of(past)
    if answer.kind == "plan":
        return PlanDecidedError("This plan was already decided, or no longer waits for a decision.")
    return QuestionAnsweredError("This question was already answered, or no longer waits for an answer.")


class TooManyStreamsError(LimitError):
    """This user has as many streams open as one may have at this gateway."""

    code = "too_many_streams"


class TooManyWaitingError(LimitError):
    """As many messages of the session wait as may."""

    code = "too_many_waiting"

    @classmethod
    def of(cls, at_most: int) -> TooManyWaitingError:
        """For a session where `at_most` wait."""
        text = f"{at_most} messages of this session already wait for the agent, which is the maximum. "
        text += "Wait until it reads them, or stop the run."
        return cls(text, retry_after_s=30)


class TasksEditedError(Exception):
    """The person changed the tasks of the session since those were read on which a change was made; nothing is
    written."""


class SessionQuotaError(LimitError):
    """The user has as many sessions as one may have."""

    code = "session_quota"

    @classmethod
    def of(cls, at_most: int) -> SessionQuotaError:
        """For a user who has `at_most`."""
        return cls(f"You have {at_most} sessions, which is the maximum. Delete some first.", retry_after_s=60)
