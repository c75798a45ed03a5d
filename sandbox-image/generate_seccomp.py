#!/usr/bin/env python3
"""Write seccomp.json: what processes of a sandbox may ask of the kernel.

An allow-list: everything not named answers EPERM. It allows what Docker's default profile allows to a container
without capabilities, and beyond it `clone`, `clone3`, `unshare`, `setns` and `chroot` without conditions, so that
Chrome can build its own sandbox out of user namespaces; the kernel still asks for a capability in the namespace where
one is due. What the default grants only together with a capability is left out,
since a sandbox has none; so is io_uring, which bypasses this very filter.

Whoever makes a user namespace has every capability in it, so what such a namespace would open up is closed here:
sockets of other families than the ordinary ones, and the socket options that iptables, arptables, ebtables, ipset and
ipvs are configured by. Netlink is refused as a whole: devices made by it, in such a namespace, fill the one table of
neighbours that all of the machine shares (`gc_thresh3`), and what it queues for a reader is nobody's memory. The calls
of `ioctl` that make devices without it are refused too. Asynchronous contexts (`io_setup`) are the whole machine's.

Only the machine's own calling convention is allowed. 32-bit x86 hands `socketcall` its arguments in memory, where no
filter can look at them. Conditions compare 32 bits, as the kernel does: the upper half of a register is the caller's.
"""

import json
from pathlib import Path
from typing import Any

ALLOWED = {
    "files": """
        access chdir chmod chown chown32 close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2
        fadvise64 fadvise64_64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchown32 fchownat fcntl fcntl64
        fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs fstatfs64 fsync
        ftruncate ftruncate64 futimesat getcwd getdents getdents64 getxattr getxattrat lchown lchown32 lgetxattr link
        linkat listxattr listxattrat llistxattr _llseek lremovexattr lseek lsetxattr lstat lstat64 mkdir mkdirat mknod
        mknodat name_to_handle_at newfstatat open openat openat2 pread64 preadv preadv2 pwrite64 pwritev pwritev2 read
        readahead readlink readlinkat readv removexattr removexattrat rename renameat renameat2 rmdir sendfile
        sendfile64 setxattr setxattrat splice stat stat64 statfs statfs64 statx symlink symlinkat sync sync_file_range
        syncfs tee truncate truncate64 umask unlink unlinkat utime utimensat utimensat_time64 utimes vmsplice write
        writev inotify_add_watch inotify_init inotify_init1 inotify_rm_watch fanotify_mark
        chroot arm_fadvise64_64 arm_sync_file_range sync_file_range2
    """,
    "waiting": """
        epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd
        eventfd2 poll ppoll ppoll_time64 pselect6 pselect6_time64 select _newselect pause signalfd signalfd4
    """,
    "memory": """
        brk madvise map_shadow_stack membarrier memfd_create memfd_secret mincore mlock mlock2 mlockall mmap mmap2
        mprotect mremap mseal munlock munlockall munmap msync pkey_alloc pkey_free pkey_mprotect remap_file_pages
        cachestat
    """,
    "processes": """
        alarm arch_prctl capget capset clone clone3 execve execveat exit exit_group fork get_robust_list
        get_thread_area getcpu getegid getegid32 geteuid geteuid32 getgid getgid32 getgroups getgroups32 getpgid
        getpgrp getpid getppid getpriority getresgid getresgid32 getresuid getresuid32 getrlimit getrusage getsid
        gettid getuid getuid32 ioprio_get ioprio_set kill landlock_add_rule landlock_create_ruleset
        landlock_restrict_self modify_ldt pidfd_open pidfd_send_signal pipe pipe2 prctl prlimit64 process_mrelease
        process_vm_readv process_vm_writev ptrace restart_syscall rseq rt_sigaction rt_sigpending rt_sigprocmask
        rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo seccomp
        set_robust_list set_thread_area set_tid_address set_tls setfsgid setfsgid32 setfsuid setfsuid32 setgid
        setgid32 setgroups setgroups32 setns setpgid setpriority setregid setregid32 setresgid setresgid32 setresuid
        setresuid32 setreuid setreuid32 setrlimit setsid setuid setuid32 sigaltstack sigprocmask sigreturn tgkill
        tkill ugetrlimit unshare vfork wait4 waitid waitpid breakpoint cacheflush riscv_flush_icache riscv_hwprobe
        sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam
        sched_getscheduler sched_rr_get_interval sched_rr_get_interval_time64 sched_setaffinity sched_setattr
        sched_setparam sched_setscheduler sched_yield
    """,
    "time": """
        adjtimex clock_adjtime clock_adjtime64 clock_getres clock_getres_time64 clock_gettime clock_gettime64
        clock_nanosleep clock_nanosleep_time64 getitimer gettimeofday nanosleep setitimer time timer_create
        timer_delete timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64 timerfd_create
        timerfd_gettime timerfd_gettime64 timerfd_settime timerfd_settime64 times
    """,
    "talking": """
        accept accept4 bind connect getpeername getsockname getsockopt listen recv recvfrom recvmmsg
        recvmmsg_time64 recvmsg send sendmmsg sendmsg sendto shutdown socketpair futex
        futex_requeue futex_time64 futex_wait futex_waitv futex_wake ipc mq_getsetattr mq_notify mq_open
        mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64 mq_unlink msgctl msgget msgrcv
        msgsnd semctl semget semop semtimedop semtimedop_time64 shmat shmctl shmdt shmget
    """,
    "knowing": "getrandom sysinfo uname",
}

AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
SOL_SOCKET, SOL_TCP, SOL_UDP, SOL_IPV6, SOL_SCTP = 1, 6, 17, 41, 132
PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)
ALL_BITS = 0xFFFFFFFF


def allow(names: list[str], *args: dict[str, Any]) -> dict[str, Any]:
    return {"names": names, "action": "SCMP_ACT_ALLOW", "args": list(args)}


def equals(index: int, value: int, bits: int = ALL_BITS) -> dict[str, Any]:
    """The argument has this value, as far as the bits of the mask go."""
    return {"index": index, "value": bits, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}


def sockets() -> list[dict[str, Any]]:
    return [allow(["socket"], equals(0, family)) for family in (AF_UNIX, AF_INET, AF_INET6)]


def device_calls() -> list[dict[str, Any]]:
    """All of `ioctl` but what makes bridges (0x8940, 0x8941, 0x89a0 to 0x89a3), VLANs (0x8982, 0x8983), bonds (0x8990
    to 0x8995) and tunnels (from 0x89f0 on): what differs from 0x89.. in one of its other bits, and of those the rest.
    """
    others = [(1 << bit, ~0x8900 & 1 << bit) for bit in range(8, 32)]
    blocks = ((0x8900, 0x3F), (0x8942, 1), (0x8944, 3), (0x8948, 7), (0x8950, 15), (0x8960, 31))
    rules = [allow(["ioctl"], equals(1, value, bits)) for bits, value in others]
    return rules + [allow(["ioctl"], equals(1, first, ALL_BITS ^ free)) for first, free in blocks]


def socket_options() -> list[dict[str, Any]]:
    """Those of packet filters are numbers from 64 on, at the levels of IP; IPv6 has ordinary ones from 66 to 79."""
    rules = [allow(["setsockopt"], equals(2, 0, ALL_BITS ^ 63))]
    rules += [allow(["setsockopt"], equals(1, level)) for level in (SOL_SOCKET, SOL_TCP, SOL_UDP, SOL_SCTP)]
    ipv6 = ((66, 1), (68, 3), (72, 7))
    return rules + [allow(["setsockopt"], equals(1, SOL_IPV6), equals(2, one, ALL_BITS ^ free)) for one, free in ipv6]


def profile() -> dict[str, Any]:
    rules = [allow(sorted(names.split())) for names in ALLOWED.values()]
    rules += [*sockets(), *device_calls(), *socket_options()]
    rules += [allow(["personality"], equals(0, value)) for value in PERSONALITIES]
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": 1,
        "archMap": [
            {"architecture": f"SCMP_ARCH_{name}", "subArchitectures": []} for name in ("X86_64", "AARCH64", "RISCV64")
        ],
        "syscalls": rules,
    }


if __name__ == "__main__":
    target = Path(__file__).with_name("seccomp.json")
    target.write_text(json.dumps(profile(), indent=2) + "\n", encoding="utf-8")
