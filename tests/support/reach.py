"""What a program in a sandbox gets an answer from: tried by plain sockets and by ones bound to a device.

`listening_host` makes this machine answer, at addresses of its own added for it, too; `outside` makes a machine beyond
it, as any on the internet. Both need root, and take back what they made.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

OUTSIDE = "198.18.77.2"
PRIVATE = "192.168.177.2"
PORT = 7353
_NAMESPACE = "tests-outside"
_LINK = "tests-out0"
_END = b"no more"

# stdin: [[protocol, address, port, device or ""], ...]; says those that answered.
PROBE = """
import json, socket, struct, sys
from concurrent.futures import ThreadPoolExecutor

ONLINK = "onlink"

def answered(target):
    protocol, address, port, device = target
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    number = 0
    if protocol == "icmp":
        number = socket.IPPROTO_ICMPV6 if family == socket.AF_INET6 else socket.IPPROTO_ICMP
    try:
        with socket.socket(family, kind, number) as one:
            if device:
                device, _, way = device.partition(" ")
                one.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
                one.setsockopt(socket.SOL_SOCKET, socket.SO_DONTROUTE, way == ONLINK)
            one.settimeout(2)
            one.connect(socket.getaddrinfo(address, port, family)[0][4])
            if protocol != "tcp":
                echo = 128 if family == socket.AF_INET6 else 8
                one.send(struct.pack("!BBHHH", echo, 0, 0, 0, 1) + b"probe" if protocol == "icmp" else b"probe")
                one.recv(100)
            return True
    except OSError:
        return False

targets = json.loads(sys.stdin.read())
with ThreadPoolExecutor(96) as pool:
    print("answered=" + json.dumps([one for one, told in zip(targets, pool.map(answered, targets)) if told]))
"""

ECHO = """
import socket, socketserver, sys, threading
class Tcp(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
class Udp(socketserver.ThreadingUDPServer):
    allow_reuse_address = True
class Accept(socketserver.BaseRequestHandler):
    def handle(self): pass
class Echo(socketserver.BaseRequestHandler):
    def handle(self): self.request[1].sendto(self.request[0], self.client_address)
for port in map(int, sys.argv[1:]):
    for server in (Tcp(("0.0.0.0", port), Accept), Udp(("0.0.0.0", port), Echo)):
        threading.Thread(target=server.serve_forever).start()
print("ready", flush=True)
"""


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """`device` names the one its socket is bound to, nothing for a plain socket; followed by ` onlink` it asks for the
    address on that device's own wire, whatever routes say."""

    protocol: str
    address: str
    port: int
    device: str = ""


def targets(addresses: Iterable[str], ports: Iterable[int], device: str) -> list[Target]:
    """Every way to try them: TCP and UDP to each port, echo requests; plain, bound to the device, and on its wire."""
    wanted = list(dict.fromkeys(addresses))
    found = [Target(kind, one, port) for one in wanted for port in ports for kind in ("tcp", "udp")]
    found += [Target("icmp", one, 0) for one in wanted]
    return [
        Target(one.protocol, one.address, one.port, way) for one in found for way in ("", device, f"{device} onlink")
    ]


async def answered(run: Callable[[str, str], Awaitable[str]], wanted: list[Target]) -> list[Target]:
    """Those that answer a program inside; `run` runs a Python program there, with something on its input."""
    given = json.dumps([[one.protocol, one.address, one.port, one.device] for one in wanted])
    told = await run(PROBE, given)
    line = next((one for one in told.splitlines() if one.startswith("answered=")), None)
    assert line is not None, told
    return sorted(Target(*one) for one in json.loads(line.removeprefix("answered=")))


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=10)


@contextmanager
def addresses_of_host(*addresses: str) -> Generator[None]:
    """This machine has these addresses, too, for a while."""
    with ExitStack() as stack:
        for one in addresses:
            subprocess.run(["ip", "address", "del", one, "dev", "lo"], check=False, capture_output=True, timeout=10)
            ip("address", "add", one, "dev", "lo")
            stack.callback(ip, "address", "del", one, "dev", "lo")
        yield


@contextmanager
def listening_host() -> Generator[int]:
    """A port of every address of this machine, IPv4 and IPv6, that accepts connections and echoes datagrams."""
    with ExitStack() as stack:
        accepting = stack.enter_context(
            socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True, backlog=200)
        )
        port = int(accepting.getsockname()[1])
        echoing = stack.enter_context(socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
        echoing.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        echoing.bind(("::", port))
        thread = threading.Thread(target=_echo, args=(echoing,))
        thread.start()
        try:
            yield port
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ending:
                ending.sendto(_END, ("127.0.0.1", port))
            thread.join(5)


def _echo(server: socket.socket) -> None:
    while True:
        text, client = server.recvfrom(100)
        if text == _END:
            return
        server.sendto(text, client)


@contextmanager
def outside() -> Generator[None]:
    """A machine behind this one: `OUTSIDE` and, as if in a private network, `PRIVATE`; it echoes on `PORT` and 53."""
    _remove_outside()
    ip("netns", "add", _NAMESPACE)
    try:
        ip("link", "add", _LINK, "type", "veth", "peer", "name", "eth0", "netns", _NAMESPACE)
        for own, other in (("198.18.77.1/30", OUTSIDE), ("192.168.177.1/30", PRIVATE)):
            ip("address", "add", own, "dev", _LINK)
            ip("-n", _NAMESPACE, "address", "add", f"{other}/30", "dev", "eth0")
        ip("link", "set", _LINK, "up")
        ip("-n", _NAMESPACE, "link", "set", "eth0", "up")
        ip("-n", _NAMESPACE, "route", "add", "default", "via", "198.18.77.1")
        command = ["ip", "netns", "exec", _NAMESPACE, sys.executable, "-I", "-c", ECHO, str(PORT), "53"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
            try:
                assert server.stdout is not None
                assert server.stdout.readline() == b"ready\n"
                yield
            finally:
                server.kill()
    finally:
        _remove_outside()


def _remove_outside() -> None:
    """The link goes first: with its namespace it would go some time later."""
    for words in (["link", "del", _LINK], ["netns", "del", _NAMESPACE]):
        subprocess.run(["ip", *words], check=False, capture_output=True, timeout=10)
