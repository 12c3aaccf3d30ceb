"""The six objectives as an analyst goes about them: dispatches and tool calls, and facts by their names there."""

from __future__ import annotations

import re
from typing import Any

from answers.scripting import Arguments, Dispatch, Found, file_of

TRENCH, SOILS, LAB, COLLARS = (
    "als_an6_trench.csv",
    "colorado_soils.csv",
    "mw_borehole_lab_raw.csv",
    "gswa_collars.csv",
)
ASSAY, COLLAR, SURVEY = "babbitt_assay.csv", "babbitt_collar.csv", "babbitt_survey.csv"
LOG, DEVIATION = "P-135_wrapped.LAS", "p135_deviation_survey.xlsx"


def one(*files: str) -> Any:
    return lambda _: list(files)


def made(step: int, **more: Any) -> Arguments:
    """A call on the file that an earlier step wrote."""
    return lambda data, found: {"path": found[step].files[0], **more}


def given(place: int = 0, **more: Any) -> Arguments:
    """A call on a file that the dispatch was given."""
    return lambda data, found: {"path": data[place], **more}


def column(found: Found, step: int, name: str) -> Any:
    return found[step].results["columns"][name]


def trench_cleaned(found: Found) -> dict[str, Any]:
    counts = found[1].results["counts"]
    shifted = re.search(r"REPAIRED (\d+) of", found[0].said)
    return {
        "rows_in_table": found[0].results["rows"],
        "rows_shifted_one_field_left": shifted and int(shifted[1]),
        "blanks": counts["blank"],
        "duplicates": counts["duplicate"],
        "triplicates": counts["triplicate"],
        "routine_samples": counts["routine"],
    }


def trench_figures(found: Found) -> dict[str, Any]:
    gold, copper = column(found, 0, "Au"), column(found, 0, "Cu")
    assert "DL/2" in found[0].results["rule"], "the rule for < is stated"
    return {
        "Au_below_0.01_routine": gold["below"],
        "Au_mean_DL2_ppm": gold["mean_by"]["dl/2"],
        "Au_median_ppm": gold["median"],
        "Au_P95_ppm": gold["p95"],
        "Au_max_ppm": gold["max"],
        "Cu_median_ppm": copper["median"],
        "Cu_P95_ppm": copper["p95"],
        "spearman_with_Au": {each["y"]: each["r"] for each in found[1].results["strongest"]},
        "Au_max_sample": found[3].results["rows"][0][0],
    }


def routine(files: list[str]) -> str:
    return [name for name in files if "_flag_qaqc_" in name][1]


# What follows gold most closely of all columns, the second gold determination apart.
PATHFINDERS = ["As", "Ag", "Bi", "Sb", "Mn", "Cu"]
O1 = [
    Dispatch(
        "cleaning",
        "Read the trench assays, repair what is shifted, tell QA/QC rows from samples",
        one(TRENCH),
        [
            ("inspect_dataset", {"path": TRENCH}),
            ("flag_qaqc", {"path": TRENCH}),
            ("flag_qaqc", {"path": TRENCH, "keep": "routine"}),
        ],
        trench_cleaned,
    ),
    Dispatch(
        "analytics",
        "Summarise gold and copper of the routine samples, rank what follows gold",
        lambda files: [routine(files)],
        [
            ("censored_summary", given(columns=["Au", "Cu"], percentiles=[95])),
            ("correlate", given(target="Au", method="spearman", columns=["Au", *PATHFINDERS])),
            ("rank_by_metric", given(column="Au", n=1)),
            ("query_data", made(2, operation="head", columns=["Field ID", "Au"])),
        ],
        trench_figures,
    ),
    Dispatch(
        "plotting",
        "Draw gold against arsenic on log axes",
        lambda files: [routine(files)],
        [("plot_scatter", given(x="As", y="Au", log_x=True, log_y=True))],
        lambda found: {"points_drawn": found[0].results["points_drawn"]},
    ),
]


def holes_ranked(found: Found) -> dict[str, Any]:
    checked, ranked, placed = found[0].results, found[1].results, found[2].results
    (copper,) = ranked["columns"]
    assert checked["unit"] is None, "no unit of length is made up"
    assert checked["collars"]["without_collar"] == 0
    assert placed["without_place"] == 0
    return {
        "assay_rows": checked["rows"],
        "holes": checked["holes"],
        "holes_with_Cu": copper["holes_with_value"],
        "overlaps": checked["issues"]["overlap"],
        "length_weighted_Cu": copper["grade"],
        "median_hole_grade": copper["median_hole_grade"],
        "unassayed_length_share": checked["assayed"]["CU"]["unassayed_share"],
        "top5_by_metal": {hole: each["metal"] for hole, each in ranked["top"].items()},
        "top5_grade": [each["grade"] for each in ranked["top"].values()],
        "max_TO": checked["deepest_to"][1],
    }


O2 = [
    Dispatch(
        "analytics",
        "Check the drill tables, put them together and rank the holes by copper metal",
        one(ASSAY, COLLAR, SURVEY),
        [
            ("check_intervals", {"path": ASSAY, "collar_path": COLLAR, "columns": ["CU"]}),
            ("profile_intervals", {"path": ASSAY, "collar_path": COLLAR, "columns": ["CU"]}),
            ("desurvey", {"path": SURVEY, "collar_path": COLLAR, "intervals_path": ASSAY}),
        ],
        holes_ranked,
    ),
    Dispatch(
        "plotting",
        "Map the collars, coloured by hole grade",
        lambda files: [file_of(files, "profile_intervals", "holes")],
        [("plot_map", given(color="CU_grade"))],
        lambda found: {"points_drawn": found[0].results["points_drawn"]},
    ),
]
VSH = "clip((GR - percentile(GR, 5)) / (percentile(GR, 95) - percentile(GR, 5)), 0, 1)"


def log_figures(found: Found) -> dict[str, Any]:
    curves, gamma, shale = found[0].results, column(found, 1, "GR"), column(found, 3, "Vsh")
    depths, survey = column(found, 6, "DEPT"), found[8].results
    return {
        "depth_rows": curves["rows"],
        "depth_range_m": curves["depth_range"],
        "GR_valid": gamma["count"],
        "GR_valid_depth_range": [depths["min"], depths["max"]],
        "GR_P5": gamma["p5"],
        "GR_P95": gamma["p95"],
        "share_Vsh_gt_0.5": found[4].results["rows_that_meet"] / shale["count"],
        "mean_Vsh": shale["mean"],
        "GR_mean": gamma["mean"],
        "RHOB_above_3_rows": found[7].results["rows_that_meet"],
        "max_inclination_deg": survey["max_inclination_deg"][0],
        "stations": survey["stations"],
        "last_MD_m": survey["deepest_station"][0],
    }


O3 = [
    Dispatch(
        "analytics",
        "Check the curves, work out a linear shale volume of gamma clipped to 0 and 1, and the survey",
        one(LOG, DEVIATION),
        [
            ("check_curves", {"path": LOG}),
            ("summarize", {"path": LOG, "columns": ["GR"], "percentiles": [5, 50, 95]}),
            ("derive_column", {"path": LOG, "name": "Vsh", "expression": VSH, "unit": "v/v"}),
            ("summarize", made(2, columns=["Vsh"])),
            ("query_data", made(2, operation="filter_count", expression="Vsh > 0.5")),
            ("filter_rows", {"path": LOG, "expression": "not_null(GR)"}),
            ("summarize", made(5, columns=["DEPT"])),
            ("query_data", {"path": LOG, "operation": "filter_count", "expression": "RHOB > 3"}),
            ("desurvey", {"path": DEVIATION}),
            ("select_columns", made(2, columns=["DEPT", "GR", "Vsh"])),
        ],
        log_figures,
    ),
    Dispatch(
        "plotting",
        "Draw gamma ray, density and sonic downhole",
        one(LOG),
        [("plot_downhole", {"path": LOG, "depth": "DEPT", "columns": ["GR", "RHOB", "DT"]})],
        lambda found: {"tracks": found[0].results["tracks"]},
    ),
]


def soil_groups(found: Found) -> dict[str, Any]:
    groups = found[3].results
    apart = groups["sets_apart"]["2"]
    indium, cadmium = column(found, 4, "In"), column(found, 4, "Cd")
    assert "SUSPECTED substituted non-detects" in found[5].said
    return {
        "samples": groups["rows"],
        "elements": len(elements(found)),
        "In_at_0.013": indium["rows_at_min"],
        "Cd_at_minimum": cadmium["rows_at_min"],
        "PCA_explained": list(found[1].results["explained_variance_ratio"].values()),
        "silhouette_by_k": found[2].results["silhouette_by_k"],
        "best_k": found[2].results["best_k"],
        "sizes_k2": list(groups["counts"].values()),
        "minority_enriched": list(apart["high"]),
        "minority_depleted": list(apart["low"]),
        "minority_centre_lonlat": list(groups["centre_of"]["2"].values()),
        "majority_centre_lonlat": list(groups["centre_of"]["1"].values()),
    }


def elements(found: Found) -> list[str]:
    """The columns whose role is an element: coordinates are none."""
    return [each["name"] for each in found[0].results["columns"] if each["role"] == "element"]


def of_elements(found: Found, **more: Any) -> dict[str, Any]:
    return {"path": SOILS, "columns": elements(found), "transform": "clr", **more}


O4 = [
    Dispatch(
        "analytics",
        "Centred log-ratios, two to six groups by silhouette, what sets the groups apart",
        one(SOILS),
        [
            ("inspect_dataset", {"path": SOILS}),
            ("reduce_dimensions", lambda data, found: of_elements(found, n_components=3)),
            ("choose_clusters", lambda data, found: of_elements(found, most=6)),
            (
                "cluster",
                lambda data, found: of_elements(
                    found, n_clusters=found[2].results["best_k"], centre_of=["Longitude", "Latitude"]
                ),
            ),
            ("inspect_columns", {"path": SOILS, "columns": ["In", "Cd"]}),
            ("check_missing", {"path": SOILS}),
        ],
        soil_groups,
    ),
    Dispatch(
        "plotting",
        "Map the groups",
        lambda files: [next(name for name in files if "_cluster_" in name and "_centres_" not in name)],
        [("plot_map", given(color="cluster"))],
        lambda found: {"points_drawn": found[0].results["points_drawn"]},
    ),
]
UNITS = {"cut_column": "conductivity", "below": 10}


def lab_figures(found: Found) -> dict[str, Any]:
    said = found[0].said
    assert "'conductivity' has 10 values" in said
    assert "in the same rows as 'tds_mg_l'" in said
    assert "month/day/year" in said
    conductivity, fluoride = column(found, 1, "conductivity"), column(found, 2, "fluoride_mg_l")
    dates, worst = column(found, 2, "date_sample_collected"), found[6].results["rows"]
    return {
        "rows": found[2].results["rows"],
        "conductivity_values": conductivity["count"],
        "in_mS_per_cm": found[3].results["rows_that_meet"],
        "median_uS_cm": conductivity["p50"],
        "mean_uS_cm": conductivity["mean"],
        "max": worst[0],
        "second": worst[1],
        "pearson_cond_TDS_both_repaired": found[4].results["strongest"][0]["r"],
        "pearson_if_only_one_repaired": found[7].results["strongest"][0]["r"],
        "fluoride_valid": found[2].results["rows"] - fluoride["missing"],
        "dates": [dates["min"], dates["max"]],
    }


BOTH = ["conductivity", "tds_mg_l"]
O5 = [
    Dispatch(
        "cleaning",
        "Remove fill values, trim the names, make the units of conductivity and dissolved solids consistent",
        one(LAB),
        [
            ("detect_cleaning_issues", {"path": LAB}),
            ("replace_values", {"path": LAB, "values": [-9]}),
            ("standardize_terms", made(1, column="waterpoint_name")),
            (
                "convert_units",
                made(2, columns=BOTH, from_units=["mS/cm", "g/L"], to_units=["µS/cm", "mg/L"], **UNITS),
            ),
            ("convert_units", given(columns=BOTH[:1], from_units=["mS/cm"], to_units=["µS/cm"], **UNITS)),
        ],
        lambda found: {},
    ),
    Dispatch(
        "analytics",
        "Typical and worst conductivity, how it relates to dissolved solids, which analytes are not usable",
        lambda files: [LAB, *(name for name in files if "_convert_units_" in name)],
        [
            ("inspect_dataset", given()),
            ("summarize", given(1, columns=["conductivity"])),
            ("inspect_columns", given(1, columns=["fluoride_mg_l", "date_sample_collected"])),
            ("query_data", given(operation="filter_count", expression="conductivity < 10")),
            ("correlate", given(1, columns=BOTH)),
            ("rank_by_metric", given(1, column="conductivity", n=2)),
            ("query_data", made(5, operation="head", columns=["waterpoint_name", "conductivity"])),
            ("correlate", given(2, columns=BOTH)),
        ],
        lab_figures,
    ),
]
PLACEHOLDER = "abs(MaxDepth - 0.1) < 0.000001"


def collar_figures(found: Found) -> dict[str, Any]:
    places, kinds, names = found[0].results, column(found, 1, "HoleType"), column(found, 1, "Dataset")
    assert column(found, 1, "HoleId")["distinct"] == places["rows"], "HoleId is the key"
    (placeholder,) = found[2].results["values"]
    at = {name: place for place, name in enumerate(found[5].results["columns"])}
    by_type = {row[at["HoleType"]]: {name: row[at[name]] for name in at} for row in found[5].results["rows"]}
    return {
        "rows": places["rows"],
        "types": kinds["values"],
        "placeholder_0.1_m": placeholder["count"],
        "placeholder_type": placeholder["value"],
        "missing_depth": {kind: row["missing"] for kind, row in by_type.items() if row["missing"]},
        "median_without_placeholder": {kind: row["p50"] for kind, row in by_type.items()},
        "max": {kind: row["max"] for kind, row in by_type.items()},
        "dataset_names": names["distinct"],
        "dataset_names_ignoring_case": names["distinct_ignoring_case"],
        "bbox": places["box"],
        "rows_sharing_coordinates": places["issues"]["same_place"],
    }


O6 = [
    Dispatch(
        "cleaning",
        "Flag depths that cannot be real; which project names are the same in other spelling",
        one(COLLARS),
        [
            ("detect_cleaning_issues", given()),
            ("derive_column", given(name="depth_is_placeholder", expression=PLACEHOLDER)),
        ],
        lambda found: {
            "spellings": next(each["spellings"] for each in found[0].results["columns"] if each["name"] == "Dataset"),
            "flagged": found[1].results["derived"]["depth_is_placeholder"]["true"],
        },
    ),
    Dispatch(
        "analytics",
        "Summarise known depths by hole type, check the coordinates",
        lambda files: [COLLARS, file_of(files, "derive_column")],
        [
            ("check_coordinates", given()),
            ("inspect_columns", given(columns=["HoleType", "Dataset", "HoleId"])),
            ("query_data", given(operation="value_counts", columns=["HoleType"], expression=PLACEHOLDER)),
            ("filter_rows", given(expression=PLACEHOLDER, keep="others")),
            ("summarize", made(3, columns=["MaxDepth"], by="HoleType", percentiles=[50])),
            ("query_data", made(4, operation="head", n=20)),
        ],
        collar_figures,
    ),
    Dispatch(
        "plotting",
        "Map the collars by type",
        one(COLLARS),
        [("plot_map", given(color="HoleType"))],
        lambda found: {"points_drawn": found[0].results["points_drawn"]},
    ),
]
OBJECTIVES = {"O1": O1, "O2": O2, "O3": O3, "O4": O4, "O5": O5, "O6": O6}
