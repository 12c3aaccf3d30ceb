"""The files in the arguments of a plan's calls: read, and put in their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from outcrop_schemas.errors import PlanError
from outcrop_schemas.plan import FileReference, PlanCall
from outcrop_specialists.completion import first_fault
from outcrop_specialists.tools.argument_kinds import is_file


def references_of(call: PlanCall, where: str = "arguments") -> list[FileReference]:
    """The files of a call in the order of its arguments. Raises PlanError for what stands in place of one."""
    found: list[FileReference] = []
    for name, value in call.arguments.items():
        if not is_file(name) or value is None:
            continue
        for number, part in enumerate(value if isinstance(value, list) else [value]):
            place = f"{where}.{name}" + (f"[{number}]" if isinstance(value, list) else "")
            found.append(_reference(part, place))
    return found


def with_files(arguments: Mapping[str, Any], put: Callable[[FileReference], Any]) -> dict[str, Any]:
    """The arguments with each of their references replaced by what `put` makes of it."""

    def replaced(value: Any) -> Any:
        if isinstance(value, list):
            return [replaced(part) for part in value]
        return put(_reference(value, "arguments")) if isinstance(value, dict) else value

    return {name: replaced(value) if is_file(name) else value for name, value in arguments.items()}


def _reference(value: Any, place: str) -> FileReference:
    if not isinstance(value, dict):
        raise PlanError(place, f'must be a file of the plan such as {{"from": "input1"}}, not {value!r}')
    try:
        return FileReference.model_validate(value)
    except ValidationError as error:
        where, reason = first_fault(error)
        raise PlanError(f"{place}.{where}", reason) from error
