"""Computers that conversations can work on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import Field

from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.errors import InvalidError
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time, Words
from backend_api.targets.application.change_targets import ChangeTargets, Key
from backend_api.targets.domain import DEFAULT_PORT, MAX_NAME_CHARACTERS, HostKey, SshHost, Target, TargetId, Trial

router = APIRouter(prefix="/api/targets", tags=["targets"])
Change = Annotated[ChangeTargets, port("change_targets")]
Port = Annotated[int, Field(ge=1, le=65_535)]
Name = Annotated[Words, Field(min_length=1, max_length=MAX_NAME_CHARACTERS)]
SignIn = Literal["key", "agent"]
MAX_KEY_CHARACTERS = 20_000
_KEY = "A private key of OpenSSH, which is sealed and never given back; null: one is made here, of which you add the "


class CreateTargetBody(RequestBody):
    name: Name
    kind: Literal["ssh"] = "ssh"
    host: str = Field(min_length=1, max_length=253)
    port: Port = DEFAULT_PORT
    username: str = Field(min_length=1, max_length=64)
    folder: str = Field(default="", max_length=1000, description="Where it works there; empty: the home folder.")
    sign_in_by: SignIn = Field(default="key", description="agent: by the SSH agent of the server, in local mode only.")
    private_key: str | None = Field(
        default=None, max_length=MAX_KEY_CHARACTERS, description=f"{_KEY}`public_key` to the host."
    )
    passphrase: str | None = Field(default=None, max_length=1000, description="Opens the key once; it is not kept.")


class ChangeTargetBody(RequestBody):
    name: Name | None = None
    host: str | None = Field(default=None, min_length=1, max_length=253)
    port: Port | None = None
    username: str | None = Field(default=None, min_length=1, max_length=64)
    folder: str | None = Field(default=None, max_length=1000)
    sign_in_by: SignIn | None = None
    private_key: str | None = Field(default=None, max_length=MAX_KEY_CHARACTERS)
    passphrase: str | None = Field(default=None, max_length=1000)
    makes_key: bool = Field(default=False, description="Whether to make another key in the place of the present one.")
    confirmed_fingerprint: str | None = Field(
        default=None,
        max_length=100,
        description="Of the key in `seen_key`: the user compared it, and this is the right machine.",
    )

    def wanted(self) -> dict[str, Any]:
        """The fields that were sent, but those of the key."""
        of_key = {"private_key", "passphrase", "makes_key"}
        return {name: getattr(self, name) for name in self.model_fields_set - of_key if getattr(self, name) is not None}

    def key(self) -> Key | None:
        """What the key is to be; None: as it is. Raises `InvalidError`."""
        if self.private_key is not None:
            if self.makes_key:
                raise InvalidError("Either give a key or have one made.", field="body.makes_key")
            return Key(private=self.private_key, passphrase=self.passphrase)
        return Key() if self.makes_key else None


class HostKeyBody(AnswerBody):
    algorithm: str
    fingerprint: str


class TargetBody(AnswerBody):
    id: str
    name: str
    kind: Literal["ssh"] = "ssh"
    host: str
    port: int
    username: str
    folder: str
    sign_in_by: SignIn
    public_key: str | None = Field(description="What the host has to have in its authorized_keys.")
    host_key: HostKeyBody | None = Field(description="The one that the user confirmed.")
    seen_key: HostKeyBody | None = Field(description="The one that the host showed last.")
    created_at: Time
    updated_at: Time

    @classmethod
    def of(cls, target: Target) -> TargetBody:
        """The answer for one."""
        common = {"id": target.id, "name": target.name}
        times = {"created_at": target.created_at, "updated_at": target.updated_at}
        return cls.model_validate(common | times | _host_fields(target.ssh))


class TargetListBody(AnswerBody):
    items: list[TargetBody]
    ssh: Literal["off", "public", "any"] = Field(description="Which remote hosts there may be (`SSH_TARGETS`).")
    can_use_agent: bool


class TargetTrialStepBody(AnswerBody):
    name: Literal["address", "connection", "host_key", "sign_in", "shell", "folder", "files"]
    ok: bool
    detail: str


class TargetTrialBody(AnswerBody):
    ok: bool
    code: str | None = Field(description="Of the error that ended it.")
    steps: list[TargetTrialStepBody] = Field(description="What was tried, in order; the last one failed unless `ok`.")
    host_key: HostKeyBody | None
    key_state: Literal["pinned", "unknown", "changed"] | None
    latency_ms: int | None = Field(description="Of a command there, or of the connection where none ran.")
    shell: str | None
    folder: str | None

    @classmethod
    def of(cls, trial: Trial) -> TargetTrialBody:
        """The answer for one."""
        return cls(
            ok=trial.ok,
            code=trial.code,
            steps=[TargetTrialStepBody.model_validate(step) for step in trial.steps],
            host_key=_key(trial.host_key),
            key_state=trial.key_state,
            latency_ms=trial.latency_ms,
            shell=trial.shell,
            folder=trial.folder,
        )


def _host_fields(host: SshHost) -> dict[str, Any]:
    names = ("host", "port", "username", "folder", "sign_in_by", "public_key")
    keys = {"host_key": _key(host.host_key), "seen_key": _key(host.seen_key)}
    return {name: getattr(host, name) for name in names} | keys


def _key(key: HostKey | None) -> HostKeyBody | None:
    return HostKeyBody(algorithm=key.algorithm, fingerprint=key.fingerprint) if key else None


@router.get("")
async def list_targets(caller: CurrentCaller, change: Change) -> TargetListBody:
    """List the caller's computers by name, without their keys."""
    items = [TargetBody.of(target) for target in await change.of(caller.user.id)]
    return TargetListBody(items=items, ssh=change.rules.ssh, can_use_agent=change.rules.can_use_agent)


@router.post("", status_code=201, responses={403: {}})
async def create_target(body: CreateTargetBody, caller: CurrentCaller, change: Change) -> TargetBody:
    """Add a remote host. It is used once it was tested, and the fingerprint of its key confirmed."""
    host = SshHost(
        host=body.host, port=body.port, username=body.username, folder=body.folder, sign_in_by=body.sign_in_by
    )
    key = Key(private=body.private_key, passphrase=body.passphrase)
    return TargetBody.of(await change.add_host(caller.user.id, body.name, host, key))


@router.patch("/{target_id}", responses={403: {}, 409: {}})
async def update_target(target_id: str, body: ChangeTargetBody, caller: CurrentCaller, change: Change) -> TargetBody:
    """Change one, or confirm the key that its host showed. Of another address the key is confirmed anew."""
    return TargetBody.of(await change.change(caller.user.id, TargetId(target_id), body.wanted(), body.key()))


@router.delete("/{target_id}", status_code=204)
async def delete_target(target_id: str, caller: CurrentCaller, change: Change) -> Response:
    """Delete one with its key. Nothing is changed on the host; conversations on it can't work on it any more."""
    await change.delete(caller.user.id, TargetId(target_id))
    return Response(status_code=204)


@router.post("/{target_id}/test", responses={403: {}, 409: {}})
async def try_target(target_id: str, caller: CurrentCaller, change: Change) -> TargetTrialBody:
    """Connect to a remote host, and say what was tried and found; a failure is an answer, too. Its working folder is
    made where it is not there."""
    return TargetTrialBody.of(await change.test(caller.user.id, TargetId(target_id)))
