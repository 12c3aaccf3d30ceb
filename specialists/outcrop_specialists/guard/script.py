"""Starts a script or a shell command inside a specialist: confined once more, and without the model channel.

It reads the system, the interpreter and what it is given, writes where it is told, makes no socket and leaves neither
its session nor its group, so that one signal reaches all of it. Its specialist's own confinement holds on top.
"""

from __future__ import annotations

import marshal
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from outcrop_specialists.guard.confine import LAYERS, always_on, read_layers
from outcrop_specialists.guard.places import DEVICES, SYSTEM, allowed_environment, interpreter_paths
from outcrop_specialists.guard.processes import members_of

# In a specialist's environment: "off" where confinement was turned off, which then holds for its scripts too.
CONFINEMENT = "OUTCROP_CONFINEMENT"
_GIB = 1 << 30
# No more than the specialist's own; memory it has from there.
_RLIMITS = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": 4 * _GIB, "RLIMIT_NOFILE": 1_024}
# A process that was killed ends at once, unless the kernel is at work for it.
_DYING_SECONDS = 5.0
_PACKAGES = str(Path(__file__).parents[2])
# -S: the trampoline needs the standard library only. The script is started with a clean search path of its own.
_TRAMPOLINE = (
    sys.executable, "-S", "-P", "-c",
    f"import sys; sys.path.append({_PACKAGES!r}); from outcrop_specialists.guard.trampoline import main; main()",
)  # fmt: skip


class Script(subprocess.Popen[bytes]):
    """A running script. `layers` says of each layer of its confinement `ok` or the kernel's answer."""

    layers: Mapping[str, str]


def start_script(
    argv: Sequence[str],
    *,
    readable: Sequence[str],
    writable: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    stdout: int,
    stderr: int,
    listable: Sequence[str] = (),
) -> Script:
    """Start `argv` in `folder`, which it may write to besides `writable`; stdin is empty.

    `readable` are files and folders besides system and interpreter, `listable` folders whose names it may see. The
    environment is the allowed part of ours, with HOME, TMPDIR and MPLCONFIGDIR in `folder`, and `environment` over it.
    End it with `end_script`, also when it has exited: it may have left processes. Raises OSError with the reason when
    it cannot be started. May be called from any thread.
    """
    own = {"HOME": str(folder), "TMPDIR": str(folder), "MPLCONFIGDIR": str(folder)}
    spec = {
        "argv": list(argv),
        "environment": {**allowed_environment(), **own, **environment},
        "policy": _policy(readable, [*writable, str(folder)], listable),
    }
    spec_file = os.memfd_create("outcrop-script", os.MFD_CLOEXEC)
    status_read, status_write = os.pipe2(os.O_CLOEXEC)
    try:
        os.pwrite(spec_file, marshal.dumps(spec), 0)
        script = Script(
            [*_TRAMPOLINE, str(spec_file), str(status_write)],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            cwd=folder,
            env={"PATH": os.defpath},
            pass_fds=(spec_file, status_write),
            start_new_session=True,
        )
        os.close(status_write)
        status_write = -1
        script.layers = _wait_started(script, status_read)
    finally:
        for descriptor in (spec_file, status_read, status_write):
            if descriptor >= 0:
                os.close(descriptor)
    return script


def end_script(process: subprocess.Popen[bytes], grace_seconds: float) -> None:
    """End the script with all that it started: SIGTERM, up to `grace_seconds` for the script itself, SIGKILL.

    Sends no SIGTERM when it has exited already. Returns when nothing of it runs; what the kernel holds fast (a dead
    network disk) is waited for no longer than 5 s more, and left to the supervisor.
    """
    if not has_exited(process, 0.0):
        _signal_group(process, signal.SIGTERM)
        # A stopped process takes no other signal.
        _signal_group(process, signal.SIGCONT)
        has_exited(process, grace_seconds)
    # Before it is reaped: until then no other process can have its number. One signal is enough, since nothing can
    # leave the group and the kernel lets no fork slip through.
    _signal_group(process, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + _DYING_SECONDS
    # Zombies, which its supervisor will reap, are no members any more.
    while _signal_group(process, 0) and (members := members_of(process.pid)) and time.monotonic() < deadline:
        _wait_exited(members[0], deadline - time.monotonic())


def _policy(readable: Sequence[str], writable: Sequence[str], listable: Sequence[str]) -> dict[str, Any]:
    return {
        "layers": always_on() if os.environ.get(CONFINEMENT) == "off" else list(LAYERS),
        "rlimits": _RLIMITS,
        "readable": [*SYSTEM, *interpreter_paths(), *readable],
        "writable": list(writable),
        "listable": list(listable),
        "devices": list(DEVICES),
        "for_scripts": True,
    }


def _wait_started(script: Script, status: int) -> dict[str, str]:
    """Until it has become the script. Raises OSError."""
    said = b""
    while piece := os.read(status, 4096):
        said += piece
    layers, failed, reason = said.decode("utf-8", "replace").partition("failed ")
    if failed or not said:
        script.wait()
        number, _, text = reason.partition(" ")
        raise OSError(int(number or 0), text or "it ended before it was started", script.args)
    return read_layers(layers.removeprefix("ok "))


def has_exited(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether it exited within the time; it is not reaped here."""
    return process.returncode is not None or _wait_exited(process.pid, seconds)


def _wait_exited(pid: int, seconds: float) -> bool:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(descriptor)


def _signal_group(process: subprocess.Popen[bytes], number: int) -> bool:
    """False when nothing of it is left."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return False
    return True
