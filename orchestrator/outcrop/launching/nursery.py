"""The orchestrator's end of the nursery: started in the background, restarted when it dies, asked for specialists."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

from outcrop.launching import Launcher, LaunchSpec
from outcrop.launching.cold import ColdLauncher
from outcrop.launching.environment import environment_for
from outcrop.launching.supervised import Ends, NotTakenError, SupervisedChild, begin
from outcrop_schemas import limits
from outcrop_schemas.errors import LaunchError
from outcrop_specialists.guard.confine import open_standard_streams

_log = logging.getLogger(__name__)
# Its heap in huge pages makes each fork two to three times cheaper: fewer page tables to copy.
_HUGE_PAGES = {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
_RESTART_SECONDS = 60.0


class NurseryLauncher:
    """Built-in specialists out of the nursery; COMMANDs, and everything while it is not ready, by a cold start.

    The nursery takes as much as a few cold starts: unless it is asked for, it is started once there were so many.
    """

    def __init__(self, cache: Path, *, is_wanted: bool = False) -> None:
        self._cache, self._cold = cache, ColdLauncher()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._is_ready, self._is_wanted = False, is_wanted
        self._cold_starts = 0
        self._starts: deque[float] = deque(maxlen=limits.NURSERY_STARTS)
        self.ready = asyncio.Event()

    def warm(self) -> None:
        """Start the nursery, if it is not there. Raises LaunchError when it has died too often."""
        self._is_wanted = True
        if self._process is not None:
            return
        now = time.monotonic()
        if len(self._starts) == self._starts.maxlen and now - self._starts[0] < _RESTART_SECONDS:
            raise LaunchError(
                f"the nursery died {len(self._starts)} times within {_RESTART_SECONDS:.0f} s; "
                "its last words are on stderr; cold starts go without it (`outcrop dispatch --launch cold`)"
            )
        self._starts.append(now)
        open_standard_streams()
        ours, theirs = socket.socketpair()
        environment = environment_for(self._cache, self._cache, _HUGE_PAGES)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "outcrop_specialists.guard.nursery", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=environment,
            cwd="/",
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        theirs.close()
        ours.setblocking(False)
        self._socket = ours
        asyncio.get_running_loop().add_reader(ours, self._listen)

    async def launch(self, spec: LaunchSpec) -> SupervisedChild:
        """Start one process. Raises LaunchError."""
        if spec.argv is not None:
            return await self._cold.launch(spec)
        if not self._is_wanted and self._cold_starts < limits.COLD_STARTS:
            self._cold_starts += 1
            return await self._cold.launch(spec)
        self.warm()
        if not self._is_ready:
            return await self._cold.launch(spec)
        open_standard_streams()
        asked = self._process
        try:
            return await begin(spec, "nursery", self._ask, limits.NURSERY_ANSWER_SECONDS)
        except NotTakenError as error:
            if asked is self._process:
                _log.warning("the nursery is given up, this specialist starts cold: %s", error)
                self._forget()
            return await self._cold.launch(spec)

    async def close(self) -> None:
        """End the nursery; specialists that run go on under their supervisors."""
        self._forget()

    def _ask(self, ends: Ends) -> None:
        try:
            if self._socket is None:
                raise OSError(errno.ECONNRESET, "it died")
            socket.send_fds(self._socket, [b"d"], ends.theirs)
        except OSError as error:
            raise NotTakenError(f"the nursery could not be asked: {error.strerror}") from error

    def _listen(self) -> None:
        assert self._socket is not None
        try:
            said = self._socket.recv(64)
        except BlockingIOError:
            return
        except OSError:
            # It died with a dispatch unread.
            said = b""
        if said:
            self._is_ready = True
            self.ready.set()
        else:
            _log.warning("the nursery died; it is started again when it is needed")
            self._forget()

    def _forget(self) -> None:
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._socket = self._process = None
        self._is_ready = False
        self.ready.clear()


def choose_launcher(kind: Launcher | str, cache: Path) -> Launcher:
    """One of your own, or `auto`, `nursery` or `cold`. Auto takes the nursery where there is fork with pidfds."""
    if not isinstance(kind, str):
        return kind
    if kind == "cold" or not hasattr(os, "pidfd_open"):
        return ColdLauncher()
    return NurseryLauncher(cache, is_wanted=kind == "nursery")
