"""The few files of /etc a sandbox sees: its own, and those of the host that programs can't do without."""

from __future__ import annotations

import secrets
from pathlib import Path

FROM_HOST = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates.conf",
    "/etc/fonts",
    "/etc/alternatives",
    "/etc/chromium",
    "/etc/chromium.d",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/debian_version",
    "/etc/X11",
    "/etc/xdg",
    "/etc/bash.bashrc",
    "/etc/profile",
    "/etc/inputrc",
    "/etc/python3",
    "/etc/protocols",
    "/etc/services",
    "/etc/vulkan",
    "/etc/gtk-3.0",
    "/etc/tigervnc",
)


def write_etc(folder: Path, *, resolver: str | None) -> list[Path]:
    """Write the sandbox's own files; returns their paths."""
    files = {
        "passwd": "agent:x:1000:1000:agent:/home/agent:/bin/bash\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
        "group": "agent:x:1000:\nnogroup:x:65534:\n",
        "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
        "hostname": "sandbox\n",
        "resolv.conf": f"nameserver {resolver}\n" if resolver else "",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
        "machine-id": f"{secrets.token_hex(16)}\n",
    }
    written: list[Path] = []
    for name, content in files.items():
        path = folder / name
        path.write_text(content)
        path.chmod(0o644)
        written.append(path)
    return written
