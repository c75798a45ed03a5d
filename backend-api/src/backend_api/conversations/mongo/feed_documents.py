"""Changes of session documents in the form of the server's change stream, and of the feed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from bson.timestamp import Timestamp

from backend_api.conversations.domain.feed import NUMBERS, SHOWN, ChangeType, SessionChange
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Document
from backend_api.kit.stored_time import format_time

_EPOCH_S = 1_577_836_800
_ORDINAL_BITS, _NTH_BITS = 18, 4
MAX_NTH = 2**_NTH_BITS - 1
DELETED = "owner"
"""The field that is set when a session is being removed."""

PIPELINE: list[dict[str, Any]] = [
    {
        "$match": {
            "$or": [
                {"operationType": "insert"},
                {
                    "operationType": "update",
                    "$or": [
                        {f"updateDescription.updatedFields.{name}": {"$exists": True}} for name in (*SHOWN, DELETED)
                    ],
                },
            ]
        }
    },
    {
        "$project": {
            "operationType": 1,
            "clusterTime": 1,
            "documentKey": 1,
            "fullDocument": 1,
            "updateDescription.updatedFields": 1,
        }
    },
]


def number_of(time: Timestamp, nth: int = 0) -> int:
    """A cluster time as one number below 2^53, which all JSON readers keep exactly: seconds since 2020, the ordinal
    within the second, and the position in a transaction."""
    ordinal = min(time.inc, 2**_ORDINAL_BITS - 1)
    return ((time.time - _EPOCH_S) << (_ORDINAL_BITS + _NTH_BITS)) | (ordinal << _NTH_BITS) | min(nth, MAX_NTH)


def seconds_of(number: int) -> float:
    """The time of a number, in seconds since 1970."""
    return (number >> (_ORDINAL_BITS + _NTH_BITS)) + _EPOCH_S


def updated_fields(change: Mapping[str, Any]) -> Document:
    """The fields that an update set; none for an insert."""
    return cast("Document", change.get("updateDescription", {}).get("updatedFields", {}))


def change_from(change: Mapping[str, Any], user_id: UserId, number: int) -> SessionChange:
    """The change as the feed sends it."""
    type_: ChangeType
    if change["operationType"] == "insert":
        values: Document = change["fullDocument"]
        type_ = "session.created"
        shown = (*SHOWN, *NUMBERS, "created_at")
    else:
        values = updated_fields(change)
        type_ = "session.deleted" if DELETED in values else "session.updated"
        shown = (*SHOWN, *NUMBERS) if type_ == "session.updated" else ()
    at = values.get("updated_at") or datetime.fromtimestamp(change["clusterTime"].time, UTC)
    return SessionChange(
        type=type_,
        seq=number,
        at=at,
        session_id=SessionId(change["documentKey"]["_id"]),
        user_id=user_id,
        fields={name: _plain(values[name]) for name in shown if name in values},
    )


def _plain(value: object) -> object:
    return format_time(value) if isinstance(value, datetime) else value
