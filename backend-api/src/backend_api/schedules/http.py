"""Routes of scheduled messages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from backend_api.conversations.domain.entity import MAX_MESSAGE_CHARACTERS
from backend_api.conversations.http.option_schemas import OptionsBody
from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time
from backend_api.schedules.application.change_schedules import CreateSchedule, UpdateSchedule
from backend_api.schedules.application.fire_schedules import RunSchedule
from backend_api.schedules.domain.entity import MAX_TEXT_CHARACTERS, MissReason, PauseReason, Schedule, ScheduleId
from backend_api.schedules.ports import Schedules

router = APIRouter(prefix="/api/schedules", tags=["schedules"])

_TEXT = f"What the agent is told, at most {MAX_TEXT_CHARACTERS} characters."
_AT = "When it is sent, once: 2030-12-31T09:00, in the time zone, or with an offset at its end. Or `cron`."
_CRON = (
    "When it is sent, again and again: minute, hour, day of month, month, day of week, such as `0 9 * * 1-5`. A fixed "
    "time that the change of the clocks skips is sent at the end of what is skipped, one that comes twice is sent once."
)
_ZONE = "IANA name, such as Europe/Berlin."
_SESSION = "Where it is sent. Null: each message opens a session."
_OF_NEW = "Of the sessions it opens; without `session_id` only."


class CreateScheduleBody(RequestBody):
    text: str = Field(max_length=MAX_MESSAGE_CHARACTERS, description=_TEXT)
    at: str | None = Field(default=None, max_length=40, description=_AT)
    cron: str | None = Field(default=None, max_length=1000, description=_CRON)
    timezone: str = Field(max_length=200, description=_ZONE)
    session_id: str | None = Field(default=None, max_length=200, description=_SESSION)
    model: str | None = Field(default=None, max_length=200, description=_OF_NEW)
    preset: str | None = Field(default=None, max_length=200, description=_OF_NEW)
    options: OptionsBody = Field(default=OptionsBody(), description=_OF_NEW)
    paused: bool = False


class UpdateScheduleBody(RequestBody):
    """Fields that are left out stay. `at` replaces `cron`, and the other way round; `session_id` null makes each
    message open a session; `paused` false resumes a schedule from now on, without the messages it would have sent."""

    text: str | None = Field(default=None, max_length=MAX_MESSAGE_CHARACTERS, description=_TEXT)
    at: str | None = Field(default=None, max_length=40, description=_AT)
    cron: str | None = Field(default=None, max_length=1000, description=_CRON)
    timezone: str | None = Field(default=None, max_length=200, description=_ZONE)
    session_id: str | None = Field(default=None, max_length=200, description=_SESSION)
    model: str | None = Field(default=None, max_length=200, description=_OF_NEW)
    preset: str | None = Field(default=None, max_length=200, description=_OF_NEW)
    options: OptionsBody | None = Field(default=None, description=_OF_NEW)
    paused: bool | None = None


class MissedBody(AnswerBody):
    """Times at which no message was sent. `count` goes up to 1000. `late`: no server ran; `queue_full`: the session had
    too many waiting messages; `session_quota`: the user had too many sessions."""

    count: int
    first_at: Time
    last_at: Time
    reason: MissReason


class ScheduledRunBody(AnswerBody):
    """The last message. `due_at` is null if a person requested it; `missed` are the occurrences it makes up for;
    `status` is that of the run that read it, null if the run is gone."""

    at: Time
    due_at: Time | None
    session_id: str
    run_id: str
    missed: MissedBody | None
    status: str | None


class ScheduleBody(AnswerBody):
    """`next_at` is null while it is paused, and once it is over. `pause_reason` is the reason of an automatic pause.
    `missed` are occurrences that no message has reported yet."""

    id: str
    text: str
    at: Time | None
    cron: str | None
    timezone: str
    session_id: str | None
    model: str | None
    preset: str | None
    options: dict[str, Any]
    paused: bool
    pause_reason: PauseReason | None
    next_at: Time | None
    missed: MissedBody | None
    last_run: ScheduledRunBody | None
    created_at: Time

    @classmethod
    def of(cls, schedule: Schedule) -> ScheduleBody:
        """The answer for a schedule."""
        return cls.model_validate(schedule)


class ScheduleListBody(AnswerBody):
    """Schedules of the caller, newest first."""

    items: list[ScheduleBody]


@router.get("")
async def list_schedules(caller: CurrentCaller, schedules: Annotated[Schedules, port("schedules")]) -> ScheduleListBody:
    """List the caller's schedules, with the next time of each and the outcome of its last message."""
    found = await schedules.of_user(caller.user.id)
    return ScheduleListBody(items=[ScheduleBody.of(one) for one in found])


@router.post(
    "",
    status_code=201,
    responses={404: {}},
    openapi_extra=with_example(
        {
            "text": "Read my inbox folder and write what is new to summary.md.",
            "cron": "0 9 * * 1-5",
            "timezone": "Europe/Berlin",
        }
    ),
)
async def create_schedule(
    body: CreateScheduleBody, caller: CurrentCaller, create_schedule: Annotated[CreateSchedule, port("create_schedule")]
) -> ScheduleBody:
    """Have a message sent once, at `at`, or by `cron`: into a session of the caller's, where its runs read it like any
    other, or into a new one each time. While no server runs nothing is sent; then one message makes up for all missed
    ones, and says so."""
    chosen = _sent_fields(body) | {"options": body.options.chosen()}
    return ScheduleBody.of(await create_schedule(caller.user.id, chosen))


@router.patch(
    "/{schedule_id}", responses={404: {}}, openapi_extra=with_example({"cron": "30 8 * * 1", "paused": False})
)
async def update_schedule(
    schedule_id: str,
    body: UpdateScheduleBody,
    caller: CurrentCaller,
    update_schedule: Annotated[UpdateSchedule, port("update_schedule")],
) -> ScheduleBody:
    """Change, pause or resume a schedule."""
    chosen = _sent_fields(body)
    if "options" in chosen:
        chosen["options"] = body.options.chosen() if body.options else {}
    kept_where_null = ("text", "timezone", "paused")
    chosen = {name: value for name, value in chosen.items() if value is not None or name not in kept_where_null}
    return ScheduleBody.of(await update_schedule(ScheduleId(schedule_id), caller.user.id, chosen))


@router.delete("/{schedule_id}", status_code=204)
async def delete_schedule(
    schedule_id: str, caller: CurrentCaller, schedules: Annotated[Schedules, port("schedules")]
) -> Response:
    """Delete a schedule. The messages it sent stay."""
    await schedules.delete(ScheduleId(schedule_id), caller.user.id)
    return Response(status_code=204)


@router.post("/{schedule_id}/run", status_code=202, responses={404: {}})
async def run_schedule(
    schedule_id: str, caller: CurrentCaller, run_schedule: Annotated[RunSchedule, port("run_schedule")]
) -> ScheduleBody:
    """Send its message now, even if it is paused; its next time stays as it is."""
    return ScheduleBody.of(await run_schedule(ScheduleId(schedule_id), caller.user.id))


def _sent_fields(body: CreateScheduleBody | UpdateScheduleBody) -> dict[str, Any]:
    return {name: getattr(body, name) for name in body.model_fields_set}
