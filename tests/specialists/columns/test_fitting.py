"""Which column of a new table stands for one that a plan needs, and why none does."""

from __future__ import annotations

from typing import Any

import pytest

from outcrop_schemas.plan import PlanColumn
from outcrop_specialists.columns.fitting import Fit, fit
from outcrop_specialists.columns.profile import ColumnProfile


def column(name: str, role: str = "measure", unit: str | None = None, kind: Any = "number") -> ColumnProfile:
    return ColumnProfile(name, kind, role, unit, 0, 5, None, None, 0)  # type: ignore[arg-type]


def need(name: str, role: str | None = "measure", unit: str | None = None, kind: Any = "number") -> PlanColumn:
    return PlanColumn(name=name, type=kind, role=role, unit=unit)


def names(found: Fit) -> list[tuple[str, str, str]]:
    return [(each.needed, each.name, each.how) for each in found.mapped]


def reasons(found: Fit) -> list[str]:
    return [each.reason for each in found.misfits]


CU = need("Cu_ppm", "element", "ppm")


def test_the_exact_name_comes_first() -> None:
    found = fit([CU], [column("cu (ppm)", "element", "ppm"), column("Cu_ppm", "element", "ppm")], {})
    assert names(found) == [("Cu_ppm", "Cu_ppm", "")]


@pytest.mark.parametrize("name", ["cu (ppm)", "CU ppm", "Cu [g/t]"])
def test_then_the_name_without_case_blanks_and_unit(name: str) -> None:
    unit = "g/t" if "g/t" in name else "ppm"
    found = fit([CU], [column(name, "element", unit), column("Zn", "element", "ppm")], {})
    assert names(found) == [("Cu_ppm", name, "name without case, blanks and unit")]


def test_then_the_only_column_of_the_element() -> None:
    found = fit([CU], [column("Copper (ppm)", "element", "ppm"), column("Zn_ppm", "element", "ppm")], {})
    assert names(found) == [("Cu_ppm", "Copper (ppm)", "element Cu")]


def test_then_the_only_column_of_the_place() -> None:
    needs = [need("EASTING", "x"), need("NORTHING", "y")]
    found = fit(needs, [column("xutm", "x"), column("yutm", "y"), column("d", "depth")], {})
    assert names(found) == [("EASTING", "xutm", "role x"), ("NORTHING", "yutm", "role y")]


def test_two_that_fit_are_one_too_many() -> None:
    found = fit([need("EASTING", "x")], [column("xutm", "x"), column("xloc", "x")], {})
    assert reasons(found) == ["it could be 'xutm' or 'xloc'"]


def test_the_only_measure_stands_for_no_other() -> None:
    assert reasons(fit([need("alcohol")], [column("ash")], {})) == ["the file has no such column"]


def test_another_unit_is_no_fit_even_under_the_same_name() -> None:
    found = fit([need("Cu", "element", "ppm")], [column("Cu", "element", "%")], {})
    assert reasons(found) == ["'Cu' is in %, not in ppm"]
    found = fit([CU], [column("Cu_pct", "element", "pct")], {})
    assert "is in pct, not in ppm" in reasons(found)[0]


def test_a_unit_that_is_not_said_is_told_under_the_same_name_and_refused_under_another() -> None:
    found = fit([need("Cu", "element", "ppm")], [column("Cu", "element")], {})
    assert names(found) == [("Cu", "Cu", "")]
    assert "no unit that is said" in found.warnings[0]
    assert "no unit that is said" in reasons(fit([CU], [column("Cu", "element")], {}))[0]


def test_text_is_no_number() -> None:
    assert reasons(fit([need("a")], [column("a", "text", kind="text")], {})) == ["'a' is text, not number"]
    assert names(fit([need("id", "id", kind="text")], [column("id", "id", kind="integer")], {}))
    assert names(fit([need("a", kind="integer")], [column("a")], {}))


def test_a_choice_settles_what_is_open_and_tells_another_unit() -> None:
    found = fit([CU], [column("a", "measure", "%"), column("b")], {"Cu_ppm": "a"})
    assert names(found) == [("Cu_ppm", "a", "your choice")]
    assert "though it is in %, not in ppm" in found.warnings[0]
    assert "no column 'c'" in reasons(fit([CU], [column("a")], {"Cu_ppm": "c"}))[0]


def test_one_column_never_stands_for_two() -> None:
    both = [column("a"), column("b")]
    assert reasons(fit([need("a"), need("b")], both, {"a": "b"})) == ["'b' would stand for two columns"]
    assert len(reasons(fit([need("c"), need("d")], both, {"c": "a", "d": "a"}))) == 2


def test_a_column_that_a_tool_finds_by_itself_only_has_to_be_there() -> None:
    place = PlanColumn(name="x", type="number", role="x", found_by="role")
    assert fit([place], [column("Longitude", "longitude")], {}) == Fit()
    assert reasons(fit([place], [column("a")], {})) == ["the file has no column that is x"]
    assert names(fit([place], [column("a")], {"x": "a"})) == [("x", "a", "your choice")]


def test_what_is_not_known_of_a_column_is_not_compared() -> None:
    assert names(fit([PlanColumn(name="a")], [column("a", "text", kind="text")], {})) == [("a", "a", "")]
