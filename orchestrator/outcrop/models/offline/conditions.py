"""Reads conditions on columns: "Au above 0.5", "depth between 10 and 20", "Species is Adelie or Gentoo"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from outcrop.models.offline.mentions import Mention, Mentions
from outcrop.models.offline.operators import ALONE, ORDERING, SPELLED, Operator
from outcrop.models.offline.ranges import BOUNDS, lower_side, second_bound
from outcrop.models.offline.vocabulary import POLITE, STOP, TASK_VERBS, word_set
from outcrop.models.offline.words import Word
from outcrop_specialists.columns.units import is_unit

Value = float | int | str

_BEING = word_set("is are was were be being values value that which have has having of")
_ENDS = frozenset((",", ";", ".", "and", "or", "nor", "but", "then", "where", "with", ":", "should", "must", "shall"))
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Condition:
    """A column, an operator and its values: two for `between`, none for `missing`.

    `places` are the words it took, `unit` is the one that stands after a number.
    """

    column: str
    operator: Operator
    values: tuple[Value, ...]
    places: tuple[int, ...]
    unit: str = ""


@dataclass
class Conditions:
    """The conditions of a clause, and whether they are joined by "or"."""

    found: list[Condition] = field(default_factory=list)
    is_any: bool = False
    is_mixed: bool = False

    @property
    def used(self) -> set[int]:
        return {place for condition in self.found for place in condition.places}


def find_conditions(words: Sequence[Word], mentions: Mentions) -> Conditions:
    """The conditions that `words` state about the columns named in them."""
    conditions = Conditions()
    taken: set[int] = set()
    for mention in mentions.found:
        condition = _after(words, mention, mentions) or _before(words, mention, taken)
        found = [condition] if condition else []
        if condition is None or condition.operator in BOUNDS:
            found = _bounds(words, mention, condition)
        if found and taken.isdisjoint(found[0].places):
            conditions.found += found
            taken.update(place for each in found for place in each.places)
    joints = {_joint(words, left, right) for left, right in zip(conditions.found, conditions.found[1:], strict=False)}
    conditions.is_any, conditions.is_mixed = joints == {"or"}, len(joints) > 1
    return conditions


def is_ordering(words: Sequence[Word]) -> bool:
    """Whether these words state a bound: `above`, `more than`, `>=`."""
    return any(_operator(words, at)[0] in (*ORDERING, "between") for at in range(len(words)))


def _bounds(words: Sequence[Word], mention: Mention, condition: Condition | None) -> list[Condition]:
    """Both bounds of a range on one column: one `between` where both count as inside, else two conditions."""
    found: list[Condition] = [condition] if condition else []
    if side := lower_side(words, mention.first):
        operator, number, place = side
        places = tuple(range(place, condition.places[-1] + 1 if condition else mention.end))
        found.insert(0, Condition(mention.column, _bound(operator), (_plain(number),), places))
    elif condition and (more := second_bound(words, condition.places[-1] + 1, _operator)):
        operator, number, end = more
        _, end = _value(words, end - 1, Mentions())
        places = tuple(range(condition.places[0], end))
        unit = _unit(words, end - 1, end) or condition.unit
        found.append(Condition(mention.column, _bound(operator), (_plain(number),), places, unit))
    if len(found) == 2 and {each.operator for each in found} == {">=", "<="}:
        places = tuple(sorted({*found[0].places, *found[1].places}))
        values = (*found[0].values, *found[1].values)
        return [Condition(mention.column, "between", values, places, found[0].unit or found[1].unit)]
    return found


def _bound(operator: str) -> Operator:
    return next(each for each in ORDERING if each == operator)


def _after(words: Sequence[Word], mention: Mention, mentions: Mentions) -> Condition | None:
    """`Au above 0.5`, `Species is Adelie`."""
    at = mention.end
    is_said = False
    while at < len(words) and words[at].lower in _BEING:
        is_said, at = True, at + 1
    operator, at = _operator(words, at)
    if operator is None:
        if not is_said or words[at - 1].lower not in ("is", "are", "was", "were", "be"):
            return None
        if at < len(words) and words[at].lower == "there":
            # "how many collars per type are there": nothing is compared.
            return None
        operator = "=="
    if operator == "between":
        values, at = _pair(words, at)
    elif operator in ALONE:
        values = ()
    else:
        if at < len(words) and words[at].lower in ("either", "neither"):
            operator, at = ("in" if words[at].lower == "either" else "not in"), at + 1
        values, at = _values(words, at, mentions, is_list=operator in ("==", "!=", "in", "not in"))
    if operator not in ALONE and not values:
        return None
    if operator in ORDERING and any(isinstance(value, str) and not _DATE.fullmatch(value) for value in values):
        return None
    if len(values) > 1 and operator in ("==", "!="):
        operator = "in" if operator == "==" else "not in"
    return Condition(mention.column, operator, values, tuple(range(mention.first, at)), _unit(words, mention.end, at))


def _before(words: Sequence[Word], mention: Mention, taken: set[int]) -> Condition | None:
    """`more than 0.5 ppm Au`, `above 10 in Cu`, `missing Cu`."""
    at = mention.first - 1
    while at >= 0 and (
        words[at].lower in ("in", "of", "for", "%") or (words[at].kind in ("word", "mark") and _is_unit(words, at))
    ):
        at -= 1
    if at < 0 or at in taken:
        return None
    if words[at].lower in ("missing", "without") and words[at + 1 : mention.first] == []:
        return Condition(mention.column, "missing", (), tuple(range(at, mention.end)))
    if words[at].kind != "number" or _is_relative(words, at):
        return None
    for said, operator in SPELLED:
        start = at - len(said)
        if start >= 0 and tuple(word.lower for word in words[start:at]) == said and operator not in ALONE:
            unit = _unit(words, at + 1, mention.first)
            return Condition(mention.column, operator, (_plain(words[at]),), tuple(range(start, mention.end)), unit)
    return None


def _operator(words: Sequence[Word], at: int) -> tuple[Operator | None, int]:
    for said, operator in SPELLED:
        end = at + len(said)
        if tuple(word.lower for word in words[at:end]) == said:
            while end < len(words) and words[end].lower in ("to", "than", "a", "an", "the"):
                end += 1
            return operator, end
    return None, at


def _pair(words: Sequence[Word], at: int) -> tuple[tuple[Value, ...], int]:
    """Two numbers joined by "and", "to" or a dash."""
    numbers: list[Value] = []
    while at < len(words) and len(numbers) < 2:
        if words[at].kind == "number":
            numbers.append(_plain(words[at]))
        elif words[at].lower not in ("and", "to", "-", "–", "%") and not _is_unit(words, at):
            break
        at += 1
    return (tuple(numbers), at) if len(numbers) == 2 else ((), at)


def _values(words: Sequence[Word], at: int, mentions: Mentions, *, is_list: bool) -> tuple[tuple[Value, ...], int]:
    """A number with its unit, a quotation or a few words; several joined by "or" or commas where a list makes sense."""
    values: list[Value] = []
    while at < len(words):
        value, end = _value(words, at, mentions)
        if value is None:
            break
        values.append(value)
        at = end
        joint = at
        while joint < len(words) and words[joint].lower in ("or", ",", "nor"):
            joint += 1
        if joint == at and isinstance(value, str) and _is_further_value(words, at, mentions):
            joint += 1
        if not is_list or joint == at or joint >= len(words) or mentions.at(joint) is not None:
            break
        if isinstance(value, str) is not (_value(words, joint, mentions)[0].__class__ is str):
            break
        at = joint
    return tuple(values), at


def _is_further_value(words: Sequence[Word], at: int, mentions: Mentions) -> bool:
    """ "Lithology is granite and basalt": after "and" a single word that ends the clause or goes on the list."""
    if at + 1 >= len(words) or words[at].lower != "and" or mentions.at(at + 1) is not None:
        return False
    word, after = words[at + 1], words[at + 2].lower if at + 2 < len(words) else ""
    is_name = word.kind == "quoted" or (word.kind == "word" and word.lower not in STOP | POLITE | TASK_VERBS)
    return is_name and after in ("", ".", ",", ";", "and", "or")


def _value(words: Sequence[Word], at: int, mentions: Mentions) -> tuple[Value | None, int]:
    if at >= len(words) or mentions.at(at) is not None:
        return None, at
    word = words[at]
    if word.kind == "number":
        if _is_relative(words, at):
            return None, at
        end = at + 1
        while end < len(words) and (words[end].text == "%" or _is_unit(words, end)) and mentions.at(end) is None:
            end += 1
        return _plain(word), end
    if word.kind in ("quoted", "date"):
        return word.inner, at + 1
    end = at
    while (
        end < len(words)
        and words[end].lower not in _ENDS
        and words[end].kind in ("word", "number")
        and mentions.at(end) is None
    ):
        end += 1
    return (" ".join(each.text for each in words[at:end]), end) if end > at else (None, at)


def _is_relative(words: Sequence[Word], at: int) -> bool:
    """Whether a number is no value of the column: "the 90th percentile", "2 standard deviations", "3 times"."""
    near = {word.stem for word in words[at + 1 : at + 3]}
    return not words[at].text[-1:].isdigit() or bool(near & {"quantil", "deviat", "sigma", "time", "sd", "percent"})


def _unit(words: Sequence[Word], start: int, end: int) -> str:
    """The unit among these words, its parts together: `g/t`."""
    return "".join(words[at].text for at in range(start, end) if words[at].text == "%" or _is_unit(words, at))


def _is_unit(words: Sequence[Word], at: int) -> bool:
    word = words[at]
    if word.text == "/":
        return 0 < at < len(words) - 1 and is_unit(f"{words[at - 1].text}/{words[at + 1].text}")
    is_part = at > 1 and words[at - 1].text == "/" and is_unit(f"{words[at - 2].text}/{word.text}")
    return word.kind == "word" and (is_part or is_unit(word.text)) and word.lower not in ("in", "a", "to")


def _plain(word: Word) -> float | int:
    value = word.number
    assert value is not None
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def _joint(words: Sequence[Word], left: Condition, right: Condition) -> str:
    between = [word.lower for word in words[left.places[-1] + 1 : right.places[0]]]
    return "or" if "or" in between else "and"
