"""The system calls that no specialist needs, as a BPF filter: sockets, tracing, namespaces, mounts, kernel doors.

A denied call fails with EPERM and the program goes on. A `socketpair` of streams stays: asyncio needs it and it reaches
nobody; one of datagrams could be sent to every socket of the machine.
"""

from __future__ import annotations

import platform

from outcrop_specialists.guard import calls, kernel

_NAMESPACES = 0x7E020080  # CLONE_NEWNS|CGROUP|UTS|IPC|USER|PID|NET and CLONE_NEWTIME
# FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY: on any file that can be opened.
_FILE_FLAGS = (0x40086602, 0x40046602, 0x401C5820, 0x40806685)
_AF_UNIX, _SOCK_STREAM, _SOCKET_KIND = 1, 1, 0xF
_AF_INET, _AF_INET6, _AF_NETLINK = 2, 10, 16

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_LOAD, _EQUAL, _GREATER_EQUAL, _SET, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS, _ENOTSUP = 1, 38, 95
_X32_BIT = 0x40000000
_NUMBER, _ARCHITECTURE = 0, 4
_FIRST, _SECOND = 16, 24

Instruction = tuple[int, int, int, int]
_DENY: Instruction = (_RETURN, 0, 0, _ERRNO | _EPERM)
_PASS: Instruction = (_RETURN, 0, 0, _ALLOW)
_IGNORE: Instruction = (_RETURN, 0, 0, _ERRNO)


def build_filter(
    *,
    for_scripts: bool = False,
    immune: int | None = None,
    own: int = 0,
    has_network: bool = False,
    machine: str | None = None,
) -> list[Instruction]:
    """The filter for this architecture. Raises OSError on one that it was not written for.

    A signal to the process `immune` (the supervisor) is answered as if it had been sent and ignored, as the supervisor
    would; a program that signals its parent is not broken by Landlock's refusal. `own` is the process that may be named
    where a call can be for another one. `has_network` is for who may use the network: sockets of the Internet, and none
    that leads to another process of this machine by its path.
    """
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        raise OSError(95, f"no seccomp filter for {machine}")
    column, audit = _ARCHITECTURES[machine]
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        program += [(_GREATER_EQUAL, 0, 1, _X32_BIT), (_RETURN, 0, 0, _ERRNO | _ENOSYS)]
    # Without clone3 the C library uses clone, whose flags a filter can see.
    program += [(_EQUAL, 0, 1, calls.CLONE3[column]), (_RETURN, 0, 0, _ERRNO | _ENOSYS)]
    denied = {**calls.DENIED, **(calls.DENIED_TO_SCRIPTS if for_scripts else {})}
    if has_network:
        program += _where(denied.pop("socket")[column], _OF_THE_INTERNET)
    program += _answer(denied, column, _DENY)
    program += _answer(calls.UNSUPPORTED, column, (_RETURN, 0, 0, _ERRNO | _ENOTSUP))
    program += _answer(calls.IGNORED, column, _IGNORE)
    if immune is not None:
        program += _where(calls.KILL[column], [(_LOAD, 0, 0, _FIRST), (_EQUAL, 0, 1, immune), _IGNORE, _PASS])
    for numbers, argument, kind in calls.ON_PROCESSES.values():
        program += _where(numbers[column], _for_itself(argument, kind, own))
    program += _where(calls.SOCKETPAIR[column], _PAIR_OF_STREAMS)
    program += _where(calls.IOCTL[column], _NO_FILE_FLAGS)
    program += _where(calls.CLONE[column], [(_LOAD, 0, 0, _FIRST), (_SET, 0, 1, _NAMESPACES), _DENY, _PASS])
    return [*program, _PASS]


def _answer(table: dict[str, tuple[int, int]], column: int, answer: Instruction) -> list[Instruction]:
    found: list[Instruction] = []
    for number in sorted({numbers[column] for numbers in table.values() if numbers[column] >= 0}):
        found += [(_EQUAL, 0, 1, number), answer]
    return found


def _where(number: int, body: list[Instruction]) -> list[Instruction]:
    """For this call a body that always ends in an answer; otherwise the number is still loaded for what follows."""
    return [(_EQUAL, 0, len(body), number), *body]


def _for_itself(argument: int, kind: int, own: int) -> list[Instruction]:
    """Allow where the process that is named is 0 or `own`; where there are kinds, of this kind only."""
    named = [(_LOAD, 0, 0, _SECOND if argument else _FIRST), (_EQUAL, 2, 0, 0), (_EQUAL, 1, 0, own), _DENY, _PASS]
    return named if kind < 0 else [(_LOAD, 0, 0, _FIRST), (_EQUAL, 1, 0, kind), _DENY, *named]


_PAIR_OF_STREAMS: list[Instruction] = [
    (_LOAD, 0, 0, _FIRST),
    (_EQUAL, 1, 0, _AF_UNIX),
    _DENY,
    (_LOAD, 0, 0, _SECOND),
    (_AND, 0, 0, _SOCKET_KIND),
    (_EQUAL, 1, 0, _SOCK_STREAM),
    _DENY,
    _PASS,
]
# Names are looked up by way of netlink too: which addresses this machine has.
_OF_THE_INTERNET: list[Instruction] = [
    (_LOAD, 0, 0, _FIRST),
    *((_EQUAL, 3 - place, 0, family) for place, family in enumerate((_AF_INET, _AF_INET6, _AF_NETLINK))),
    _DENY,
    _PASS,
]
_NO_FILE_FLAGS: list[Instruction] = [
    (_LOAD, 0, 0, _SECOND),
    *(step for number in _FILE_FLAGS for step in ((_EQUAL, 0, 1, number), _DENY)),
    _PASS,
]


def apply(*, for_scripts: bool = False, immune: int | None = None, own: int = 0, has_network: bool = False) -> None:
    """Confine this process and its descendants. `no_new_privs` must be set. Raises OSError."""
    kernel.seccomp_filter(build_filter(for_scripts=for_scripts, immune=immune, own=own, has_network=has_network))
