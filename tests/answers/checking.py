"""Asks every question and compares: the table that scripts/check_answers.py prints and the tests hold."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import answers.assays
import answers.generic
import answers.holes
import answers.waters  # noqa: F401  (each puts its plans)
from answers.asking import PLANS, Asked
from answers.cases import CASES
from outcrop_schemas.errors import OutcropError

TOLERANCE = 1e-6


@dataclass(frozen=True)
class Checked:
    """One question: whether it came out right, what came, and what is right."""

    id: str
    ok: bool
    got: Any
    expected: Any


def agrees(got: Any, expected: Any, within: float = 1e-12, tolerance: float = TOLERANCE) -> bool:
    """Equal, in the same order, with the same names; numbers within the relative tolerance or `within` of the other."""
    if isinstance(expected, bool) or isinstance(got, bool):
        return got is expected
    if isinstance(expected, int | float):
        return isinstance(got, int | float) and math.isclose(got, expected, rel_tol=tolerance, abs_tol=within)
    if isinstance(expected, list):
        return (
            isinstance(got, list)
            and len(got) == len(expected)
            and all(agrees(*each, within, tolerance) for each in zip(got, expected, strict=True))
        )
    if isinstance(expected, dict):
        return (
            isinstance(got, dict)
            and got.keys() == expected.keys()
            and all(agrees(got[key], expected[key], within, tolerance) for key in expected)
        )
    return bool(got == expected)


def questions(data: Path) -> list[dict[str, Any]]:
    return list(json.loads((data / "answers.json").read_text("utf-8")))


def check_answers(data: Path, folder: Path, file: str | None = None) -> Iterator[Checked]:
    """Every question of answers.json, or those on one file, in order."""
    asked = Asked(folder, data)
    for each in (each for each in questions(data) if file in (None, each["file"])):
        yield _checked(each["id"], lambda key=each["id"]: PLANS[key](asked), each["answer"])


def cases(data: Path) -> list[dict[str, Any]]:
    return list(json.loads((data / "cases" / "cases_dev.json").read_text("utf-8")))


IN_WORDS = ("must", "must_not", "answer", "sample_2")
"""What a case demands in words: its function says whether it was met."""


def check_cases(data: Path, folder: Path, name: str | None = None) -> Iterator[Checked]:
    """Every case of cases_dev.json, or one, in order: the values that are right, and what is demanded in words."""
    for each in (each for each in cases(data) if name in (None, each["id"])):
        key, right = each["id"], dict(each["right"])
        within = right.pop("tolerance", 1e-12)
        right.pop("note", None)
        expected = {name: True if _is_in_words(name, value) else value for name, value in right.items()}
        asked = Asked(folder / key.replace(".", "_"), data)
        yield _checked(key, lambda asked=asked, key=key: CASES[key](asked, key), expected, within)


def _is_in_words(name: str, value: Any) -> bool:
    return name in IN_WORDS or (name == "artefact" and " " in value)


def _checked(name: str, ask: Callable[[], Any], expected: Any, within: float = 1e-12) -> Checked:
    try:
        got = ask()
    except (OutcropError, KeyError, IndexError, StopIteration, ValueError, AssertionError) as error:
        return Checked(name, False, f"{type(error).__name__}: {error}", expected)
    return Checked(name, agrees(got, expected, within), got, expected)
