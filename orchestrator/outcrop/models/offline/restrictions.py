"""Turns conditions into the arguments of a tool that takes them; for any other tool a condition refuses the call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from outcrop.models.offline.cards import Card
from outcrop.models.offline.conditions import Condition, Conditions
from outcrop.models.offline.forms import quoted_column
from outcrop.models.offline.operators import ALONE, OPPOSITE, Operator
from outcrop.models.offline.polarity import polarity_of
from outcrop.models.offline.profile import Profile
from outcrop.models.offline.schema import Property
from outcrop.models.offline.words import Word, squeeze
from outcrop_specialists.columns.units import is_same_unit

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
    if _cut_off(conditions, properties, profile, restriction):
        return restriction
    column = next((prop for prop in properties if prop.name in ("filter_column", "where_column")), None)
    column = column or next((prop for prop in properties if prop.role == "column"), None)
    operator = next(
        (prop for prop in properties if {">", "<"} <= set(prop.choices) or {"gt", "lt"} <= set(prop.choices)), None
    )
    value = next((prop for prop in properties if prop.name in ("value", "values", "threshold")), None)
    if not (column and operator and value):
        restriction.refusals.append(f"{card.name} takes no condition ({said}); filter the rows first")
        return restriction
    polarity = polarity_of(words, conditions.used)
    if polarity == "unclear":
        restriction.refusals.append(f"it is not clear whether rows with {said} are to be kept or left out")
        return restriction
    is_removal = polarity == "remove"
    others = _keep_others(properties)
    is_chain = column.role == "column" and conditions.is_any is is_removal
    if len(conditions.found) > 1 and (conditions.is_mixed or not is_chain):
        # "a or b" to keep, "a and b" to drop: neither is a chain of conditions that all hold.
        _express(conditions, properties, profile, restriction, card, others if is_removal else {})
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


def _express(
    conditions: Conditions, properties: Sequence[Property], profile: Profile, restriction: Restriction, card: Card,
    others: dict[str, Any],
) -> None:  # fmt: skip
    """All conditions as one expression, where the tool takes one; a mix of "and" and "or" may mean two things."""
    said = "; ".join(map(spoken, conditions.found))
    joint = "or" if conditions.is_any else "and"
    is_taken = any(prop.name == "expression" for prop in properties)
    if conditions.is_mixed or not is_taken:
        joint = "a mix of and/or" if conditions.is_mixed else joint
        restriction.refusals.append(f"{card.name} takes one condition at a time; these are joined by {joint}: {said}")
        return
    for condition in conditions.found:
        _check_unit(condition, profile, restriction)
        _check_kind(condition, profile, restriction)
    text = f" {joint} ".join(map(_expressed, conditions.found))
    restriction.calls.append({"expression": text, **others})
    if others:
        restriction.notes.append(f"Rows with {text} were left out; rows for which it cannot be told stayed")


def _expressed(condition: Condition) -> str:
    """A condition in the language of expressions."""
    column, values = quoted_column(condition.column), [_literal(value) for value in condition.values]
    if condition.operator in ALONE:
        return f"{column} is {'not ' if condition.operator == 'not missing' else ''}null"
    if condition.operator == "between":
        low, high = sorted(condition.values, key=_number)
        return f"({column} between {_literal(low)} and {_literal(high)})"
    if condition.operator in ("in", "not in"):
        return f"{column} {condition.operator} ({', '.join(values)})"
    if condition.operator == "contains":
        return f"contains({column}, {values[0]})"
    return f"{column} {condition.operator} {values[0]}"


def _literal(value: float | int | str) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return str(value)


def _cut_off(
    conditions: Conditions, properties: Sequence[Property], profile: Profile, restriction: Restriction
) -> bool:
    """A bound as the grade that a tool cuts off at: a `cutoff`, or a `mode` with a value; whether it was taken."""
    known = {prop.name: prop for prop in properties}
    if len(conditions.found) != 1 or "column" not in known:
        return False
    condition = conditions.found[0]
    call: dict[str, Any] = {"column": condition.column}
    if "cutoff" in known and condition.operator in (">", ">="):
        call["cutoff"] = condition.values[0]
        if condition.operator == ">":
            restriction.notes.append(f"Grades at {condition.values[0]} count as above it")
    elif "mode" in known and {"above", "below", "between"} <= set(known["mode"].choices):
        if condition.operator == "between":
            low, high = sorted(condition.values, key=_number)
            call |= {"mode": "between", "low": low, "high": high}
        elif condition.operator in (">", ">=", "<", "<="):
            call |= {"mode": "above" if condition.operator[0] == ">" else "below", "value": condition.values[0]}
            call |= {"inclusive": True} if condition.operator.endswith("=") else {}
        else:
            return False
    else:
        return False
    _check_unit(condition, profile, restriction)
    restriction.calls.append(call)
    return True


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
    elif not is_same_unit(column.unit, condition.unit):
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
