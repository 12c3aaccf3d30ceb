"""Log-ratios against their definitions, zeros by the published rule, units brought together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.geochemistry import logratio_transform, logratios

WriteRows = Callable[..., str]
WriteFile = Callable[[str, str], str]
ReadRows = Callable[[str], list[list[str]]]


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = logratio_transform.run(context, logratio_transform.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


def columns(read_rows: ReadRows, result: ToolResult, names: list[str]) -> np.ndarray:
    header, *rows = read_rows(result.artifacts[0].path)
    return np.array([[float(row[header.index(name)] or "nan") for name in names] for row in rows])


compositions = st.lists(st.lists(st.floats(1e-6, 1e6), min_size=4, max_size=4), min_size=1, max_size=8).map(np.array)


@given(compositions)
def test_log_ratios_keep_aitchison_s_geometry(parts: np.ndarray) -> None:
    centred, isometric = logratios.clr(parts), logratios.ilr(parts)
    assert np.allclose(centred.sum(axis=1), 0, atol=1e-9)
    # Distances between compositions are the same in both, and scale does not matter.
    assert np.allclose(np.linalg.norm(centred, axis=1), np.linalg.norm(isometric, axis=1), atol=1e-8)
    assert np.allclose(logratios.clr(logratios.closed(parts)), centred, atol=1e-8)
    basis = logratios.ilr_basis(4)
    assert np.allclose(basis @ basis.T, np.eye(3), atol=1e-12)
    assert np.allclose(logratios.alr(parts, 1), np.log(np.delete(parts, 1, axis=1) / parts[:, [1]]), atol=1e-8)


def test_pivot_coordinates_are_those_of_the_literature() -> None:
    parts = np.array([[1.0, 2.0, 4.0, 8.0]])
    first = np.sqrt(3 / 4) * np.log(1 / (2 * 4 * 8) ** (1 / 3))
    last = np.sqrt(1 / 2) * np.log(4 / 8)
    assert logratios.ilr(parts)[0, [0, 2]] == pytest.approx([first, last])


def test_multiplicative_replacement_is_that_of_martin_fernandez() -> None:
    # x = (0.3, 0, 0.7) with delta 0.01: (0.3 (1 - 0.01), 0.01, 0.7 (1 - 0.01)).
    parts = np.array([[0.3, 0.0, 0.7]])
    found = logratios.multiplicative_replacement(parts, parts == 0, np.full((1, 3), 0.01)).closed
    assert found[0] == pytest.approx([0.297, 0.01, 0.693])
    assert found.sum() == pytest.approx(1)


def test_a_row_without_zeros_is_only_transformed_and_a_zero_is_said_with_its_rule(
    context: ToolContext, write_file: WriteFile, read_rows: ReadRows
) -> None:
    path = write_file("a.csv", "sample,A,B,C\n1,70,20,10\n2,60,40,0\n3,50,30,20\n")
    result = run(context, path, columns=["A", "B", "C"])
    found = columns(read_rows, result, ["A_clr", "B_clr", "C_clr"])
    assert found[0] == pytest.approx([1.0662, -0.1865, -0.8797], abs=1e-4)
    delta = 0.65 * 10 / 100
    parts = np.log([0.6 * (1 - delta), 0.4 * (1 - delta), delta])
    assert found[1] == pytest.approx(parts - parts.mean())
    assert result.results["zeros_or_below_limit"] == 1
    assert "Martín-Fernández" in result.results["rule"]
    assert any("replaced: C 1" in note for note in result.notes)
    given_delta = columns(read_rows, run(context, path, columns=["A", "B", "C"], delta=0.1), ["A_clr"])
    assert given_delta[1, 0] == pytest.approx(
        (np.log([0.6 * 0.999, 0.4 * 0.999, 0.001]) - np.log([0.6 * 0.999, 0.4 * 0.999, 0.001]).mean())[0]
    )
    dropped = run(context, path, columns=["A", "B", "C"], zeros="drop")
    assert (dropped.results["used"], dropped.results["left_out"]) == (2, 1)
    assert any("C zero or below a limit in 1" in note for note in dropped.notes)
    assert np.isnan(columns(read_rows, dropped, ["A_clr"])[1, 0])


def test_results_below_a_limit_take_a_share_of_their_own_limit(
    context: ToolContext, write_file: WriteFile, read_rows: ReadRows
) -> None:
    path = write_file("a.csv", "id,Au,As\n" + "a,<0.1,5\nb,<0.2,5\n" + "".join(f"s{n},{n}.5,5\n" for n in range(1, 9)))
    found = columns(read_rows, run(context, path, columns=["Au", "As"], method="alr", divisor="As"), ["Au_alr_As"])
    for row, limit in ((0, 0.1), (1, 0.2)):
        delta = 0.65 * limit / 5
        assert found[row, 0] == pytest.approx(np.log(delta / (1 - delta)))
    assert found[2, 0] == pytest.approx(np.log(1.5 / 5))


def test_parts_in_percent_and_ppb_are_brought_to_one_unit(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    rows = [[2.5, 30.0, 4000.0], [1.0, 10.0, 500.0]]
    path = write_rows("a.csv", ["Fe_pct", "Cu_ppm", "Au_ppb"], rows)
    result = run(context, path)
    in_ppm = np.log(np.array(rows) * [1e4, 1, 1e-3])
    expected = in_ppm - in_ppm.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(columns(read_rows, result, ["Fe_pct_clr", "Cu_ppm_clr", "Au_ppb_clr"]), expected)
    assert any(note.startswith("parts brought to ppm first: 1 in pct, 1 in ppm, 1 in ppb") for note in result.notes)
    mixed = write_rows("b.csv", ["Fe_pct", "Cu_mg_l"], [[1, 2], [2, 3]])
    with pytest.raises(ArgumentError, match="no parts of one whole") as refused:
        run(context, mixed, columns=["Fe_pct", "Cu_mg_l"])
    assert refused.value.field == "columns"
    unknown = run(context, write_rows("c.csv", ["Fe_pct", "Cu"], [[1, 2], [2, 3]]), columns=["Fe_pct", "Cu"])
    assert any("CHECK: 1 parts have no known unit and are taken as ppm: Cu" in note for note in unknown.notes)


def test_missing_and_negative_parts_leave_the_row_without_log_ratios(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    path = write_rows("a.csv", ["a", "b"], [[1, 2], [None, 3], [-1, 3], [4, 5]])
    result = run(context, path, columns=["a", "b"])
    assert (result.results["used"], result.results["left_out"]) == (2, 2)
    assert any("a missing or negative in 2; negative: a 1" in note for note in result.notes)
    assert np.isnan(columns(read_rows, result, ["a_clr"])[1:3]).all()


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"columns": ["a", "b"], "method": "alr"}, "divisor"),
        ({"columns": ["a", "b"], "divisor": "a"}, "divisor"),
        ({"columns": ["a", "b"], "method": "alr", "divisor": "c"}, "divisor"),
        ({"columns": ["a", "rock"]}, "columns"),
        ({"columns": ["a", "b"], "delta": -1}, "delta"),
        ({"columns": ["a", "b"], "delta": {"x": 1}}, "delta"),
        ({"columns": ["a", "empty"]}, "columns"),
    ],
)
def test_what_cannot_be_transformed_is_refused_by_field(
    context: ToolContext, write_rows: WriteRows, arguments: dict[str, object], field: str
) -> None:
    path = write_rows("a.csv", ["a", "b", "c", "rock", "empty"], [[1, 2, 3, "x", None], [2, 3, 4, "y", -1]])
    with pytest.raises(ArgumentError) as refused:
        run(context, path, **arguments)
    assert refused.value.field == field
