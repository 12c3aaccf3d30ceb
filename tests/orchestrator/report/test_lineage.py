"""The graph of a run's files, from records that may say anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from outcrop.report.answer import ClaimFact
from outcrop.report.lineage import WIDTH, Lineage, lineage_of
from outcrop.report.previews import Files
from outcrop_schemas import limits
from outcrop_schemas.claims import CheckedClaim, Verdict


def made(workspace: Path, name: str, tool: Any, *inputs: Any, parameters: Any = None) -> str:
    """A file with its record."""
    path = workspace / "results" / name
    (path.parent / ".lineage").mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    for each in inputs:
        if isinstance(each, str) and each and not each.startswith("."):
            (workspace / each).parent.mkdir(parents=True, exist_ok=True)
            (workspace / each).touch()
    record = {"tool": tool, "version": 1, "parameters": parameters, "inputs": [{"path": each} for each in inputs]}
    (path.parent / ".lineage" / f"{name}.json").write_text(json.dumps(record))
    return f"results/{name}"


def links(graph: Lineage) -> set[tuple[str, str]]:
    return {(edge.start.label, edge.end.label) for edge in graph.edges}


def test_files_come_from_tools_and_tools_from_files(workspace: Path) -> None:
    clean = made(workspace, "clean.csv", "remove_duplicates", "raw.csv")
    groups, centres = (made(workspace, name, "cluster", clean) for name in ("groups.csv", "centres.csv"))
    plot = made(workspace, "plot.png", "plot_clusters", groups)
    claim = ClaimFact(1, CheckedClaim(path=clean, statistic="rows", value=3, verdict="verified", actual=3))
    graph = lineage_of([plot, centres], [claim], Files(workspace))
    assert links(graph) == {
        ("raw.csv", "remove_duplicates"),
        ("remove_duplicates", "clean.csv"),
        ("clean.csv", "cluster"),
        ("cluster", "groups.csv"),
        ("cluster", "centres.csv"),
        ("groups.csv", "plot_clusters"),
        ("plot_clusters", "plot.png"),
        ("clean.csv", "1 of 1 verified"),
    }
    assert {node.kind for node in graph.nodes} == {"input", "tool", "file", "figures"}
    assert all(edge.start.x + WIDTH < edge.end.x for edge in graph.edges)
    assert len({(node.x, node.y) for node in graph.nodes}) == len(graph.nodes)
    assert all(node.x + WIDTH <= graph.width for node in graph.nodes)


def test_files_of_one_call_can_be_told_apart_by_what_their_boxes_say(workspace: Path) -> None:
    names = ("wines_cluster_7b0bd13b.csv", "wines_cluster_centres_7b0bd13b.csv", "wines_cluster_spread_7b0bd13b.csv")
    graph = lineage_of([made(workspace, name, "cluster", "wines.csv") for name in names], [], Files(workspace))
    shown = [node.short for node in graph.nodes if node.kind == "file"]
    assert len(set(shown)) == 3


def test_what_is_gone_is_drawn_as_missing_whatever_it_was(workspace: Path) -> None:
    clean = made(workspace, "clean.csv", "remove_duplicates", "raw.csv")
    (workspace / "raw.csv").unlink()
    (workspace / clean).unlink()
    told = CheckedClaim(path="gone.csv", statistic="rows", value=3, verdict="unverifiable", actual=None)
    graph = lineage_of([clean], [ClaimFact(1, told)], Files(workspace))
    kinds = {node.label: node.kind for node in graph.nodes if node.path}
    assert kinds == {"clean.csv": "missing", "raw.csv": "missing", "gone.csv": "missing"}
    assert ("remove_duplicates", "clean.csv") in links(graph)
    assert all("no longer there" in node.detail for node in graph.nodes if node.kind == "missing")


def test_figures_that_their_table_refutes_are_not_drawn_as_good_ones(workspace: Path) -> None:
    clean = made(workspace, "clean.csv", "remove_duplicates", "raw.csv")
    verdicts: tuple[Verdict, ...] = ("verified", "refuted", "unverifiable")
    claims = [
        ClaimFact(number, CheckedClaim(path=clean, statistic="rows", value=number, verdict=verdict))
        for number, verdict in enumerate(verdicts, 1)
    ]
    [box] = [node for node in lineage_of([clean], claims, Files(workspace)).nodes if "figures" in node.kind]
    assert (box.kind, box.label) == ("refuted figures", "1 ✓ 1 ✗ of 3")


def test_records_that_lead_in_a_circle_end_somewhere(workspace: Path) -> None:
    first = made(workspace, "a.csv", "one", "results/b.csv")
    made(workspace, "b.csv", "two", first)
    graph = lineage_of([first], [], Files(workspace))
    assert len(graph.nodes) == 4


def test_records_that_are_no_records_make_their_files_inputs(workspace: Path) -> None:
    odd = made(workspace, "odd.csv", ["no", "name"], "raw.csv")
    graph = lineage_of([odd, "../outside.csv", "nowhere.csv", ""], [], Files(workspace))
    assert {node.label: node.kind for node in graph.nodes}["odd.csv"] == "input"
    assert {node.kind for node in graph.nodes} == {"input", "missing"}
    assert lineage_of([odd], [], Files(None)).nodes[0].kind == "input"


def test_more_files_than_there_is_room_for_are_counted(workspace: Path) -> None:
    most = limits.REPORT_LINEAGE_FILES
    graph = lineage_of([f"file{number}.csv" for number in range(most + 7)], [], Files(workspace))
    assert (len(graph.nodes), graph.left_out) == (most, 7)
