"""What a table is for a plan: told without a cell of it."""

from __future__ import annotations

from pathlib import Path

from outcrop_schemas import wire
from outcrop_schemas.plan import PlanColumn
from outcrop_specialists.table_fit import FitArguments, fit_table
from outcrop_specialists.tools.base import ToolContext

CSV = "sample,rock,EASTING,Cu_ppm\ns1,SECRETCELL,431.25,10\ns2,Granite ,431.50,<5\ns3,Granite ,431.75,30\n"


def asked(context: ToolContext, **given: object) -> dict[str, object]:
    (Path(context.workspace) / "t.csv").write_text(CSV)
    return fit_table(context, FitArguments.model_validate({"path": "t.csv", **given}))


def test_no_cell_is_told_but_values_that_were_asked_for(context: ToolContext) -> None:
    need = PlanColumn(name="Rock", type="text", role="category", values=["granite", "gneiss"])
    found = asked(context, described={"rock": ["GRANITE"], "cu_ppm": [], "none": ["x"]}, inputs={"a": [need]})
    text = wire.dumps(found).decode()
    assert "SECRETCELL" not in text
    assert "431" not in text
    assert "s1" not in text
    assert "GRANITE" in text


def test_columns_are_described_as_the_table_has_them(context: ToolContext) -> None:
    found = asked(context, described={"CU_PPM": ["10"], "none": []}, found=["EASTING", "rock"])
    described = [PlanColumn.model_validate(record) for record in found["described"]]  # type: ignore[attr-defined]
    assert [(column.name, column.role, column.unit, column.found_by) for column in described] == [
        ("Cu_ppm", "element", "ppm", "name"),
        ("EASTING", "x", None, "role"),
    ]


def test_a_value_that_is_not_there_is_told_whatever_its_case(context: ToolContext) -> None:
    need = PlanColumn(name="rock", values=["granite", "gneiss"])
    fits = asked(context, inputs={"a": [need]})["fits"]
    assert fits == {
        "a": {
            "aside": [],
            "mapped": [],
            "misfits": [],
            "warnings": ["'rock' has no value 'gneiss', which the plan asks for"],
        }
    }


def test_a_column_in_the_way_of_a_new_name_is_told(context: ToolContext) -> None:
    needs = [PlanColumn(name="Cu_ppm"), PlanColumn(name="sample")]
    found = asked(context, inputs={"a": needs}, given={"Cu_ppm": "easting"})["fits"]
    assert found["a"]["aside"] == ["Cu_ppm"]  # type: ignore[index]
    assert found["a"]["mapped"] == [["Cu_ppm", "EASTING", "your choice"]]  # type: ignore[index]
