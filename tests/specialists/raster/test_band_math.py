"""Formulas over bands: only what is allowed, nodata respected, float64, one file per formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult
from outcrop_specialists.tools.raster import band_math

Call = Callable[..., ToolResult]


@pytest.fixture
def path(write_raster: Callable[..., str]) -> str:
    red = np.array([[10, 200], [0, 255]], dtype="uint8")
    return write_raster("r.tif", np.stack([red, red[::-1]]), nodata=255)


def test_an_index_equals_numpy_and_keeps_nodata(
    call_tool: Call, path: str, read_raster: Callable[[ToolResult], Any]
) -> None:
    found = call_tool("band_math", path=path, expression="(b2 - b1) / (b2 + b1)")
    values, profile = read_raster(found)
    assert profile["dtype"] == "float64"
    assert values.mask[0].tolist() == [[False, True], [False, True]]
    assert values[0, :, 0].tolist() == pytest.approx([-1.0, 1.0])
    assert (found.results["valid"], found.results["nodata"]) == (2, 2)


def test_small_unsigned_numbers_do_not_wrap_around(
    call_tool: Call, path: str, read_raster: Callable[[ToolResult], Any]
) -> None:
    values, _ = read_raster(call_tool("band_math", path=path, expression="b2 - b1"))
    assert values[0, 0, 0] == -10


def test_what_is_not_defined_is_nodata_and_counted(call_tool: Call, path: str) -> None:
    found = call_tool("band_math", path=path, expression="log10(b1)")
    assert (found.results["valid"], found.results["nodata"]) == (2, 2)
    assert sum(found.results["undefined"].values()) == 1


@pytest.mark.parametrize(
    "expression",
    [
        "np.load('x.npy')",
        "__import__('os').system('ls')",
        "open('x')",
        "b1.tofile('x')",
        "[b1 for b1 in (1,)]",
        "b3",
        "1 + 1",
        "'a'",
    ],
)
def test_nothing_but_formulas_over_the_bands_is_allowed(call_tool: Call, path: str, expression: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call_tool("band_math", path=path, expression=expression)
    assert caught.value.field == "expression"


def test_different_formulas_have_different_files_and_the_same_one_file(call_tool: Call, path: str) -> None:
    names = [
        call_tool("band_math", path=path, expression=expression).artifacts[0].path
        for expression in ("b1 - b2", "b1 + b2", "b1 + b2")
    ]
    assert len(set(names)) == 2


def test_a_result_that_equals_the_nodata_value_stays_a_result(
    call_tool: Call, path: str, read_raster: Callable[[ToolResult], Any]
) -> None:
    found = call_tool("band_math", path=path, expression="b1 * 0 - 9999")
    values, profile = read_raster(found)
    assert profile["nodata"] == -99999
    assert values.count() == found.results["valid"] == 3


def test_more_values_than_fit_into_memory_are_refused(
    call_tool: Call, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(band_math, "MOST_VALUES", 7)
    with pytest.raises(ArgumentError, match="clip it or select_bands") as caught:
        call_tool("band_math", path=path, expression="b1")
    assert caught.value.field == "path"
