"""The system calls that no specialist needs, as a BPF filter: sockets, tracing, namespaces, mounts, kernel doors.

A denied call fails with EPERM and the program goes on. `socketpair` stays: asyncio needs it and it reaches nobody.
"""

from __future__ import annotations

import platform

from outcrop_specialists.guard import kernel

# name: (x86_64, aarch64); -1 where an architecture has no such call.
_DENIED: dict[str, tuple[int, int]] = {
    "socket": (41, 198),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    "chroot": (161, 51),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "open_by_handle_at": (304, 265),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, -1),
    "ioperm": (173, -1),
}
# For scripts only: they could leave the group that is ended with them.
_DENIED_TO_SCRIPTS: dict[str, tuple[int, int]] = {"setsid": (112, 157), "setpgid": (109, 154)}
_CLONE = (56, 220)
_CLONE3 = (435, 435)
_KILL_CALL = (62, 129)
_NAMESPACES = 0x7E020080  # CLONE_NEWNS|CGROUP|UTS|IPC|USER|PID|NET and CLONE_NEWTIME

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_LOAD, _EQUAL, _GREATER_EQUAL, _SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_X32_BIT = 0x40000000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16

Instruction = tuple[int, int, int, int]


def build_filter(
    *, for_scripts: bool = False, immune: int | None = None, machine: str | None = None
) -> list[Instruction]:
    """The filter for this architecture. Raises OSError on one that it was not written for.

    A signal to the process `immune` (the supervisor) is answered as if it had been sent and ignored, as the supervisor
    would; a program that signals its parent is not broken by Landlock's refusal.
    """
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        raise OSError(95, f"no seccomp filter for {machine}")
    column, audit = _ARCHITECTURES[machine]
    table = {**_DENIED, **(_DENIED_TO_SCRIPTS if for_scripts else {})}
    denied = sorted({numbers[column] for numbers in table.values() if numbers[column] >= 0})
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        program += [(_GREATER_EQUAL, 0, 1, _X32_BIT), (_RETURN, 0, 0, _ERRNO | _ENOSYS)]
    # Without clone3 the C library uses clone, whose flags a filter can see.
    program += [(_EQUAL, 0, 1, _CLONE3[column]), (_RETURN, 0, 0, _ERRNO | _ENOSYS)]
    for number in denied:
        program += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | _EPERM)]
    if immune is not None:
        program += [
            (_EQUAL, 0, 4, _KILL_CALL[column]),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            (_EQUAL, 0, 1, immune),
            (_RETURN, 0, 0, _ERRNO),
            (_LOAD, 0, 0, _NUMBER),
        ]
    program += [
        (_EQUAL, 0, 3, _CLONE[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_SET, 0, 1, _NAMESPACES),
        (_RETURN, 0, 0, _ERRNO | _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return program


def apply(*, for_scripts: bool = False, immune: int | None = None) -> None:
    """Confine this process and its descendants. `no_new_privs` must be set. Raises OSError."""
    kernel.seccomp_filter(build_filter(for_scripts=for_scripts, immune=immune))
