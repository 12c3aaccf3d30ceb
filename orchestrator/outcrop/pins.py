"""Pins: facts that stand word for word in every request; those of a workspace; the gate that none passes without.

The gate is held where requests leave the process, whoever built them.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from outcrop.spill import write_private
from outcrop_schemas import limits
from outcrop_schemas.errors import PinMissingError, UsageError, WorkspaceError
from outcrop_schemas.messages import ModelRequest, TextBlock
from outcrop_specialists.brief import PINS, pinned

CurrentPins = Callable[[], Mapping[str, str]]


class Pins:
    """A bounded set of facts by key, in the order they were pinned."""

    def __init__(self, facts: Mapping[str, str] | None = None) -> None:
        self._facts: dict[str, str] = {}
        for key, value in (facts or {}).items():
            self.set(key, value)

    def set(self, key: str, value: str) -> None:
        """Pin a fact, or replace the one of this key. Raises UsageError beyond the limits."""
        if not key.strip() or "\n" in key:
            raise UsageError(f"a pin needs a key of one line, not {key!r}")
        if len(key) + len(value) > limits.PIN_CHARS:
            raise UsageError(f"pin {key!r} has {len(key) + len(value)} characters, {limits.PIN_CHARS} are allowed")
        if key not in self._facts and len(self._facts) >= limits.PIN_COUNT:
            raise UsageError(f"there are {limits.PIN_COUNT} pins already; replace one of {', '.join(self._facts)}")
        self._facts[key] = value

    def as_dict(self) -> dict[str, str]:
        return dict(self._facts)

    def render(self) -> str | None:
        """The pins as a model sees them; None where there are none."""
        if not self._facts:
            return None
        return pinned(self._facts)


def no_pins() -> Mapping[str, str]:
    return {}


def check_pins(request: ModelRequest, pins: Mapping[str, str]) -> None:
    """Raises PinMissingError where the block of all current pins does not stand, byte for byte, in the last user
    message: at the end of the request, where nothing that a conversation grows by can push it into the middle."""
    if not pins:
        return
    wanted = pinned(pins)
    last = next((message for message in reversed(request.messages) if message.role == "user"), None)
    texts = [block.text for block in last.content if isinstance(block, TextBlock)] if last else []
    if wanted in texts:
        return
    lines = {line for text in texts if text.startswith(PINS) for line in text.removeprefix(PINS).split("\n")}
    missing = [key for key, value in pins.items() if not set(f"{key} = {value}".split("\n")) <= lines]
    told = (
        f"the pins {', '.join(missing)} are missing or changed" if missing else "the pins are not as they were pinned"
    )
    raise PinMissingError(f"a request was not sent: {told} in it")


# Beside the runs, where no specialist can read or write.
FILE_NAME = "pins.toml"


def read_pins(home: Path) -> dict[str, str]:
    """The pins of a workspace: `key = "value"` lines of `.outcrop/pins.toml`. Raises UsageError for another file."""
    path = home / FILE_NAME
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        # Where the workspace cannot be taken at all, holding it says so.
        return {}
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}") from error
    for key, value in found.items():
        if not isinstance(value, str):
            raise UsageError(f"{path}: {key} must be a text in quotes, not {value!r}")
    return found


def write_pins(home: Path, pins: Mapping[str, str]) -> None:
    """Write them all. Raises WorkspaceError."""
    # A JSON string of ASCII is a TOML string too.
    lines = [f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in pins.items()]
    path = home / FILE_NAME
    aside = path.with_name(f".{FILE_NAME}")
    try:
        home.mkdir(mode=0o700, exist_ok=True)
        write_private(aside, "".join(lines).encode())
        aside.replace(path)
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be written: {error.strerror}") from error
