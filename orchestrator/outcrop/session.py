"""Ending everything that runs in one session: SIGTERM and SIGCONT, grace, SIGKILL, until nothing is left.

Processes are signalled through pidfds, so that a recycled pid is never hit.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator

import psutil

_KILL_ROUNDS = 5
_KILL_SECONDS = 1.0


def members(session: int) -> list[int]:
    """The pids of the living processes of a session (zombies apart)."""
    return [pid for pid in psutil.pids() if _session_of(pid) == session and not _is_zombie(pid)]


async def stop(session: int, grace_seconds: float) -> list[str]:
    """End a session. Returns the signals it took, in order: [], ["SIGTERM"] or ["SIGTERM", "SIGKILL"]."""
    with _pidfds(session) as descriptors:
        if not descriptors:
            return []
        for descriptor in descriptors:
            _send(descriptor, signal.SIGTERM)
            _send(descriptor, signal.SIGCONT)
        await _ended(descriptors, grace_seconds)
    used = ["SIGTERM"]
    for _ in range(_KILL_ROUNDS):
        # Again until none is found: what was listed may have started others meanwhile.
        with _pidfds(session) as descriptors:
            if not descriptors:
                return used
            used = ["SIGTERM", "SIGKILL"]
            for descriptor in descriptors:
                _send(descriptor, signal.SIGKILL)
            await _ended(descriptors, _KILL_SECONDS)
    return used


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _is_zombie(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return True


@contextlib.contextmanager
def _pidfds(session: int) -> Iterator[list[int]]:
    descriptors: list[int] = []
    try:
        for pid in members(session):
            with contextlib.suppress(ProcessLookupError):
                descriptor = os.pidfd_open(pid)
                descriptors.append(descriptor)
                # The pid may have been recycled between listing and opening; then it is of another session.
                if _session_of(pid) != session:
                    os.close(descriptors.pop())
        yield descriptors
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _send(descriptor: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(descriptor, number)


async def _ended(descriptors: list[int], seconds: float) -> None:
    """Wait until all of these processes have ended, at most so long. A pidfd becomes readable at the end."""
    loop = asyncio.get_running_loop()
    futures: dict[int, asyncio.Future[None]] = {descriptor: loop.create_future() for descriptor in descriptors}
    for descriptor, future in futures.items():
        loop.add_reader(descriptor, _resolve, future)
    try:
        await asyncio.wait(futures.values(), timeout=seconds)
    finally:
        for descriptor in descriptors:
            loop.remove_reader(descriptor)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
