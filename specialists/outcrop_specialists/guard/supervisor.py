"""The supervisor of one dispatch: the parent of its specialist, outside the specialist's confinement, holding no key.

Whatever the specialist starts ends with it. The supervisor is a subreaper, so that orphans and daemons become its
children, and it holds the read end of a lifeline whose write end exists only in the orchestrator: when the orchestrator
ends, however it ends, everything is killed. What happens goes to the orchestrator as lines on the control socket:
`taken` (from the nursery only), `started PID LAYERS` (PID 0 inside bubblewrap), `exited CODE SIGNAL CPU_SECONDS
RSS_BYTES`, `over TEXT`, `swept SIGNALS STRAYS`, `failed TEXT`; what it is told is `stop GRACE_SECONDS`.
"""

from __future__ import annotations

import contextlib
import fcntl
import marshal
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from outcrop_specialists.guard import kernel
from outcrop_specialists.guard.confine import close_all_but, confine, say_layers
from outcrop_specialists.guard.processes import (
    children_without_proc,
    descendants,
    family_of,
    highest_pid,
    memory_file_bytes,
    rss_bytes,
)

# Where the model channel is in a specialist, whatever number it came under.
CHANNEL_FD = 3
_OUT_OF_THE_WAY = CHANNEL_FD + 1
_LOOK_SECONDS = 0.5
# In the grace time: how long the orchestrator's own end may go unnoticed.
_GRACE_LOOK_SECONDS = 0.1
_KILL_ROUNDS = 200
_ROUND_SECONDS = 0.05


@dataclass(frozen=True)
class Descriptors:
    """What a supervisor is given: the specialist's standard streams and channel, its own control and lifeline."""

    request: int
    stdout: int
    stderr: int
    control: int
    lifeline: int
    channel: int | None = None

    @classmethod
    def of(cls, numbers: list[int]) -> Descriptors:
        return cls(*numbers)

    def of_specialist(self) -> tuple[int, ...]:
        """In the order of the numbers that they get: 0, 1, 2 and, where there is a channel, 3."""
        streams = (self.request, self.stdout, self.stderr)
        return streams if self.channel is None else (*streams, self.channel)


class Supervisor:
    """Watches one specialist process to the end of everything it started."""

    def __init__(self, control: int, lifeline: int, spec: Mapping[str, Any]) -> None:
        self._control, self._lifeline = control, lifeline
        self._memory_bytes, self._process_limit = spec["memory_bytes"], spec["processes"]
        # In a process table of its own: its numbers mean other processes outside.
        self._is_wrapped = "outside" in spec["policy"]
        self._child = -1
        self._has_exited = False
        self._commands = b""
        # Looked up while it can be.
        self._highest_pid = highest_pid()

    def fail(self, reason: str) -> NoReturn:
        """Say that the specialist could not be started, and end."""
        self._say(f"failed {reason}")
        self._kill_everything()

    def watch(self, child: int, layers: str) -> NoReturn:
        """Watch until told to stop, or until the orchestrator is gone."""
        self._child = child
        self._say(f"started {0 if self._is_wrapped else child} {layers}")
        pidfd = os.pidfd_open(child)
        poll = select.poll()
        for descriptor in (pidfd, self._control, self._lifeline):
            poll.register(descriptor, select.POLLIN | select.POLLHUP)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(_LOOK_SECONDS * 1000)}
            if self._lifeline in ready:
                self._kill_everything()
            if pidfd in ready:
                poll.unregister(pidfd)
                self._reap_child()
            if self._control in ready:
                self._obey()
            if not ready and not self._has_exited:
                self._check_use()

    def _obey(self) -> None:
        try:
            data = os.read(self._control, 256)
        except OSError:
            # The orchestrator ended with words of ours unread: a reset, which may come before the lifeline's end.
            data = b""
        if not data:
            self._kill_everything()
        self._commands += data
        while b"\n" in self._commands:
            line, self._commands = self._commands.split(b"\n", 1)
            word, grace = line.split()
            if word == b"stop":
                self._sweep(float(grace))

    def _sweep(self, grace_seconds: float) -> NoReturn:
        """End everything: SIGTERM and SIGCONT, grace, SIGKILL, until there is no child left."""
        signals, strays = [], 0
        if not self._reap():
            victims = self._victims()
            strays = len([pid for pid in victims if pid != self._child])
            signals.append("SIGTERM")
            _send(victims, signal.SIGTERM)
            _send(victims, signal.SIGCONT)
            if not self._wait_for_all(grace_seconds, self._lifeline):
                signals.append("SIGKILL")
                self._kill_rounds()
        self._say(f"swept {','.join(signals) or '-'} {strays}")
        os._exit(0)

    def _kill_everything(self) -> NoReturn:
        self._kill_rounds()
        os._exit(0)

    def _kill_rounds(self) -> None:
        # Again and again: what was listed may have started others meanwhile.
        for _ in range(_KILL_ROUNDS):
            _send(self._victims(), signal.SIGKILL)
            if self._wait_for_all(_ROUND_SECONDS):
                return

    def _victims(self) -> list[int]:
        try:
            return descendants(os.getpid())
        except OSError:
            # Without a descriptor left /proc cannot be read. Our children are enough: theirs become ours.
            return children_without_proc(self._highest_pid)

    def _wait_for_all(self, seconds: float, lifeline: int | None = None) -> bool:
        """Whether every child ended within the time, or while the lifeline holds where it is given.

        SIGCHLD is blocked, so that it can be waited for.
        """
        deadline = time.monotonic() + seconds
        while not self._reap():
            left = deadline - time.monotonic()
            if lifeline is not None and select.select([lifeline], [], [], 0)[0]:
                return False
            if left <= 0:
                return False
            signal.sigtimedwait({signal.SIGCHLD}, min(left, _GRACE_LOOK_SECONDS))
        return True

    def _reap(self) -> bool:
        """Reap what has ended; True when there is no child left."""
        while True:
            if (
                not self._has_exited
                and self._child > 0
                and os.waitid(os.P_PID, self._child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            ):
                self._reap_child()
                continue
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False

    def _reap_child(self) -> None:
        if self._has_exited:
            return
        _, status, usage = os.wait4(self._child, 0)
        self._has_exited = True
        code = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime
        self._say(f"exited {max(code, 0)} {max(-code, 0)} {cpu:.3f} {usage.ru_maxrss * 1024}")

    def _check_use(self) -> None:
        """Memory and number of all processes of the dispatch, measured; over a limit they are ended."""
        try:
            family = family_of(os.getpid())
        except OSError:
            return
        rss = sum(rss_bytes(pid) for pid in family) + memory_file_bytes(family)
        if rss > self._memory_bytes:
            self._say(f"over memory: {rss} bytes are resident, {self._memory_bytes} are allowed")
        elif len(family) > self._process_limit:
            self._say(f"over processes: {len(family)} processes run, {self._process_limit} are allowed")
        else:
            return
        self._kill_rounds()

    def _say(self, text: str) -> None:
        # The orchestrator may be gone; the lifeline tells.
        with contextlib.suppress(OSError):
            os.write(self._control, text.replace("\n", " ").encode() + b"\n")


def prepare() -> None:
    """Make this process a supervisor: no signal that is meant for others ends it."""
    kernel.become_subreaper()
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})


def become_specialist(spec: Mapping[str, Any], given: Descriptors, status: int, play: Callable[[], None]) -> NoReturn:
    """In the forked child: own session, own descriptors, own environment, confined; then play. Never returns.

    What fails on the way goes to `status`, which closes when the program has been started or the play begins.
    """
    try:
        os.setsid()
        status = _take_descriptors(given, status)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(spec["folder"])
        os.environ.clear()
        os.environ.update(spec["environment"])
        layers = confine(spec["policy"])
        # Should the supervisor be killed, its specialist goes with it. Last, since new credentials clear it.
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        os.write(status, f"ok {say_layers(layers)}".encode())
        if spec["argv"]:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.execve(spec["argv"][0], spec["argv"], spec["environment"])
        os.close(status)
        play()
    except Exception as error:  # noqa: BLE001 - the boundary of a forked child: what fails must be said
        os.write(status, f"failed {type(error).__name__}: {error}".encode())
    finally:
        os._exit(127)


def _take_descriptors(given: Descriptors, status: int) -> int:
    """Put the streams at 0, 1, 2 and the channel at 3, close all others; the new number of `status`."""
    # First out of the way of the low numbers, so that none is overwritten before it is taken.
    status, *streams = [
        fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY) for number in (status, *given.of_specialist())
    ]
    for target, source in enumerate(streams):
        os.dup2(source, target)
    kept = {2, status}
    if len(streams) > CHANNEL_FD:
        kept.add(CHANNEL_FD)
    close_all_but(kept)
    return status


def begin_watching(supervisor: Supervisor, child: int, status: int) -> NoReturn:
    """Wait until the child is confined and started, say so or why not, and watch."""
    said = b""
    while piece := os.read(status, 4096):
        said += piece
    os.close(status)
    _, failed, reason = said.decode("utf-8", "replace").partition("failed ")
    if failed:
        supervisor.fail(reason)
    supervisor.watch(child, said.decode().removeprefix("ok ") or "-")


def _send(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        # Descendants of ours that we have not reaped keep their pid: it cannot be somebody else's yet.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def read_spec(descriptor: int) -> dict[str, Any]:
    """The marshalled spec in a file; its offset is left alone, since others read it too."""
    data: dict[str, Any] = marshal.loads(os.pread(descriptor, os.fstat(descriptor).st_size, 0))
    return data


def main() -> NoReturn:
    """The cold supervisor: the numbers of the spec's and of all other descriptors are on the command line."""
    number, *numbers = map(int, sys.argv[1:])
    spec, given = read_spec(number), Descriptors.of(numbers)
    prepare()
    if select.select([given.lifeline], [], [], 0)[0]:
        # The orchestrator ended while this process started: there is nobody to work for.
        os._exit(0)
    status_read, status_write = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child == 0:
        become_specialist(spec, given, status_write, lambda: None)
    close_all_but({2, given.control, given.lifeline, status_read})
    begin_watching(Supervisor(given.control, given.lifeline, spec), child, status_read)
