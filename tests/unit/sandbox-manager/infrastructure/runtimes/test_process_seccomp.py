"""The compiled filter, interpreted for every system call there is: it says what the profile says, and nothing else."""

from __future__ import annotations

import ctypes
import errno
import functools
import json
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from sandbox_manager.infrastructure.runtimes.process.seccomp import FilterError, compiled

PROFILE = Path(__file__).parents[5] / "sandbox-image" / "seccomp.json"
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
OTHERS = {"i386": 0x40000003, "arm": 0x40000028, "s390x": 0x80000016}
ALLOW, KILL_THREAD, ERRNO = 0x7FFF0000, 0, 0x00050000
REFUSED, MISSING = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS
MASK = 0xFFFFFFFF
FULL = 1 << 64


@pytest.fixture(scope="module")
def profile() -> dict[str, Any]:
    return json.loads(PROFILE.read_text())


@pytest.fixture(scope="module", params=ARCHITECTURES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def program(machine: str) -> list[tuple[int, int, int, int]]:
    return list(struct.iter_unpack("=HBBI", compiled(PROFILE, machine)))


def verdict(
    program: list[tuple[int, int, int, int]], architecture: int, number: int, arguments: Iterable[int] = ()
) -> int:
    """What the kernel's own machine would answer."""
    words = [*arguments, *[0] * 6][:6]
    data = struct.pack("=IIQ6Q", number, architecture, 0, *[word % FULL for word in words])
    held, at = 0, 0
    while True:
        code, if_true, if_false, constant = program[at]
        at += 1
        if code == 0x20:  # load a word
            held = struct.unpack_from("=I", data, constant)[0]
        elif code == 0x54:  # and
            held &= constant
        elif code == 0x06:  # return
            return constant
        elif code == 0x05:  # jump
            at += constant
        else:
            holds = {0x15: held == constant, 0x25: held > constant, 0x35: held >= constant, 0x45: held & constant}[code]
            at += if_true if holds else if_false


@functools.cache
def numbers(machine: str) -> dict[int, str]:
    """All system calls the library knows on a machine, by number."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_syscall_resolve_num_arch.restype = ctypes.c_char_p
    names = {
        number: library.seccomp_syscall_resolve_num_arch(ctypes.c_uint32(ARCHITECTURES[machine]), number)
        for number in range(1024)
    }
    return {number: name.decode() for number, name in names.items() if name is not None}


def allowed_by(rules: list[dict[str, Any]], arguments: list[int]) -> bool:
    return any(all(arguments[one["index"]] & one["value"] == one["valueTwo"] for one in rule["args"]) for rule in rules)


def test_every_system_call_is_answered_as_the_profile_says(
    machine: str, profile: dict[str, Any], program: list[tuple[int, int, int, int]]
) -> None:
    known = numbers(machine)
    for number in range(1024):
        rules = [rule for rule in profile["syscalls"] if known.get(number) in rule["names"]]
        for arguments in ([0] * 6, [1, 2, 3, 4, 5, 6], [FULL - 1] * 6):
            newer = number > max(known)
            expected = MISSING if newer else ALLOW if allowed_by(rules, arguments) else REFUSED
            told = verdict(program, ARCHITECTURES[machine], number, arguments)
            assert told == expected, (number, known.get(number), arguments)


def call(machine: str, name: str) -> int:
    return next(number for number, known in numbers(machine).items() if known == name)


@pytest.mark.parametrize("upper", [0, 1 << 32, 0xFFFFFFFF << 32])
def test_sockets_are_of_the_ordinary_families_whatever_is_in_the_upper_half_of_the_register(
    machine: str, program: list[tuple[int, int, int, int]], upper: int
) -> None:
    def answer(family: int, protocol: int = 0) -> int:
        arguments = (family | upper, 1 | upper, protocol | upper)
        return verdict(program, ARCHITECTURES[machine], call(machine, "socket"), arguments)

    assert [family for family in range(64) if answer(family) == ALLOW] == [1, 2, 10]
    assert {answer(16, protocol) for protocol in range(32)} == {REFUSED}
    assert answer(2, 17) == ALLOW


@pytest.mark.parametrize("upper", [0, 1 << 32, 0xFFFFFFFF << 32])
def test_of_ioctl_only_what_makes_devices_is_refused(
    machine: str, program: list[tuple[int, int, int, int]], upper: int
) -> None:
    number = call(machine, "ioctl")
    # All of the sockets' and their neighbours, and one of each other kind: terminals, files, a device's own.
    asked = [*range(0x8000, 0xA000), 0, 0x5401, 0x5452, 0xC0189436, 0x80045430, 0x89A0 << 8, 0x10089A0, 0x800089A0]

    told = [one for one in asked if verdict(program, ARCHITECTURES[machine], number, (3, one | upper)) != ALLOW]

    assert told == [0x8940, 0x8941, *range(0x8980, 0x8A00)]


def test_socket_options_are_all_but_those_of_packet_filters(
    machine: str, program: list[tuple[int, int, int, int]]
) -> None:
    def allowed(level: int) -> list[int]:
        number = call(machine, "setsockopt")
        told = (verdict(program, ARCHITECTURES[machine], number, (3, level, option)) for option in range(2000))
        return [option for option, one in enumerate(told) if one == ALLOW]

    assert allowed(0) == list(range(64))
    assert allowed(41) == [*range(64), *range(66, 80)]
    assert allowed(1) == allowed(6) == allowed(17) == list(range(2000))


def test_another_calling_convention_ends_the_thread(machine: str, program: list[tuple[int, int, int, int]]) -> None:
    for architecture in {**OTHERS, **ARCHITECTURES}.values():
        if architecture != ARCHITECTURES[machine]:
            assert {verdict(program, architecture, number) for number in range(512)} == {KILL_THREAD}


def test_the_second_table_of_x86_64_is_refused() -> None:
    program = list(struct.iter_unpack("=HBBI", compiled(PROFILE, "x86_64")))

    told = {verdict(program, ARCHITECTURES["x86_64"], 0x40000000 | number) for number in range(600)}

    assert told == {KILL_THREAD}


def test_a_machine_the_profile_does_not_name_is_told() -> None:
    with pytest.raises(FilterError, match="architecture"):
        compiled(PROFILE, "s390x")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"archMap": 5}'])
def test_what_is_no_profile_is_told(tmp_path: Path, text: str) -> None:
    profile = tmp_path / "seccomp.json"
    profile.write_text(text)

    with pytest.raises(FilterError):
        compiled(profile)


def test_a_profile_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FilterError, match="can't be used"):
        compiled(tmp_path / "nowhere.json")
