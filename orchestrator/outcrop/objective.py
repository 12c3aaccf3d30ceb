"""What may be asked: objective, context and limits within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outcrop.arguments import seconds
from outcrop.text import is_text
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ObjectiveError, UsageError

# Filled in from what was checked; a context of this name would stand in its place.
_RESERVED = ("data", "pins")


def checked_objective(objective: str) -> str:
    """The objective, if it says something and is not too long. Raises ObjectiveError."""
    if not objective.strip():
        raise ObjectiveError("The objective is empty; say what is to be found out.")
    if len(objective) > limits.OBJECTIVE_CHARS:
        raise ObjectiveError(
            f"The objective has {len(objective)} characters, {limits.OBJECTIVE_CHARS} are allowed; "
            "put data into a file of the workspace and name that as data."
        )
    if not is_text(objective):
        raise ObjectiveError("The objective is not valid text: it holds bytes that are not UTF-8.")
    return objective


def checked_context(context: Mapping[str, Any] | None) -> dict[str, Any]:
    """The context, if it is JSON of bearable size. Raises UsageError."""
    if not context:
        return {}
    for name in _RESERVED:
        if name in context:
            raise UsageError(f"The context may not hold {name!r}: that name is given by the dispatch itself.")
    try:
        text = wire.dumps(dict(context)).decode()
    except ValueError as error:
        raise UsageError(f"The context is not JSON: {error}") from error
    if len(text) > limits.CONTEXT_CHARS:
        raise UsageError(f"The context has {len(text)} characters, {limits.CONTEXT_CHARS} are allowed.")
    return dict(context)


def check_numbers(timeout: float, grace: float, environment: Mapping[str, str]) -> None:
    """Whether limits and environment of a dispatch make sense. Raises UsageError."""
    seconds("timeout", timeout)
    seconds("grace", grace, may_be_zero=True)
    for name, value in environment.items():
        if not (isinstance(name, str) and isinstance(value, str)) or "=" in name or "\0" in name + value:
            raise UsageError(f"the environment takes text without NUL, not {name!r}={value!r}")
