"""Tool: completeness and plausibility of the curves of a well log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns, numeric, numeric_columns
from outcrop_specialists.columns.profile import profile_table
from outcrop_specialists.columns.roles import unit_of
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.reading.types import sentinels_of
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.derived import publish_frame
from outcrop_specialists.tools.logs.ranges import range_of

if TYPE_CHECKING:
    import polars as pl

CURVES_TOLD = 6
# A step that differs from the usual one by more than this share is irregular.
STEP_TOLERANCE = 0.01
# So many equal values in a row are suspicious in a measured curve.
STUCK_VALUES = 20
RULE = (
    "gaps are runs of missing values between the first and last value; stuck = 20 or more equal values in a row; "
    "step irregular beyond 1 % of the median step; out of range by physical limits of the curve's kind, kept"
)


class Arguments(ToolArguments):
    path: str = Field(description="Well log (LAS or table with depths), relative to the workspace.")
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Curves to check; all numeric ones where not given.",
        json_schema_extra={"x-role": "columns"},
    )
    depth: str | None = Field(default=None, description="Depth column; found by name where not given, else the first.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where no column is a depth or a curve is not numeric."""
    import polars as pl

    table = read_table(context, arguments.path)
    depth_name = _depth(table, arguments.depth)
    depth = numeric(table, depth_name, "depth")
    names = find_columns(table, arguments.columns, "columns") if arguments.columns else numeric_columns(table)
    names = [name for name in names if name != depth_name]
    if not names:
        raise ArgumentError("columns", f"{table.path.name} has no curve beside {depth_name!r}")
    records = []
    for done, name in enumerate(names):
        context.report(f"checking {name}", done, len(names))
        records.append(_curve(table, name, numeric(table, name, "columns"), depth))
    frame = pl.DataFrame(records, infer_schema_length=None)
    title = f"Curves of {table.path.name}"
    published = publish_frame(context, TOOL, [table], arguments, frame, title, resolved={"depth": depth_name})
    steps, notes = _steps(depth, depth_name)
    flagged = [record for record in records if record["out_of_range"] or record["longest_stuck"] or record["suspected"]]
    empty = [record["curve"] for record in records if not record["count"]]
    if empty:
        notes.append(f"{len(empty)} curves without any value: {', '.join(empty[:CURVES_TOLD])}")
    text_columns = [name for name in table.frame.columns if name not in numeric_columns(table)]
    if text_columns and arguments.columns is None:
        notes.append(f"{len(text_columns)} columns that are not numbers are not checked")
    results: dict[str, Any] = {
        "rows": table.frame.height,
        "depth": depth_name,
        "unit": unit_of(depth_name, table.units),
        **steps,
        "curves": len(names),
        "least_complete": _shown(sorted(records, key=lambda each: each["share"])[:CURVES_TOLD], "share"),
        "flagged": [_flag(record) for record in flagged[:CURVES_TOLD]],
        "flagged_curves": len(flagged),
        "rule": RULE,
        "path": published.artifact.path,
    }
    return ToolResult(_told(results, records), results, [published.artifact], [*table.notes, *notes])


def _depth(table: Table, wanted: str | None) -> str:
    if wanted is not None:
        return find_column(table, wanted, "depth")
    found = next((profile.name for profile in profile_table(table) if profile.role == "depth"), None)
    first = table.frame.columns[0]
    if found is None and first in numeric_columns(table):
        return first
    if found is None:
        raise ArgumentError("depth", f"{table.path.name} has no column that is named like a depth; name it")
    return found


def _steps(depth: pl.Series, name: str) -> tuple[dict[str, Any], list[str]]:
    """Range and regularity of the depths, with notes on what is odd about them."""
    known = depth.drop_nulls()
    if len(known) < 2:
        return {"depth_range": [known.min(), known.max()], "step": None}, []
    step = known.diff().drop_nulls()
    usual = step.median()
    assert isinstance(usual, float)
    irregular = int(((step - usual).abs() > STEP_TOLERANCE * abs(usual)).sum())
    back = int((step * (1 if usual >= 0 else -1) < 0).sum())
    repeated = int((step == 0).sum())
    notes = [
        f"CAUTION: {count} of {len(step)} steps of {name!r} {what}"
        for count, what in ((back, "go the other way"), (repeated, "are zero: depths repeat"))
        if count
    ]
    if depth.null_count():
        notes.append(f"{depth.null_count()} rows have no {name}")
    found = {
        "depth_range": [known.min(), known.max()],
        "step": usual,
        "irregular_steps": irregular,
        "direction": "downward" if usual > 0 else "upward" if usual < 0 else "none",
    }
    return found, notes


def _curve(table: Table, name: str, values: pl.Series, depth: pl.Series) -> dict[str, Any]:
    import polars as pl

    has = values.is_not_null()
    count = int(has.sum())
    unit = unit_of(name, table.units)
    record: dict[str, Any] = {"curve": name, "unit": unit, "count": count, "missing": len(values) - count}
    record["share"] = count / len(values) if len(values) else 0.0
    # In the order of depth, whichever way the log was run.
    order = depth.arg_sort(nulls_last=True)
    ordered, has, places = values.gather(order), has.gather(order), depth.gather(order)
    valid = has.arg_true()
    inside = has.slice(int(valid[0]), int(valid[-1]) - int(valid[0]) + 1) if count else has.head(0)
    runs = pl.DataFrame({"has": inside, "run": inside.rle_id()}).filter(~pl.col("has")).group_by("run").len()
    gaps: list[int] = runs["len"].to_list()
    kind = range_of(name, unit, values.median())
    low, high = (kind.low, kind.high) if kind else (None, None)
    outside = 0 if kind is None else int((~values.drop_nulls().is_between(kind.low, kind.high)).sum())
    suspected = sentinels_of(values)
    return record | {
        "first_depth": places[int(valid[0])] if count else None,
        "last_depth": places[int(valid[-1])] if count else None,
        "gaps": len(gaps),
        "longest_gap_rows": max(gaps, default=0),
        "min": values.min(),
        "median": values.median(),
        "max": values.max(),
        "longest_stuck": _stuck(ordered),
        "range_low": low,
        "range_high": high,
        "out_of_range": outside,
        "below": 0 if low is None else int((values < low).sum()),
        "above": 0 if high is None else int((values > high).sum()),
        "suspected": "; ".join(f"{value:g} in {times} rows" for value, times in suspected),
    }


def _stuck(values: pl.Series) -> int:
    """The longest run of one value, where it is long enough to be suspicious."""
    import polars as pl

    runs = pl.DataFrame({"value": values, "run": values.rle_id()}).filter(pl.col("value").is_not_null())
    longest = runs.group_by("run").len()["len"].max() or 0
    assert isinstance(longest, int)
    return longest if longest >= STUCK_VALUES else 0


def _shown(records: list[dict[str, Any]], figure: str) -> dict[str, Any]:
    return {record["curve"]: record[figure] for record in records}


def _flag(record: dict[str, Any]) -> list[Any]:
    said = []
    if record["below"]:
        said.append(f"{record['below']} below {record['range_low']:g}")
    if record["above"]:
        said.append(f"{record['above']} above {record['range_high']:g}")
    if record["longest_stuck"]:
        said.append(f"{record['longest_stuck']} equal in a row")
    if record["suspected"]:
        said.append(f"suspected fill: {record['suspected'][:40]}")
    return [record["curve"], "; ".join(said)]


def _told(results: dict[str, Any], records: list[dict[str, Any]]) -> str:
    low, high = results["depth_range"]
    unit = f" {results['unit']}" if results["unit"] else ""
    text = f"{results['curves']} curves over {results['rows']} depths, {low:.8g} to {high:.8g}{unit}"
    if results["step"]:
        text += f", step {results['step']:.6g} ({results['irregular_steps']} irregular)"
    whole = sum(record["missing"] == 0 for record in records)
    text += f"; {whole} complete"
    if results["flagged"]:
        first = "; ".join(f"{name} {said}" for name, said in results["flagged"][:3])
        text += f"; {results['flagged_curves']} with odd values: {first}"
    return text


TOOL = Tool(
    name="check_curves",
    version=1,
    description="Checks the curves of a well log: first and last valid depth, count and share of values, gaps, "
    "regularity of the depth step, stuck and impossible values (density above 3, negative gamma), suspected fills.",
    asked_for=("check curves", "curve completeness", "log quality", "gaps in the log", "check the well log"),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        log quality; well log check; bad readings; stuck tool; flat line; gaps in the curve; depth coverage of
        each curve; LAS file; wireline; logging tool; washout; is the gamma usable; first and last reading;
        sampling step; depth increment; impossible densities; which curves are complete; log coverage;
        petrophysics; geophysical logs; sonic; neutron; resistivity; curve validity; sensor failure; tool
        jammed; null readings; logged interval; quality of the wireline data; curve start and stop depth;
        missing section of the log; constant stretch; borehole geophysics; reliability of the caliper; frozen
        sensor; well data good enough for interpretation; are wireline measurements complete and believable; did
        the sonde stick; quality of the logs; is the log usable; bad log data; gaps in the gamma; at which depth
        does the curve begin; are the curves plausible; malfunction; stuck; where is the log missing; log
        problems; density log plausible; neutron log; do the curves cover the whole well; measurement errors of
        the logging; instrument failure; implausible log values; which logs are good; depth sampling of the log;
        verify the log; validity of the wireline logs; believable; sensor; well logs; constant values in the
        log; caliper; resolution of the log
        """
    ),
)
