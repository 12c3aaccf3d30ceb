"""The nursery: a process that has the data stack imported, never uses it, and forks a specialist per dispatch.

It keeps a few pairs ready: a supervisor and its specialist, both forked ahead of need and waiting for their spec. For a
dispatch it passes descriptors on and forks the next pair. It holds no key and no data, and ends with the orchestrator:
when its socket closes. It refuses to fork when its number of threads has grown since the imports, because a child of
a process that has used such a library can hang.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import sys
import warnings
from collections import deque
from typing import NoReturn

from outcrop_specialists.guard import kernel
from outcrop_specialists.guard.confine import close_all_but, open_standard_streams
from outcrop_specialists.guard.supervisor import (
    Descriptors,
    Supervisor,
    become_specialist,
    begin_watching,
    prepare,
    read_spec,
)

SPARES = 2
# Imported, never used: the tools import the same when they run.
PRELOADED = (
    "asyncio",
    "numpy",
    "polars",
    "python_calamine",
    "rapidfuzz",
    "regex",
    "scipy.stats",
    "sklearn.cluster",
    "sklearn.decomposition",
    "sklearn.metrics",
    "sklearn.preprocessing",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "outcrop_specialists.work",
    "outcrop_specialists.__main__",
)
_REFILL_SECONDS = 0.01
_MESSAGE = b"d"
_MAX_DESCRIPTORS = 8


class Nursery:
    """Serves one orchestrator over one socket."""

    def __init__(self, orchestrator: socket.socket) -> None:
        self._orchestrator = orchestrator
        self._spares: deque[socket.socket] = deque()
        self._threads = 0

    def serve(self) -> NoReturn:
        """Import, say so, and serve until the orchestrator is gone."""
        preload()
        self._threads = _thread_count()
        self._orchestrator.sendall(b"ready\n")
        while True:
            waiting, _, _ = select.select([self._orchestrator], [], [], self._patience())
            if waiting:
                self._pass_on()
            else:
                self._spares.append(self._fork_pair())

    def _patience(self) -> float | None:
        """How long to wait for a dispatch before the next pair is forked; a fork now would slow the last one down."""
        if len(self._spares) >= SPARES:
            return None
        return _REFILL_SECONDS if self._spares else 0.0

    def _pass_on(self) -> None:
        message, descriptors, _, _ = socket.recv_fds(self._orchestrator, 1, _MAX_DESCRIPTORS)
        if not message:
            os._exit(0)
        threads = _thread_count()
        if threads > self._threads:
            control = Descriptors.of(descriptors[1:]).control
            os.write(control, f"failed the nursery has {threads} threads, {self._threads} after its imports\n".encode())
        else:
            # Some threads of the imports end by themselves; from then on one more is one too many.
            self._threads = threads
            spare = self._spares.popleft() if self._spares else self._fork_pair()
            socket.send_fds(spare, [_MESSAGE], descriptors)
            spare.close()
        for descriptor in descriptors:
            os.close(descriptor)

    def _fork_pair(self) -> socket.socket:
        """Fork a supervisor, which forks its specialist; the socket on which it waits for its spec."""
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            _supervise(theirs)
        theirs.close()
        return ours


def _supervise(nursery: socket.socket) -> NoReturn:
    """In the first fork: become a supervisor with a specialist that waits, then wait for the spec."""
    close_all_but({2, nursery.fileno()})
    prepare()
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        nursery.close()
        _wait_and_play(theirs)
    theirs.close()
    descriptors = _receive(nursery)
    spec, given = read_spec(descriptors[0]), Descriptors.of(descriptors[1:])
    _say_taken(given.control)
    status_read, status_write = os.pipe2(os.O_CLOEXEC)
    socket.send_fds(ours, [_MESSAGE], [status_write, *descriptors])
    close_all_but({2, given.control, given.lifeline, status_read})
    begin_watching(Supervisor(given.control, given.lifeline, spec), child, status_read)


def _say_taken(control: int) -> None:
    """From here on the orchestrator does not start it elsewhere; ends the process where it has done so already."""
    try:
        os.write(control, b"taken\n")
    except OSError:
        os._exit(0)


def _wait_and_play(supervisor: socket.socket) -> NoReturn:
    """In the second fork: wait for the spec, be confined, play the specialist."""
    status, number, *numbers = _receive(supervisor)
    spec, given = read_spec(number), Descriptors.of(numbers)
    _forget_inherited_state()
    from outcrop_specialists.__main__ import main

    become_specialist(spec, given, status, main)


def _receive(sender: socket.socket) -> list[int]:
    """The descriptors of a dispatch; ends the process when nobody is left to send any."""
    message, descriptors, _, _ = socket.recv_fds(sender, 1, _MAX_DESCRIPTORS + 1)
    if not message:
        os._exit(0)
    return descriptors


def _forget_inherited_state() -> None:
    """What a fresh process would not share with its siblings: random states, the temporary folder."""
    import random
    import tempfile

    random.seed()
    tempfile.tempdir = None
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()


def preload() -> None:
    """Import the stack and freeze it, so that a child's garbage collection does not copy it."""
    for name in PRELOADED:
        importlib.import_module(name)
    from outcrop_specialists.tools.registry import all_tools

    for tool in all_tools():
        tool.schema()
    gc.collect()
    gc.freeze()


def _thread_count() -> int:
    return len(os.listdir("/proc/self/task"))


def main() -> NoReturn:
    """Serve on the socket whose number is on the command line."""
    open_standard_streams()
    # The children are supervisors: each reports to the orchestrator itself, nobody waits for it here.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # Python 3.12 warns of forking with threads; what makes it safe here is in the first lines of this file.
    warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)
    orchestrator = socket.socket(fileno=int(sys.argv[1]))
    _end_with(orchestrator)
    Nursery(orchestrator).serve()


def _end_with(orchestrator: socket.socket) -> None:
    """The imports take a second, in which the socket is not looked at: the kernel ends this process with its parent."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    with contextlib.suppress(BlockingIOError):
        # Its parent may have ended before that.
        if not orchestrator.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
            os._exit(0)


if __name__ == "__main__":
    main()
