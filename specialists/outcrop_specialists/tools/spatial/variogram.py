"""Tool: the experimental variogram of a column, with a model fitted to it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, numeric
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.derived import publish_frame
from outcrop_specialists.tools.spatial import variograms
from outcrop_specialists.tools.spatial.places import (
    DISTANCE_RULE,
    PlaceArguments,
    places_of,
    real_distance,
    refuse_impossible_degrees,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[Any]


class Arguments(PlaceArguments):
    column: str = Field(description="Measured column.", json_schema_extra={"x-role": "column"})
    lags: int = Field(default=15, ge=4, le=100, description="Number of lags.")
    max_distance: float | None = Field(
        default=None, gt=0, description="Longest distance; half the largest one between places where not given. Metres "
        "for longitude and latitude.",
    )  # fmt: skip
    estimator: variograms.Estimator = Field(
        default="matheron", description="matheron (classical) or cressie_hawkins (robust against outliers)."
    )
    model: Literal["none", "spherical", "exponential"] = Field(
        default="spherical", description="Model fitted to the lags."
    )
    transform: Literal["none", "log10"] = Field(default="none", description="log10 for skewed positive values.")
    seed: int = Field(default=42, ge=0, le=2**32 - 1, description="Seed of the draw where places are too many.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for fewer than ten places with a value, and for one value throughout."""
    import numpy
    import polars as pl
    from scipy.spatial.distance import pdist

    table = read_table(context, arguments.path)
    places = places_of(table, arguments.x, arguments.y)
    refuse_impossible_degrees(places)
    name = find_column(table, arguments.column, "column")
    values = numeric(table, name).to_numpy().copy()
    notes = [*table.notes, *places.missing_note()]
    usable = places.has_place & numpy.isfinite(values)
    blank = int((places.has_place & ~usable).sum())
    if blank:
        notes.append(f"{blank} rows without {name} left out")
    if arguments.transform == "log10":
        low = usable & ~(values > 0)
        if low.any():
            notes.append(f"{int(low.sum())} rows whose {name} is not positive left out: they have no logarithm")
        usable &= values > 0
        values[usable] = numpy.log10(values[usable])
    rows = numpy.flatnonzero(usable)
    if len(rows) < 10:
        raise ArgumentError("column", f"{table.path.name}: {len(rows)} places have a {name}, ten at least are needed")
    drawn = rows
    if len(rows) > variograms.MOST_PLACES:
        chosen = numpy.random.default_rng(arguments.seed).choice(len(rows), variograms.MOST_PLACES, replace=False)
        drawn = rows[numpy.sort(chosen)]
        notes.append(f"{len(drawn)} of {len(rows)} places drawn with seed {arguments.seed}")
    if values[drawn].min() == values[drawn].max():
        raise ArgumentError("column", f"{table.path.name}: {name!r} has the same value at all places")
    context.report(f"comparing {len(drawn)} places", 0, len(drawn))
    distance = real_distance(places, pdist(places.points(drawn)))
    difference = pdist(values[drawn][:, None], "cityblock")
    most = arguments.max_distance or float(distance.max()) / 2
    if not most > 0:
        raise ArgumentError("x", f"{table.path.name}: all rows lie at one place")
    lags = variograms.experimental(distance, difference, arguments.lags, most, arguments.estimator)
    fitted = None if arguments.model == "none" else variograms.fit(arguments.model, lags)
    frame = pl.DataFrame(asdict(lags)).with_columns(pl.col("pairs").cast(pl.Int64))
    if fitted is not None and arguments.model != "none":
        at = variograms.model_at(arguments.model, lags.distance, fitted.nugget, fitted.partial_sill, fitted.range)
        frame = frame.with_columns(pl.Series("model", at))
    elif arguments.model != "none":
        notes.append("too few lags have pairs for a model; use fewer lags or a longer max_distance")
    published = publish_frame(
        context, TOOL, [table], arguments, frame, f"Variogram of {name} of {table.path.name}",
        resolved={"x": places.columns.x, "y": places.columns.y, "column": name},
    )  # fmt: skip
    results: dict[str, Any] = {
        "rows": table.frame.height,
        "places": len(rows),
        "places_used": len(drawn),
        "pairs": int(lags.pairs.sum()),
        "fewest_pairs_of_a_lag": int(lags.pairs.min()),
        "lag_width": most / arguments.lags,
        "max_distance": most,
        "unit": places.unit,
        "variance": float(values[drawn].var(ddof=1)),
        "rule": f"{arguments.estimator} semivariance{' of log10' if arguments.transform == 'log10' else ''}, all "
        f"directions; {DISTANCE_RULE[places.columns.is_geographic]}; variance with n - 1",
        "path": published.artifact.path,
    }
    told = f"variogram of {name} at {len(drawn)} places, {results['pairs']} pairs up to {most:.6g} apart"
    if fitted is not None:
        sill = fitted.nugget + fitted.partial_sill
        results["model"] = {
            "kind": arguments.model,
            "nugget": fitted.nugget,
            "sill": sill,
            "range": fitted.range,
            "nugget_share": fitted.nugget / sill if sill else None,
        }
        results["rule"] += "; weighted least squares, weights N / model^2 (Cressie 1985)"
        if arguments.model == "exponential":
            results["rule"] += "; range at 95 % of the sill"
        told += f"; {arguments.model} model: nugget {fitted.nugget:.6g}, sill {sill:.6g}, range {fitted.range:.6g}"
        if fitted.range > most:
            notes.append("the range fitted lies beyond the longest distance: the values do not level off within it")
    return ToolResult(told, results, [published.artifact], notes)


TOOL = Tool(
    name="variogram",
    version=1,
    description="Experimental variogram (semivariance by distance) of a column, Matheron or Cressie-Hawkins, with pair "
    "counts per lag and a spherical or exponential model: nugget, sill, range.",
    asked_for=("variogram", "semivariogram", "spatial continuity", "nugget and range", "range of correlation in space"),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    projection=("model",),
    also_called=phrases(
        """
        spatial correlation; autocorrelation; spatial dependence; how far apart are samples still similar;
        nugget; sill; range; geostatistics; semivariance; continuity of grade; kriging model; structure
        function; how far does a sample speak for its surroundings; distance of influence; spatial structure;
        drill spacing; how similar are neighbours; decorrelation distance; zone of influence; resemblance with
        distance; experimental variogram; lag; isotropic; variography; scale of variability in space; does
        similarity fade with separation; how far to extrapolate; short-range variability; moran; patchiness;
        correlogram; up to what separation do assays still tell about each other; effect and range of the
        copper; similar at what distance; how far is a sample representative; spatial variability; does distance
        matter; separation; similarity against distance; spatial range; nearby samples alike; how fast does
        similarity drop with distance; dependence on distance; range of influence; kriging; geostatistical; how
        far can we interpolate; how far apart may samples be; structure in space; correlated in space; sampling
        distance needed; distance at which samples are independent; representative distance
        """
    ),
)
