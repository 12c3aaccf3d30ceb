"""Confines the present process, layer by layer, and says of each layer whether the kernel took it.

What is said here is what the calls returned; whether a layer holds is shown by `probe.py` through the same path.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource
from collections.abc import Callable, Mapping
from typing import Any

from outcrop_specialists.guard import kernel, landlock, seccomp

# Plain values, since it crosses to the supervisor as marshalled data: see `outcrop.policy`.
Policy = Mapping[str, Any]


def confine(policy: Policy) -> dict[str, str]:
    """Apply every layer of the policy: `ok` or the kernel's answer per layer; one that fails stops no other.

    Of a layer that the policy leaves out it says why, where the policy says so. Raises OSError where of alternatives
    that are `needed` none was taken, or where a granted folder is no longer the one that was granted.
    """
    taken: dict[str, str] = {}
    for name, layer in _LAYERS.items():
        if name in policy["layers"]:
            try:
                layer(policy)
                taken[name] = "ok"
            except landlock.ReplacedError:
                raise
            except OSError as error:
                taken[name] = error.strerror or str(error)
        elif "left_out" in policy:
            taken[name] = policy["left_out"]
    for layers in policy.get("needed", ()):
        if all(taken.get(name) != "ok" for name in layers):
            said = taken.get(layers[0], "left out")
            raise OSError(errno.EPERM, f"a required layer was not taken: {layers[0]}: {said}")
    return taken


def _bubblewrap(policy: Policy) -> None:
    """Nothing to apply: look whether we were started inside namespaces of our own."""
    shared = [name for name, link in policy["outside"].items() if os.readlink(f"/proc/self/ns/{name}") == link]
    if shared:
        raise OSError(95, f"it left {' and '.join(shared)} as outside")


def _limits(policy: Policy) -> None:
    for name, value in policy["rlimits"].items():
        limit = getattr(resource, name)
        _, hard = resource.getrlimit(limit)
        bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(limit, (bounded, bounded))
        except ValueError as error:
            # So Python answers where the kernel does not permit it.
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM)) from error


def _no_new_privileges(policy: Policy) -> None:
    kernel.give_up_new_privileges()


def _capabilities(policy: Policy) -> None:
    # An ordinary user has none to drop, and may not touch the bounding set.
    if os.geteuid() == 0:
        kernel.keep_only_capabilities((kernel.CAP_DAC_OVERRIDE,))


def _landlock(policy: Policy) -> None:
    landlock.apply(
        policy["readable"],
        policy["writable"],
        policy["listable"],
        policy["devices"],
        policy.get("identities"),
        has_network=policy.get("network", False),
    )


def _seccomp(policy: Policy) -> None:
    for_scripts, has_network = policy.get("for_scripts", False), policy.get("network", False)
    seccomp.apply(for_scripts=for_scripts, immune=os.getppid(), own=os.getpid(), has_network=has_network)


# In this order: Landlock and seccomp need no_new_privs, and seccomp closes the door behind it.
_LAYERS: dict[str, Callable[[Policy], None]] = {
    "bubblewrap": _bubblewrap,
    "rlimits": _limits,
    "no_new_privs": _no_new_privileges,
    "capabilities": _capabilities,
    "landlock": _landlock,
    "seccomp": _seccomp,
}
# What every process is confined with; bubblewrap is there only where a process was started inside of it.
LAYERS = tuple(name for name in _LAYERS if name != "bubblewrap")


def always_on() -> list[str]:
    """The layers that stay where confinement is turned off."""
    # An ordinary user has no capability, so that nothing is left out by applying the layer.
    return ["rlimits", "no_new_privs", *(["capabilities"] if os.geteuid() != 0 else [])]


def say_layers(layers: Mapping[str, str]) -> str:
    """What `confine` answered, as one word for a line."""
    return ",".join(f"{name}={said}" for name, said in layers.items()).replace(" ", "_") or "-"


def read_layers(word: str) -> dict[str, str]:
    """What `say_layers` said."""
    return {name: said.replace("_", " ") for name, _, said in (item.partition("=") for item in word.split(",")) if said}


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
