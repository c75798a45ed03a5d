"""A real `sshd` of OpenSSH for tests: the machine's own, or one that is unpacked from Debian's packages."""

from __future__ import annotations

import asyncio
import getpass
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from backend_api.targets.ssh.keys import AsyncsshKeys
from support.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "openssh"
PACKAGES = ("openssh-server", "openssh-sftp-server", "libwrap0")
START_S = 10.0


class NoSshdError(Exception):
    """There is none here, and none to be had."""


@dataclass(frozen=True, slots=True)
class Programs:
    """Where they are, and what they need of libraries beside those of the machine."""

    sshd: Path
    sftp: Path
    libraries: Path | None


def find_programs() -> Programs:
    """Raises `NoSshdError`."""
    own = Path("/usr/sbin/sshd"), Path("/usr/lib/openssh/sftp-server")
    if all(path.exists() for path in own):
        return Programs(*own, None)
    unpacked = CACHE / "root"
    found = Programs(
        unpacked / "usr/sbin/sshd", unpacked / "usr/lib/openssh/sftp-server", unpacked / "usr/lib/x86_64-linux-gnu"
    )
    if not found.sshd.exists():
        if shutil.which("apt-get") is None:
            raise NoSshdError("there is no sshd on this machine, and no apt-get to have one by")
        CACHE.mkdir(parents=True, exist_ok=True)
        got = subprocess.run(["apt-get", "download", *PACKAGES], cwd=CACHE, capture_output=True, check=False)
        packages = sorted(CACHE.glob("*.deb"))
        if got.returncode or len(packages) < len(PACKAGES):
            raise NoSshdError("there is no sshd on this machine, and its packages can't be downloaded")
        for package in packages:
            subprocess.run(["dpkg", "-x", str(package), str(unpacked)], check=True)
    return found


@dataclass(slots=True)
class Sshd:
    """One that runs, for its one user. `home` is that user's folder."""

    folder: Path
    programs: Programs
    port: int
    username: str
    process: asyncio.subprocess.Process | None = None

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def host_key(self) -> str:
        """The public one, as `algorithm data`."""
        return " ".join((self.folder / "host_key.pub").read_text().split()[:2])

    def authorize(self, public_key: str) -> None:
        """Let this key in."""
        with (self.folder / "authorized_keys").open("a") as file:
            file.write(f"{public_key}\n")

    def make_host_key(self) -> None:
        """A new one: read at the next start."""
        pair = AsyncsshKeys().generate("host")
        (self.folder / "host_key").write_text(pair.private)
        (self.folder / "host_key.pub").write_text(pair.public)
        (self.folder / "host_key").chmod(0o600)

    async def start(self, *options: str) -> None:
        """With these options of its configuration beside those that it has."""
        command = [str(self.programs.sshd), "-D", "-e", "-f", str(self.folder / "sshd_config")]
        command += [part for option in options for part in ("-o", option)]
        if os.getuid() == 0:
            # As root it would want a user of its own for its unprivileged half, which this machine may lack.
            command = [*_as_ordinary_user(self.folder), *command]
        env = {"PATH": os.environ["PATH"]}
        if self.programs.libraries is not None:
            env["LD_LIBRARY_PATH"] = str(self.programs.libraries)
        log = (self.folder / "log").open("ab")
        self.process = await asyncio.create_subprocess_exec(*command, env=env, stdout=log, stderr=log)
        log.close()
        async with asyncio.timeout(START_S):
            while not _answers(self.port):
                if self.process.returncode is not None:
                    raise NoSshdError((self.folder / "log").read_text()[-500:])
                await asyncio.sleep(0.05)

    async def stop(self) -> None:
        """With the connections that it has."""
        if self.process is None:
            return
        for pid in [*reversed(_descendants(self.process.pid)), self.process.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        await self.process.wait()
        self.process = None
        # It is a child of what was waited for, and answers until it is gone.
        async with asyncio.timeout(START_S):
            while _answers(self.port):
                await asyncio.sleep(0.02)


def _as_ordinary_user(folder: Path) -> list[str]:
    return [
        *(
            "bwrap",
            "--unshare-user",
            "--uid",
            "1000",
            "--gid",
            "1000",
            "--bind",
            "/",
            "/",
            "--dev-bind",
            "/dev",
            "/dev",
        ),
        *("--ro-bind", str(folder / "passwd"), "/etc/passwd", "--ro-bind", str(folder / "group"), "/etc/group"),
        "--",
    ]


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _descendants(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [one for child in map(int, children) for one in (child, *_descendants(child))]


@asynccontextmanager
async def run_sshd(folder: Path) -> AsyncGenerator[Sshd]:
    """Raises `NoSshdError`."""
    programs = find_programs()
    if os.getuid() == 0 and shutil.which("bwrap") is None:
        raise NoSshdError("as root a test needs bwrap to run sshd as an ordinary user")
    username = "tester" if os.getuid() == 0 else getpass.getuser()
    sshd = Sshd(folder, programs, free_port(), username)
    sshd.home.mkdir(parents=True)
    (folder / "passwd").write_text(f"root:x:0:0:root:/root:/bin/bash\n{username}:x:1000:1000::{sshd.home}:/bin/bash\n")
    (folder / "group").write_text(f"root:x:0:\n{username}:x:1000:\n")
    (folder / "authorized_keys").touch(mode=0o600)
    sshd.make_host_key()
    (folder / "sshd_config").write_text(
        f"Port {sshd.port}\nListenAddress 127.0.0.1\nHostKey {folder}/host_key\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
        f"MaxStartups 100\nSubsystem sftp {programs.sftp}\n"
    )
    await sshd.start()
    try:
        yield sshd
    finally:
        await sshd.stop()
