"""What is heard from containers while they run: their answers, and their ends."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterable
from typing import Any, cast

import requests
from docker.errors import DockerException
from docker.utils.socket import (
    STDOUT,
    frames_iter,  # pyright: ignore[reportUnknownVariableType] - the SDK has no types
)

from sandbox_manager.domain.errors import EngineUnavailableError

_SILENT = "The sandbox does not answer."


class Answer:
    """A container's standard streams, attached: no network of its leads to the manager, and none is needed."""

    def __init__(self, stream: Any, line: str) -> None:
        self._stream = stream
        # A connection that was upgraded: the SDK hands out its reading half, of which this is the whole.
        self._socket: socket.socket = getattr(stream, "_sock", stream)
        self._line = line

    def line_with(self, start: str, within_s: float) -> str:
        """Ask, and answer the first line from then on that starts so. Raises `EngineUnavailableError`."""
        until = time.monotonic() + within_s
        rest = b""
        try:
            self._socket.settimeout(within_s)
            self._socket.sendall(self._line.encode() + b"\n")
            frames: Iterable[tuple[int, bytes]] = cast("Any", frames_iter)(self._stream, tty=False)
            for number, piece in frames:
                if number != STDOUT:
                    continue
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    if line.startswith(start.encode()):
                        return line.decode(errors="replace")
                if time.monotonic() > until:
                    break
        except (OSError, ValueError) as error:
            raise EngineUnavailableError(_SILENT) from error
        raise EngineUnavailableError(_SILENT)

    def close(self) -> None:
        """Also from another thread, which ends the reading."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self._stream.close()
        response = getattr(self._stream, "_response", None)
        if response is not None:
            response.close()


class Endings:
    """Containers that end, one after the other. Closing it, from any thread, ends the reading."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def next_labels(self) -> dict[str, str] | None:
        """Labels of the next one; None when the engine, or the reader, has gone."""
        try:
            event = next(self._stream, None)
        except (OSError, ValueError, AttributeError, DockerException, requests.exceptions.RequestException):
            return None
        return dict(event["Actor"]["Attributes"]) if event else None

    def close(self) -> None:
        with contextlib.suppress(OSError, AttributeError, DockerException):
            self._stream.close()
