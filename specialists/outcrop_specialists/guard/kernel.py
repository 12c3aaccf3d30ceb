"""The one door to the kernel calls that Python does not have: prctl, Landlock, seccomp, capabilities.

Every function returns None or raises OSError with the kernel's own errno. Linux on x86_64 and aarch64.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Iterable, Sequence

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_CHILD_SUBREAPER = 23, 24, 38, 36
SECCOMP_MODE_FILTER = 2
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_RULE_PATH_BENEATH = 1
CAP_DAC_OVERRIDE = 1
LAST_CAP = 63

_libc = ctypes.CDLL(None, use_errno=True)
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x20080522


def prctl(option: int, *arguments: int) -> int:
    """What the kernel answered. Raises OSError."""
    padded = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    return _checked(_libc.prctl(option, *padded))


def become_subreaper() -> None:
    """Orphans among our descendants become our children."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def hide_from_others() -> None:
    """Make /proc/PID/environ and memory of this process unreadable for other processes of the same user."""
    prctl(PR_SET_DUMPABLE, 0)


def give_up_new_privileges() -> None:
    """No set-user-ID program can give more than we have, from now on and for all descendants."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def landlock_abi() -> int:
    """The Landlock version of this kernel; 0 where there is none."""
    version: int = _libc.syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    return max(version, 0)


def landlock_ruleset(fs_rights: int, network_rights: int, scoped: int) -> int:
    """A descriptor of a new ruleset that handles these rights. Raises OSError."""
    attributes = struct.pack("<QQQ", fs_rights, network_rights, scoped)
    # An older kernel knows a shorter structure, and refuses a longer one unless its end is zero.
    size = 24 if scoped else 16 if network_rights else 8
    return _checked(_libc.syscall(LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0)))


def landlock_allow(ruleset: int, rights: int, descriptor: int) -> None:
    """Allow `rights` beneath what `descriptor` is open on. Raises OSError."""
    rule = struct.pack("<Qi", rights, descriptor)
    _checked(
        _libc.syscall(LANDLOCK_ADD_RULE, ctypes.c_int(ruleset), LANDLOCK_RULE_PATH_BENEATH, rule, ctypes.c_uint32(0))
    )


def landlock_restrict(ruleset: int) -> None:
    """Confine this thread and its descendants. `no_new_privs` must be set. Raises OSError."""
    _checked(_libc.syscall(LANDLOCK_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)))


def seccomp_filter(instructions: Sequence[tuple[int, int, int, int]]) -> None:
    """Install a BPF filter of (code, jt, jf, k). `no_new_privs` must be set. Raises OSError."""
    program = b"".join(struct.pack("<HBBI", *instruction) for instruction in instructions)
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("<HxxxxxxQ", len(instructions), ctypes.addressof(buffer))
    head = ctypes.create_string_buffer(header, len(header))
    _checked(_libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_void_p(ctypes.addressof(head)), 0, 0))


def keep_only_capabilities(kept: Iterable[int]) -> None:
    """Drop every capability but these, also from what a program that is started could get. Raises OSError."""
    wanted = set(kept)
    for capability in range(LAST_CAP + 1):
        if capability not in wanted:
            try:
                # Looked at first: one that is gone already cannot be dropped once more.
                if prctl(PR_CAPBSET_READ, capability):
                    prctl(PR_CAPBSET_DROP, capability)
            except OSError as error:
                if error.errno != 22:  # EINVAL: this kernel has no such capability
                    raise
    mask = sum(1 << capability for capability in wanted)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    header = struct.pack("<Ii", _CAPABILITY_VERSION_3, 0)
    data = struct.pack("<IIIIII", low, low, low, high, high, high)
    _checked(_libc.syscall(_CAPSET[platform.machine()], header, data))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
