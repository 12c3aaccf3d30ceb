"""What /proc says of processes. Standard library only."""

from __future__ import annotations

import os
from collections.abc import Iterator


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


def rss_bytes(pid: int) -> int:
    """The resident memory of a process; 0 when it has ended."""
    fields = _stat_fields(pid)
    return int(fields[21]) * os.sysconf("SC_PAGE_SIZE") if fields and len(fields) > 21 else 0


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
            fields = _stat_fields(int(name))
            if fields and fields[0] != b"Z":
                yield int(name), fields


def _stat_fields(pid: int) -> list[bytes] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return None
