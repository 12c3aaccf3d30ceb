"""Where settings come from: the file, the command line, the environment; read, checked by name, their faults told.

Which settings there are is `settings.py`'s.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource

from outcrop_schemas import regular
from outcrop_schemas.errors import UsageError

Chosen = TypeVar("Chosen", bound=BaseSettings)


def read_file(path: Path) -> dict[str, Any]:
    """What stands in the file; nothing where there is none. Raises UsageError."""
    try:
        return tomllib.loads(regular.read_file(path).decode(), parse_float=Decimal)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: is not TOML: {error}") from error


def assign(into: dict[str, Any], item: str) -> None:
    """`roles.lead.effort=high` as nested tables; the key and, where it is TOML, the value are read as TOML."""
    key, equals, value = item.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--set takes KEY=VALUE, such as roles.lead.effort=high, not {item!r}")
    try:
        parsed = tomllib.loads(f"{key}={value}", parse_float=Decimal)
    except tomllib.TOMLDecodeError:
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        try:
            parsed = tomllib.loads(f'{key}="{quoted}"')
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f"--set: {item!r} cannot be read: {error}") from error
    _merge(into, parsed)


def _merge(into: dict[str, Any], other: Mapping[str, Any]) -> None:
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def check_names(
    given: Mapping[str, Any],
    where: str,
    fields: Iterable[str],
    groups: Mapping[str, Iterable[str]],
    tables: Mapping[str, Iterable[str]],
) -> None:
    """Keys that there are none of, which are told with the closest name.

    Of the `fields`, `groups` are those that hold settings themselves, `tables` those that hold entries by name; each
    with the keys that it may have. Raises UsageError.
    """
    _check_table(given, fields, where, "")
    for group, known in groups.items():
        if isinstance(entry := given.get(group), dict):
            _check_table(entry, known, where, f"{group}.")
    for table, known in tables.items():
        entries = given.get(table)
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            if isinstance(entry, dict):
                _check_table(entry, known, where, f"{table}.{name}.")


def _check_table(given: Iterable[str], known: Iterable[str], where: str, prefix: str) -> None:
    names = set(known)
    for key in given:
        if key not in names:
            raise UsageError(f"{where}: there is no setting {prefix + key!r}.{closest(key, sorted(names))}")


def closest(name: str, known: Iterable[str]) -> str:
    """A hint at the name that may have been meant, or at all there are."""
    names = list(known)
    near = get_close_matches(name, names, 1)
    return f" Did you mean {near[0]!r}?" if near else f" Known: {', '.join(names)}."


def with_file(kind: type[Chosen], stored: Mapping[str, Any]) -> type[Chosen]:
    """The same settings, with what stands in the file below the environment."""

    class FromFile(kind):  # type: ignore[misc, valid-type]
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return init_settings, env_settings, InitSettingsSource(settings_cls, dict(stored))

    return FromFile


def told(error: ValidationError, path: Path | None) -> str:
    """The first fault, with the key that has it; where the file has none of it, it came from somewhere else."""
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    where = f"{path}, OUTCROP_ variables or options" if path else "settings (OUTCROP_ variables or options)"
    shown = first["input"] if isinstance(first["input"], str | int | float | Decimal) else type(first["input"]).__name__
    return f"{where}: {key}: {first['msg'].removeprefix('Value error, ')} (found: {shown})"
