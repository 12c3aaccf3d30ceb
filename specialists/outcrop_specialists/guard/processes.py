"""What /proc says of processes. Standard library only."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator

# Where a line of `stat` has these, counted from the state on.
_STATE, _THREADS, _RSS = 0, 17, 21


def descendants(ancestor: int) -> list[int]:
    """The living processes that descend from `ancestor`, by one look through /proc."""
    parents: dict[int, int] = {}
    for pid, fields in _living():
        parents[pid] = int(fields[1])
    family, generation = set[int](), {ancestor}
    while generation:
        generation = {pid for pid, parent in parents.items() if parent in generation and pid not in family}
        family |= generation
    return sorted(family)


def family_of(ancestor: int) -> list[int]:
    """The processes that descend from `ancestor`, asked of each for its children: cheap where many others run.

    A child that ends meanwhile can hide a sibling from one such look, so what is to be ended is found by `descendants`.
    """
    family: list[int] = []
    asked = [ancestor]
    while asked:
        children = _children(asked.pop())
        if children is None:
            return descendants(ancestor)
        family += children
        asked += children
    return sorted(family)


def members_of(group: int) -> list[int]:
    """The living processes of a process group."""
    return [pid for pid, fields in _living() if int(fields[2]) == group]


def children_without_proc(highest: int) -> list[int]:
    """Our own children, asked of every number there can be: slow, but it takes no descriptor and no /proc."""
    found = []
    for pid in range(2, highest + 1):
        try:
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            continue
        found.append(pid)
    return found


def highest_pid() -> int:
    """The highest number that a process can have here."""
    try:
        with open("/proc/sys/kernel/pid_max", "rb") as file:
            return int(file.read())
    except (OSError, ValueError):
        return 1 << 22


def rss_bytes(pid: int) -> int:
    """The resident memory of a process; 0 when it has ended."""
    fields = _stat_fields(f"/proc/{pid}")
    if fields and fields[_STATE] == b"Z" and not _is_dead(fields):
        # Its first thread has ended, so that only the others tell.
        fields = next((found for found in _threads(pid) if found[_STATE] != b"Z"), fields)
    return int(fields[_RSS]) * os.sysconf("SC_PAGE_SIZE") if fields and len(fields) > _RSS else 0


def memory_file_bytes(pids: Iterable[int]) -> int:
    """The memory of the files without a name that these processes hold open and that none of them has mapped.

    What is mapped counts as resident already.
    """
    files: dict[tuple[int, int], int] = {}
    mapped = 0
    for pid in pids:
        held = _memory_files(pid)
        if held:
            files |= held
            mapped += _mapped_bytes(pid)
    return max(0, sum(files.values()) - mapped)


def _memory_files(pid: int) -> dict[tuple[int, int], int]:
    found = {}
    folder = f"/proc/{pid}/fd"
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                if os.readlink(f"{folder}/{name}").startswith("/memfd:"):
                    about = os.stat(f"{folder}/{name}")
                    found[about.st_dev, about.st_ino] = about.st_blocks * 512
    return found


def _mapped_bytes(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/status", "rb") as file:
        return int(file.read().split(b"RssShmem:")[1].split()[0]) << 10
    return 0


def _children(pid: int) -> list[int] | None:
    """Of all its threads; none of a process that has ended; None where the kernel does not say."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
        except ProcessLookupError:
            continue
        except FileNotFoundError:
            if os.path.exists(f"/proc/{pid}/task/{thread}"):
                return None
        except OSError:
            return None
    return found


def _living() -> Iterator[tuple[int, list[bytes]]]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = _stat_fields(f"/proc/{name}")
            if fields and not _is_dead(fields):
                yield int(name), fields


def _is_dead(fields: list[bytes]) -> bool:
    """A zombie whose first thread has ended goes on as long as it has others."""
    return fields[_STATE] == b"Z" and int(fields[_THREADS]) <= 1


def _threads(pid: int) -> Iterator[list[bytes]]:
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/task"):
            if fields := _stat_fields(f"/proc/{pid}/task/{name}"):
                yield fields


def _stat_fields(folder: str) -> list[bytes] | None:
    try:
        with open(f"{folder}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return None
