"""Confines the present process, layer by layer, and says of each layer whether the kernel took it.

What is said here is what the calls returned; whether a layer holds is shown by `probe.py` through the same path.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Callable, Mapping
from typing import Any

from outcrop_specialists.guard import kernel, landlock, seccomp

# Plain values, since it crosses to the supervisor as marshalled data: see `outcrop.policy`.
Policy = Mapping[str, Any]


def confine(policy: Policy) -> dict[str, str]:
    """Apply every layer of the policy: `ok` or the kernel's answer per layer; one that fails stops no other."""
    taken: dict[str, str] = {}
    for name, layer in _LAYERS.items():
        if name in policy["layers"]:
            try:
                layer(policy)
                taken[name] = "ok"
            except OSError as error:
                taken[name] = error.strerror or str(error)
    return taken


def _limits(policy: Policy) -> None:
    for name, value in policy["rlimits"].items():
        limit = getattr(resource, name)
        _, hard = resource.getrlimit(limit)
        bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (bounded, bounded))


def _no_new_privileges(policy: Policy) -> None:
    kernel.give_up_new_privileges()


def _capabilities(policy: Policy) -> None:
    # An ordinary user has none to drop, and may not touch the bounding set.
    if os.geteuid() == 0:
        kernel.keep_only_capabilities((kernel.CAP_DAC_OVERRIDE,))


def _landlock(policy: Policy) -> None:
    landlock.apply(policy["readable"], policy["writable"], policy["listable"], policy["devices"])


def _seccomp(policy: Policy) -> None:
    seccomp.apply(immune=os.getppid())


# In this order: Landlock and seccomp need no_new_privs, and seccomp closes the door behind it.
_LAYERS: dict[str, Callable[[Policy], None]] = {
    "rlimits": _limits,
    "no_new_privs": _no_new_privileges,
    "capabilities": _capabilities,
    "landlock": _landlock,
    "seccomp": _seccomp,
}
LAYERS = tuple(_LAYERS)


def open_standard_streams() -> None:
    """Make sure that 0, 1 and 2 are open: where one was closed (`2>&-`), the next socket would get its number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def close_all_but(kept: set[int]) -> None:
    """Close every descriptor that was inherited by accident."""
    highest = max(kept)
    for descriptor in range(3, highest):
        if descriptor not in kept:
            with contextlib.suppress(OSError):
                os.close(descriptor)
    os.closerange(highest + 1, os.sysconf("SC_OPEN_MAX"))
