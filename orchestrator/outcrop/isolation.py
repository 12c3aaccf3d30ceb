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
from importlib.metadata import version
from pathlib import Path
from typing import Any

from outcrop.launching import Launcher, LaunchSpec
from outcrop.launching.environment import environment_for
from outcrop.policy import build_policy
from outcrop.reader import StreamReader
from outcrop.stream import StreamScanner
from outcrop.workspace import Workspace
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import LaunchError
from outcrop_schemas.outcome import ISOLATION_PROPERTIES, Isolation

IsolationSet = dict[str, Isolation]
_PROBE_SECONDS = 30.0
_PROBE_MEMORY = 1 << 30
_GRACE_SECONDS = 0.5
# What each property rests on, which attempts of the probe must be refused, and how it is brought about.
_RESTS_ON: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "write_confined": (("landlock", "no_new_privs"), ("write", "write_through_link"), "Landlock"),
    "read_confined": (("landlock", "no_new_privs"), ("read",), "Landlock"),
    "network_denied": (("seccomp", "no_new_privs"), ("network", "namespace"), "seccomp"),
    "keys_hidden": (
        ("no_new_privs", "capabilities"),
        ("environment",),
        "environment allow-list, non-dumpable orchestrator",
    ),
    "memory_capped": (("rlimits",), ("memory",), "RLIMIT_DATA, and resident memory watched by the supervisor"),
}


def unproven(reason: str) -> IsolationSet:
    """Nothing is claimed, for this reason."""
    return {name: Isolation(active=False, by=reason) for name in ISOLATION_PROPERTIES}


class IsolationProof:
    """Runs the probe once, in the background, and answers for every launch of this process."""

    def __init__(self, workspace: Workspace, launcher: Launcher) -> None:
        self._workspace, self._launcher = workspace, launcher
        self._proving: asyncio.Task[IsolationSet] | None = None

    def begin(self) -> None:
        if self._proving is None:
            self._proving = asyncio.create_task(self._prove())

    async def get(self) -> IsolationSet:
        """The properties; waits for the probe where it is still running."""
        self.begin()
        assert self._proving is not None
        return await asyncio.shield(self._proving)

    async def close(self) -> None:
        if self._proving is not None:
            await asyncio.wait([self._proving])

    async def _prove(self) -> IsolationSet:
        cached = self._read_cache()
        if cached is not None:
            return cached
        try:
            found = judge(*await run_probe(self._workspace, self._launcher))
        except (LaunchError, OSError, ValueError) as error:
            return unproven(f"the probe could not be run: {error}")
        self._write_cache(found)
        return found

    @property
    def _cache(self) -> Path:
        return self._workspace.home / "cache" / "isolation.json"

    def _read_cache(self) -> IsolationSet | None:
        try:
            kept = wire.loads(self._cache.read_bytes())
            if kept["key"] != _key():
                return None
            return {name: Isolation.model_validate(kept["isolation"][name]) for name in ISOLATION_PROPERTIES}
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write_cache(self, found: IsolationSet) -> None:
        document = {"key": _key(), "isolation": {name: one.model_dump() for name, one in found.items()}}
        temporary = self._cache.with_name(f".isolation.{os.getpid()}")
        temporary.write_bytes(wire.dumps(document))
        temporary.replace(self._cache)


async def run_probe(workspace: Workspace, launcher: Launcher) -> tuple[Mapping[str, str], Mapping[str, Any]]:
    """Launch the probe confined: the layers that were taken, what the probe says. Raises LaunchError, ValueError."""
    name = secrets.token_hex(8)
    cache = workspace.home / "cache"
    scratch, outside, secret = cache / f"probe-{name}", cache / f"outside-{name}", cache / f"secret-{name}"
    scratch.mkdir(mode=0o700)
    secret.write_text("nobody is to read this")
    argv = [sys.executable, "-P", "-m", "outcrop_specialists.guard.probe", str(outside), str(secret), str(os.getpid())]
    try:
        policy = build_policy(workspace.folder, [], scratch, argv[:1], _PROBE_MEMORY)
        spec = LaunchSpec(argv, b"", environment_for(scratch, None, {}), scratch, policy, 2 * _PROBE_MEMORY, 64)
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
    return await asyncio.to_thread(output.read_bytes), child.layers, swept.strays


def judge(layers: Mapping[str, str], attempts: Mapping[str, Any]) -> IsolationSet:
    """What follows from the layers that were taken and the attempts that were refused."""
    found = {}
    for name, (needed, tried, by) in _RESTS_ON.items():
        missing = [f"{layer}: {layers.get(layer, 'not applied')}" for layer in needed if layers.get(layer) != "ok"]
        done = [attempt for attempt in tried if not str(attempts.get(attempt, "done")).startswith("denied")]
        proof = ", ".join(f"{attempt} {attempts.get(attempt)}" for attempt in tried)
        if missing or done or (name == "write_confined" and attempts.get("outside_written")):
            reasons = missing + [f"the probe could do: {attempt}" for attempt in done]
            found[name] = Isolation(active=False, by="; ".join(reasons) or "the probe wrote outside", proof=proof)
        else:
            found[name] = Isolation(active=True, by=by, proof=proof)
    strays = attempts.get("strays_ended", 0)
    found["tree_kill_complete"] = Isolation(
        active=strays == 1, by="subreaper and lifeline per dispatch", proof=f"{strays} of 1 daemons found and ended"
    )
    found["processes_capped"] = Isolation(
        active=False,
        by=f"more than {limits.DISPATCH_PROCESSES} processes are ended, but only looked for every half second",
        proof=None,
    )
    found["disk_capped"] = Isolation(
        active=False, by="each file has a limit, all together have none", proof=f"file_size {attempts.get('file_size')}"
    )
    return {name: found[name] for name in ISOLATION_PROPERTIES}


def _key() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    except OSError:
        boot = "unknown"
    return f"{boot.strip()} {platform.release()} {os.geteuid()} {version('outcrop')} {sys.executable}"
