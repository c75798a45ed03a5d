"""Bodies of the account routes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backend_api.identity.domain.entity import Grant
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time, Words


class GrantRequestBody(RequestBody):
    """With `cookie` the refresh token is sent as a cookie that scripts can't read, and not in the body. This is for the
    page of this server alone; other pages are refused."""

    cookie: bool = False


class RegisterBody(GrantRequestBody):
    username: Words = Field(max_length=256)
    password: str = Field(max_length=4096)
    email: str | None = Field(default=None, max_length=320)


class LogInBody(GrantRequestBody):
    username: str = Field(max_length=256)
    password: str = Field(max_length=4096)


class RefreshBody(GrantRequestBody):
    """Without `refresh_token` the cookie's is used. With `user_id` no other user's token is accepted: a cookie may be
    planted by another server of the same host."""

    refresh_token: str | None = Field(default=None, max_length=512)
    user_id: str | None = Field(default=None, max_length=64)


class PasswordBody(GrantRequestBody):
    old_password: str = Field(max_length=4096)
    new_password: str = Field(max_length=4096)


class LogOutBody(RequestBody):
    refresh_token: str | None = Field(default=None, max_length=512)


class GrantedUser(AnswerBody):
    id: str
    username: str
    is_admin: bool


class GrantBody(AnswerBody):
    access_token: str
    refresh_token: str | None
    token_type: Literal["bearer"] = "bearer"
    expires_in: int
    user: GrantedUser

    @classmethod
    def of(cls, grant: Grant, *, shows_refresh_token: bool) -> GrantBody:
        """The answer for a grant."""
        body = cls.model_validate(grant)
        return body if shows_refresh_token else body.model_copy(update={"refresh_token": None})


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
    max_upload_bytes: int
    """The largest size of one uploaded file: a larger one need not be sent."""
    user: MeBody | None = None
    """The local user of a server without log-in."""
