"""What a package may be called that is to be installed: a name and version bounds, ASCII, and nothing else.

No URL, path, option, extra or marker passes: the text ends up on the command line of an installer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PIP = "pip"
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?"
_BOUND = r"(?:==|>=|<=|~=|!=|<|>) ?[0-9][0-9A-Za-z.+!*]{0,40}"
_REQUIREMENT = re.compile(rf"({_NAME}) ?((?:{_BOUND})(?: ?, ?{_BOUND})*)?", re.ASCII)
# An installer takes such a name for a file, if there is one.
_FILE = re.compile(r"\.(?:whl|egg|zip|tar|tgz|tbz|txz|tlz|gz|bz2|xz|lzma|Z|py|toml|txt)$", re.IGNORECASE)
_SEPARATORS = re.compile(r"[-_.]+")


@dataclass(frozen=True)
class Requirement:
    """A package by its name, with the bounds of its version."""

    name: str
    bounds: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The name as an index knows it."""
        return canonical(self.name)

    def __str__(self) -> str:
        return self.name + ",".join(self.bounds)

    def within(self, other: Requirement) -> Requirement:
        """With the bounds of another one too."""
        return Requirement(self.name, tuple(dict.fromkeys([*self.bounds, *other.bounds])))


def canonical(name: str) -> str:
    """`scikit-gstat` for `Scikit_GStat`."""
    return _SEPARATORS.sub("-", name).lower()


def parsed(text: str) -> Requirement | None:
    """`lasio`, `scikit-gstat>=1.0,<2`; None for whatever else."""
    found = _REQUIREMENT.fullmatch(text)
    if found is None or _FILE.search(found[1]):
        return None
    bounds = tuple(bound.replace(" ", "") for bound in (found[2] or "").split(",") if bound)
    return Requirement(found[1], bounds)


def allowed(entry: str) -> Requirement:
    """An entry of the allow-list, `pip:NAME` with bounds or none. Raises ValueError."""
    manager, colon, text = entry.partition(":")
    requirement = parsed(text)
    if manager != PIP or not colon or requirement is None:
        raise ValueError(f"{entry!r} is no package as it is allowed: pip:NAME, or pip:NAME>=1.0,<2")
    return requirement
