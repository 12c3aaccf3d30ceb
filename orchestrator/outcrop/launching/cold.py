"""The cold start: a small supervisor is started for each dispatch, and starts the program."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import outcrop_specialists
from outcrop.launching import LaunchSpec
from outcrop.launching.environment import BUILT_IN
from outcrop.launching.supervised import Ends, SupervisedChild, begin
from outcrop_schemas.errors import LaunchError

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
        return await begin(spec, "cold", self._start)

    def _start(self, ends: Ends) -> None:
        try:
            process = subprocess.Popen(
                [*_SUPERVISOR, *map(str, ends.theirs)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.defpath},
                cwd="/",
                pass_fds=ends.theirs,
            )
        except OSError as error:
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
