"""A small workspace with something for every tool, and one call of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

AU, CU, ZN, PB = "Au ppm", "Cu ppm", "Zn ppm", "Pb ppm"
ELEMENTS = [AU, CU, ZN, PB]
SCRIPT = "print('===RESULT===', 5, '===END_RESULT===', sep='\\n')"
RASTER = {"path": "dem.tif"}
CALLS: dict[str, dict[str, Any]] = {
    "list_files": {},
    "inspect_dataset": {},
    "check_missing": {},
    "query_data": {"operation": "head"},
    "detect_cleaning_issues": {},
    "inspect_columns": {"columns": [AU]},
    "verify_claims": {"claims": [{"path": "small.csv", "statistic": "mean", "column": AU, "value": 1.0}]},
    "read_file": {"path": "notes.txt"},
    "parse_detection_limits": {},
    "remove_duplicates": {},
    "standardize_terms": {"column": "QC"},
    "filter_rows": {"column": AU, "operator": ">", "value": 1},
    "convert_types": {"columns": [CU], "to": "text"},
    "fix_decimals": {"columns": ["Comma"]},
    "replace_values": {"values": [-999]},
    "convert_units": {"columns": [CU], "to_units": ["%"], "from_units": ["ppm"]},
    "derive_column": {"derived": [{"name": "twice", "expression": f"`{CU}` * 2"}]},
    "select_columns": {"columns": ["Sample", AU]},
    "normalize": {"columns": ELEMENTS},
    "standardize": {"columns": ELEMENTS},
    "log_transform": {"columns": ELEMENTS},
    "smooth": {"columns": [CU], "window": 3},
    "compute_ratios": {"pairs": [f"{CU}/{ZN}"]},
    "threshold": {"column": CU, "value": 1},
    "rank_by_metric": {"column": CU},
    "bin_column": {"column": CU, "bins": 4},
    "aggregate": {"by": ["QC"]},
    "pivot": {"index": ["Sample"], "columns": "QC", "values": [CU]},
    "melt": {"id_columns": ["Sample"], "value_columns": [CU, ZN]},
    "merge_datasets": {"right_path": "small.csv", "on": ["Sample"]},
    "stack_tables": {"paths": ["small.csv", "second.csv"], "columns": "common"},
    "summarize": {"by": "QC"},
    "correlate": {"target": CU},
    "compare_groups": {"column": CU, "by": "Group"},
    "regression": {"y": CU, "x": [ZN, PB]},
    "cluster": {"columns": ELEMENTS},
    "choose_clusters": {"most": 3},
    "compute_anomaly": {"columns": [CU, ZN]},
    "detect_outliers": {},
    "reduce_dimensions": {"n_components": 2},
    "logratio_transform": {},
    "censored_summary": {},
    "flag_qaqc": {},
    "qaqc_blanks": {"detection_limits": {CU: 0.1}},
    "qaqc_standards": {},
    "qaqc_duplicates": {},
    "run_script": {"code": SCRIPT},
    "run_command": {"command": "wc -l small.csv", "data": ["small.csv"]},
    "check_intervals": {},
    "composite_intervals": {"columns": [CU], "length": 2},
    "desurvey": {"path": "surveys.csv", "depth": "From", "azimuth": "Azimuth", "dip": "Dip"},
    "find_intercepts": {"column": CU, "cutoff": 0.5},
    "profile_intervals": {},
    "join_intervals": {"right_path": "small.csv", "columns": [CU]},
    "check_coordinates": {},
    "reproject": {"source_crs": "EPSG:28350"},
    "grid_points": {"columns": [CU], "cell_size": 50},
    "variogram": {"column": CU},
    "nearest": {},
    "check_curves": {"depth": "From"},
    "inspect_raster": RASTER,
    "reproject_raster": {**RASTER, "target_crs": "EPSG:4326"},
    "resample_raster": {**RASTER, "factor": 2},
    "clip_raster": {**RASTER, "box": [500_000, 6_000_000, 500_050, 6_000_050]},
    "align_rasters": {**RASTER, "reference_path": "other.tif"},
    "select_bands": {**RASTER, "bands": [1]},
    "band_math": {**RASTER, "expression": "b1 + 1"},
    "raster_gradient": RASTER,
    "raster_texture": RASTER,
    "sample_raster": {"path": "places.csv", "raster_path": "dem.tif"},
    "plot_scatter": {"x": CU, "y": ZN, "color": "QC"},
    "plot_histogram": {"column": CU},
    "plot_box": {"column": CU, "by": "QC"},
    "plot_probability": {"column": CU},
    "plot_heatmap": {"columns": ELEMENTS},
    "plot_map": {"color": CU},
    "plot_downhole": {"depth": "From", "to": "To", "columns": [CU], "hole_column": "Hole", "hole": "H1"},
    "plot_ternary": {"columns": [CU, ZN, PB]},
    "plot_control_chart": {"column": CU, "by": "QC", "group": "STD A"},
    "plot_clusters": {"columns": [CU, ZN], "label": "Group"},
}
"""By tool the arguments; `path` is `small.csv` where it takes one and none is given."""
NEEDS_RASTERIO = frozenset(
    name for name, given in CALLS.items() if any(str(v).endswith(".tif") for v in given.values())
)


def call_of(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the call of one tool, by its input schema."""
    return {**({"path": "small.csv"} if "path" in schema["properties"] else {}), **CALLS[name]}


def write_workspace(folder: Path) -> None:
    """The files that the calls name."""
    random = np.random.default_rng(5)
    rows = 60
    values = np.round(np.exp(random.normal(size=(rows, len(ELEMENTS)))), 4).astype(str)
    values[31, 0], values[33, 1] = "<0.05", "-999"
    kinds = ["Blank"] * 5 + ["STD A"] * 6 + ["STD B"] * 4 + [f"Dup of S{number}" for number in range(20, 26)]
    labels = {
        "Sample": [f"S{row}" for row in range(rows)],
        "QC": [*kinds, *["core"] * (rows - len(kinds))],
        "Hole": [f"H{row // 30}" for row in range(rows)],
        "From": [str(row % 30) for row in range(rows)],
        "To": [str(row % 30 + 1) for row in range(rows)],
        "Easting": [str(400_000 + 7 * row) for row in range(rows)],
        "Northing": [str(6_500_000 + 11 * (row % 7)) for row in range(rows)],
        "Comma": [f"{row},5" for row in range(rows)],
        "Group": [str(1 + row % 3) for row in range(rows)],
    }
    frame = pl.DataFrame(labels).hstack(pl.DataFrame(values, schema=ELEMENTS))
    frame.write_csv(folder / "small.csv")
    frame[:5].write_csv(folder / "second.csv")
    (folder / "notes.txt").write_text("Two holes.\nAssayed for four elements.\n")
    pl.DataFrame(
        {
            "Hole": ["H1", "H1", "H2", "H2"], "From": [0.0, 5.0, 0.0, 5.0], "To": [5.0, 9.0, 5.0, 9.0],
            "Azimuth": [10, 12, 200, 190], "Dip": [60, 61, 62, 60],
        }
    ).write_csv(folder / "surveys.csv")  # fmt: skip
    pl.DataFrame({"Place": ["P1", "P2"], "Easting": [500_015, 500_035], "Northing": [6_000_080, 6_000_060]}).write_csv(
        folder / "places.csv"
    )


def write_rasters(folder: Path) -> None:
    """Two small rasters; needs rasterio."""
    import rasterio

    heights = np.arange(100, dtype="float32").reshape(10, 10)
    for name, cell in (("dem.tif", 10.0), ("other.tif", 20.0)):
        transform = rasterio.transform.from_origin(500_000.0, 6_000_100.0, cell, cell)
        with rasterio.open(
            folder / name, "w", driver="GTiff", height=10, width=10, count=1, dtype="float32", crs="EPSG:28350",
            transform=transform,
        ) as file:  # fmt: skip
            file.write(heights[None])
