"""Makes the calls of a step out of what was bound, and says what is lacking or left at its default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outcrop.models.offline.columns import Bound
from outcrop.models.offline.schema import Property

NO_CONDITION = "which rows are meant is not said as a condition on a column, such as A > 5"


def calls_of(
    properties: Sequence[Property], arguments: Mapping[str, Any], bound: Bound, chain: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """One call for each value of an argument that takes one column at a time, and for each condition of a chain."""
    name, values = bound.each or ("", [""])
    calls = [{**arguments, **({name: value} if name else {}), **part} for value in values for part in chain or [{}]]
    order = [prop.name for prop in properties]
    return [{key: call[key] for key in order if key in call} for call in calls]


def lacking(tool: str, properties: Sequence[Property], calls: Sequence[Mapping[str, Any]]) -> list[str]:
    """What has to be said and is not."""
    missing = {prop.name for prop in properties if prop.is_required and any(prop.name not in call for call in calls)}
    takes_condition = {"column", "operator"} <= {prop.name for prop in properties}
    is_said = all({"column", "operator"} <= call.keys() or "expression" in call for call in calls)
    refusals = []
    if takes_condition and not is_said:
        refusals.append(NO_CONDITION)
        missing -= {"column", "operator"}
    return refusals + [f"the argument {prop.name} of {tool} is not said" for prop in properties if prop.name in missing]


def defaults_of(properties: Sequence[Property], call: Mapping[str, Any]) -> str:
    """What is left at its default, in one sentence; empty where nothing is."""
    chosen = {str(call.get(prop.name, prop.default)) for prop in properties if prop.choices}
    others = {str(choice) for prop in properties for choice in prop.choices} - chosen
    left = [
        f"{prop.name} {prop.default}"
        for prop in properties
        if prop.name not in call
        and isinstance(prop.default, int | float | str)
        and not isinstance(prop.default, bool)
        # "dbscan: reach of a neighbourhood" says nothing where another method works.
        and prop.description.partition(":")[0] not in others
    ]
    return f"Not said, so left at its default: {', '.join(left)}" if left else ""
