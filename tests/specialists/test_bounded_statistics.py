"""A table of 2,000 columns, and one of 10,000 groups, get a short answer from every tool on statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from outcrop_schemas import wire
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.registry import get_tool

WriteRows = Callable[..., str]

WIDTH, HEIGHT = 2_000, 60
NAMES = [f"Element number {number} ppm" for number in range(WIDTH)]
RESULT_CHARS = 1_300
ANSWER_CHARS = 3_000

WIDE: dict[str, dict[str, Any]] = {
    "summarize": {},
    "correlate": {"target": NAMES[0]},
    "compute_anomaly": {"columns": NAMES},
    "detect_outliers": {},
    "cluster": {"columns": NAMES},
    "choose_clusters": {"most": 3},
    "reduce_dimensions": {"n_components": 5},
    "logratio_transform": {},
    "censored_summary": {"columns": NAMES},
    "regression": {"y": NAMES[0], "x": NAMES[1:41]},
    "inspect_columns": {"columns": NAMES[:200]},
    "qaqc_blanks": {"detection_limits": dict.fromkeys(NAMES[:1_500], 0.1)},
    "qaqc_standards": {},
    "qaqc_duplicates": {},
    "flag_qaqc": {},
}


@pytest.fixture(scope="module")
def wide() -> pl.DataFrame:
    values = np.exp(np.random.default_rng(5).normal(size=(HEIGHT, WIDTH)))
    values[30, 2:1_500:3] = np.nan
    kinds = ["Blank"] * 5 + ["STD A"] * 6 + ["STD B"] * 4 + [f"Dup of S{number}" for number in range(20, 26)]
    labels = pl.DataFrame(
        {"Sample": [f"S{row}" for row in range(HEIGHT)], "QC": [*kinds, *[""] * (HEIGHT - len(kinds))]}
    )
    return labels.hstack(pl.DataFrame(values, schema=NAMES).fill_nan(None))


@pytest.mark.parametrize("name", WIDE)
def test_two_thousand_columns(context: ToolContext, wide: pl.DataFrame, name: str) -> None:
    path = "wide.parquet"
    wide.write_parquet(context.workspace / path)
    tool = get_tool(name)
    result = tool.run(context, tool.arguments.model_validate({"path": path, **WIDE[name]}))
    assert len(wire.dumps(result.results)) <= RESULT_CHARS
    assert len(wire.dumps(result.as_json())) <= ANSWER_CHARS
    assert len(result.summary) <= 700


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("summarize", {"columns": ["v"], "by": "g"}),
        ("censored_summary", {"columns": ["v"], "by": "g"}),
        ("inspect_columns", {"columns": ["g"]}),
    ],
)
def test_ten_thousand_groups(context: ToolContext, write_rows: WriteRows, name: str, arguments: dict[str, Any]) -> None:
    path = write_rows("many.csv", ["g", "v"], [[f"group {row % 10_000}", row] for row in range(20_000)])
    tool = get_tool(name)
    result = tool.run(context, tool.arguments.model_validate({"path": path, **arguments}))
    assert len(wire.dumps(result.results)) <= RESULT_CHARS
    assert len(result.summary) <= 700
