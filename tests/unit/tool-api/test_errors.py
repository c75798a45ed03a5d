"""Every error of the endpoint has a status."""

from __future__ import annotations

from service_kit.failures import DomainError
from service_kit.problems import status_of
from tool_api import errors


def test_every_error_is_the_callers_to_mend() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, DomainError)]
    statuses = {kind.__name__: status_of(kind) for kind in kinds}
    assert len(kinds) > 8
    assert [name for name, status in statuses.items() if status is None or not 400 <= status < 500] == []


def test_a_path_outside_is_forbidden() -> None:
    assert status_of(errors.PathForbiddenError) == 403
    assert errors.PathForbiddenError.code == "path_forbidden"


def test_a_form_that_makes_no_sense_names_its_field() -> None:
    assert errors.InvalidUploadError("No file.").field == "body.files"
