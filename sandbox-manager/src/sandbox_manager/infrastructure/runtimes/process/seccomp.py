"""The image's seccomp profile as the program bubblewrap loads: compiled by libseccomp, as Docker's engine does it."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import struct
import subprocess
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

_LIBRARY = "libseccomp.so.2"
_ERRNO = 0x00050000
_ACTIONS = {"SCMP_ACT_ALLOW": 0x7FFF0000, "SCMP_ACT_ERRNO": _ERRNO}
_OPERATORS = {
    "SCMP_CMP_NE": 1,
    "SCMP_CMP_LT": 2,
    "SCMP_CMP_LE": 3,
    "SCMP_CMP_EQ": 4,
    "SCMP_CMP_GE": 5,
    "SCMP_CMP_GT": 6,
    "SCMP_CMP_MASKED_EQ": 7,
}
_OPTIMIZE, _BINARY_TREE = 8, 2
_UNKNOWN = -1
_HIGHEST_LOOKED_AT = 1023
_TRY_S = 10
_X32_BIT = 0x40000000
# Classic BPF: load a word of `struct seccomp_data`, compare with a constant, return a constant.
_LOAD, _IS, _IS_ABOVE, _IS_AT_LEAST, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x06
_AT_NUMBER, _AT_ARCHITECTURE = 0, 4


class FilterError(Exception):
    """The profile can't be compiled here; the message says why."""


class _Comparison(ctypes.Structure):
    _fields_ = (("argument", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))


def compiled(profile: Path, architecture: str | None = None) -> bytes:
    """The filter as an array of `struct sock_filter`, for this machine unless another is named (as `aarch64`).

    Calls that the profile does not allow fail with its error; another calling convention than the machine's own
    (32-bit, x32) ends the thread. System calls newer than the library do not exist (ENOSYS), so that programs fall back
    as on an older kernel.

    Raises:
        FilterError: libseccomp is missing, or does not understand the profile.
    """
    try:
        wanted: dict[str, Any] = json.loads(profile.read_text())
        return _Compiler(_library(), wanted, architecture).program()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FilterError(f"the seccomp profile {profile} can't be used ({error})") from error


def loadable(profile: Path) -> bytes:
    """The filter of `compiled` for this machine, tried out in a bubblewrap.

    Raises:
        FilterError: it can't be compiled, or this kernel or bubblewrap does not take it.
    """
    program = compiled(profile)
    with tempfile.TemporaryFile() as file:
        file.write(program)
        file.seek(0)
        number = file.fileno()
        command = ["bwrap", "--ro-bind", "/", "/", "--unshare-user", "--cap-drop", "ALL", "--seccomp", str(number)]
        try:
            done = subprocess.run(
                [*command, "--", "true"], capture_output=True, text=True, timeout=_TRY_S, check=False, pass_fds=[number]
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise FilterError(f"bubblewrap does not run here ({error})") from error
    if done.returncode != 0:
        raise FilterError(f"bubblewrap can't load it here ({done.stderr.strip()[-200:]})")
    return program


def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise FilterError(f"{_LIBRARY} is not installed") from error
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_arch_resolve_name.restype = ctypes.c_uint32
    library.seccomp_arch_native.restype = ctypes.c_uint32
    library.seccomp_syscall_resolve_num_arch.restype = ctypes.c_void_p
    return library


class _Compiler:
    def __init__(self, library: ctypes.CDLL, profile: dict[str, Any], architecture: str | None) -> None:
        self._library = library
        self._profile = profile
        self._native = int(library.seccomp_arch_native())
        self._token = self._native if architecture is None else self._resolved(architecture)

    def _resolved(self, name: str) -> int:
        return int(self._library.seccomp_arch_resolve_name(name.encode()))

    def program(self) -> bytes:
        known = [one["architecture"].removeprefix("SCMP_ARCH_").lower() for one in self._profile["archMap"]]
        if self._token not in [self._resolved(name) for name in known]:
            raise FilterError("the seccomp profile does not name this machine's architecture")
        with self._context() as context:
            for rule in self._profile["syscalls"]:
                for name in rule["names"]:
                    self._add(context, name, rule)
            return self._newer_than_known() + self._export(context)

    @contextlib.contextmanager
    def _context(self) -> Generator[ctypes.c_void_p]:
        default = _action(self._profile["defaultAction"], self._profile.get("defaultErrnoRet"))
        made = self._library.seccomp_init(ctypes.c_uint32(default))
        if made is None:
            raise FilterError("libseccomp is out of memory")
        context = ctypes.c_void_p(made)
        try:
            self._library.seccomp_attr_set(context, _OPTIMIZE, ctypes.c_uint32(_BINARY_TREE))
            if self._token != self._native:
                self._do("add an architecture", self._library.seccomp_arch_add, context, ctypes.c_uint32(self._token))
                self._do("drop an architecture", self._library.seccomp_arch_remove, context, ctypes.c_uint32(0))
            yield context
        finally:
            self._library.seccomp_release(context)

    def _add(self, context: ctypes.c_void_p, name: str, rule: dict[str, Any]) -> None:
        number = int(self._library.seccomp_syscall_resolve_name(name.encode()))
        if number == _UNKNOWN:
            return
        conditions = [
            _Comparison(one["index"], _OPERATORS[one["op"]], one["value"], one.get("valueTwo", 0))
            for one in rule["args"]
        ]
        self._do(
            f"add {name}",
            self._library.seccomp_rule_add_array,
            context,
            ctypes.c_uint32(_action(rule["action"], rule.get("errnoRet"))),
            ctypes.c_int(number),
            ctypes.c_uint(len(conditions)),
            (_Comparison * len(conditions))(*conditions),
        )

    def _do(self, what: str, call: Callable[..., int], *arguments: object) -> None:
        status = call(*arguments)
        if status != 0:
            raise FilterError(f"libseccomp could not {what}: {os.strerror(-status)}")

    def _export(self, context: ctypes.c_void_p) -> bytes:
        file = os.memfd_create("seccomp")
        try:
            self._do("write the filter", self._library.seccomp_export_bpf, context, ctypes.c_int(file))
            return os.pread(file, os.fstat(file).st_size, 0)
        finally:
            os.close(file)

    def _newer_than_known(self) -> bytes:
        highest = next(number for number in range(_HIGHEST_LOOKED_AT, 0, -1) if self._is_known(number))
        return b"".join(
            struct.pack("=HBBI", *instruction)
            for instruction in (
                (_LOAD, 0, 0, _AT_ARCHITECTURE),
                (_IS, 0, 4, self._token),
                (_LOAD, 0, 0, _AT_NUMBER),
                (_IS_AT_LEAST, 2, 0, _X32_BIT),
                (_IS_ABOVE, 0, 1, highest),
                (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
            )
        )

    def _is_known(self, number: int) -> bool:
        name = self._library.seccomp_syscall_resolve_num_arch(ctypes.c_uint32(self._token), ctypes.c_int(number))
        if name is not None:
            ctypes.CDLL(None).free(ctypes.c_void_p(name))
        return name is not None


def _action(name: str, number: int | None) -> int:
    return _ACTIONS[name] | ((number or errno.EPERM) if name == "SCMP_ACT_ERRNO" else 0)
