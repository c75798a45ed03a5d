"""What a hostile agent runs inside its sandbox, each for ever: python programs for `Intruder.python` and the like."""

from __future__ import annotations


def hold_still(after_s: float) -> str:
    """The beginning of a program that goes on by itself, lifts the limit of files that the tool API sets commands, and
    stops its own tool API after these seconds, so that nothing inside counts any more."""
    return f"""
import os, resource, signal, sys, time
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.getrlimit(resource.RLIMIT_FSIZE)[1],) * 2)
if os.fork():
    sys.exit(0)
os.setsid()
time.sleep({after_s})
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) != os.getpid():
        try:
            if b"tool_api" in open(f"/proc/{{name}}/cmdline", "rb").read():
                os.kill(int(name), signal.SIGSTOP)
        except OSError:
            pass
"""


FILL_STEADILY = """
import os, time
out = os.open("/workspace/fill", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
for _ in range(100):
    os.write(out, bytes(16 << 20))
    time.sleep(0.2)
"""

# While a mapping's rights are changed nobody can read of the process, and one of the lowest priority hardly comes to
# the end of it while others take the processors.
KEEP_MAPPINGS = """
import ctypes, os, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
for _ in range(24):
    if os.fork() == 0:
        while not os.path.exists("/workspace/keeping"):
            time.sleep(0.2)
        while True:
            pass
size = 2 << 30
at = libc.mmap(None, size, 1, 0x4022, -1, 0)  # to be read, private, of nothing, no memory set aside
libc.madvise(at, size, 15)  # no huge pages
libc.madvise(at, size, 22)  # with all its page tables
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
os.mkdir("/workspace/keeping")
rights = 1
while True:
    rights ^= 2
    libc.mprotect(at, size, rights)
"""

SPIN = """
import os
for _ in range(4):
    if os.fork() == 0:
        while True: pass
"""

FORK = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""

EAT = """
import os, time
for _ in range(40):
    if os.fork() == 0:
        held = []
        while True:
            held.append(bytearray(16 << 20))
            time.sleep(0.05)
"""

NEST = """
import os
while True:
    top = os.open('/workspace', os.O_RDONLY)
    try:
        for _ in range(5000):
            os.mkdir('d' * 200, 0o700, dir_fd=top)
            below = os.open('d' * 200, os.O_RDONLY, dir_fd=top)
            os.close(top)
            top = below
        os.fchmod(top, 0)
    except OSError:
        top = os.open('/workspace', os.O_RDONLY)
        try:
            os.rename('d' * 200, 'e%d' % os.getpid() + str(os.urandom(4).hex()), src_dir_fd=top, dst_dir_fd=top)
        except OSError:
            pass
    os.close(top)
"""

LITTER = """
import os
number = 0
while True:
    number += 1
    try:
        os.close(os.open('/workspace/f%d' % number, os.O_CREAT | os.O_WRONLY))
    except OSError:
        pass
"""

FILL = """
import os
block = os.urandom(1 << 20)
while True:
    for place in ('/workspace', '/tmp', '/home/agent', '/dev/shm', '/run/sandbox', '/var/tmp'):
        try:
            with open(place + '/fill', 'ab') as file:
                for _ in range(64):
                    file.write(block)
        except OSError:
            pass
"""

MARK = """
import os, subprocess, time
marks = ['../..', '..', '.', 'x/../../y', '/', 'a' * 4000, '\\udcff']
number = 0
while True:
    number += 1
    for mark in marks:
        value = '%s/%s/s/u/1' % (os.environ.get('STACK', 'local'), mark)
        try:
            subprocess.Popen(['sleep', '5'], env={'AGENT_SANDBOX_MARK': value + str(number % 50)})
        except (OSError, ValueError):
            pass
    time.sleep(0.05)
"""

SHOUT = """
import os
text = b'x' * 65536 + b'\\n'
while True:
    for pid in [one for one in os.listdir('/proc') if one.isdigit()]:
        for number in (1, 2):
            try:
                handle = os.open('/proc/%s/fd/%d' % (pid, number), os.O_WRONLY | os.O_NONBLOCK)
                os.write(handle, text)
                os.close(handle)
            except OSError:
                pass
"""

KNOCK = """
import socket
while True:
    for port in (22, 80, 443, 6379, 8000, 8001, 27017, *range(30000, 60000, 37)):
        for host in ('127.0.0.1', '10.0.2.2', '10.0.2.3', '169.254.169.254', '172.17.0.1'):
            tried = socket.socket()
            tried.setblocking(False)
            try:
                tried.connect((host, port))
            except OSError:
                pass
            tried.close()
"""

KILL = """
import os, signal, time
while True:
    for pid in range(3, 400):
        if pid != os.getpid():
            try:
                os.kill(pid, signal.SIGSTOP)
                os.kill(pid, signal.SIGCONT)
            except OSError:
                pass
"""

ALL = {
    "spin": SPIN,
    "fork": FORK,
    "eat": EAT,
    "nest": NEST,
    "litter": LITTER,
    "fill": FILL,
    "mark": MARK,
    "shout": SHOUT,
    "knock": KNOCK,
    "kill": KILL,
}
