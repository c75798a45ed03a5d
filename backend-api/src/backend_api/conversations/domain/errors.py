"""Errors of sessions and runs."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.approvals import ApprovalDecidedError, PastDecision
from backend_api.agent.events import MessageUser
from backend_api.agent.waits import Answer
from backend_api.kit.errors import ConflictError, LimitError, NotFoundError, TooLargeError, UnavailableError


class SessionNotFoundError(NotFoundError):
    """The session does not exist, or is another user's."""

    code = "session_not_found"


class EventBodyNotFoundError(NotFoundError):
    """The event has no body, or there is no such event."""

    code = "event_body_not_found"


class MessageTooLongError(TooLargeError):
    """A message has over 100,000 characters."""

    code = "message_too_long"


class MessageDiffersError(ConflictError):
    """Another message of the session was sent under this `client_message_id`; nothing was stored."""

    code = "message_differs"

    @classmethod
    def unless_same(cls, first: MessageUser, again: MessageUser) -> None:
        """Raises it if the message sent `again` differs from the `first`."""
        if (first.text, first.attachments) != (again.text, again.attachments):
            raise cls(
                "A different message was already sent with this client_message_id. Use a new one for each message."
            )


class NotAloneError(ConflictError):
    """A run is active, but the message had to begin one of its own; nothing was stored."""

    code = "not_alone"


class LeaseLostError(ConflictError):
    """Another worker took the run over, or it ended; nothing was written."""

    code = "lease_lost"


class NothingToResumeError(ConflictError):
    """The run is not the session's last one, is active, or was completed; nothing was queued."""

    code = "nothing_to_resume"


class NothingToCompactError(ConflictError):
    """The conversation has no messages yet; nothing was queued."""

    code = "nothing_to_compact"


class FeedLostError(UnavailableError):
    """The feed of sessions lost its place; readers have to reconnect, and get every session as it is."""

    code = "feed_lost"


class QuestionNotFoundError(NotFoundError):
    """The agent asked no such question in this session."""

    code = "question_not_found"


class QuestionAnsweredError(ConflictError):
    """The question was answered, or waits for no answer any more; nothing changed."""

    code = "question_answered"


class ApprovalNotFoundError(NotFoundError):
    """The agent asked for no such approval in this session."""

    code = "approval_not_found"


class PlanNotFoundError(NotFoundError):
    """The agent proposed no such plan in this session."""

    code = "plan_not_found"


class PlanDecidedError(ConflictError):
    """The plan was decided already; nothing changed."""

    code = "plan_decided"


def no_open_wait(answer: Answer) -> NotFoundError:
    """The error for an answer to something that was never requested."""
    if answer.kind == "approval":
        return ApprovalNotFoundError("There is no such approval request in this session.")
    if answer.kind == "plan":
        return PlanNotFoundError("There is no such plan in this session.")
    return QuestionNotFoundError("There is no such question in this session.")


def already_over(answer: Answer, past: Sequence[PastDecision]) -> ConflictError:
    """The error for an answer to a wait that is over."""
    if answer.kind == "approval":
        return ApprovalDecidedError.of(past)
    if answer.kind == "plan":
        return PlanDecidedError("This plan was already decided, or no longer waits for a decision.")
    return QuestionAnsweredError("This question was already answered, or no longer waits for an answer.")


class TooManyStreamsError(LimitError):
    """The user has reached the limit of open streams at this gateway."""

    code = "too_many_streams"


class TooManyWaitingError(LimitError):
    """The limit of the session's waiting messages is reached."""

    code = "too_many_waiting"

    @classmethod
    def of(cls, at_most: int) -> TooManyWaitingError:
        """The error for a session with `at_most` waiting messages."""
        text = f"{at_most} messages of this session already wait for the agent, which is the maximum. "
        text += "Wait until it reads them, or stop the run."
        return cls(text, retry_after_s=30)


class TasksEditedError(Exception):
    """The person changed the session's tasks after those were read on which a change is based; nothing is written."""


class SessionQuotaError(LimitError):
    """The user has reached the limit of sessions."""

    code = "session_quota"

    @classmethod
    def of(cls, at_most: int) -> SessionQuotaError:
        """The error for a user who has `at_most` sessions."""
        return cls(f"You have {at_most} sessions, which is the maximum. Delete some first.", retry_after_s=60)
