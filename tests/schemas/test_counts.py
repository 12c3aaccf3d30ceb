"""Counts in titles and summaries: one of a thing is told in the singular."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import outcrop_specialists
from outcrop_schemas.counts import many, named

TOOLS = Path(outcrop_specialists.__file__ or "").parent / "tools"
_COUNTED = re.compile(
    r"\{\} (columns|rows|values|results|classes|groups|tables|files|lines|samples|holes|intervals|terms)\b"
)
# What is told is never one.
NEVER_ONE = {"{} tables below each other", "{}: a data file of {} lines"}


@pytest.mark.parametrize(("count", "said"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (12000, "12000 rows")])
def test_a_count_has_its_word(count: int, said: str) -> None:
    assert many(count, "row") == said
    assert named(count, "class", "classes") == ("class" if count == 1 else "classes")


def titles(path: Path) -> Iterator[str]:
    """The f-strings that are a title or a summary, or a part of one."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.keyword) and node.arg in ("title", "summary"):
            value: ast.AST = node.value
        elif isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if not any(isinstance(target, ast.Name) and target.id in ("title", "summary") for target in targets):
                continue
            value = node.value
        else:
            continue
        for part in ast.walk(value):
            if isinstance(part, ast.JoinedStr):
                yield "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in part.values)


def test_no_title_and_no_summary_of_a_tool_has_a_plural_for_any_number() -> None:
    found = {(path.name, said) for path in TOOLS.rglob("*.py") for said in titles(path) if _COUNTED.search(said)}
    assert sorted((name, said) for name, said in found if said not in NEVER_ONE) == []
