"""Tool: certified standards: z scores, bias and control rules for each standard and element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.censoring import censored_values
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.quality.analytes import analytes, refuse_empty, sample_column
from outcrop_specialists.tools.quality.certified import CertifiedValue, certified_values, key_of
from outcrop_specialists.tools.quality.control import violations
from outcrop_specialists.tools.quality.kinds import kinds_of
from outcrop_specialists.tools.statistics.bounded import fitting, named
from outcrop_specialists.tools.statistics.groups import put_figures

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Vector = NDArray[Any]

FEWEST_RESULTS = 2


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Columns of results; those with a certified value, else all elements where not given.",
        json_schema_extra={"x-role": "columns"},
    )
    standard_column: str | None = Field(
        default=None,
        description="Column with the name of the standard in the rows of standards (`OREAS 45d`); where not given, the "
        "text that tells the standards.",
        json_schema_extra={"x-role": "standard-column"},
    )
    type_column: str | None = Field(
        default=None,
        description="Text column that tells standards (`STD 5.2`, `CRM`); found by its values where not given.",
        json_schema_extra={"x-role": "type-column"},
    )
    certified: list[CertifiedValue] | None = Field(
        default=None, max_length=500, description="Certified values; else the mean and sd of the results themselves."
    )
    certified_path: str | None = Field(
        default=None,
        description="Table of certified values instead: columns standard, column (or element), value, and sd.",
    )


@dataclass(frozen=True)
class _Series:
    """The results of one standard in one column, in table order: row numbers, values, what lies below a limit, and
    what they are judged by."""

    standard: str
    column: str
    rows: list[int]
    values: Vector
    below: int
    value: float
    sd: float
    is_certified: bool
    is_sd_certified: bool

    @property
    def z(self) -> Vector:
        found: Vector = (self.values - self.value) / self.sd
        return found


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where there are no standards, or no certified value fits them."""
    table = read_table(context, arguments.path)
    certified = certified_values(context, table, list(arguments.certified or []), arguments.certified_path)
    wanted = list(dict.fromkeys(column for _, column in certified)) if arguments.columns is None else arguments.columns
    names = analytes(table, wanted or None)
    rows, labels, told_by = _standards(table, arguments)
    found, notes = _series(table, names, rows, labels, certified)
    if not found:
        raise ArgumentError(
            "columns", f"no standard has {FEWEST_RESULTS} results to judge, or a certified value and sd"
        )
    made_of = features.parameters(arguments, columns=names) | {
        "certified": [[*key, *each] for key, each in certified.items()]
    }
    figures = {f"{each.standard}: {each.column}": _figures(each) for each in found}
    files = [
        put_figures(context, TOOL, table, made_of, _frame(found), f"Standards of {table.path.name}", "summary"),
        put_figures(
            context,
            TOOL,
            table,
            made_of,
            _results(table, found),
            f"Results of standards of {table.path.name}",
            "results",
        ),
    ]
    worst = dict(sorted(figures.items(), key=lambda each: (-each[1]["beyond_3sd"], -abs(each[1]["bias_percent"] or 0))))
    shown, more = fitting(worst, 550)
    beyond = {limit: sum(each[f"beyond_{limit}sd"] for each in figures.values()) for limit in (2, 3)}
    results: dict[str, Any] = {
        "rows": table.height,
        "standard_rows": len(rows),
        "standards": len(set(labels)),
        "series": len(found),
        "results": sum(len(each.values) for each in found),
        "beyond_2sd": beyond[2],
        "beyond_3sd": beyond[3],
        "by_series": shown,
        "told_by": told_by,
        "rule": "z = (result - certified value) / certified sd; bias = mean / certified value - 1; rules of Westgard "
        "et al. (1981) in table order; sd of results with n - 1",
    }
    if more:
        notes.append(f"{more} further series are in {files[0].artifact.path}")
    first = next(iter(worst))
    text = f"{results['results']} results of {results['standards']} standards: {beyond[2]} beyond 2 sd, "
    text += f"{beyond[3]} beyond 3 sd"
    text += f"; worst {first}: bias {_percent(worst[first]['bias_percent'])}, {worst[first]['beyond_3sd']} beyond 3 sd"
    return ToolResult(text, results, [file.artifact for file in files], [*table.notes, *notes])


def _standards(table: Table, arguments: Arguments) -> tuple[list[int], list[str], str]:
    """Row numbers of standards with the name of each, and which column told them."""
    import polars as pl

    if arguments.standard_column is not None:
        column = find_column(table, arguments.standard_column, "standard_column")
        names = table.column(column).cast(pl.String)
        is_standard = names.is_not_null() & (names.str.strip_chars() != "")
        if arguments.type_column is not None:
            is_standard &= kinds_of(table, arguments.type_column).kinds == "standard"
        rows = is_standard.arg_true().to_list()
        refuse_empty(rows, table, "standard_column", f"a standard by {column!r}")
        return rows, [str(name).strip() for name in names.gather(rows)], column
    kinds = kinds_of(table, arguments.type_column)
    rows = kinds.rows("standard")
    refuse_empty(rows, table, "type_column", f"a standard by {kinds.column!r}")
    texts = table.column(kinds.column).cast(pl.String).gather(rows).to_list()
    return rows, [str(text).strip() for text in texts], kinds.column


def _series(
    table: Table,
    names: list[str],
    rows: list[int],
    labels: list[str],
    certified: dict[tuple[str, str], tuple[float, float | None]],
) -> tuple[list[_Series], list[str]]:
    import numpy

    found: list[_Series] = []
    uncertified: list[str] = []
    few: list[str] = []
    censored = 0
    for name in names:
        column = censored_values(table, name, "columns")
        values, beyond = column.values.to_numpy().astype(float), (column.below | column.above).to_numpy()
        for label in dict.fromkeys(labels):
            of_standard = [row for row, each in zip(rows, labels, strict=True) if each == label]
            kept = [row for row in of_standard if numpy.isfinite(values[row]) and not beyond[row]]
            below = int(beyond[of_standard].sum())
            censored += below
            given = certified.get((key_of(label), name))
            if given is None and certified:
                continue
            value, sd = given or (None, None)
            results = values[kept]
            if not kept or (sd is None and len(kept) < FEWEST_RESULTS):
                few.append(f"{label}: {name}")
                continue
            if given is None:
                uncertified.append(f"{label}: {name}")
            spread = float(results.std(ddof=1)) if sd is None else sd
            if not spread > 0:
                few.append(f"{label}: {name}")
                continue
            middle = float(results.mean()) if value is None else value
            found.append(_Series(label, name, kept, results, below, middle, spread, given is not None, sd is not None))
    notes = []
    if uncertified:
        notes.append(f"no certified value, judged by their own mean and sd: {named(uncertified)}")
    if few:
        notes.append(f"not judged, fewer than {FEWEST_RESULTS} different results: {named(few)}")
    if censored:
        notes.append(f"{censored} results of standards beyond a limit are counted but not judged")
    missing = [f"{standard}: {column}" for standard, column in certified if standard not in map(key_of, labels)]
    if missing:
        notes.append(f"certified but not in the table: {named(missing)}")
    return found, notes


def _figures(series: _Series) -> dict[str, Any]:
    import numpy

    z = series.z
    broken = violations(z).counts()
    return {
        "n": len(series.values),
        "mean": float(series.values.mean()),
        "sd": float(series.values.std(ddof=1)) if len(series.values) > 1 else None,
        "certified": series.value if series.is_certified else None,
        "bias_percent": float(100 * (series.values.mean() / series.value - 1))
        if series.is_certified and series.value
        else None,
        "mean_z": float(z.mean()),
        "beyond_2sd": int((numpy.abs(z) > 2).sum()),
        "beyond_3sd": broken["beyond_3sd"],
        "runs": broken["two_beyond_2sd"] + broken["four_beyond_1sd"] + broken["ten_on_one_side"],
    }


def _frame(found: list[_Series]) -> pl.DataFrame:
    import polars as pl

    rows = []
    for each in found:
        judged_by = {
            "judged_by_value": each.value,
            "judged_by_sd": each.sd,
            "sd_is_certified": each.is_sd_certified,
            "beyond_a_limit": each.below,
        }
        rows.append(
            {
                "standard": each.standard,
                "column": each.column,
                **_figures(each),
                **judged_by,
                **violations(each.z).counts(),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _results(table: Table, found: list[_Series]) -> pl.DataFrame:
    """Every result with its z score and the rules that it breaks: what a control chart is drawn from."""
    import polars as pl

    identifier = sample_column(table)
    parts = []
    for each in found:
        labels = {}
        if identifier is not None:
            labels["sample"] = table.column(identifier).gather(each.rows).cast(pl.String)
        parts.append(
            pl.DataFrame(
                {
                    "standard": [each.standard] * len(each.rows),
                    "column": [each.column] * len(each.rows),
                    "data_row": [row + 1 for row in each.rows],
                    **labels,
                    "value": each.values,
                    "z": each.z,
                    "broken_rules": pl.Series(violations(each.z).texts(), dtype=pl.String),
                    "judged_by_value": [each.value] * len(each.rows),
                    "judged_by_sd": [each.sd] * len(each.rows),
                }
            )
        )
    return pl.concat(parts)


def _percent(value: float | None) -> str:
    return "not known" if value is None else f"{value:.4g} %"


TOOL = Tool(
    name="qaqc_standards",
    version=1,
    description=(
        "Check certified standards (CRM): z scores against certified value and sd, bias, results beyond 2 and 3 sd and "
        "runs (Westgard rules), per standard and element; the results with z as CSV for a control chart."
    ),
    asked_for=(
        "check standards",
        "certified reference material",
        "CRM performance",
        "accuracy of the laboratory",
        "bias of the standards",
        "z scores of standards",
        "westgard rules",
        "control limits",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        accuracy; bias; drift; labs that drift; reads too high or too low; certified value; CRM; reference
        materials; OREAS; within two standard deviations; failed standards; control sample performance; lab
        performance; is the laboratory right; trueness; systematic error; shift over time; batch failures;
        re-assay; out of control; calibration of the laboratory; recovery; expected value; quality of the
        assays; independent reference; SRM; deviation from the recommended value; which batches to reanalyse;
        westgard; shewhart rules; correct on average; off target; standard reference; does the lab hit the known
        value; inaccuracy; does the lab hit the certified numbers; are results of the reference off; laboratory
        accuracy over the campaign; known value; is the lab trustworthy; is the lab accurate; results against
        certificate; lab too high; lab too low; systematically wrong; deviations from certified; how correct are
        the assays; bias of the laboratory; known concentration; are the analyses right; certified; control
        material out of limits; truth; did the lab do its job; acceptable; batches that fail; correctness of the
        lab; lab shift; lab reading high
        """
    ),
)
