"""Bodies of the account routes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backend_api.domain.identity.entity import Grant
from backend_api.interfaces.http.schemas import AnswerBody, RequestBody, Time


class RegisterBody(RequestBody):
    username: str = Field(max_length=256)
    password: str = Field(max_length=4096)
    email: str | None = Field(default=None, max_length=320)


class LogInBody(RequestBody):
    username: str = Field(max_length=256)
    password: str = Field(max_length=4096)


class RefreshBody(RequestBody):
    refresh_token: str = Field(max_length=512)


class LogOutBody(RequestBody):
    refresh_token: str | None = Field(default=None, max_length=512)


class GrantedUser(AnswerBody):
    id: str
    username: str
    is_admin: bool


class GrantBody(AnswerBody):
    access_token: str
    refresh_token: str
    token_type: Literal["bearer"] = "bearer"
    expires_in: int
    user: GrantedUser

    @classmethod
    def of(cls, grant: Grant) -> GrantBody:
        """The answer for a grant."""
        return cls.model_validate(grant)


class MeBody(AnswerBody):
    id: str
    username: str
    email: str | None
    is_admin: bool
    created_at: Time


class AuthStatusBody(AnswerBody):
    mode: Literal["password", "local"]
    has_users: bool
    registration_open: bool
