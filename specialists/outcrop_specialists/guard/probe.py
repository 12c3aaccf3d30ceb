"""Tries what a specialist must not be able to do, and says what happened. Launched and confined like any other.

Prints one JSON object: for each attempt `denied: REASON` or `done`. It touches only the paths that it is given, and
its only network address is the loopback one.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable

# Twice what the probe's own limit leaves room for.
FORKS = 48


def main() -> None:
    """The paths to try are on the command line: one to write, one to read, and the pid that holds the keys."""
    outside, secret, holder = sys.argv[1:4]
    attempts: dict[str, Callable[[], None]] = {
        "write": lambda: _write(outside),
        "write_through_link": lambda: _write_through_link(outside),
        "read": lambda: _read(secret),
        "metadata": lambda: _change_metadata(secret),
        "network": _connect,
        "datagrams": _pair_of_datagrams,
        "environment": lambda: _read(f"/proc/{holder}/environ"),
        "environments": _read_environments,
        "namespace": _new_namespace,
        "memory": _take_memory,
        "shared_memory": _shared_memory,
        "file_size": _large_file,
        "processes": _many_processes,
    }
    said = {name: _attempt(attempt) for name, attempt in attempts.items()}
    _leave_daemon()
    sys.stdout.write(json.dumps(said))
    sys.stdout.flush()
    os._exit(0)


def _attempt(attempt: Callable[[], None]) -> str:
    try:
        attempt()
    except (OSError, MemoryError) as error:
        return f"denied: {getattr(error, 'strerror', None) or type(error).__name__}"
    return "done"


def _write(path: str) -> None:
    with open(path, "w") as file:
        file.write("x")


def _write_through_link(path: str) -> None:
    os.symlink(path, "link")
    try:
        _write("link")
    finally:
        os.unlink("link")


def _read(path: str) -> None:
    with open(path, "rb") as file:
        file.read(1)


def _change_metadata(path: str) -> None:
    # Looked at afterwards: the call may say that it was done.
    before = os.stat(path)
    with contextlib.suppress(OSError):
        os.utime(path, (1, 1))
    with contextlib.suppress(OSError):
        os.chmod(path, 0o640)
    after = os.stat(path)
    if (before.st_mtime_ns, before.st_mode) == (after.st_mtime_ns, after.st_mode):
        raise OSError(errno.EPERM, "it stayed as it was")


def _pair_of_datagrams() -> None:
    import socket

    # Such an end can be sent to any socket that has a path; making it is what must fail.
    for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
        end.close()


def _read_environments() -> None:
    """Of any process that we did not start: what is readable there would show a key."""
    own = set(os.environ)
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                said = file.read(1 << 16)
        except OSError:
            continue
        if {os.fsdecode(entry.partition(b"=")[0]) for entry in said.split(b"\0") if entry} - own:
            return
    raise OSError(errno.EACCES, os.strerror(errno.EACCES))


def _shared_memory() -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    number = libc.shmget(0, ctypes.c_size_t(4096), 0o600)
    if number < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    libc.shmctl(number, 0, None)


def _connect() -> None:
    import socket

    # Nothing listens on this port; making the socket is what must fail.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.connect(("127.0.0.1", 9))


def _new_namespace() -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    child = os.fork()
    if child == 0:
        os._exit(0 if libc.unshare(0x10000000) == 0 else ctypes.get_errno())
    _, status = os.waitpid(child, 0)
    number = os.waitstatus_to_exitcode(status)
    if number:
        raise OSError(number, os.strerror(number))


def _take_memory() -> None:
    import mmap
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    # Asked for and not touched: nothing is used up where it is granted.
    size = hard + (1 << 20) if hard != resource.RLIM_INFINITY else 1 << 40
    try:
        mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, ValueError) as error:
        raise MemoryError(str(error)) from error


def _large_file() -> None:
    import resource
    import signal

    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if hard == resource.RLIM_INFINITY:
        return
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    descriptor = os.open("large", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        # A hole: no block of the disk is used.
        os.ftruncate(descriptor, hard + 1)
    finally:
        os.close(descriptor)
        os.unlink("large")


def _many_processes() -> None:
    import resource
    import signal

    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    if hard == resource.RLIM_INFINITY or os.geteuid() == 0:
        # No limit, or one that does not bind root: not tried.
        return
    children = []
    try:
        for _ in range(FORKS):
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _leave_daemon() -> None:
    """A process in a session of its own whose pipes are closed: the supervisor must find it all the same."""
    null = subprocess.DEVNULL
    subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(300)"],
        stdin=null,
        stdout=null,
        stderr=null,
        start_new_session=True,
    )


if __name__ == "__main__":
    main()
