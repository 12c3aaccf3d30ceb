"""Starting a specialist: what a launch takes, what it gives back, and the ways to do it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from outcrop.properties import IsolationSet

LaunchKind = Literal["nursery", "cold"]


@dataclass(frozen=True)
class LaunchSpec:
    """One process to start. `argv` None: one of the built-in specialists.

    `bubblewrap` is the program that a cold start is wrapped in, where a probe of it passed.
    """

    argv: Sequence[str] | None
    request: bytes
    environment: Mapping[str, str]
    folder: Path
    policy: Mapping[str, Any]
    memory_bytes: int
    processes: int
    channel: int | None = None
    bubblewrap: str | None = None
    data: Sequence[str] = ()
    """The files that it is about, for who can choose where to start it."""

    stdin: int | None = None
    """What it reads instead of the request: the read end of a pipe, for who talks to it while it runs."""


@dataclass(frozen=True)
class ExitInfo:
    """How a process ended. Both None: the exit status is unknown (its supervisor was killed)."""

    code: int | None = None
    signal: int | None = None
    cpu_seconds: float = 0.0
    max_rss_bytes: int = 0


@dataclass(frozen=True)
class Swept:
    """What it took to end a dispatch's processes: the signals, in order, and how many had been left behind."""

    signals: list[str] = field(default_factory=list)
    strays: int = 0


class Launcher(Protocol):
    """Starts processes."""

    async def launch(self, spec: LaunchSpec) -> Child:
        """Start one. Raises LaunchError."""
        ...

    def warm(self) -> None:
        """Get ready for built-in specialists, in the background."""
        ...

    async def close(self) -> None:
        """Give up what was kept ready."""
        ...


def gone(launcher: Launcher) -> str | None:
    """Why a launcher will start nothing any more, where it knows that."""
    said: str | None = getattr(launcher, "gone", None)
    return said


class Child(Protocol):
    """A running specialist and all that it starts."""

    pid: int
    stdout: int
    stderr: int
    kind: LaunchKind
    layers: Mapping[str, str]
    over: str | None
    lost: str | None
    """Why nobody knows how it ended: where it ran is gone, and it with it."""

    node: str | None
    proved: IsolationSet | None
    """Where it was started by another machine than this one: which, and what was proved of the isolation there."""

    @property
    def exited(self) -> Any: ...

    async def stop(self, grace_seconds: float) -> Swept:
        """End everything it started; returns when nothing is left."""
        ...

    def close(self) -> None:
        """Close its pipes. The reader must have ended."""
        ...
