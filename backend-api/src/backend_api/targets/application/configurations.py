"""Sandboxes of another image or size: whether the deployment allows them, and has them at present."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.kit.errors import InvalidError
from backend_api.sandboxes.domain.choices import SandboxChoices, SandboxConfiguration
from backend_api.sandboxes.domain.errors import SandboxNotAllowedError, SandboxUnavailableError
from backend_api.sandboxes.ports import ReadChoices
from backend_api.targets.domain import Trial, TrialStep

NOTHING = "Choose an image, a size, or both: the default computer has the default of each."


@dataclass(frozen=True, slots=True, kw_only=True)
class Configurations:
    """The manager decides what may be chosen; it is called each time."""

    choices: ReadChoices

    async def check(self, made_of: SandboxConfiguration) -> None:
        """Check a choice. Raises `InvalidError` if it is not allowed, `SandboxUnavailableError`."""
        if made_of.image is None and made_of.size is None:
            raise InvalidError(NOTHING, field="body.image")
        self._check(made_of, await self.choices())

    async def check_if_known(self, made_of: SandboxConfiguration) -> None:
        """Check a choice if the manager answers: if not, a later refusal is reported then."""
        try:
            choices = await self.choices()
        except SandboxUnavailableError:
            return
        self._check(made_of, choices, field="body.target_id")

    def _check(self, made_of: SandboxConfiguration, choices: SandboxChoices, *, field: str = "") -> None:
        if made_of.image is not None and choices.image(made_of.image) is None:
            raise InvalidError(image_refused(made_of.image, choices), field=field or "body.image")
        if made_of.size is not None and choices.size(made_of.size) is None:
            raise InvalidError(size_refused(made_of.size, choices), field=field or "body.size")

    async def trial(self, made_of: SandboxConfiguration) -> Trial:
        """Whether the image is there and the size allowed; nothing is started."""
        try:
            choices = await self.choices()
        except SandboxUnavailableError as error:
            step = TrialStep(name="image" if made_of.image else "size", ok=False, detail=error.detail)
            return Trial(steps=[step], code=error.code)
        steps = [*_image_steps(made_of.image, choices), *_size_steps(made_of.size, choices)]
        return Trial(steps=steps, code=None if all(step.ok for step in steps) else SandboxNotAllowedError.code)


def _image_steps(name: str | None, choices: SandboxChoices) -> list[TrialStep]:
    if name is None:
        return []
    image = choices.image(name)
    if image is None:
        return [TrialStep(name="image", ok=False, detail=image_refused(name, choices))]
    return [TrialStep(name="image", ok=image.available, detail=image.reason or name)]


def _size_steps(name: str | None, choices: SandboxChoices) -> list[TrialStep]:
    if name is None:
        return []
    size = choices.size(name)
    if size is None:
        return [TrialStep(name="size", ok=False, detail=size_refused(name, choices))]
    cpus = "1 CPU" if size.size.cpus == 1 else f"{size.size.cpus:g} CPUs"
    return [TrialStep(name="size", ok=True, detail=f"{name}: {cpus}, {size.size.memory_mb:,} MB")]


def image_refused(name: str, choices: SandboxChoices) -> str:
    """The message for a refused image, with the allowed images."""
    return f"The image '{name}' is not allowed on this server. {_allowed([one.name for one in choices.images])}"


def size_refused(name: str, choices: SandboxChoices) -> str:
    """The message for a refused size, with the allowed sizes."""
    return f"The size '{name}' is not allowed on this server. {_allowed([one.name for one in choices.sizes])}"


def _allowed(names: list[str]) -> str:
    return f"Allowed: {', '.join(names)}." if names else "Only the default is available."
