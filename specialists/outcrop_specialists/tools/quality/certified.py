"""What standards are certified to hold, as given or from a table."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, numeric
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext


class CertifiedValue(BaseModel):
    """What a standard is certified to hold of one column, in the column's unit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    standard: str = Field(description="Name of the standard as the table has it.")
    column: str = Field(description="Column of results.")
    value: float = Field(description="Certified value.")
    sd: float | None = Field(
        default=None, gt=0, description="Certified standard deviation; of the results if not given."
    )


def certified_values(
    context: ToolContext, table: Table, listed: list[CertifiedValue], path: str | None
) -> dict[tuple[str, str], tuple[float, float | None]]:
    """Value and sd by standard (as compared, see `key_of`) and column, as given and from the table at `path`.

    Raises ArgumentError for two values of the same thing, an unknown column, and a table without the columns needed.
    """
    listed = listed + ([] if path is None else _from_table(context, path))
    found: dict[tuple[str, str], tuple[float, float | None]] = {}
    for each in listed:
        key = (key_of(each.standard), find_column(table, each.column, "certified"))
        if key in found and found[key] != (each.value, each.sd):
            raise ArgumentError("certified", f"two values for {each.standard!r} and {each.column!r}")
        found[key] = (each.value, each.sd)
    return found


def _from_table(context: ToolContext, path: str) -> list[CertifiedValue]:
    table = read_table(context, path)
    columns = {}
    for wanted, spellings in {
        "standard": ("standard", "crm", "name"),
        "column": ("column", "element", "analyte"),
        "value": ("value", "certified", "mean", "certified_value"),
        "sd": ("sd", "std", "standard_deviation", "1sd"),
    }.items():
        known = {name.strip().casefold().replace(" ", "_"): name for name in table.columns}
        name = next((known[spelling] for spelling in spellings if spelling in known), None)
        if name is None and wanted != "sd":
            raise ArgumentError("certified_path", f"{table.path.name} has no column {wanted!r}")
        columns[wanted] = name
    values = numeric(table, str(columns["value"]), "certified_path").to_list()
    sds = numeric(table, columns["sd"], "certified_path").to_list() if columns["sd"] else [None] * len(values)
    standards = table.column(str(columns["standard"])).to_list()
    elements = table.column(str(columns["column"])).to_list()
    return [
        CertifiedValue(standard=str(standard), column=str(element), value=value, sd=sd)
        for standard, element, value, sd in zip(standards, elements, values, sds, strict=True)
        if value is not None
    ]


def key_of(name: str) -> str:
    """The name of a standard as it is compared: without case and outer or repeated blanks."""
    return " ".join(name.split()).casefold()
