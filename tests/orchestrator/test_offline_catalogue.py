"""Every tool is reached by plain sentences with the arguments that they say, and nothing else is done."""

from __future__ import annotations

import asyncio
import json
import threading
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from outcrop.lead.toolbox import lead_schemas
from outcrop.models.offline.binding import Binding, bind
from outcrop.models.offline.cards import Card, read_roster
from outcrop.models.offline.conversation import Answer
from outcrop.models.offline.model import OfflineModel
from outcrop.models.offline.profile import Column, Profile
from outcrop.models.offline.references import Previous
from outcrop.models.offline.steps import MOST_CLAUSES, Plan, make_plan
from outcrop.models.offline.tables import targets_of
from outcrop.models.offline.values import with_columns
from outcrop_schemas.messages import Block, Message, ModelRequest, TextBlock
from outcrop_specialists.brief import opening
from outcrop_specialists.tools.registry import NAMES, get_tool

# A script or a command is written by a model that can write, and a list of files is the lead's own look.
WITHOUT_SENTENCES = {"list_files", "run_script", "run_command", "check_script"}
SENTENCES = Path(__file__).with_name("catalogue_sentences.txt").read_text("utf-8").splitlines()
CASES = [tuple(line.split(" | ")) for line in SENTENCES if line and not line.startswith("#")]

_SOIL = ("Al", "Ca", "Fe", "K", "Cu", "Zn", "As", "Au", "Ni", "S", "Pb", "Rb")


def _table(path: str, rows: int, *columns: str) -> Profile:
    """Columns as `name:role` (a number) or `name:role:type`, with the unit in fourth place."""
    found = []
    for column in columns:
        name, role, kind, unit = [*column.split(":"), "", "", ""][:4]
        found.append(Column(name, kind or "number", role or "measure", unit))
    return Profile(path, tuple(found), rows)


PROFILES = {
    each.path: each
    for each in (
        _table(
            "soil.csv", 100, "SampleID:sample_id:text", "Longitude:longitude", "Latitude:latitude",
            *(f"{name}:element:number:ppm" for name in _SOIL),
            "Rock Type:category:text", "HoleType:category:text", "Sampled:date:text",
        ),
        _table(
            "assay.csv", 5000, "hole:hole_id:text", "from:depth_from", "to:depth_to", "Au:element:number:g/t",
            "Cu:element:number:%", "lith:category:text",
        ),
        _table("collar.csv", 40, "hole:hole_id:text", "east:x", "north:y", "rl:z", "max_depth"),
        _table("drift.csv", 60, "east:x", "north:y", "Zn:element:number:ppm", "Cu:element:number:ppm"),
        _table("survey.csv", 300, "hole:hole_id:text", "at:depth", "azimuth", "dip"),
        _table("lith.csv", 900, "hole:hole_id:text", "from:depth_from", "to:depth_to", "rock:category:text"),
        _table("log.las", 4951, "DEPT:depth:number:m", "GR", "RHOB", "DT", "NPHI"),
        _table(
            "qc.csv", 400, "SampleID:sample_id:text", "SampleType:category:text", "Standard:category:text",
            "Cu:element:number:ppm", "Zn:element:number:ppm", "batch:category:text",
        ),
        _table("long.csv", 3000, "SampleID:sample_id:text", "analyte:category:text", "result", "method:category:text"),
        _table(
            "water.csv", 32, "station:id:text", "conductivity:measure:number:mS/cm", "TDS:measure:number:g/L",
            "chloride:measure:text", "collected:category:text", "visit:category:text",
        ),
        _table("water2.csv", 30, "station:id:text", "conductivity:measure:number:mS/cm", "TDS:measure:number:g/L"),
        Profile("dem.tif", (), None),
        Profile("scene.tif", (), None),
    )
}  # fmt: skip


@cache
def cards() -> tuple[Card, ...]:
    return tuple(read_roster(next(tool.description for tool in lead_schemas() if tool.name == "dispatch")))


def files_of(names: str) -> list[Profile]:
    return [PROFILES[name] for name in names.split()]


def plan(sentence: str, files: list[Profile]) -> Plan:
    return make_plan(sentence, cards(), frozenset().union(*(each.folded_names for each in files)))


def bindings(sentence: str, names: str = "soil.csv", previous: Previous | None = None) -> list[tuple[str, Binding]]:
    files = files_of(names)
    return [
        (step.card.name, bind(get_tool(step.card.name).schema(), step.clause, files[0], previous, files[1:]))
        for step in plan(sentence, files).steps
    ]


def test_every_tool_has_sentences() -> None:
    assert set(NAMES) - WITHOUT_SENTENCES == {tool for tool, *_ in CASES}


@pytest.mark.parametrize(("tool", "names", "sentence", "expected"), CASES, ids=[f"{c[0]}: {c[2]}" for c in CASES])
def test_a_plain_sentence_reaches_its_tool(tool: str, names: str, sentence: str, expected: str) -> None:
    files = files_of(names)
    planned = plan(sentence, files)
    assert [step.card.name for step in planned.steps] == [tool], planned.blockers
    assert planned.blockers == []
    ((_, binding),) = bindings(sentence, names)
    assert binding.refusals == []
    assert binding.blockers == []
    (call,) = binding.calls
    get_tool(tool).arguments.model_validate(call)
    assert {name: value for name, value in call.items() if name != "path"} == json.loads(expected)
    assert call.get("path", files[0].path) == files[0].path


@pytest.mark.parametrize(
    ("names", "sentence", "reason"),
    [
        ("soil.csv", "reproject to UTM", "is no code"),
        ("soil.csv", "reproject to MGA94 zone 50", "is no code"),
        ("soil.csv", "grid Zn", "cell_size"),
        ("soil.csv", "grid Zn at 500 m", "these are degrees"),
        ("drift.csv", "grid Zn by kriging at 500 m", '"kriging" is not offered'),
        ("soil.csv", "regress Zn and Cu", "the argument y"),
        ("soil.csv", "replace missing Zn with 0", "values to be replaced"),
        ("soil.csv", "rename Cu", "the new name is not said"),
        ("soil.csv", "derive a new column from Cu", "NAME = formula"),
        ("soil.csv", "normalise Cu by Al", "its values make no groups"),
        ("soil.csv", "ternary of Fe Al", "needs 3 columns"),
        ("soil.csv", "verify that the mean of Cu is 0.36 and the max is 5", "one figure of one column"),
        ("soil.csv", "verify that the mean Cu in granite is 0.36", '"granite" is no column'),
        ("soil.csv", "map of Cu coloured by grade class", "cannot colour the same points"),
        ("soil.csv", "cluster into 3 to 5 groups", "one value is needed"),
        ("soil.csv", "join soil.csv with missing.csv on SampleID", "is not among the data files"),
        ("soil.csv qc.csv collar.csv", "join on SampleID", "qc.csv or collar.csv"),
        ("soil.csv collar.csv", "merge soil.csv with collar.csv", "the argument on"),
        ("soil.csv qc.csv", "box plot of Zn by Rock Type of soil.csv and qc.csv", "no argument takes it"),
        ("log.las", "downhole plot of GR for hole X-9", "no column of holes"),
        ("log.las", "composite GR to 10 ft", "the depths are in m"),
        ("assay.csv", "find intercepts of Cu above 500 ppm", "Cu is in %"),
        ("assay.csv", "intercepts below 0.5 g/t Au", "takes no condition"),
        ("long.csv", "pivot result by SampleID", "the argument columns"),
        ("soil.csv", "scatter of Au against the best pathfinder", "follows best is not known"),
        ("soil.csv", "drop the top 10 samples by Cu", "not said as a condition"),
        ("soil.csv", "mean Zn without outliers", "without outliers"),
    ],
)
def test_what_is_not_said_or_not_offered_is_refused(names: str, sentence: str, reason: str) -> None:
    found = bindings(sentence, names)
    assert found
    assert all(binding.calls == [] for _, binding in found)
    assert reason in "; ".join(text for _, binding in found for text in binding.refusals)


def test_how_far_from_vertical_sets_no_convention_of_dips() -> None:
    ((_, binding),) = bindings("how far from vertical does the hole get", "survey.csv")
    assert "dip_convention" not in binding.calls[0]


def test_a_length_of_unknown_unit_is_said() -> None:
    ((_, binding),) = bindings("composite Cu to 10 ft", "assay.csv")
    assert any("unit of the depths is not known" in note for note in binding.notes)


def test_the_best_pathfinder_is_the_first_of_another_element() -> None:
    ranked = [{"x": "Au", "y": "Au_2"}, {"x": "Au", "y": "As"}, {"x": "Au", "y": "Cu"}]
    previous = Previous.of_results("correlate", {"target": "Au", "strongest": ranked})
    ((tool, binding),) = bindings("scatter of Au against the best pathfinder on log axes", previous=previous)
    assert tool == "plot_scatter"
    assert {key: binding.calls[0][key] for key in ("x", "y", "log_x")} == {"x": "As", "y": "Au", "log_x": True}


def test_a_second_file_that_is_the_only_one_is_taken_and_said() -> None:
    ((_, binding),) = bindings("put the drill tables together", "assay.csv collar.csv")
    assert binding.calls[0]["right_path"] == "collar.csv"
    assert any("collar.csv was taken" in note for note in binding.notes)


def test_a_tool_for_several_files_begins_with_the_table_it_works_on() -> None:
    known = {card.name: card for card in cards()}
    files = files_of("collar.csv survey.csv assay.csv")
    clause = "composite, desurvey and rank the holes"
    assert targets_of(clause, files, known["desurvey"]) == ["survey.csv"]
    assert targets_of(clause, files, known["profile_intervals"]) == ["assay.csv"]


@pytest.mark.parametrize(
    ("clause", "told"),
    [
        ("keep only females", 'keep only rows where "Sex" is "FEMALE"'),
        ("exclude Gentoo", 'exclude rows where "Species" is "Gentoo penguin"'),
        ("keep Dream", None),
    ],
)
def test_a_value_stands_for_its_column_where_only_one_has_it(clause: str, told: str | None) -> None:
    columns = {
        "Sex": {"values": {"MALE": 2, "FEMALE": 3}},
        "Species": {"values": {"Gentoo penguin": 4, "Adelie penguin": 5}},
        "Island": {"values": {"Dream": 1}},
        "Site": {"values": {"Dream": 9}},
    }
    found = with_columns(clause, Answer("", {"results": {"columns": columns}}, is_error=False))
    assert (found[0] if found else None) == told


@pytest.mark.parametrize("unit", [",", "cluster, ", "plot Zn and ", "mean Cu. ", "(", "a-", '"', "word "])
def test_a_long_objective_is_planned_in_steps_that_grow_with_it(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in words looked at, not in seconds: twice the text, about twice the work."""
    from outcrop.models.offline import clauses

    looked = 0
    terms_of = clauses.terms_of

    def counted(words: Any) -> Any:
        nonlocal looked
        looked += len(words)
        return terms_of(words)

    monkeypatch.setattr(clauses, "terms_of", counted)
    work = []
    for count in (500, 1000):
        looked = 0
        make_plan(unit * count, cards(), frozenset(("cu", "zn")))
        work.append(looked)
    assert work[1] <= 2.2 * work[0] + 100


def test_clauses_beyond_what_is_read_are_counted() -> None:
    planned = make_plan("Map the moon. " * (MOST_CLAUSES + 7), cards())
    assert any(text.startswith("7 more clauses were not read") for text in planned.blockers)


def test_turns_are_worked_out_beside_the_event_loop_and_alike_in_every_thread() -> None:
    sentences = [case[2] for case in CASES]
    requests = []
    for sentence in sentences[:40]:
        texts: list[Block] = [TextBlock(text=text) for text in opening(sentence, ["soil.csv"])]
        requests.append(ModelRequest(system="", messages=[Message(role="user", content=texts)], tools=lead_schemas()))
    loops: set[int] = set()

    async def tick() -> None:
        loops.add(threading.get_ident())
        await asyncio.sleep(0)

    async def together() -> list[str]:
        answers, *_ = await asyncio.gather(
            asyncio.gather(*(OfflineModel().create(request) for request in requests)), tick()
        )
        return [answer.model_dump_json() for answer in answers]

    at_once = asyncio.run(together())
    one_by_one = [asyncio.run(OfflineModel().create(request)).model_dump_json() for request in requests]
    assert at_once == one_by_one
    assert loops == {threading.get_ident()}
