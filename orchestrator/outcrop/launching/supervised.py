"""A specialist under its supervisor: the orchestrator's end of the control socket and of the lifeline."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import marshal
import os
import resource
import socket
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from outcrop import session
from outcrop.launching import ExitInfo, LaunchKind, LaunchSpec, Swept
from outcrop.properties import IsolationSet
from outcrop_schemas import limits
from outcrop_schemas.errors import LaunchError
from outcrop_specialists.guard.confine import read_layers

# A supervisor that was told to stop answers within the grace time; this much later it is taken for dead.
_ANSWER_SECONDS = 5.0
_START_SECONDS = 20.0


class NotTakenError(LaunchError):
    """Nothing was started, and nothing will be: it can be started in another way."""


class Ends:
    """The descriptors of one launch: theirs go to the supervisor, ours stay."""

    def __init__(self, spec: LaunchSpec) -> None:
        with ExitStack() as opened:
            self._open(spec, opened)
            # All are there: they are closed by name from now on.
            opened.pop_all()

    def _open(self, spec: LaunchSpec, opened: ExitStack) -> None:
        def pipe() -> tuple[int, int]:
            ends = os.pipe2(os.O_CLOEXEC)
            for end in ends:
                opened.callback(os.close, end)
            return ends

        def given_file(name: str, data: bytes) -> int:
            descriptor = _memory_file(name, data)
            opened.callback(os.close, descriptor)
            return descriptor

        self.stdout, out_write = pipe()
        _widen(self.stdout)
        self.stderr, err_write = pipe()
        lifeline_read, self.lifeline = pipe()
        self.control, theirs = socket.socketpair()
        opened.callback(self.control.close)
        opened.callback(theirs.close)
        self._theirs = theirs
        settings = {
            "argv": list(spec.argv) if spec.argv else None,
            "environment": dict(spec.environment),
            "folder": str(spec.folder),
            "policy": dict(spec.policy),
            "memory_bytes": spec.memory_bytes,
            "processes": spec.processes,
        }
        # Files, not pipes: a child that never reads its request cannot stall us, and end of file comes by itself.
        files = [given_file("spec", marshal.dumps(settings))]
        if spec.stdin is None:
            files.append(given_file("request", spec.request))
        else:
            files.append(os.dup(spec.stdin))
            opened.callback(os.close, files[-1])
        self.theirs = [*files, out_write, err_write, theirs.fileno(), lifeline_read]
        self._to_close = [*files, out_write, err_write, lifeline_read]
        if spec.channel is not None:
            self.theirs.append(spec.channel)

    def close_theirs(self) -> None:
        """After the launch: only the supervisor and the specialist hold these now."""
        for descriptor in self._to_close:
            os.close(descriptor)
        self._theirs.close()


class SupervisedChild:
    """A running specialist. Closing the lifeline ends it with everything that it started."""

    def __init__(self, ends: Ends, kind: LaunchKind) -> None:
        self._ends, self.kind, self.stdout, self.stderr = ends, kind, ends.stdout, ends.stderr
        loop = asyncio.get_running_loop()
        self._loop = loop
        self.pid = 0
        self.layers: Mapping[str, str] = {}
        self.over: str | None = None
        self.lost: str | None = None
        self.node: str | None = None
        self.proved: IsolationSet | None = None
        self.taken: asyncio.Future[None] = loop.create_future()
        self.started: asyncio.Future[None] = loop.create_future()
        self.exited: asyncio.Future[ExitInfo] = loop.create_future()
        self.swept: asyncio.Future[Swept] = loop.create_future()
        self._heard = b""
        self._is_orphaned = False
        ends.control.setblocking(False)
        loop.add_reader(ends.control, self._listen)

    async def wait_started(self) -> None:
        """Until the specialist is confined and running. Raises LaunchError with the reason otherwise."""
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self.started
        except TimeoutError:
            raise LaunchError(f"the supervisor did not start it within {_START_SECONDS:.0f} s") from None

    async def wait_taken(self, seconds: float) -> None:
        """Until the nursery has handed it to a supervisor. Raises NotTakenError where nobody will start it any more."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.wait([self.taken, self.started], return_when=asyncio.FIRST_COMPLETED)
        if self.taken.done():
            return
        if not self.started.done():
            # A word that is not here by now cannot be sent any more, and without it nothing is started.
            self._ends.control.shutdown(socket.SHUT_RD)
            self._listen()
        if self.taken.done():
            raise LaunchError("its supervisor was too slow")
        said = self.started.exception() if self.started.done() else None
        raise NotTakenError(str(said or f"the nursery did not answer within {seconds:g} s"))

    async def stop(self, grace_seconds: float) -> Swept:
        """Have the supervisor end everything: SIGTERM and SIGCONT, grace, SIGKILL, until nothing is left."""
        with contextlib.suppress(OSError):
            self._ends.control.send(b"stop %f\n" % grace_seconds)
        try:
            async with asyncio.timeout(grace_seconds + _ANSWER_SECONDS):
                await asyncio.shield(self.swept)
        except TimeoutError:
            self._is_orphaned = True
        finally:
            self._cut_lifeline()
        if self._is_orphaned and self.pid:
            # Without its supervisor only the session can be found.
            return Swept(await session.stop(self.pid, grace_seconds), 0)
        return self.swept.result()

    def close(self) -> None:
        """Close the pipes; also the lifeline, so that nothing can be left whatever went wrong before."""
        self._cut_lifeline()
        self._stop_listening()
        os.close(self.stdout)
        os.close(self.stderr)

    def _cut_lifeline(self) -> None:
        if self._ends.lifeline >= 0:
            os.close(self._ends.lifeline)
            self._ends.lifeline = -1

    def _stop_listening(self) -> None:
        if self._ends.control.fileno() >= 0:
            self._loop.remove_reader(self._ends.control)
            self._ends.control.close()

    def _listen(self) -> None:
        try:
            data = self._ends.control.recv(65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._gone()
            return
        self._heard += data
        while b"\n" in self._heard:
            line, self._heard = self._heard.split(b"\n", 1)
            self._take(line.decode("utf-8", "replace"))

    def _take(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "taken":
            _resolve(self.taken, None)
        elif word == "started":
            pid, layers = rest.split(" ", 1)
            self.pid = int(pid)
            self.layers = read_layers(layers)
            _resolve(self.started, None)
        elif word == "exited":
            code, number, cpu, rss = rest.split()
            ended_by = int(number) or None
            info = ExitInfo(None if ended_by else int(code), ended_by, float(cpu), int(rss))
            _resolve(self.exited, info)
        elif word == "over":
            self.over = rest
        elif word == "swept":
            signals, strays = rest.split()
            _resolve(self.swept, Swept([] if signals == "-" else signals.split(","), int(strays)))
        elif word == "failed" and not self.started.done():
            self.started.set_exception(LaunchError(f"it could not be started: {rest}"))

    def _gone(self) -> None:
        """The supervisor has ended: after its last word as a rule, before it when it was killed."""
        self._stop_listening()
        if not self.started.done():
            self.started.set_exception(LaunchError("its supervisor ended before it was started"))
        self._is_orphaned = not self.swept.done()
        _resolve(self.exited, ExitInfo())
        _resolve(self.swept, Swept())


async def begin(
    spec: LaunchSpec, kind: LaunchKind, hand_over: Callable[[Ends], None], taken_within: float | None = None
) -> SupervisedChild:
    """Start a specialist under a supervisor, which `hand_over` gives its descriptors.

    Raises LaunchError, OSError; NotTakenError where somebody else was to start it and has not `taken_within` this time.
    """
    try:
        ends = Ends(spec)
    except OSError as error:
        raise explained(error) from error
    child = SupervisedChild(ends, kind)
    try:
        try:
            hand_over(ends)
        except OSError as error:
            raise explained(error) from error
        finally:
            ends.close_theirs()
        if taken_within is not None:
            await child.wait_taken(taken_within)
        await child.wait_started()
    except BaseException:
        child.close()
        raise
    return child


def explained(error: OSError) -> OSError | LaunchError:
    """Where it is the limit of open files: what it is and what to do."""
    if error.errno != errno.EMFILE:
        return error
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return LaunchError(
        f"no file can be opened any more: this process may have {limit} (ulimit -n); "
        "allow it more, or run fewer dispatches at once (the setting `workers`)"
    )


def _resolve(future: asyncio.Future, value: object) -> None:  # type: ignore[type-arg]
    if not future.done():
        future.set_result(value)


def _widen(pipe: int) -> None:
    """Let a pipe hold more: a quick writer is then woken a quarter as often, which doubles its throughput."""
    with contextlib.suppress(OSError):
        # A user may own pipes of 64 MiB in all; beyond that this one stays as it is.
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, limits.PIPE_BYTES)


def _memory_file(name: str, data: bytes) -> int:
    """A file without a name, at its beginning."""
    descriptor = os.memfd_create(f"outcrop-{name}", os.MFD_CLOEXEC)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
