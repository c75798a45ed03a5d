"""Accounts, log-ins and the limits of users, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.identity.application.answer_slots import AnswerSlots
from backend_api.identity.application.authenticate import Authenticate
from backend_api.identity.application.change_password import ChangePassword
from backend_api.identity.application.connection_auth import AuthenticatedConnections
from backend_api.identity.application.guesses import ChangeGuesses, LogInGuesses
from backend_api.identity.application.issue_grant import IssueGrant
from backend_api.identity.application.limits import Limits
from backend_api.identity.application.log_in import LogIn
from backend_api.identity.application.log_out import LogOut
from backend_api.identity.application.refresh import Refresh
from backend_api.identity.application.register import Register
from backend_api.identity.http.auth import router
from backend_api.identity.limit_settings import Amounts, Rates, limits_of, quotas_of
from backend_api.identity.mongo.documents import DOCUMENTS
from backend_api.identity.mongo.refresh_tokens import MongoRefreshTokens
from backend_api.identity.mongo.users import MongoUsers
from backend_api.identity.passwords import Argon2Passwords
from backend_api.identity.ports import PasswordHasher
from backend_api.identity.redis import RedisRateLimiter
from backend_api.identity.tokens import JwtAccessTokens
from backend_api.kit.mongo.database import Database
from backend_api.kit.notifier import Notifier
from backend_api.kit.redis.client import Redis
from backend_api.kit.secret_file import checked_secret, keep_secret
from backend_api.kit.signed_tokens import Signing
from backend_api.module import Module, Parts, Planned
from service_kit.loopback import is_loopback


class IdentitySettings(BaseSettings):
    """Settings from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    auth_mode: Literal["password", "local"] = "password"
    registration_open: bool = True
    jwt_secret_key: SecretStr | None = None
    jwt_algorithm: Literal["HS256", "HS384", "HS512"] = "HS256"
    access_token_expire_minutes: int = Field(default=1440, ge=1)
    refresh_token_expire_days: int = Field(default=30, ge=1)
    rate_limits: Rates = Field(default="", validate_default=True)
    quotas: Amounts = Field(default="", validate_default=True)

    @property
    def is_local(self) -> bool:
        """Whether a call without a token is the local user."""
        return self.auth_mode == "local"


def signing_secret(settings: IdentitySettings, data_dir: Path) -> str:
    """`JWT_SECRET_KEY`, or in local mode one that is generated once and stored. Raises `ValueError`."""
    if settings.jwt_secret_key is None:
        if settings.is_local:
            return keep_secret(data_dir, "jwt_secret_key")
        raise ValueError("JWT_SECRET_KEY is missing: set at least 32 random bytes, e.g. by `openssl rand -hex 32`.")
    return checked_secret("JWT_SECRET_KEY", settings.jwt_secret_key.get_secret_value())


def plan_identity(settings: IdentitySettings, data_dir: Path, hosts: Sequence[str]) -> Planned:
    """Plan the module. The ports are `is_local`, `limits`, `quotas`, and `signing`, with which tokens are signed.
    Raises `ValueError`, also if a gateway without log-in listens on a `hosts` address that others can reach."""
    if settings.is_local and not all(is_loopback(host) for host in hosts):
        raise ValueError(
            "AUTH_MODE=local has no login, so HOST must be a loopback address such as 127.0.0.1. "
            "Set AUTH_MODE=password to listen on others."
        )
    secret, quotas = signing_secret(settings, data_dir), quotas_of(settings.quotas)
    return Planned(
        ports={
            "is_local": settings.is_local,
            "limits": limits_of(settings.rate_limits, quotas),
            "quotas": quotas,
            "signing": Signing(secret=secret, algorithm=settings.jwt_algorithm),
        },
        secrets=[secret],
    )


@asynccontextmanager
async def open_identity(
    *,
    settings: IdentitySettings,
    database: Database,
    redis: Redis,
    notifier: Notifier,
    clock: Callable[[], float],
    is_local: bool,
    limits: Limits,
    signing: Signing,
    passwords: PasswordHasher | None = None,
    token_lifetime_s: int = 0,
) -> AsyncGenerator[Parts]:
    """Open the module. The ports are the use cases of the routes, `users`, `limiter`, `connections` (the streams and
    sockets that are open under log-ins) and `answer_slots`. Tests may pass `passwords` and `token_lifetime_s`."""
    users, refresh_tokens, limiter = MongoUsers(database), MongoRefreshTokens(), RedisRateLimiter(redis)
    hasher = passwords or Argon2Passwords()
    lifetime_s = token_lifetime_s or settings.access_token_expire_minutes * 60
    access_tokens = JwtAccessTokens(signing.secret, algorithm=signing.algorithm, expires_s=lifetime_s, clock=clock)
    refresh_lifetime = timedelta(days=settings.refresh_token_expire_days)
    grant = IssueGrant(refresh_tokens, access_tokens, refresh_lifetime)
    log_out = LogOut(users, refresh_tokens, refresh_lifetime + timedelta(seconds=access_tokens.lifetime_s), notifier)
    connections = AuthenticatedConnections(users, notifier, clock)
    # Never in local mode: calls without a token are the local user's, and nobody could log in as another one.
    is_open = settings.registration_open and not is_local
    yield Parts(
        ports={
            "users": users,
            "limiter": limiter,
            "access_tokens": access_tokens,
            "connections": connections,
            "authenticate": Authenticate(users, access_tokens, is_local),
            "register": Register(users, hasher, grant, limiter, limits, is_open),
            "log_in": LogIn(users, hasher, grant, LogInGuesses(limiter, limits)),
            "log_out": log_out,
            "refresh": Refresh(users, refresh_tokens, access_tokens, grant, log_out, limiter, limits),
            "change_password": ChangePassword(
                users, hasher, refresh_tokens, grant, notifier, ChangeGuesses(limiter, limits)
            ),
            "answer_slots": AnswerSlots(),
        },
        gateway_tasks={"log-ins": connections.watch_log_ins},
    )


IDENTITY = Module(
    name="identity",
    description="Accounts, log-ins and the limits of users.",
    tags={"accounts": "Register, log in, refresh, log out."},
    settings=IdentitySettings,
    documents=DOCUMENTS,
    routes=[router],
    plan=plan_identity,
    open=open_identity,
)
