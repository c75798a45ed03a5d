"""Programs that try the walls of a sandbox from inside; each prints what it found as one line of JSON."""

from __future__ import annotations

_CALLS = """
import ctypes, errno, json, mmap, os, platform, signal, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
INTEL = platform.machine() == "x86_64"
def ask(number, *arguments):
    ctypes.set_errno(0)
    words = [one if isinstance(one, (ctypes.Array, type(None))) else ctypes.c_ulong(one) for one in arguments]
    return 0 if libc.syscall(ctypes.c_long(number), *words) >= 0 else ctypes.get_errno()
def attempt(action):
    try:
        action()
    except OSError as error:
        return error.errno
    return 0
def death(action):
    child = os.fork()
    if child == 0:
        action()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
"""

KERNEL = (
    _CALLS
    + """
NUMBERS = {  # x86-64, everywhere else
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "userfaultfd": (323, 282), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "kcmp": (312, 272), "pidfd_getfd": (438, 438), "bpf": (321, 280), "perf_event_open": (298, 241),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "move_mount": (429, 429), "fsopen": (430, 430),
    "open_tree": (428, 428), "open_by_handle_at": (304, 265), "init_module": (175, 105), "finit_module": (313, 273),
    "kexec_load": (246, 104), "reboot": (169, 142), "swapon": (167, 224), "syslog": (103, 116), "acct": (163, 89),
    "settimeofday": (170, 170), "quotactl": (179, 60), "lookup_dcookie": (212, 18), "io_setup": (206, 0),
}
refused = {name: ask(numbers[0 if INTEL else 1], *[0] * 5) for name, numbers in NUMBERS.items()}
SOCKET = 41 if INTEL else 198
FAMILIES = {"key": 15, "packet": 17, "rds": 21, "can": 29, "tipc": 30, "bluetooth": 31, "alg": 38, "vsock": 40}
for name, family in FAMILIES.items():
    refused["socket " + name] = ask(SOCKET, family, 1, 0)
    refused["socket " + name + ", upper half set"] = ask(SOCKET, family | 1 << 32, 1, 0)
for name, protocol in {"routes": 0, "device news": 15, "netfilter": 12, "audit": 9, "crypto": 21, "xfrm": 6}.items():
    refused["netlink " + name] = ask(SOCKET, 16, 3, protocol)
needed = {"socket " + str(family): attempt(lambda: socket.socket(family).close()) for family in (1, 2, 10)}
needed["names"] = attempt(lambda: socket.getaddrinfo("localhost", 80))
needed["socket, upper half set"] = ask(SOCKET, 2 | 1 << 32, 1, 0)
needed["options"] = attempt(lambda: socket.socket(10).setsockopt(41, 67, 0))
needed["thread"] = attempt(lambda: __import__("threading").Thread(target=print).start())
conventions = {}
if INTEL:
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\\x53\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\x5b\\xc3")  # getpid by int 0x80
    call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    conventions = {"32-bit": death(call), "x32": death(lambda: ask(0x40000000 + 39))}
print()
print(json.dumps({"refused": refused, "needed": needed, "other_conventions": conventions,
    "too_new": errno.errorcode.get(ask(1000))}))
"""
)

NAMESPACES = (
    _CALLS
    + """
CLONE_NEWUSER, CLONE_NEWNET, CLONE_NEWNS = 0x10000000, 0x40000000, 0x20000
found = {"namespace": ask(272 if INTEL else 97, CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS)}
status = open("/proc/self/status").read()
found["every_capability"] = int(status.split("CapEff:")[1].split()[0], 16) > 1 << 30
found["nftables"] = attempt(lambda: socket.socket(16, 3, 12))
found["packets"] = attempt(lambda: socket.socket(17, 3, 0))
for name, kind, level, option in (("iptables", 2, 0, 64), ("ip6tables", 10, 41, 64), ("arptables", 2, 0, 96),
    ("ebtables", 2, 0, 128), ("ipset", 2, 0, 83), ("ipvs", 2, 0, 0x440 + 2)):
    found[name] = attempt(lambda: socket.socket(kind, 3, 255).setsockopt(level, option, b"\\0" * 96))
found["mount"] = ask(165 if INTEL else 40, None, None, None, 0, None)
found["new mount"] = ask(430, None, 0)
found["device by netlink"] = attempt(lambda: socket.socket(16, 3, 0))
fcntl = __import__("fcntl")
for name, number in (("bridge", 0x89A0), ("bridge of old", 0x8941), ("VLAN", 0x8983), ("tunnel", 0x89F1)):
    found[name] = attempt(lambda: fcntl.ioctl(socket.socket(2, 2), number, bytearray(b"made0".ljust(64, b"\\0"))))
print(json.dumps(found))
"""
)

TOOL_API = (
    _CALLS
    + """
def is_tool_api(pid):
    words = open(f"/proc/{pid}/cmdline", "rb").read().split(b"\\0")
    return b"tool_api" in words and os.path.basename(words[0]).startswith(b"python")
target = next(int(one) for one in os.listdir("/proc") if one.isdigit() and one != "1" and is_tool_api(one))
PTRACE = 101 if INTEL else 117
def remote(number):
    mine, word = ctypes.create_string_buffer(8), ctypes.sizeof(ctypes.c_long)
    local = (ctypes.c_long * 2)(ctypes.addressof(mine), 8)
    far = (ctypes.c_long * 2)(0x400000, 8)
    return ask(number, target, local, 1, far, 1, 0)
def steal(number):
    pidfd = os.pidfd_open(target)
    return ask(438, pidfd, number, 0)
found = {"attach": ask(PTRACE, 16, target, 0, 0), "seize": ask(PTRACE, 0x4206, target, 0, 0),
    "process_vm_readv": remote(310 if INTEL else 270), "process_vm_writev": remote(311 if INTEL else 271),
    "descriptor 1": steal(1), "descriptor 8": steal(8),
    "kcmp": ask(312 if INTEL else 272, os.getpid(), target, 0, 1, 1)}
for name in ("mem", "environ", "maps", "auxv", "fd/0", "fd/1", "fd/2", "fd/8", "cwd", "root", "exe", "map_files"):
    look = os.readlink if name in ("cwd", "root", "exe") else os.listdir if name == "map_files" else open
    found[name] = attempt(lambda: look(f"/proc/{target}/{name}"))
def within(action):
    libc.unshare(0x10000000)
    os._exit(attempt(action) or 0)
for name, action in (("mem, with every capability of another namespace", lambda: open(f"/proc/{target}/mem", "rb+")),):
    child = os.fork()
    if child == 0:
        within(action)
    found[name] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
first = os.stat("/proc/1/cmdline") and open("/proc/1/cmdline", "rb").read()
if b"tini" in first:
    found |= {"fd/0 of the first process": attempt(lambda: open("/proc/1/fd/0")), "first": ask(PTRACE, 16, 1, 0, 0)}
child = os.fork()
if child == 0:
    time.sleep(30)
    os._exit(0)
found["own_child_traced"] = ask(PTRACE, 16, child, 0, 0)
os.kill(child, signal.SIGKILL)
print(json.dumps(found))
"""
)

DESCRIPTORS = """
import json, os, stat
found = []
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        numbers = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        continue
    for number in numbers:
        try:
            path, held = os.readlink(f"/proc/{pid}/fd/{number}"), os.stat(f"/proc/{pid}/fd/{number}")
        except OSError:
            continue
        if not (stat.S_ISREG(held.st_mode) or stat.S_ISDIR(held.st_mode)) or path.startswith(("/memfd:", "/proc/")):
            continue
        try:
            here = os.stat(path)
            known = (here.st_dev, here.st_ino) == (held.st_dev, held.st_ino)
        except OSError:
            known = path.endswith(" (deleted)")
        if not known:
            found.append([pid, number, path])
print(json.dumps({"files_from_elsewhere": found}))
"""

CHROME = """
import json, os, time
def processes():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{pid}/cmdline", "rb").read().replace(b"\\0", b" ")
            lines = open(f"/proc/{pid}/status").read().splitlines()
        except OSError:
            continue
        yield pid, words, dict(line.split(":", 1) for line in lines if ":" in line)
own = next(int(status["Seccomp_filters"]) for pid, _, status in processes() if pid == str(os.getpid()))
until = time.monotonic() + 40
while True:
    renderers = [(pid, words, status) for pid, words, status in processes() if b"--type=renderer" in words]
    # One that was begun a moment ago has no filter of its own yet.
    bare = [pid for pid, words, status in renderers if int(status["Seccomp_filters"]) <= own
        or len(status["NSpid"].split()) < 2]
    if (renderers and not bare) or time.monotonic() > until:
        break
    time.sleep(0.2)
bare += [pid for pid, words, _ in processes() if b"--no-sandbox" in words]
print(json.dumps({"renderers": len(renderers), "without_sandbox": bare, "filters": own}))
"""

FIRST_PROCESS = (
    _CALLS
    + """
PTRACE, SETNS, PRLIMIT = (101, 308, 302) if INTEL else (117, 268, 261)
def remote(number):
    mine = ctypes.create_string_buffer(8)
    local = (ctypes.c_long * 2)(ctypes.addressof(mine), 8)
    far = (ctypes.c_long * 2)(0x400000, 8)
    return ask(number, 1, local, 1, far, 1, 0)
def steal():
    return ask(438, os.pidfd_open(1), 1, 0)
def enter():
    return ask(SETNS, os.pidfd_open(1), 0x40000000)
found = {"attach": ask(PTRACE, 16, 1, 0, 0), "seize": ask(PTRACE, 0x4206, 1, 0, 0),
    "process_vm_readv": remote(310 if INTEL else 270), "process_vm_writev": remote(311 if INTEL else 271),
    "a descriptor": steal(), "its network": enter(),
    "kcmp": ask(312 if INTEL else 272, os.getpid(), 1, 0, 1, 1)}
for name in ("mem", "environ", "maps", "auxv", "fd/0", "fd/1", "fd/3", "cwd", "root", "exe", "ns/net", "map_files"):
    look = os.readlink if name in ("cwd", "root", "exe", "ns/net") else os.listdir if name == "map_files" else open
    found[name] = attempt(lambda: look(f"/proc/1/{name}"))
found["its limits raised"] = ask(PRLIMIT, 1, 6, (ctypes.c_ulong * 2)(4000, 4000), None)
child = os.fork()
if child == 0:
    libc.unshare(0x10000000)
    os._exit(ask(PTRACE, 16, 1, 0, 0))
found["attach, with every capability of another namespace"] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps(found))
"""
)
