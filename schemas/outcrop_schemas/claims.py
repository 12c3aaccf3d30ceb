"""A figure that somebody claims of a table, so exactly that anyone can compute it again; and what came of doing so."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Statistic = Literal[
    "rows",
    "count",
    "missing",
    "below_limit",
    "distinct",
    "share",
    "mean",
    "weighted_mean",
    "median",
    "percentile",
    "sd",
    "min",
    "max",
    "sum",
    "pearson",
    "spearman",
    "value",
]
Verdict = Literal["verified", "refuted", "unverifiable"]
Figure = int | float | str | bool | None


class Claim(BaseModel):
    """One figure and where it comes from. `value` is compared by our tolerance, never by the claimant's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(description="The table the figure is of, relative to the workspace.")
    statistic: Statistic = Field(
        description="rows: rows of the selection; count: values that are not missing; below_limit: values below a "
        "detection limit; share: part of the rows with a value in `column` (of all rows without one) that meet "
        "`where`; sd with n - 1; percentile linear, needs `percent`; weighted_mean needs `with_column`; pearson and "
        "spearman need `with_column`; value: of the one row selected."
    )
    column: str | None = Field(default=None, description="The column; not needed for rows and share.")
    with_column: str | None = Field(default=None, description="The second column of a correlation, or the weights.")
    percent: float | None = Field(default=None, ge=0, le=100, description="For percentile: 0 to 100.")
    where: str | None = Field(default=None, max_length=2_000, description="Expression that selects rows.")
    group: dict[str, Figure] = Field(default={}, description="Column values that select the rows of one group.")
    value: Figure = Field(description="The figure that is claimed, with the digits that are claimed.")
    statement: str = Field(default="", max_length=500, description="The sentence that cites it.")


class CheckedClaim(Claim):
    """A claim, what the source gave, and how it was compared. `actual` is None where it could not be computed."""

    verdict: Verdict
    actual: Figure = None
    reason: str = ""
