"""The few engine calls sandboxes need, typed. Nothing else of the engine is reachable from here."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from typing import Any, cast

import requests
from docker import APIClient
from docker.errors import APIError, DockerException, NotFound
from docker.types import IPAMConfig, IPAMPool
from docker.utils import kwargs_from_env

from sandbox_manager.domain.errors import EngineUnavailableError, StartFailedError
from sandbox_manager.infrastructure.runtimes.docker.channels import Answer, Endings

_ANSWER_S = 30
_PAUSE_AGAIN_S = 0.1
_LINE_BYTES = 4096
_LAST_LINES = 20
_LAST_BYTES = 16 * 1024
SAME_AS = "agent-sandbox.same-as"
Json = dict[str, Any]

_FULL = ("no space left", "cannot allocate memory", "resource temporarily unavailable", "too many open files")


class OverlapError(Exception):
    """The subnet is in use by another network."""


class Output:
    """A container's output as it comes. Closing it, from any thread, ends the reading."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def first_line(self, start: str) -> str | None:
        """The first line that starts so; None when the output ends before."""
        rest = b""
        try:
            for piece in self._stream:
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    if line.startswith(start.encode()):
                        return line[:_LINE_BYTES].decode(errors="replace")
                rest = rest[-_LINE_BYTES:]
        except (OSError, ValueError, AttributeError, requests.exceptions.RequestException):
            return None  # closed under the reader's feet
        return None

    def close(self) -> None:
        with contextlib.suppress(OSError, AttributeError, DockerException):
            self._stream.close()

    def release(self) -> None:
        """Give the connection back; only once nobody reads."""
        self._stream._response.close()


@contextlib.contextmanager
def engine_errors() -> Generator[None]:
    """Driver errors as the domain names them."""
    try:
        yield
    except APIError as error:
        explanation = str(error.explanation or error)
        if any(sign in explanation.lower() for sign in _FULL):
            raise EngineUnavailableError(f"The Docker engine is out of room: {explanation}") from error
        if error.status_code is not None and error.status_code < 500:
            raise StartFailedError(f"The Docker engine refused: {explanation}", retryable=False) from error
        raise EngineUnavailableError(f"The Docker engine failed: {explanation}") from error
    except requests.exceptions.Timeout as error:
        raise EngineUnavailableError("The Docker engine is too slow to answer; try again later.") from error
    except (DockerException, requests.exceptions.RequestException, OSError) as error:
        raise EngineUnavailableError(
            "The Docker engine can't be reached. Is it running, and may the sandbox manager use its socket?"
        ) from error


class Engine:
    """Blocking calls over the low-level client; `DOCKER_HOST` is honoured and the API version negotiated.

    The calls made here, and no other, are in the table of `engine_filter.calls`.
    """

    def __init__(self, environment: dict[str, str] | None = None) -> None:
        """`environment` says where the engine is, in place of the process's own."""
        self._client: APIClient | None = None
        self._environment = environment

    @property
    def _api(self) -> Any:
        # Made at the first call: the engine may come up after the manager. The SDK has no types.
        if self._client is None:
            self._client = APIClient(
                version="auto", timeout=_ANSWER_S, **kwargs_from_env(environment=self._environment)
            )
        return cast("Any", self._client)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def _find(self, inspect: Callable[[], Json]) -> Json | None:
        with engine_errors():
            try:
                return inspect()
            except NotFound:
                return None

    def ping(self) -> None:
        with engine_errors():
            self._api.ping()

    def has_image(self, image: str) -> bool:
        return self._find(lambda: self._api.inspect_image(image)) is not None

    def image_id(self, image: str) -> str:
        found = self._find(lambda: self._api.inspect_image(image))
        if found is None:
            raise EngineUnavailableError(f"The image {image} is missing; build it with ./build.sh.")
        return str(found["Id"])

    def containers(self, *labels: str) -> list[Json]:
        with engine_errors():
            return self._api.containers(all=True, filters={"label": list(labels)})

    def container(self, name: str) -> Json | None:
        return self._find(lambda: self._api.inspect_container(name))

    def networks(self, label: str | None = None) -> list[Json]:
        with engine_errors():
            return self._api.networks(filters={"label": [label]} if label else None)

    def network(self, name: str) -> Json | None:
        return self._find(lambda: self._api.inspect_network(name))

    def volume(self, name: str) -> Json | None:
        return self._find(lambda: self._api.inspect_volume(name))

    def volumes(self, label: str) -> list[Json]:
        with engine_errors():
            return self._api.volumes(filters={"label": [label]}).get("Volumes") or []

    def has_volume(self, name: str) -> bool:
        return self.volume(name) is not None

    def folder_of(self, volume: str) -> str | None:
        """The folder in which the engine keeps a volume; None if there is no such volume."""
        place = dig(self.volume(volume), "Mountpoint")
        return None if place is None else str(place)

    def create_volume(self, name: str, labels: dict[str, str]) -> None:
        with engine_errors():
            self._api.create_volume(name, driver="local", driver_opts={}, labels=labels)

    def name_volume(self, name: str, labels: dict[str, str], *, same_as: str, folder: str) -> None:
        """Make another name for the volume in that folder, as volumes can't be renamed; a label refers to the first
        name."""
        options = {"type": "none", "o": "bind", "device": folder}
        with engine_errors():
            self._api.create_volume(name, driver="local", driver_opts=options, labels={**labels, SAME_AS: same_as})

    def remove_volume(self, name: str) -> None:
        """Remove a volume, with the one it is another name for."""
        under = dig(self.volume(name), "Labels", SAME_AS)
        with engine_errors(), contextlib.suppress(NotFound):
            self._api.remove_volume(name)
        if under is not None:
            with engine_errors(), contextlib.suppress(NotFound):
                self._api.remove_volume(under)

    def create_network(self, name: str, subnet: str, labels: dict[str, str]) -> None:
        """Raises `OverlapError` when the subnet is taken."""
        with engine_errors():
            try:
                self._api.create_network(
                    name,
                    driver="bridge",
                    ipam=IPAMConfig(pool_configs=[IPAMPool(subnet=subnet)]),
                    labels=labels,
                    check_duplicate=True,
                    attachable=False,
                )
            except APIError as error:
                if "overlap" in str(error.explanation).lower():
                    raise OverlapError(subnet) from error
                raise

    def remove_network(self, name: str) -> None:
        with engine_errors(), contextlib.suppress(NotFound):
            self._api.remove_network(name)

    def connect(self, container: str, network: str) -> None:
        with engine_errors():
            try:
                self._api.connect_container_to_network(container, network)
            except APIError as error:
                if "already" not in str(error.explanation).lower():
                    raise

    def disconnect(self, container: str, network: str) -> None:
        with engine_errors():
            try:
                self._api.disconnect_container_from_network(container, network, force=True)
            except APIError as error:
                if "is not connected" not in str(error.explanation).lower() and not isinstance(error, NotFound):
                    raise

    def create_container(self, name: str, config: Json) -> str:
        """Create a container; returns its id."""
        with engine_errors():
            try:
                return str(self._api.create_container_from_config(config, name)["Id"])
            except NotFound as error:
                raise StartFailedError(
                    f"The image {config['Image']} is missing; build it with ./build.sh.", retryable=False
                ) from error

    def start_container(self, name: str) -> None:
        with engine_errors():
            self._api.start(name)

    def pause(self, name: str) -> None:
        """Pause a container; tried again if its processes forked just then."""
        with engine_errors():
            for tries_left in (2, 1, 0):
                try:
                    self._api.pause(name)
                    break
                except APIError as error:
                    reason = str(error.explanation).lower()
                    if "already paused" in reason:
                        break
                    if "unable to freeze" not in reason or not tries_left:
                        raise
                    time.sleep(_PAUSE_AGAIN_S)

    def unpause(self, name: str) -> None:
        with engine_errors():
            try:
                self._api.unpause(name)
            except APIError as error:
                if "is not paused" not in str(error.explanation).lower() or not self._runs(name):
                    raise

    def _runs(self, name: str) -> bool:
        return bool(dig(self._api.inspect_container(name), "State", "Running"))

    def wait(self, name: str, within_s: int = _ANSWER_S) -> int:
        """Exit code of a container once it has ended."""
        with engine_errors():
            return int(self._api.wait(name, timeout=within_s)["StatusCode"])

    def remove_container(self, name: str) -> None:
        with engine_errors():
            try:
                self._api.remove_container(name, force=True)
            except NotFound:
                return
            except APIError as error:
                if "already in progress" not in str(error.explanation).lower():
                    raise

    def follow_output(self, name: str) -> Output:
        with engine_errors():
            return Output(self._api.logs(name, stdout=True, stderr=False, stream=True, follow=True))

    def identity(self) -> str:
        """The identity of this engine, stable over restarts."""
        with engine_errors():
            return str(self._api.info()["ID"])

    def ask(self, name: str, line: str) -> Answer:
        """Send a line to the program in a container, and listen to its output from then on."""
        with engine_errors():
            stream = self._api.attach_socket(name, params={"stdin": 1, "stdout": 1, "stream": 1})
            return Answer(stream, line)

    def usage(self, name: str) -> Json:
        """One reading of the container's cgroup files by the engine, without its one-second wait for a second
        reading."""
        with engine_errors():
            return self._api.stats(name, stream=False, one_shot=True)

    def endings(self, label: str) -> Endings:
        with engine_errors():
            return Endings(
                self._api.events(filters={"label": [label], "type": ["container"], "event": ["die"]}, decode=True)
            )

    def last_errors(self, name: str) -> str:
        """The last lines of its output, bounded, as programs inside decide how long a line is."""
        tail = bytearray()
        with engine_errors():
            pieces = self._api.logs(name, stdout=True, stderr=True, stream=True, follow=False, tail=_LAST_LINES)
            try:
                for piece in pieces:
                    tail += piece
                    del tail[:-_LAST_BYTES]
            finally:
                pieces._response.close()
        return tail.decode(errors="replace")


def dig(found: Json | None, *path: str) -> Any:
    """The value at a path of an answer; None if a part of it is missing or null."""
    at: Any = found
    for name in path:
        at = cast("Json", at).get(name) if isinstance(at, dict) else None
    return at
