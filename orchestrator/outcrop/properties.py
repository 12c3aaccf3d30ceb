"""What each property of isolation rests on, and what may be claimed of a probe's answers and of one launch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from outcrop_schemas import limits
from outcrop_schemas.outcome import ISOLATION_PROPERTIES, Isolation

IsolationSet = dict[str, Isolation]
_UNLAUNCHED = "it was not started"
# What each property rests on (of alternatives one is enough), which attempts of the probe must be refused, and how it
# is brought about: without words of its own, by the alternatives that were taken.
_RESTS_ON: dict[str, tuple[tuple[tuple[str, ...], ...], tuple[str, ...], str]] = {
    "write_confined": ((("landlock", "bubblewrap"), ("no_new_privs",)), ("write", "write_through_link"), ""),
    "read_confined": ((("landlock", "bubblewrap"), ("no_new_privs",)), ("read",), ""),
    "network_denied": ((("seccomp",), ("no_new_privs",)), ("network", "datagrams", "namespace"), "seccomp"),
    # The orchestrator hides itself; its parents, whose environment has the same keys, are hidden by the first of these.
    "keys_hidden": (
        (("landlock", "bubblewrap"), ("no_new_privs",), ("capabilities",)),
        ("environment", "environments"),
        "environment allow-list, non-dumpable orchestrator, no sight of other processes",
    ),
    "memory_capped": (
        (("rlimits",),),
        ("memory",),
        "RLIMIT_DATA, and resident memory and open memory files watched by the supervisor",
    ),
}
_CALLED = {"landlock": "Landlock", "bubblewrap": "bubblewrap"}


def alternatives_of(names: Iterable[str]) -> list[tuple[str, ...]]:
    """The layers that these properties rest on; of alternatives one is enough."""
    found = [some for name in names for some in _needed(name)]
    return list(dict.fromkeys(found))


def _needed(name: str) -> tuple[tuple[str, ...], ...]:
    if name == "processes_capped":
        return (("rlimits",),)
    return _RESTS_ON[name][0] if name in _RESTS_ON else ()


def of_launch(proved: IsolationSet, layers: Mapping[str, str]) -> IsolationSet:
    """What holds for one launch: what was proved, where the kernel took the same layers this time.

    A proof may be older than the limits that we run under now, and a layer may fail for one launch only.
    """
    found = {}
    for name, one in proved.items():
        lacking = [some for some in _needed(name) if all(layers.get(layer) != "ok" for layer in some)]
        if one.active and lacking:
            said = "; ".join(f"{some[0]}: {layers.get(some[0], 'not applied')}" for some in lacking)
            one = Isolation(active=False, by=f"it was proved, but not taken for this launch: {said}", proof=one.proof)
        found[name] = one
    return found


def with_outside(found: IsolationSet, networked: Sequence[str]) -> IsolationSet:
    """What holds of the network where a specialist may call these servers, which have it by the user's word."""
    denied = found["network_denied"]
    if not networked or not denied.active:
        return found
    told = f"{denied.by}; but it may call what has the network by outcrop.toml: {', '.join(networked)}"
    return {**found, "network_denied": Isolation(active=False, by=told, proof=denied.proof)}


def unlaunched() -> IsolationSet:
    """Of a dispatch that launched nothing: there was nothing to hold."""
    return unproven(_UNLAUNCHED)


def is_of_a_launch(found: Mapping[str, Isolation]) -> bool:
    """Whether this says something of a process that there was."""
    return any(each.by != _UNLAUNCHED for each in found.values())


def unproven(reason: str) -> IsolationSet:
    """Nothing is claimed, for this reason."""
    return {name: Isolation(active=False, by=reason) for name in ISOLATION_PROPERTIES}


def judge(layers: Mapping[str, str], attempts: Mapping[str, Any]) -> IsolationSet:
    """What follows from the layers that were taken and the attempts that were refused."""
    found = {}
    for name, (needed, tried, words) in _RESTS_ON.items():
        lacking = [some for some in needed if all(layers.get(layer) != "ok" for layer in some)]
        missing = [f"{some[0]}: {layers.get(some[0], 'not applied')}" for some in lacking]
        by = words or _by(needed[0], layers)
        if name == "write_confined" and attempts.get("metadata") == "done":
            by += "; mode, owner and times of a file are not covered"
        if name == "memory_capped" and attempts.get("shared_memory") == "done":
            by += "; System V shared memory is not covered"
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
    forks, watched = (
        attempts.get("processes", "done"),
        f"more than {limits.DISPATCH_PROCESSES} are looked for and ended",
    )
    is_bound = str(forks).startswith("denied") and layers.get("rlimits") == "ok"
    found["processes_capped"] = Isolation(
        active=is_bound,
        by=f"RLIMIT_NPROC; {watched}"
        if is_bound
        else f"{watched}, but only every half second; RLIMIT_NPROC does not bind root",
        proof=f"processes {forks}",
    )
    found["disk_capped"] = Isolation(
        active=False, by="each file has a limit, all together have none", proof=f"file_size {attempts.get('file_size')}"
    )
    return {name: found[name] for name in ISOLATION_PROPERTIES}


def _by(alternatives: tuple[str, ...], layers: Mapping[str, str]) -> str:
    taken = " and ".join(_CALLED[layer] for layer in alternatives if layers.get(layer) == "ok")
    if layers.get("bubblewrap") == "ok":
        return f"{taken} (what is forked from the nursery cannot be in bubblewrap)"
    return taken
