"""Landlock: which paths a process may read and which it may write; everything else is denied by the kernel."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping

from outcrop_specialists.guard import kernel

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (
    1 << bit for bit in range(4, 13)
)
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
BIND_TCP, CONNECT_TCP = 1 << 0, 1 << 1
SCOPE_ABSTRACT_SOCKETS, SCOPE_SIGNALS = 1 << 0, 1 << 1

READ = EXECUTE | READ_FILE | READ_DIR
WRITE = (
    READ
    | WRITE_FILE
    | REMOVE_DIR
    | REMOVE_FILE
    | MAKE_DIR
    | MAKE_REG
    | MAKE_FIFO
    | MAKE_SOCK
    | MAKE_SYM
    | REFER
    | TRUNCATE
)
DEVICE = READ_FILE | WRITE_FILE | IOCTL_DEV
_ALL_FS = (1 << 13) - 1
# What an open file that is no folder can be allowed.
_OF_FILES = EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV


class ReplacedError(OSError):
    """Somebody is at work to have another folder granted: no reason to go on with less confinement."""


# Of a path: the device and the number of what it was checked to be.
Identity = tuple[int, int]


def apply(
    readable: Iterable[str],
    writable: Iterable[str],
    listable: Iterable[str],
    devices: Iterable[str],
    identities: Mapping[str, Identity] | None = None,
    *,
    has_network: bool = False,
) -> None:
    """Confine this process and its descendants. `no_new_privs` must be set; paths that are missing are passed over.

    A path that is in `identities` must still lead to what it was checked to be: it may lie where others can write.
    Raises ReplacedError where it does not, OSError where the kernel has no Landlock or refuses.
    """
    abi = kernel.landlock_abi()
    if abi < 1:
        raise OSError(38, "this kernel has no Landlock")
    handled = _ALL_FS | (REFER if abi >= 2 else 0) | (TRUNCATE if abi >= 3 else 0) | (IOCTL_DEV if abi >= 5 else 0)
    network = BIND_TCP | CONNECT_TCP if abi >= 4 and not has_network else 0
    scoped = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS if abi >= 6 else 0
    ruleset = kernel.landlock_ruleset(handled, network, scoped)
    try:
        for paths, rights in ((readable, READ), (writable, WRITE), (listable, READ_DIR), (devices, DEVICE)):
            for path in paths:
                _allow(ruleset, path, rights & handled, (identities or {}).get(path))
        kernel.landlock_restrict(ruleset)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int, identity: Identity | None) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        # What is not there needs no rule.
        return
    try:
        found = os.stat(descriptor)
        if identity is not None and (found.st_dev, found.st_ino) != identity:
            raise ReplacedError(errno.ESTALE, f"{path}: this folder was granted, and is another one now")
        is_folder = found.st_mode & 0o170000 == 0o040000
        try:
            kernel.landlock_allow(ruleset, rights if is_folder else rights & _OF_FILES, descriptor)
        except OSError as error:
            # A pipe, a socket, a memory file (/dev/stdin): on no file system, so that no rule is needed for it either.
            # ENOMSG: there is nothing to allow, as where names are to be listed of what is no folder.
            if error.errno not in (errno.EBADFD, errno.ENOMSG):
                raise
    finally:
        os.close(descriptor)
