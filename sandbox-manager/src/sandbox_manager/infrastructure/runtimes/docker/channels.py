"""Channels from running containers: their answers, and their ends."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from typing import Any

import requests
from docker.errors import DockerException

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.infrastructure.runtimes.sandbox_profile import LONGEST_ANSWER

_OUTPUT = 1
_LONGEST = 1024 * 1024
_MOST_HEARD = 4 * 1024 * 1024
_LEAST_OF_A_FRAME = 256  # the least that each counts for, so that there can't be millions of them
_READ = 64 * 1024
_SILENT = "The sandbox does not answer."


class Answer:
    """A container's standard streams, attached: none of its networks leads to the manager, and none is needed."""

    def __init__(self, stream: Any, line: str) -> None:
        self._stream = stream
        # A connection that was upgraded: the SDK hands out its reading half, of which this is the whole.
        self._socket: socket.socket = getattr(stream, "_sock", stream)
        self._line = line
        self._received = bytearray()

    def line_with(self, start: str, within_s: float) -> str:
        """Send the question, and return the first line from then on that starts so. Raises `EngineUnavailableError`,
        also if it has not come within the time, whatever else has."""
        until = time.monotonic() + within_s
        rest, heard = bytearray(), 0
        try:
            self._socket.settimeout(within_s)
            self._socket.sendall(self._line.encode() + b"\n")
            while heard < _MOST_HEARD:
                number, size = struct.unpack(">BxxxL", self._read_exactly(8, until))
                piece = self._read_exactly(size, until)
                heard += 8 + max(size, _LEAST_OF_A_FRAME)
                if number != _OUTPUT:
                    continue
                rest += piece
                *lines, rest = rest.split(b"\n") if b"\n" in piece else (rest,)
                for line in lines:
                    if line.startswith(start.encode()):
                        return line[:LONGEST_ANSWER].decode(errors="replace")
                # The beginning of an endless line shows whether it is the answer, which is then too long.
                del rest[LONGEST_ANSWER:]
            raise ValueError("the response is too large")
        except (OSError, ValueError) as error:
            raise EngineUnavailableError(_SILENT) from error

    def _read_exactly(self, size: int, until: float) -> bytes:
        """Exactly `size` bytes; `OSError` if the deadline is over or the other side has gone."""
        if size > _LONGEST:
            raise ValueError("the response is too large")
        while True:
            # Checked apart from the socket's own timeout, which does not run while there is something to be read.
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError("the answer did not come in time")
            if len(self._received) >= size:
                break
            self._socket.settimeout(left)
            piece = self._socket.recv(_READ)
            if not piece:
                raise ConnectionError("the container ended")
            self._received += piece
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken

    def close(self) -> None:
        """Give the connection back."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        response = getattr(self._stream, "_response", self._stream)
        with contextlib.suppress(OSError, ValueError):
            response.close()
        self._socket.close()


class Endings:
    """Containers that end, one after the other. Closing it, from any thread, ends the reading."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def next_labels(self) -> dict[str, str] | None:
        """Labels of the next container that ends; None once the engine, or the reader, has gone."""
        try:
            event = next(self._stream, None)
        except (OSError, ValueError, AttributeError, DockerException, requests.exceptions.RequestException):
            return None
        return dict(event["Actor"]["Attributes"]) if event else None

    def close(self) -> None:
        with contextlib.suppress(OSError, AttributeError, DockerException):
            self._stream.close()

    def release(self) -> None:
        """Give the connection back; only once nobody reads."""
        self._stream._response.close()
