"""Routes of the computers that conversations can work on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import Field

from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.errors import InvalidError
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time, Words
from backend_api.sandboxes.domain.choices import SandboxConfiguration
from backend_api.targets.application.change_targets import ChangeTargets, Key
from backend_api.targets.domain import (
    DEFAULT_PORT,
    MAX_NAME_CHARACTERS,
    HostKey,
    SandboxTarget,
    SshHost,
    Target,
    TargetId,
    Trial,
)

router = APIRouter(prefix="/api/targets", tags=["targets"])
Change = Annotated[ChangeTargets, port("change_targets")]
Port = Annotated[int, Field(ge=1, le=65_535)]
Name = Annotated[Words, Field(min_length=1, max_length=MAX_NAME_CHARACTERS)]
SignIn = Literal["key", "agent"]
Choice = Annotated[str, Field(min_length=1, max_length=64)]
MAX_KEY_CHARACTERS = 20_000
_KEY = "A private key of OpenSSH, which is sealed and never given back; null: one is made here, of which you add the "


class CreateTargetBody(RequestBody):
    name: Name
    kind: Literal["ssh", "sandbox"] = "ssh"
    host: str | None = Field(default=None, min_length=1, max_length=253, description="Of ssh, which needs it.")
    port: Port = DEFAULT_PORT
    username: str | None = Field(default=None, min_length=1, max_length=64, description="Of ssh, which needs it.")
    folder: str = Field(default="", max_length=1000, description="Where it works there; empty: the home folder.")
    sign_in_by: SignIn = Field(default="key", description="agent: by the SSH agent of the server, in local mode only.")
    private_key: str | None = Field(
        default=None, max_length=MAX_KEY_CHARACTERS, description=f"{_KEY}`public_key` to the host."
    )
    passphrase: str | None = Field(default=None, max_length=1000, description="Opens the key once; it is not kept.")
    image: Choice | None = Field(default=None, description="Of sandbox: one of GET /api/targets/choices.")
    size: Choice | None = Field(default=None, description="Of sandbox: one of GET /api/targets/choices.")

    def ssh_host(self) -> SshHost:
        """The host. Raises `InvalidError`."""
        for name in ("image", "size"):
            if getattr(self, name) is not None:
                raise InvalidError("A remote host has no image or size: leave them out.", field=f"body.{name}")
        if self.host is None:
            raise InvalidError("Say which host, such as build.example.org.", field="body.host")
        if self.username is None:
            raise InvalidError("Say as which user to sign in.", field="body.username")
        return SshHost(
            host=self.host, port=self.port, username=self.username, folder=self.folder, sign_in_by=self.sign_in_by
        )

    def sandbox(self) -> SandboxConfiguration:
        """The image and size. Raises `InvalidError`."""
        other = next(iter(sorted(self.model_fields_set - {"name", "kind", "image", "size"})), None)
        if other is not None:
            raise InvalidError(
                "This belongs to a remote host; a sandbox has an image and a size.", field=f"body.{other}"
            )
        return SandboxConfiguration(image=self.image, size=self.size)


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
    image: Choice | None = Field(default=None, description="Of a sandbox; null: the default one.")
    size: Choice | None = Field(default=None, description="Of a sandbox; null: the default one.")

    def wanted(self) -> dict[str, Any]:
        """The fields that were sent, but those of the key."""
        of_key = {"private_key", "passphrase", "makes_key"}
        given = {name: getattr(self, name) for name in self.model_fields_set - of_key}
        return {name: value for name, value in given.items() if value is not None or name in ("image", "size")}

    def key(self) -> Key | None:
        """The change of the key; None: none. Raises `InvalidError`."""
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
    kind: Literal["ssh"]
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
        common = {"id": target.id, "name": target.name, "kind": "ssh"}
        times = {"created_at": target.created_at, "updated_at": target.updated_at}
        return cls.model_validate(common | times | _host_fields(target.ssh))


class SandboxTargetBody(AnswerBody):
    """A sandbox of another image or size; null is the default of it."""

    id: str
    name: str
    kind: Literal["sandbox"]
    image: str | None
    size: str | None
    created_at: Time
    updated_at: Time


AnyTargetBody = TargetBody | SandboxTargetBody


def _body(target: Target | SandboxTarget) -> AnyTargetBody:
    if isinstance(target, Target):
        return TargetBody.of(target)
    return SandboxTargetBody(
        id=target.id,
        name=target.name,
        kind="sandbox",
        image=target.made_of.image,
        size=target.made_of.size,
        created_at=target.created_at,
        updated_at=target.updated_at,
    )


class SandboxSizeBody(AnswerBody):
    cpus: float
    memory_mb: int
    disk_mb: int = Field(description="0: without a limit.")


class ImageChoiceBody(AnswerBody):
    name: str
    available: bool
    reason: str | None = Field(description="Why it can't be used now.")


class SizeChoiceBody(AnswerBody):
    name: str
    size: SandboxSizeBody
    counts_as: int = Field(description="As how many computers one of it counts in the limits of how many there may be.")


class SandboxChoicesBody(AnswerBody):
    """Image and size choices; with empty lists there is only the default."""

    default_size: SandboxSizeBody
    images: list[ImageChoiceBody]
    sizes: list[SizeChoiceBody]


class TargetListBody(AnswerBody):
    items: list[AnyTargetBody]
    ssh: Literal["off", "public", "any"] = Field(description="Which remote hosts there may be (`SSH_TARGETS`).")
    can_use_agent: bool


class TargetTrialStepBody(AnswerBody):
    name: Literal["address", "connection", "host_key", "sign_in", "shell", "folder", "files", "image", "size"]
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
    items = [_body(target) for target in await change.of(caller.user.id)]
    return TargetListBody(items=items, ssh=change.rules.ssh, can_use_agent=change.rules.can_use_agent)


@router.get("/choices", responses={503: {}})
async def read_sandbox_choices(caller: CurrentCaller, change: Change) -> SandboxChoicesBody:
    """Return the images and sizes of sandboxes that this server allows beside the default."""
    del caller
    return SandboxChoicesBody.model_validate(await change.configurations.choices())


@router.post(
    "",
    status_code=201,
    responses={403: {}},
    openapi_extra=with_example(
        {"name": "Build machine", "host": "build.example.org", "username": "anna", "folder": "~/work"}
    ),
)
async def create_target(body: CreateTargetBody, caller: CurrentCaller, change: Change) -> AnyTargetBody:
    """Add a sandbox of another image or size, or a remote host. A host can be used once it was tested, and the
    fingerprint of its key confirmed."""
    if body.kind == "sandbox":
        return _body(await change.add_sandbox(caller.user.id, body.name, body.sandbox()))
    host = body.ssh_host()
    key = Key(private=body.private_key, passphrase=body.passphrase)
    return TargetBody.of(await change.add_host(caller.user.id, body.name, host, key))


@router.patch(
    "/{target_id}",
    responses={403: {}, 409: {}},
    openapi_extra=with_example({"confirmed_fingerprint": "SHA256:ZAFtAKqF7YLLTz2rz0zpQRyOXp0R1AGXs5H5RJ2PW+E"}),
)
async def update_target(target_id: str, body: ChangeTargetBody, caller: CurrentCaller, change: Change) -> AnyTargetBody:
    """Change one, or confirm the key that its host showed. After a change of address the key must be confirmed
    again."""
    return _body(await change.change(caller.user.id, TargetId(target_id), body.wanted(), body.key()))


@router.delete("/{target_id}", status_code=204)
async def delete_target(target_id: str, caller: CurrentCaller, change: Change) -> Response:
    """Delete one. A host is left unchanged, and conversations on it can't work on it any more; those on a sandbox
    continue with the usual one, with their files."""
    await change.delete(caller.user.id, TargetId(target_id))
    return Response(status_code=204)


@router.post("/{target_id}/test", responses={403: {}, 409: {}})
async def try_target(target_id: str, caller: CurrentCaller, change: Change) -> TargetTrialBody:
    """Connect to a remote host, or check whether a sandbox of this kind can be created, and return the steps and
    results; a failure is an answer, too. The working folder of a host is created if it does not exist."""
    return TargetTrialBody.of(await change.test(caller.user.id, TargetId(target_id)))
