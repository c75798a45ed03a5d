"""Connections to remote hosts: only to allowed addresses, and only to a host with the confirmed key."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass

import asyncssh

from backend_api.kit.untrusted.addresses import address_of, is_public
from backend_api.kit.untrusted.errors import FetchFailedError
from backend_api.kit.untrusted.resolver import Resolve, lookups_of
from backend_api.targets.domain import HostKey, SshAccess, SshHost
from backend_api.targets.errors import (
    HostAddressRefusedError,
    HostKeyChangedError,
    HostKeyUnconfirmedError,
    HostUnreachableError,
    SignInRefusedError,
)

CONNECT_S = 10.0
SIGN_IN_S = 15.0
KEEPALIVE_S = 5.0
KEEPALIVES = 3
"""The number of unanswered keepalives after which a connection counts as broken."""
MOST_TRIED = 4
HOST_KEYS = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-512",
    "rsa-sha2-256",
)
_NO_KNOWN_HOSTS: tuple[list[str], list[str], list[str]] = ([], [], [])
"""An empty list, as None would accept any key: so each key is passed to the client below."""
_RSA = ("rsa-sha2-512", "rsa-sha2-256")


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """The addresses of a host that the deployment allows. The checked address is the one that is connected to."""

    access: SshAccess
    resolve: Resolve

    async def of(self, host: str, port: int, owner: str) -> Sequence[str]:
        """At least one allowed address. Raises `HostAddressRefusedError`, `HostUnreachableError`."""
        if address_of(host) is not None:
            found = [host]
        else:
            try:
                with lookups_of(owner):
                    async with asyncio.timeout(CONNECT_S):
                        found = list(await self.resolve(host, port))
            except FetchFailedError as error:
                raise HostUnreachableError(error.detail) from error
            except TimeoutError as error:
                raise HostUnreachableError(f"The DNS lookup of {host} timed out.") from error
            except OSError as error:
                raise HostUnreachableError(f"The host name {host} can't be resolved: {_reason(error)}.") from error
        if not found:
            raise HostUnreachableError(f"{host} has no IP address.")
        if self.access != "any" and not all(map(_is_public, found)):
            raise HostAddressRefusedError(
                f"{host} resolves to an address that is not public, and this server connects to public ones only. "
                "Whoever runs the server can set SSH_TARGETS=any."
            )
        return found[:MOST_TRIED]


def _is_public(text: str) -> bool:
    address = address_of(text)
    return address is not None and is_public(address)


async def open_socket(addresses: Sequence[str], host: SshHost) -> socket.socket:
    """Connect to the first address that answers. Raises `HostUnreachableError`."""
    reason = "it has no address"
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setblocking(False)
        try:
            async with asyncio.timeout(CONNECT_S):
                await asyncio.get_running_loop().sock_connect(sock, (address, host.port))
        except TimeoutError:
            reason = f"no answer within {CONNECT_S:.0f} s"
            sock.close()
        except OSError as error:
            reason = _reason(error)
            sock.close()
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise HostUnreachableError(
        f"{host.host} port {host.port} can't be reached: {reason}. Check the address, the port and the firewall."
    )


class _Client(asyncssh.SSHClient):
    """Records the key that the host showed, and accepts only the confirmed one."""

    def __init__(self, confirmed: HostKey | None) -> None:
        self._confirmed = confirmed
        self.seen: HostKey | None = None

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        del host, addr, port
        algorithm, data = key.export_public_key().decode().split()[:2]
        self.seen = HostKey(algorithm, data)
        return self.seen == self._confirmed


async def sign_in(
    host: SshHost,
    sock: socket.socket,
    private_key: str | None,
    *,
    keepalive_s: float = KEEPALIVE_S,
    within_s: float = SIGN_IN_S,
) -> asyncssh.SSHClientConnection:
    """Sign in over a socket, which the connection then owns. Raises `HostKeyUnconfirmedError`, `HostKeyChangedError`,
    `SignInRefusedError`, `HostUnreachableError`; the first two carry the key that the host showed as `seen`."""
    client = _Client(host.host_key)
    try:
        keys = None if private_key is None else [asyncssh.import_private_key(private_key)]
        async with asyncio.timeout(within_s):
            connection, _ = await asyncssh.create_connection(
                lambda: client,
                host.host,
                host.port,
                sock=sock,
                config=None,
                known_hosts=_NO_KNOWN_HOSTS,
                server_host_key_algs=_algorithms(host.host_key),
                x509_trusted_certs=None,
                username=host.username,
                client_keys=keys,
                agent_path=os.environ.get("SSH_AUTH_SOCK") if host.sign_in_by == "agent" else None,
                password=None,
                gss_host=None,
                preferred_auth="publickey",
                keepalive_interval=keepalive_s,
                keepalive_count_max=KEEPALIVES,
                login_timeout=within_s + 1,
            )
    except asyncssh.HostKeyNotVerifiable as error:
        raise wrong_key(host, client.seen) from error
    except asyncssh.PermissionDenied as error:
        raise SignInRefusedError(
            f"{host.host} rejected this key for {host.username}. Add the public key to ~/.ssh/authorized_keys "
            "there, and check the user name."
        ) from error
    except asyncssh.KeyExchangeFailed as error:
        raise HostUnreachableError(_unlike(host, f"no common algorithms ({_short(error.reason)})")) from error
    except TimeoutError as error:
        raise HostUnreachableError(
            f"{host.host} port {host.port} accepted the connection but did not complete the sign-in within "
            f"{within_s:.0f} s. Check that it is an SSH server and that the machine is not overloaded."
        ) from error
    except (asyncssh.Error, OSError, ValueError) as error:
        raise HostUnreachableError(_unlike(host, _reason(error))) from error
    return connection


def _algorithms(confirmed: HostKey | None) -> list[str]:
    if confirmed is None:
        return [*HOST_KEYS]
    return [*_RSA] if confirmed.algorithm == "ssh-rsa" else [confirmed.algorithm]


def wrong_key(host: SshHost, seen: HostKey | None) -> HostKeyUnconfirmedError | HostKeyChangedError:
    """The error for a key that is not the confirmed one."""
    shown = f"{seen.algorithm} {seen.fingerprint}" if seen else "none"
    if host.host_key is None:
        error = HostKeyUnconfirmedError(
            f"The host key of {host.host} is not confirmed yet. Test this computer in the settings, compare "
            f"the fingerprint of its host key ({shown}), and confirm it."
        )
    else:
        error = HostKeyChangedError(
            f"{host.host} presented a different host key than the confirmed one: {shown} instead of "
            f"{host.host_key.algorithm} {host.host_key.fingerprint}. It may be another machine, so nothing was sent to "
            "it. If the machine was set up anew, test this computer in the settings and confirm the new key."
        )
    error.seen = seen
    return error


def _unlike(host: SshHost, reason: str) -> str:
    return f"{host.host} port {host.port} does not respond as an SSH server: {reason}."


def _reason(error: Exception) -> str:
    text = error.reason if isinstance(error, asyncssh.Error) else getattr(error, "strerror", None) or str(error)
    return _short(text) or type(error).__name__


def _short(text: str) -> str:
    """One bounded, printable line of a host's message, which is untrusted."""
    return "".join(one if one.isprintable() else " " for one in text[:200]).strip().rstrip(".")
