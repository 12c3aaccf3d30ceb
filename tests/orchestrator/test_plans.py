"""A plan out of a run's record, and the same calls on other files: exact, recorded, and refused before it begins."""

from __future__ import annotations

import asyncio
import csv
import json
import statistics
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop import Run, ScriptedModel
from outcrop.batch import Batch
from outcrop.models import ModelTable
from outcrop.models.scripted import turn
from outcrop.plans.extraction import extract
from outcrop.plans.files import check_plan, plan_text, read_plan, write_plan
from outcrop.plans.following import Follow, without_model
from outcrop.plans.inspecting import export
from outcrop.recovery import open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder, all_runs
from outcrop.settings import RoleSettings, Settings
from outcrop.shared import Shared
from outcrop.workspace import Workspace
from outcrop_schemas.errors import PlanError, PlanMismatchError, UsageError
from outcrop_schemas.messages import ModelRequest, ModelResponse, ToolResultBlock
from outcrop_schemas.outcome import RunOutcome
from outcrop_schemas.plan import Plan

HEADER = "sample,rock,Au_ppm,Cu_ppm\n"
ROWS = [("a", "granite", 0.1, 10), ("b", "granite", 0.2, 20), ("b", "granite", 0.2, 20), ("c", "schist", 9.0, 900)]
OTHER = [("p", "granite", 1.25, 7), ("q", "granite", 3.75, 8), ("r", "schist", 5.0, 9), ("q", "granite", 3.75, 8)]


def write(path: Path, rows: list[tuple[Any, ...]], header: str = HEADER) -> None:
    path.write_text(header + "".join(",".join(map(str, row)) + "\n" for row in rows))


def made(request: ModelRequest) -> str:
    """The last file of the last result that has one."""
    results = [b for m in request.messages for b in m.content if isinstance(b, ToolResultBlock) and not b.is_error]
    found = [json.loads(block.content).get("artifacts") for block in results if block.content.startswith("{")]
    return str(next(filter(None, reversed(found)))[-1]["path"])


def done(said: str = "done") -> ModelResponse:
    return turn(("complete", {"status": "success", "summary": said}), turn_id=said)


def dispatch(specialist: str, objective: str, *data: str) -> tuple[str, dict[str, Any]]:
    return "dispatch", {"specialist": specialist, "objective": objective, "data": list(data)}


def handed_on(specialist: str, objective: str) -> Callable[[ModelRequest], ModelResponse]:
    """A dispatch about the file that the one before made."""
    return lambda request: turn(dispatch(specialist, objective, made(request)), turn_id=specialist)


def on_its_file(*calls: tuple[str, dict[str, Any]], turn_id: str) -> Callable[[ModelRequest], ModelResponse]:
    """Calls on the file that the dispatch names."""

    def answer(request: ModelRequest) -> ModelResponse:
        [data] = [b.text for b in request.messages[0].content if b.type == "text" and b.text.startswith("Data files")]  # type: ignore[union-attr]
        path = data.partition("- ")[2].strip()
        return turn(*((name, {"path": path, **more}) for name, more in calls), turn_id=turn_id)

    return answer


SUMMARY = ("summarize", {"columns": ["Au_ppm", "Cu_ppm"]})
MODELS: dict[str, Callable[[], list[Any]]] = {
    "lead": lambda: [
        turn(dispatch("cleaning", "keep the granites", "assays.csv"), turn_id="l1"),
        handed_on("analytics", "summarise gold"),
        handed_on("analytics", "summarise it again"),
        done("answered"),
    ],
    "cleaning": lambda: [
        turn(("list_files", {}), ("inspect_dataset", {"path": "assays.csv"}), turn_id="c1"),
        turn(("remove_duplicates", {"path": "./assays.csv"}), ("filter_rows", {"path": "assays.csv"}), turn_id="c2"),
        lambda request: turn(("filter_rows", {"path": made(request), "expression": "rock == 'granite'"}), turn_id="c3"),
        done("cleaned"),
    ],
    "analytics": lambda: [
        on_its_file(SUMMARY, turn_id="a1"),
        on_its_file(("plot_histogram", {"column": "Au_ppm"}), SUMMARY, turn_id="a2"),
        done("summed"),
        on_its_file(SUMMARY, turn_id="a3"),
        done("again"),
    ],
}


async def run(workspace: Path, models: dict[str, list[Any]], data: list[str]) -> RunFolder:
    chosen = {role: ScriptedModel(turns, name=role) for role, turns in models.items()}
    outcome = await Run("gold of the granites", data, workspace=workspace, launcher=warm(), model=chosen).start()
    assert outcome.status == "success", outcome.errors
    return RunFolder(Path(outcome.run_folder))


@pytest.fixture
async def finished(workspace: Path) -> RunFolder:
    write(workspace / "assays.csv", ROWS)
    return await run(workspace, {role: turns() for role, turns in MODELS.items()}, ["assays.csv"])


async def exported(folder: RunFolder) -> Plan:
    workspace = Workspace(folder.path.parents[2])
    async with without_model(workspace, Settings(), warm()) as shared:
        return await export(open_run(folder), shared)


async def follow(plan: Plan, workspace: Path, *data: str, **given: str) -> RunOutcome:
    async with without_model(Workspace(workspace), Settings(), warm()) as shared:
        return await Follow(plan, data, given).start(shared)


async def test_a_plan_has_the_work_of_the_run_and_the_columns_it_needs(finished: RunFolder) -> None:
    plan = await exported(finished)
    assert [[call.tool for call in step.calls] for step in plan.steps] == [
        ["remove_duplicates", "filter_rows"],
        ["summarize"],
    ]
    assert [(one.id, one.file) for one in plan.inputs] == [("input1", "assays.csv")]
    columns = {column.name: (column.type, column.role, column.unit, column.values) for column in plan.inputs[0].columns}
    assert columns == {
        "rock": ("text", "category", None, ["granite"]),
        "Au_ppm": ("number", "element", "ppm", []),
        "Cu_ppm": ("integer", "element", "ppm", []),
    }
    first, second, third = plan.calls
    assert first.arguments["path"] == {"from": "input1"}
    assert second.arguments["path"] == {"from": first.id, "kind": "table", "number": 1}
    assert third.arguments["path"] == {"from": second.id, "kind": "table", "number": 1}
    told = " ".join(plan.left_out)
    assert "list_files, filter_rows, inspect_dataset" in told
    assert "d0003 analytics: summarize" in told


async def test_a_plan_is_read_back_as_it_was_written_and_replaces_no_file(finished: RunFolder, tmp_path: Path) -> None:
    plan = await exported(finished)
    write_plan(plan, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == plan
    with pytest.raises(UsageError, match="nothing is replaced"):
        write_plan(plan, tmp_path / "plan.json")


async def test_the_plan_on_another_file_gives_exact_figures_and_is_rebuilt(
    finished: RunFolder, workspace: Path
) -> None:
    plan = await exported(finished)
    write(workspace / "new.csv", OTHER)
    outcome = await follow(plan, workspace, "new.csv")
    assert (outcome.status, outcome.model, outcome.usage["input_tokens"]) == ("success", "plan", 0)
    gold = [1.25, 3.75]
    [row] = [each for each in summary_rows(workspace, outcome) if each["column"] == "Au_ppm"]
    assert float(row["mean"]) == statistics.mean(gold)
    assert float(row["sd"]) == pytest.approx(statistics.stdev(gold), rel=1e-12)
    assert not [figure for figure in outcome.figures if figure.verdict == "refuted"]
    assert [figure for figure in outcome.figures if figure.verdict == "verified"]
    record = open_run(RunFolder(Path(outcome.run_folder)))
    checked = await asyncio.to_thread(verify, record)
    assert [one.difference for one in checked] == [None, None, None]
    assert record.events("plan")[0]["files"] == {"input1": "new.csv"}


async def test_no_model_that_costs_is_asked_whatever_the_settings_say(finished: RunFolder, workspace: Path) -> None:
    plan = await exported(finished)
    write(workspace / "new.csv", OTHER)
    settings = Settings(
        model="claude-sonnet-5-5", budget_usd=Decimal("0.000001"), roles={"lead": RoleSettings(fallback="anthropic")}
    )
    models = ModelTable(None, settings)
    async with Shared.opened(Workspace(workspace), models, 1, 1, warm()) as shared:
        outcome = await Follow(plan, ["new.csv"], {}).start(shared)
    assert (outcome.status, outcome.model) == ("success", "plan")
    assert outcome.usage["spending"]["spent_tokens"] == 0


async def test_columns_of_other_names_are_renamed_first_and_told_with_their_count(
    finished: RunFolder, workspace: Path
) -> None:
    plan = await exported(finished)
    write(workspace / "new.csv", OTHER, "sample,Rock,AU (ppm),Copper (g/t)\n")
    outcome = await follow(plan, workspace, "new.csv")
    assert outcome.status == "success"
    [row] = [each for each in summary_rows(workspace, outcome) if each["column"] == "Cu_ppm"]
    assert float(row["mean"]) == 7.5
    told = " ".join(outcome.findings)
    assert "3 columns were found by another than the exact name" in told
    assert "Cu_ppm is Copper (g/t) here (element Cu)" in told
    again = extract(open_run(RunFolder(Path(outcome.run_folder)))).plan
    assert again.calls[0].arguments["rename"]["AU (ppm)"] == "Au_ppm"


async def test_what_does_not_fit_is_told_as_a_whole_and_nothing_is_started(
    finished: RunFolder, workspace: Path
) -> None:
    plan = await exported(finished)
    write(workspace / "new.csv", OTHER, "sample,lithology,Au_ppb,Cu_ppm\n")
    before = [folder.run_id for folder in all_runs(Workspace(workspace))]
    with pytest.raises(PlanMismatchError) as raised:
        await follow(plan, workspace, "new.csv")
    assert {misfit["column"] for misfit in raised.value.misfits} == {"rock", "Au_ppm"}
    assert "is in ppb, not in ppm" in str(raised.value)
    assert "lithology (text, category)" in str(raised.value)
    assert [folder.run_id for folder in all_runs(Workspace(workspace))] == before
    assert len(list((workspace / ".outcrop" / "runs").iterdir())) == len(before)
    outcome = await follow(plan, workspace, "new.csv", rock="lithology", Au_ppm="Au_ppb")
    assert outcome.status == "success"
    assert "though it is in ppb, not in ppm" in " ".join(outcome.findings)


async def test_a_value_that_a_filter_asks_for_and_the_file_lacks_is_a_warning(
    finished: RunFolder, workspace: Path
) -> None:
    plan = await exported(finished)
    write(workspace / "new.csv", [("p", "gneiss", 1.0, 7), ("q", "gneiss", 2.0, 8)])
    outcome = await follow(plan, workspace, "new.csv")
    assert "Warning: new.csv: 'rock' has no value 'granite'" in " ".join(outcome.findings)


async def test_a_column_with_the_name_that_another_is_to_have_is_put_aside(
    finished: RunFolder, workspace: Path
) -> None:
    plan = await exported(finished)
    rows = [(*row, 50.0) for row in OTHER]
    write(workspace / "new.csv", rows, "sample,rock,Au_ppm,Cu_ppm,Au_fire_ppm\n")
    outcome = await follow(plan, workspace, "new.csv", Au_ppm="Au_fire_ppm")
    [row] = [each for each in summary_rows(workspace, outcome) if each["column"] == "Au_ppm"]
    assert float(row["mean"]) == 50.0


async def test_a_call_that_fails_holds_up_only_what_needs_it(finished: RunFolder, workspace: Path) -> None:
    plan = await exported(finished)
    steps = [
        step.model_copy(
            update={
                "calls": [
                    call.model_copy(update={"arguments": {**call.arguments, "expression": "rock + 1 > 2"}})
                    if call.tool == "filter_rows"
                    else call
                    for call in step.calls
                ]
            }
        )
        for step in plan.steps
    ]
    write(workspace / "new.csv", OTHER)
    outcome = await follow(plan.model_copy(update={"steps": steps}), workspace, "new.csv")
    assert outcome.status == "partial"
    assert len(outcome.artifacts) == 1
    told = " ".join(outcome.blockers)
    assert "c2 (filter_rows)" in told
    assert "c3 (summarize) needs a file of c2" in told


async def joined(workspace: Path) -> Plan:
    """The plan of a run that joined two files and summarised what came of it."""
    write(workspace / "assays.csv", ROWS)
    write(workspace / "rocks.csv", [("granite", 2.7), ("schist", 2.8)], "rock,density\n")
    merge = {"path": "assays.csv", "right_path": "rocks.csv", "on": ["rock"], "cardinality": "many_to_one"}
    lead = [turn(dispatch("analytics", "join", "assays.csv", "rocks.csv"), turn_id="l1"), done("answered")]
    work = [
        turn(("merge_datasets", merge), turn_id="a1"),
        lambda request: turn(("summarize", {"path": made(request), "columns": ["density"]}), turn_id="a2"),
        done("joined"),
    ]
    return await exported(await run(workspace, {"lead": lead, "analytics": work}, ["assays.csv", "rocks.csv"]))


async def test_files_are_put_in_the_place_of_the_inputs_that_they_fit(workspace: Path) -> None:
    plan = await joined(workspace)
    assert [[column.name for column in one.columns] for one in plan.inputs] == [["rock"], ["rock", "density"]]
    write(workspace / "a2.csv", OTHER)
    write(workspace / "r2.csv", [("granite", 3.0), ("schist", 1.0)], "rock,density\n")
    outcome = await follow(plan, workspace, "r2.csv", "a2.csv")
    assert outcome.data == ["a2.csv", "r2.csv"]
    [row] = summary_rows(workspace, outcome)
    assert float(row["mean"]) == 2.5
    with pytest.raises(UsageError, match="each of its 2 inputs"):
        await follow(plan, workspace, "a2.csv")


async def test_a_mapping_may_name_the_file_that_it_is_for(workspace: Path) -> None:
    plan = await joined(workspace)
    (workspace / "sub").mkdir()
    write(workspace / "a:2.csv", OTHER, "sample,unit,Au_ppm,Cu_ppm\n")
    write(workspace / "sub" / "r2.csv", [("granite", 3.0), ("schist", 1.0)], "formation,density\n")
    files = ["a:2.csv", "sub/r2.csv"]
    with pytest.raises(PlanMismatchError, match="the map FILE:OLD=NEW says"):
        await follow(plan, workspace, *files)
    with pytest.raises(PlanMismatchError):
        await follow(plan, workspace, *files, rock="unit")
    for given, told in [
        ({"none.csv:rock": "unit"}, "the files that were given are a:2.csv, sub/r2.csv"),
        ({"a:2.csv:ruck": "unit"}, "needs no column 'ruck'"),
        (
            {"a:2.csv:rock": "unit", "sub/r2.csv:rock": "formation", "a:2.csv:density": "x"},
            "a:2.csv:density=x: no file",
        ),
    ]:
        with pytest.raises(UsageError, match=told):
            await follow(plan, workspace, *files, **given)
    named = {"rock": "none", "a:2.csv:rock": "unit", "./sub/r2.csv:rock": "formation"}
    with pytest.raises(UsageError, match=r"^map rock=none: no file"):
        await follow(plan, workspace, *files, **named)
    outcome = await follow(plan, workspace, *files, **{name: new for name, new in named.items() if ":" in name})
    assert outcome.status == "success", outcome.blockers
    [row] = summary_rows(workspace, outcome)
    assert float(row["mean"]) == 2.5
    assert "a:2.csv: rock is unit here" in " ".join(outcome.findings)


async def test_a_script_about_a_file_is_named_and_refused_and_one_of_its_own_is_not(workspace: Path) -> None:
    write(workspace / "assays.csv", ROWS)
    own = "print('===RESULT===')\nprint(6 * 7)\nprint('===END_RESULT===')\n"
    lead = [turn(dispatch("analytics", "compute", "assays.csv"), turn_id="l1"), done("answered")]
    work = [
        turn(("run_script", {"code": own}), ("run_script", {"code": own, "data": ["assays.csv"]}), turn_id="a1"),
        done("computed"),
    ]
    plan = await exported(await run(workspace, {"lead": lead, "analytics": work}, ["assays.csv"]))
    assert [bool(call.obstacle) for call in plan.calls] == [False, True]
    with pytest.raises(PlanError, match=r"c2: run_script is about assays.csv.*Take these calls out"):
        await follow(plan, workspace, "assays.csv")
    step = plan.steps[0].model_copy(update={"calls": plan.steps[0].calls[:1]})
    outcome = await follow(plan.model_copy(update={"steps": [step], "inputs": []}), workspace)
    assert outcome.status == "success"


async def test_a_file_that_changed_since_leaves_types_unknown_and_says_so(finished: RunFolder, workspace: Path) -> None:
    write(workspace / "assays.csv", OTHER)
    plan = await exported(finished)
    assert "types and units of its columns are not known" in plan.left_out[-1]
    assert plan.inputs[0].columns == []


async def test_a_batch_of_tables_follows_one_plan(finished: RunFolder, workspace: Path) -> None:
    write_plan(await exported(finished), workspace / "plan.json")
    (workspace / "bad.json").write_text('{"format": "outcrop-plan"}')
    for number in range(3):
        write(workspace / f"t{number}.csv", [(*row[:2], row[2] + number, row[3]) for row in OTHER])
    lines = [{"plan": "plan.json", "data": f"t{number}.csv"} for number in range(3)]
    lines.append({"plan": "bad.json", "data": "t0.csv"})
    (workspace / "jobs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = await Batch(workspace / "jobs.jsonl", workspace=workspace, launcher=warm()).start()
    assert [outcome.status for outcome in result.outcomes.values()] == ["success"] * 3
    means = [
        float(next(row["mean"] for row in summary_rows(workspace, outcome) if row["column"] == "Au_ppm"))
        for outcome in result.outcomes.values()
    ]
    assert means == [2.5, 3.5, 4.5]
    [bad] = result.bad_lines
    assert bad.number == 4
    assert "bad.json: " in bad.reason


def summary_rows(workspace: Path, outcome: RunOutcome) -> list[dict[str, str]]:
    [path] = [artifact.path for artifact in outcome.artifacts if "_summarize_" in artifact.path]
    with (workspace / path).open(newline="") as file:
        return list(csv.DictReader(file))


CALL = {"id": "c1", "tool": "summarize", "version": 1, "arguments": {"path": {"from": "input1"}}}
GOOD: dict[str, Any] = {
    "format": "outcrop-plan",
    "version": 1,
    "run": "r",
    "objective": "o",
    "inputs": [{"id": "input1", "file": "a.csv"}],
    "steps": [{"specialist": "analytics", "calls": [CALL]}],
}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"version": 2}, "version"),
        ({"more": 1}, "more"),
        ({"steps": []}, "steps"),
        ({"inputs": [{"id": "c1", "file": "a.csv"}]}, "id"),
        ({"steps": [{"specialist": "geology", "calls": [CALL]}]}, "steps.0.specialist"),
        ({"steps": [{"specialist": "plotting", "calls": [CALL]}]}, "steps.0.calls.0.tool"),
        ({"steps": [{"specialist": "analytics", "calls": [{**CALL, "tool": "sumarize"}]}]}, "steps.0.calls.0.tool"),
        (
            {"steps": [{"specialist": "analytics", "calls": [{**CALL, "arguments": {"path": "a.csv"}}]}]},
            "steps.0.calls.0.arguments.path",
        ),
        (
            {"steps": [{"specialist": "analytics", "calls": [{**CALL, "arguments": {"path": {"from": "c7"}}}]}]},
            "steps.0.calls.0.arguments",
        ),
        (
            {
                "steps": [
                    {
                        "specialist": "analytics",
                        "calls": [{**CALL, "arguments": {"path": {"from": "input1"}, "column": 1}}],
                    }
                ]
            },
            "steps.0.calls.0.arguments.column",
        ),
    ],
)
def test_a_plan_with_a_fault_is_refused_and_the_fault_named_by_field(
    change: dict[str, Any], field: str, tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(PlanError) as raised:
        read_plan(path)
    assert raised.value.field.endswith(f": {field}")


def test_a_good_plan_is_taken_and_is_short_as_text() -> None:
    plan = Plan.model_validate(GOOD)
    check_plan(plan)
    assert Plan.model_validate(json.loads(plan_text(plan))) == plan
    assert '"obstacle"' not in plan_text(plan)
