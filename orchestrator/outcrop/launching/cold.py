"""The cold start: a small supervisor is started for each dispatch, and starts the program."""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import functools
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import outcrop_specialists
from outcrop.launching import LaunchSpec
from outcrop.launching.bubblewrap import options_for, own_namespaces
from outcrop.launching.environment import BUILT_IN
from outcrop.launching.supervised import Ends, SupervisedChild, begin
from outcrop_schemas.errors import LaunchError
from outcrop_specialists.guard.confine import open_standard_streams

_PACKAGES = str(Path(outcrop_specialists.__file__).parents[1])
# -S: the supervisor needs the standard library only, and starts in a third of the time without looking for more.
_SUPERVISOR = (
    sys.executable, "-S", "-P", "-c",
    f"import sys; sys.path.append({_PACKAGES!r}); from outcrop_specialists.guard.supervisor import main; main()",
)  # fmt: skip


class ColdLauncher:
    """Starts anything: built-in specialists and COMMANDs. Keeps nothing ready."""

    def __init__(self) -> None:
        self._supervisors: set[subprocess.Popen[bytes]] = set()

    def warm(self) -> None:
        """There is nothing to warm."""

    async def close(self) -> None:
        """There is nothing to give up."""

    async def launch(self, spec: LaunchSpec) -> SupervisedChild:
        """Start a supervisor, which confines itself a child and starts the program. Raises LaunchError."""
        if spec.argv is None:
            spec = dataclasses.replace(spec, argv=BUILT_IN)
        open_standard_streams()
        start = self._start
        if spec.bubblewrap:
            options = options_for(spec.policy, _PACKAGES)
            start = functools.partial(self._start_wrapped, spec.bubblewrap, options)
            layers = ["bubblewrap", *spec.policy["layers"]]
            policy = {**spec.policy, "layers": layers, "outside": own_namespaces()}
            spec = dataclasses.replace(spec, policy=policy)
        return await begin(spec, "cold", start)

    def _start_wrapped(self, program: str, options: list[str], ends: Ends) -> None:
        # In a file: the command line of a process is for everybody to read, and has an end.
        descriptor = os.memfd_create("outcrop-options", os.MFD_CLOEXEC)
        try:
            # It is read from where the offset is: this leaves it at the beginning.
            os.pwrite(descriptor, os.fsencode("\0".join(options)), 0)
            self._start(ends, (program, "--args", str(descriptor), "--"), descriptor)
        finally:
            os.close(descriptor)

    def _start(self, ends: Ends, wrapper: Sequence[str] = (), *more: int) -> None:
        try:
            process = subprocess.Popen(
                [*wrapper, *_SUPERVISOR, *map(str, ends.theirs)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # Clean from the start: bubblewrap's own first process can be read by what runs inside.
                env={"PATH": os.defpath},
                cwd="/",
                pass_fds=(*ends.theirs, *more),
            )
        except OSError as error:
            if error.errno == errno.EMFILE:
                raise
            raise LaunchError(f"the supervisor could not be started: {error.strerror}") from error
        self._supervisors.add(process)
        self._reap_when_ended(process)

    def _reap_when_ended(self, process: subprocess.Popen[bytes]) -> None:
        loop, descriptor = asyncio.get_running_loop(), os.pidfd_open(process.pid)

        def ended() -> None:
            loop.remove_reader(descriptor)
            os.close(descriptor)
            process.poll()
            self._supervisors.discard(process)

        loop.add_reader(descriptor, ended)
