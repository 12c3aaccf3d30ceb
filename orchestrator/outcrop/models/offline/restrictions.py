"""Turns conditions into the arguments of a tool that takes them; for any other tool a condition refuses the call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from outcrop.models.offline.cards import Card
from outcrop.models.offline.conditions import Condition, Conditions
from outcrop.models.offline.operators import ALONE, OPPOSITE, Operator
from outcrop.models.offline.polarity import polarity_of
from outcrop.models.offline.profile import Profile
from outcrop.models.offline.schema import Property
from outcrop.models.offline.words import Word, squeeze

_SPELLINGS: dict[Operator, tuple[str, ...]] = {
    ">": (">", "gt", "greater"),
    ">=": (">=", "ge", "gte", "atleast"),
    "<": ("<", "lt", "less"),
    "<=": ("<=", "le", "lte", "atmost"),
    "==": ("==", "=", "eq", "equal", "equals"),
    "!=": ("!=", "ne", "notequal"),
    "in": ("in", "isin"),
    "not in": ("notin",),
    "between": ("between",),
    "missing": ("isnull", "missing", "ismissing"),
    "not missing": ("notnull", "isnotnull", "notmissing"),
    "contains": ("contains",),
}


@dataclass
class Restriction:
    """The arguments for each condition, one call each, or why there are none."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def bind_conditions(
    conditions: Conditions, properties: Sequence[Property], card: Card, words: Sequence[Word], profile: Profile
) -> Restriction:
    """Several conditions become a chain of calls, each on what the one before kept."""
    restriction = Restriction()
    if not conditions.found:
        return restriction
    said = "; ".join(map(spoken, conditions.found))
    column = next((prop for prop in properties if prop.name in ("filter_column", "where_column")), None)
    column = column or next((prop for prop in properties if prop.role == "column"), None)
    operator = next(
        (prop for prop in properties if {">", "<"} <= set(prop.choices) or {"gt", "lt"} <= set(prop.choices)), None
    )
    value = next((prop for prop in properties if prop.name in ("value", "values", "threshold")), None)
    if not (column and operator and value):
        restriction.refusals.append(f"{card.name} takes no condition ({said}); filter the rows first")
        return restriction
    if len(conditions.found) > 1 and column.role != "column":
        restriction.refusals.append(f"{card.name} takes one condition at a time: {said}")
        return restriction
    polarity = polarity_of(words, conditions.used)
    if polarity == "unclear":
        restriction.refusals.append(f"it is not clear whether rows with {said} are to be kept or left out")
        return restriction
    is_removal = polarity == "remove"
    others = _keep_others(properties)
    if len(conditions.found) > 1 and (conditions.is_mixed or conditions.is_any is not is_removal):
        # "a or b" to keep, "a and b" to drop: neither is a chain of conditions that all hold.
        joint = "a mix of and/or" if conditions.is_mixed else "or" if conditions.is_any else "and, to be removed"
        restriction.refusals.append(f"{card.name} takes one condition at a time; these are joined by {joint}: {said}")
        return restriction
    for condition in conditions.found:
        _check_unit(condition, profile, restriction)
        _check_kind(condition, profile, restriction)
        wanted = _opposite(condition) if is_removal and not others else condition
        choice = _choice(wanted, operator) if wanted else None
        if wanted is None or choice is None:
            restriction.refusals.append(
                f"{card.name} cannot {'leave out' if is_removal else 'keep'} {spoken(condition)}"
            )
            continue
        call = {column.name: wanted.column, operator.name: choice, **_value(wanted, value)}
        restriction.calls.append({**call, **(others if is_removal else {})})
        if is_removal and others:
            stayed = "" if condition.operator in ALONE else "; rows without a value stayed"
            restriction.notes.append(f"Rows with {spoken(condition)} were left out{stayed}")
        elif is_removal:
            restriction.notes.append(
                f"Rows with {spoken(condition)} were left out by keeping those with {spoken(wanted)}"
            )
    return restriction


def _keep_others(properties: Sequence[Property]) -> dict[str, Any]:
    """The argument by which a tool keeps the rows that do not meet the condition, those without a value too."""
    return next(({prop.name: "others"} for prop in properties if prop.name == "keep" and "others" in prop.choices), {})


def spoken(condition: Condition) -> str:
    """A condition in short: `Au > 0.5`."""
    values = (
        " and ".join(map(str, condition.values))
        if condition.operator == "between"
        else ", ".join(map(str, condition.values))
    )
    return f"{condition.column} {condition.operator}{f' {values}' if values else ''}"


def _check_unit(condition: Condition, profile: Profile, restriction: Restriction) -> None:
    """A threshold in another unit than the column's would keep the wrong rows."""
    column = profile.column(condition.column)
    if not condition.unit or column is None or not any(isinstance(value, int | float) for value in condition.values):
        return
    if not column.unit:
        restriction.refusals.append(f"{condition.column} has no known unit; give the value without {condition.unit}")
    elif column.unit.strip().casefold() != condition.unit.casefold():
        said = f"{condition.column} is in {column.unit}, the condition in {condition.unit}"
        restriction.refusals.append(f"{said}; give the value in {column.unit}")


def _check_kind(condition: Condition, profile: Profile, restriction: Restriction) -> None:
    """A text is no value of a column of numbers: "Zn is high"."""
    column = profile.column(condition.column)
    texts = [value for value in condition.values if isinstance(value, str) and not value[:1].isdigit()]
    if column and column.is_numeric and texts and condition.operator != "contains":
        restriction.refusals.append(f'"{texts[0]}" is no number, and {condition.column} is a column of numbers')


def _opposite(condition: Condition) -> Condition | None:
    operator = OPPOSITE.get(condition.operator)
    return replace(condition, operator=operator) if operator else None


def _choice(condition: Condition, operator: Property) -> Any:
    wanted = _SPELLINGS[condition.operator]
    return next(
        (choice for choice in operator.choices if str(choice) in wanted or squeeze(str(choice)) in wanted), None
    )


def _value(condition: Condition, value: Property) -> dict[str, Any]:
    if condition.operator in ALONE:
        return {}
    is_list = condition.operator in ("between", "in", "not in")
    values = sorted(condition.values, key=_number) if condition.operator == "between" else list(condition.values)
    return {value.name: values if is_list else values[0]}


def _number(value: float | int | str) -> float:
    return float("inf") if isinstance(value, str) else value
