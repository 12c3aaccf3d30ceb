"""Which properties of isolation hold here, each with its proof.

A property is active only if a probe, launched like any specialist, tried to break it and was refused. Proofs are kept
in the workspace's cache under what they depend on: boot, kernel, user, version.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from outcrop.launching import Launcher, LaunchKind, LaunchSpec
from outcrop.launching.bubblewrap import complaint, find_bubblewrap
from outcrop.launching.cold import ColdLauncher
from outcrop.launching.environment import environment_for
from outcrop.launching.nursery import NurseryLauncher
from outcrop.launching.unconfined import TURNED_OFF, UnconfinedLauncher
from outcrop.policy import build_policy
from outcrop.properties import IsolationSet, judge, unproven
from outcrop.reader import StreamReader
from outcrop.stream import StreamScanner
from outcrop.workspace import Workspace
from outcrop_schemas import wire
from outcrop_schemas.errors import LaunchError
from outcrop_schemas.outcome import ISOLATION_PROPERTIES, Isolation
from outcrop_specialists.guard.kernel import landlock_abi
from outcrop_specialists.guard.probe import FORKS

_KINDS: tuple[LaunchKind, ...] = ("cold", "nursery")
_PROBE_SECONDS = 30.0
_PROBE_MEMORY = 1 << 30
_GRACE_SECONDS = 0.5


@dataclass(frozen=True)
class Proof:
    """What was proved of either way to launch, and whether cold starts are wrapped in bubblewrap, or why not."""

    cold: IsolationSet
    nursery: IsolationSet
    bubblewrap: str | None = None
    without_bubblewrap: str = ""

    @classmethod
    def none(cls, reason: str) -> Proof:
        return cls(unproven(reason), unproven(reason), None, reason)

    def of(self, kind: LaunchKind) -> IsolationSet:
        return self.cold if kind == "cold" else self.nursery

    def as_json(self) -> dict[str, Any]:
        sets = {kind: {name: one.model_dump() for name, one in self.of(kind).items()} for kind in _KINDS}
        return {"sets": sets, "bubblewrap": self.bubblewrap, "without_bubblewrap": self.without_bubblewrap}

    @classmethod
    def of_json(cls, kept: Mapping[str, Any]) -> Proof:
        """What `as_json` gave. Raises KeyError, TypeError, ValueError for anything else."""
        sets: dict[str, IsolationSet] = {
            kind: {name: Isolation.model_validate(kept["sets"][kind][name]) for name in ISOLATION_PROPERTIES}
            for kind in _KINDS
        }
        return cls(sets["cold"], sets["nursery"], kept["bubblewrap"], kept["without_bubblewrap"])


@runtime_checkable
class ProvesItself(Protocol):
    """A launcher that starts nothing here, and has proofs from where it does."""

    async def prove(self) -> Proof: ...


class IsolationProof:
    """Runs the probe once, in the background, and answers for every launch of this process."""

    def __init__(
        self, workspace: Workspace, launcher: Launcher, *, wraps: bool = True, kept_as: str = "isolation.json"
    ) -> None:
        self._workspace, self._launcher, self._wraps = workspace, launcher, wraps
        self._cache = workspace.home / "cache" / kept_as
        self._key = _key(launcher, wraps)
        self._proving: asyncio.Task[Proof] | None = None

    def begin(self) -> None:
        if self._proving is None:
            self._proving = asyncio.create_task(self._prove())

    @property
    def known(self) -> Proof | None:
        """All that was proved; None where that is not known yet."""
        ended = self._proving is not None and self._proving.done() and not self._proving.cancelled()
        return self._proving.result() if ended and self._proving and not self._proving.exception() else None

    async def get(self, kind: LaunchKind = "cold") -> IsolationSet:
        """The properties of launches of this kind; waits for the probe where it is still running."""
        return (await self.proved()).of(kind)

    async def bubblewrap(self) -> str | None:
        """What cold starts are to be wrapped in. Waits for the probe, but not where there is no such program."""
        return (await self.proved()).bubblewrap if _wrapper(self._launcher, self._wraps)[0] else None

    async def close(self) -> None:
        if self._proving is not None:
            await asyncio.wait([self._proving])

    async def proved(self) -> Proof:
        """All that was proved; waits for the probe where it is still running."""
        self.begin()
        assert self._proving is not None
        return await asyncio.shield(self._proving)

    async def _prove(self) -> Proof:
        if isinstance(self._launcher, ProvesItself):
            return await self._launcher.prove()
        cached = self._read_cache()
        if cached is not None:
            return cached
        return await self.renew()

    async def renew(self) -> Proof:
        """Run the probe whatever was kept, and keep what it found."""
        try:
            found = await prove(self._workspace, self._launcher, wraps=self._wraps)
        except (LaunchError, OSError, ValueError) as error:
            self._cache.unlink(missing_ok=True)
            return Proof.none(f"the probe could not be run: {error}")
        self._write_cache(found)
        return found

    def _read_cache(self) -> Proof | None:
        try:
            kept = wire.loads(self._cache.read_bytes())
            return Proof.of_json(kept["proof"]) if kept["key"] == self._key else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write_cache(self, found: Proof) -> None:
        temporary = self._cache.with_name(f".isolation.{os.getpid()}")
        temporary.write_bytes(wire.dumps({"key": self._key, "proof": found.as_json()}))
        temporary.replace(self._cache)


async def prove(workspace: Workspace, launcher: Launcher, *, wraps: bool = True) -> Proof:
    """Run the probe as specialists are started here, and once more in bubblewrap where it `wraps` cold starts.

    Raises LaunchError, ValueError.
    """
    found = judge(*await run_probe(workspace, launcher))
    program, reason = _wrapper(launcher, wraps)
    if program is None:
        return Proof(found, found, None, reason)
    try:
        layers, attempts = await run_probe(workspace, launcher, program)
    except (LaunchError, OSError, ValueError) as error:
        said = await asyncio.to_thread(complaint, program)
        return Proof(found, found, None, f"{program} was tried and failed: {said} ({error})")
    if layers.get("bubblewrap") != "ok":
        said = layers.get("bubblewrap", "it was not there")
        return Proof(found, found, None, f"{program} was tried and failed: {said}")
    inside = judge(layers, attempts)
    lost = [name for name in found if found[name].active and not inside[name].active]
    if lost:
        return Proof(found, found, None, f"{program} was tried, but {lost[0]} would be lost: {inside[lost[0]].by}")
    return Proof(inside, found, program)


async def run_probe(
    workspace: Workspace, launcher: Launcher, bubblewrap: str | None = None
) -> tuple[Mapping[str, str], Mapping[str, Any]]:
    """Launch the probe confined: the layers that were taken, what the probe says. Raises LaunchError, ValueError."""
    name = secrets.token_hex(8)
    cache = workspace.home / "cache"
    scratch, outside, secret = cache / f"probe-{name}", cache / f"outside-{name}", cache / f"secret-{name}"
    scratch.mkdir(mode=0o700)
    secret.write_text("nobody is to read this")
    argv = [sys.executable, "-P", "-m", "outcrop_specialists.guard.probe", str(outside), str(secret), str(os.getpid())]
    try:
        policy = build_policy(workspace.folder, [], scratch, argv[:1], _PROBE_MEMORY, FORKS // 2)
        spec = LaunchSpec(argv, b"", environment_for(scratch, None, {}), scratch, policy, 2 * _PROBE_MEMORY, 64)
        spec = replace(spec, bubblewrap=bubblewrap)
        said, layers, strays = await _watch_probe(launcher, spec, scratch.with_suffix(".out"))
        attempts = {**json.loads(said), "strays_ended": strays, "outside_written": outside.exists()}
        return layers, attempts
    finally:
        for leftover in (secret, outside, scratch.with_suffix(".out")):
            leftover.unlink(missing_ok=True)
        for path in scratch.iterdir():
            path.unlink()
        scratch.rmdir()


async def _watch_probe(launcher: Launcher, spec: LaunchSpec, output: Path) -> tuple[bytes, Mapping[str, str], int]:
    child = await launcher.launch(spec)
    reader = StreamReader(child.stdout, child.stderr, StreamScanner("probe"), output, lambda: None)
    reader.start()
    try:
        await asyncio.wait([child.exited], timeout=_PROBE_SECONDS)
        swept = await child.stop(_GRACE_SECONDS)
    finally:
        reader.stop()
        child.close()
    with output.open("rb") as file:
        return file.read(), child.layers, swept.strays


def _wrapper(launcher: Launcher, wraps: bool) -> tuple[str | None, str]:
    """The program to wrap cold starts in, or why there is none."""
    if isinstance(launcher, UnconfinedLauncher):
        return None, TURNED_OFF
    if not wraps:
        return None, "turned off by the setting `bubblewrap`"
    if isinstance(launcher, ProvesItself):
        return None, "nothing is started here"
    program = find_bubblewrap()
    return program, "" if program else "there is no bwrap on the PATH"


def _limited_by() -> str:
    """What we run under ourselves: in a container or a filtered service the same kernel takes other layers."""
    try:
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("latin-1").splitlines())
        namespaces = " ".join(str(Path("/proc/self/ns", name).readlink()) for name in ("mnt", "user", "pid"))
    except OSError:
        return "unknown"
    held = " ".join(status.get(name, "").strip() for name in ("Seccomp", "Seccomp_filters", "NoNewPrivs", "CapBnd"))
    return f"{landlock_abi()} {held} {namespaces}"


def _key(launcher: Launcher, wraps: bool) -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    except OSError:
        boot = "unknown"
    where = f"{boot.strip()} {platform.release()} {os.geteuid()} {version('outcrop')} {sys.executable} {_limited_by()}"
    program, _ = _wrapper(launcher, wraps)
    wrapper = f"{program} {Path(program).stat().st_mtime_ns}" if program else "none"
    # The probe is a COMMAND, which both of our own launchers start cold.
    way = "ours" if isinstance(launcher, ColdLauncher | NurseryLauncher) else type(launcher).__name__
    return f"{where} {way} {wrapper}"
