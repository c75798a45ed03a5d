"""Listening sockets and servers of our processes."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Generator, Sequence

import uvicorn
from starlette.types import ASGIApp

from backend_api.kit import measures
from backend_api.kit.listening.slow_peers import HttpProtocol, WebSocketProtocol
from backend_api.kit.listening.trusted_proxies import TrustedProxies
from service_kit.clear_startup import ClearStartup
from service_kit.listening.http import Config
from service_kit.listening.peers import Peers, room_for

_UNSENT_BYTES = 128 * 1024
"""The most that the kernel takes of an answer beyond what is on its way. Without it the kernel takes 4 MB, each part of
which the gateway has to produce, also for a client that reads nothing."""


class Server(uvicorn.Server):
    """A server that leaves signals to its process. It closes its sockets with 1012 when it ends."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def end(self) -> None:
        """Begins to shut down."""
        self.should_exit = True


def listen(host: str, port: int) -> socket.socket:
    """A bound socket, whose connections keep little unsent (tcp(7), `TCP_NOTSENT_LOWAT`); port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT_BYTES)
    listener.bind((host, port))
    return listener


def _count_cut(reason: str) -> None:
    measures.CONNECTIONS_CUT.labels(reason).inc()


def server_for(app: ASGIApp, *, graceful_s: int, trusted_proxies: Sequence[str] = ()) -> Server:
    """A server with our configuration of uvicorn: our own logs, and no more connections than one process can serve.

    Only a peer among `trusted_proxies` may say whose request it forwards.
    """
    proxies = TrustedProxies(ClearStartup(app), trusted_proxies)
    return Server(
        Config(
            proxies,
            peers=Peers(room_for(), is_proxy=proxies.is_trusted, count=_count_cut),
            log_config=None,
            access_log=False,
            http=HttpProtocol,
            ws=WebSocketProtocol,
            ws_max_size=2 * 1024 * 1024,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=graceful_s,
            server_header=False,
            proxy_headers=False,
        )
    )
