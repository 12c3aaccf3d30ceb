"""Pins: facts that stand word for word in every request; those of a workspace; the gate that none passes without.

The gate is held where requests leave the process, whoever built them.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from outcrop.spill import write_private
from outcrop.text import is_text
from outcrop_schemas import limits
from outcrop_schemas.errors import PinMissingError, UsageError, WorkspaceError
from outcrop_schemas.messages import ModelRequest, TextBlock
from outcrop_schemas.regular import read_file
from outcrop_specialists.brief import PINS, pinned

CurrentPins = Callable[[], Mapping[str, str]]
PIN = "pin"
"""The lead's tool."""


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
        if not is_text(key + value):
            raise UsageError(f"pin {key!r} is not valid text: it holds bytes that are not UTF-8")
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
    """Raises PinMissingError where the block of all current pins is not, byte for byte, the first of the request and
    the last of its last user message: in the middle, where a conversation grows, it counts for nothing."""
    if not pins:
        return
    wanted = pinned(pins)
    said = [block for message in request.messages if message.role == "user" for block in message.content]
    for place, found in (("start", said[:1]), ("end", said[-1:])):
        text = "".join(block.text for block in found if isinstance(block, TextBlock))
        if text == wanted:
            continue
        lines = text.removeprefix(PINS).split("\n") if text.startswith(PINS) else []
        missing = [key for key, value in pins.items() if not set(f"{key} = {value}".split("\n")) <= set(lines)]
        told = f"{', '.join(missing)} are missing or changed" if missing else "are not as they were pinned"
        raise PinMissingError(f"a request was not sent: the pins {told} at its {place}")


# Beside the runs, where no specialist can read or write.
FILE_NAME = "pins.toml"


def read_pins(home: Path) -> dict[str, str]:
    """The pins of a workspace: `key = "value"` lines of `.outcrop/pins.toml`. Raises UsageError for another file, with
    the line that is at fault."""
    path = home / FILE_NAME
    raw = b""
    try:
        raw = read_file(path)
        text = raw.decode()
        found = tomllib.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        # Where the workspace cannot be taken at all, holding it says so.
        return {}
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _damaged(path, f"line {line} is not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        last = f"at line {len(raw.splitlines())}, the last"
        raise _damaged(path, f"is no TOML: {str(error).replace('at end of document', last)}") from error
    pins = Pins()
    for key, value in found.items():
        try:
            if not isinstance(value, str):
                raise UsageError(f"{key} must be a text in quotes, not {value!r}")
            pins.set(key, value)
        except UsageError as error:
            raise _damaged(path, f"line {_line_of(key, text)}: {error}") from error
    return found


def _damaged(path: Path, what: str) -> UsageError:
    return UsageError(
        f'{path}: {what}. Mend or remove that line (one KEY = "VALUE" a line), or remove the file and pin anew '
        "with `outcrop pins KEY=VALUE`."
    )


def _line_of(key: str, text: str) -> int:
    """Where a key first stands at the beginning of a line: bare, in quotes of either kind, or as a table."""
    ways = "|".join(re.escape(way) for way in (key, json.dumps(key, ensure_ascii=False), f"'{key}'"))
    found = re.search(rf"^[ \t\[]*(?:{ways})[ \t]*[=.\]]", text, re.MULTILINE)
    return text.count("\n", 0, found.start() if found else 0) + 1


def write_pins(home: Path, pins: Mapping[str, str]) -> None:
    """Write them all. Raises WorkspaceError."""
    lines = [f"{_as_toml(key)} = {_as_toml(value)}\n" for key, value in pins.items()]
    path = home / FILE_NAME
    aside = path.with_name(f".{FILE_NAME}")
    try:
        home.mkdir(mode=0o700, exist_ok=True)
        write_private(aside, "".join(lines).encode())
        aside.replace(path)
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be written: {error.strerror}") from error


def _as_toml(text: str) -> str:
    # A JSON string is a TOML string, but for DEL, and for pairs of surrogates, which `ensure_ascii` writes.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
