"""A channel to a kernel, over one connection after the other."""

from __future__ import annotations

from contextlib import suppress

import zmq

MAX_MESSAGE_MB = 64


class Channel:
    """A socket that is looked at by `poller`. ZeroMQ ends a connection for good over a message that is too large."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], kind: int, address: str, poller: zmq.Poller) -> None:
        self._context = context
        self._kind = kind
        self._address = address
        self._poller = poller
        self._connect()

    def send(self, frames: list[bytes]) -> None:
        """Where nobody reads it is lost: such a kernel is ended like one that does not answer."""
        with suppress(zmq.Again):
            self._socket.send_multipart(frames, zmq.NOBLOCK)

    def receive(self) -> list[bytes] | None:
        """The frames of the next message; None where there is none by now."""
        try:
            return self._socket.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return None

    def wait(self, for_ms: int) -> bool:
        """Until something comes. False where nothing did."""
        return bool(self._socket.poll(for_ms))

    def reconnect_if_cut(self) -> bool:
        """What was under way is lost then."""
        if not self._monitor.poll(0):
            return False
        for socket in (self._socket, self._monitor):
            self._poller.unregister(socket)
        self._socket.disable_monitor()
        self._socket.close()
        self._connect()
        return True

    def _connect(self) -> None:
        self._socket = self._context.socket(self._kind)
        self._socket.linger = 0
        self._socket.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE_MB * 1024 * 1024)
        self._socket.setsockopt(zmq.RECONNECT_IVL, 20)
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        if self._kind == zmq.SUB:
            self._socket.subscribe(b"")
        self._socket.connect(self._address)
        for socket in (self._socket, self._monitor):
            self._poller.register(socket, zmq.POLLIN)
