"""Rows as they go into a grouping, and the table as it comes out with its labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.statistics.bounded import named

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Matrix = NDArray[Any]

NOISE_REASON = "noise: in no dense group"


def scaled_rows(taken: features.Features, *, standardize: bool) -> tuple[Matrix, list[str]]:
    """The complete rows, standardised (sd with n, as in scikit-learn's StandardScaler) where asked for, and notes."""
    values: Matrix = taken.values[taken.is_complete]
    constant = [name for name, column in zip(taken.columns, values.T, strict=True) if column.min() == column.max()]
    notes = [f"constant columns cannot separate groups: {named(constant)}"] if constant else []
    if standardize:
        from sklearn.preprocessing import StandardScaler

        values = StandardScaler().fit_transform(values)
    return values, notes


def labelled(frame: pl.DataFrame, taken: features.Features, labels: Matrix) -> tuple[pl.DataFrame, str]:
    """Every row and column of the table with its label, and a reason where a row has none; the label's column."""
    import numpy
    import polars as pl

    name = features.free_name(frame, "cluster")
    label_of_row = numpy.zeros(frame.height, dtype=int)
    label_of_row[taken.is_complete] = labels
    column = pl.Series(name, label_of_row, pl.Int64)
    with_labels = frame.with_columns(column.set(column == 0, None))
    if (label_of_row > 0).all():
        return with_labels, name
    reasons = [
        None if label else reason or NOISE_REASON for label, reason in zip(label_of_row, taken.reasons(), strict=True)
    ]
    return with_labels.with_columns(pl.Series(features.free_name(frame, f"{name}_reason"), reasons, pl.String)), name
