"""The OUTCROP_ variables of the environment: each is a setting, or it is told, as a typo would set nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from outcrop_schemas.errors import UsageError

PREFIX, DELIMITER = "OUTCROP_", "__"
# What tests, scripts and our own processes say to each other, and a secret, which no list of settings shows.
_NO_SETTINGS = {"CONFINEMENT", "LONG", "MCP_TOKEN", "PACKAGES", "ROUNDS", "SEED"}


def check_variables(environment: Mapping[str, str], fields: Iterable[str], tables: Mapping[str, Iterable[str]]) -> None:
    """Raises UsageError with the closest name for a variable that sets nothing.

    `tables` are the fields that hold entries by name, with the keys of an entry. Upper and lower case are one, and an
    empty variable is none.
    """
    known = list(fields)
    for variable, value in environment.items():
        name = variable.upper().removeprefix(PREFIX)
        if not value or name == variable.upper() or name in _NO_SETTINGS:
            continue
        field, *rest = name.lower().split(DELIMITER)
        if field not in known:
            raise UsageError(_no_setting(variable, name, _variables("", known)))
        if rest and field not in tables:
            raise UsageError(_no_setting(variable, name, _variables("", known)))
        if len(rest) > 1 and rest[1] not in tables[field]:
            raise UsageError(_no_setting(variable, name, _variables(f"{field}__{rest[0]}__", tables[field])))


def _variables(before: str, names: Iterable[str]) -> list[str]:
    return [f"{before}{name}".upper() for name in names]


def _no_setting(variable: str, name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, 1)
    hint = f"Did you mean {PREFIX + near[0]!r}?" if near else f"Known: {', '.join(PREFIX + one for one in known)}."
    return f"the environment: there is no setting {variable!r}. {hint}"
