"""The offline model as a specialist: driven through the real agent loop, with answers that are given here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import create_model, field_validator

from outcrop.models.offline.model import OfflineModel
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ArgumentError, DataError
from outcrop_schemas.messages import ModelRequest, ModelResponse, ToolSchema
from outcrop_specialists.agent import Agent, AgentEnd
from outcrop_specialists.brief import opening
from outcrop_specialists.completion import SpecialistAnswer
from outcrop_specialists.roles import get_role
from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext

Json = dict[str, Any]
COLUMNS = ("Longitude", "Latitude", "Au", "Cu", "Zn")
ROLES = {"Longitude": "longitude", "Latitude": "latitude"}


def profile(path: str, columns: tuple[str, ...] = COLUMNS) -> Json:
    listed = [{"name": name, "type": "number", "role": ROLES.get(name, "element"), "unit": None} for name in columns]
    return {"summary": path, "results": {"path": path, "rows": 50, "columns": listed, "more_columns": 0}}


class Bench:
    """The tools of a role, answered by a function; `inspect_dataset` always sees the same columns."""

    def __init__(self, role: str, answer: Callable[[str, Json], Json], columns: tuple[str, ...] = COLUMNS) -> None:
        self._role, self._answer, self._columns = role, answer, columns
        self.called: list[tuple[str, Json]] = []

    def schemas(self) -> list[ToolSchema]:
        return [tool.schema() for tool in get_role(self._role).tools]

    async def call(self, name: str, arguments: Json, call_id: str) -> str:
        self.called.append((name, arguments))
        if name == "inspect_dataset":
            return wire.dumps(profile(arguments["path"], self._columns)).decode()
        return wire.dumps(self._answer(name, arguments)).decode()


def written(name: str, arguments: Json) -> Json:
    number = arguments.get("column") or arguments.get("x") or ""
    return {
        "summary": f"{name} done",
        "results": {"rows": 50, "column": number},
        "artifacts": [{"path": f"results/{name}{number}.csv", "kind": "table", "title": name}],
        "notes": ["3 rows left out"],
    }


async def work(
    bench: Bench,
    role: str,
    objective: str,
    data: tuple[str, ...] = ("soil.csv",),
    context: Json | None = None,
    model: Any = None,
) -> SpecialistAnswer:
    agent = Agent(
        model or OfflineModel(),
        bench,
        system=get_role(role).prompt(),
        opening=opening(objective, data, context),
        answer=SpecialistAnswer,
    )
    end: AgentEnd = await agent.run()
    assert end.stop == "completed", end.reason
    assert isinstance(end.answer, SpecialistAnswer)
    return end.answer


async def test_it_looks_first_then_calls_the_tool_and_gives_its_results() -> None:
    bench = Bench("analytics", written)
    answer = await work(bench, "analytics", "correlate Au with Cu")
    assert bench.called == [
        ("inspect_dataset", {"path": "soil.csv"}),
        ("correlate", {"path": "soil.csv", "columns": ["Au", "Cu"]}),
    ]
    assert answer.status == "success"
    assert answer.summary == "Correlate done."
    assert answer.results == {"rows": 50, "column": ""}
    assert [artifact.path for artifact in answer.artifacts] == ["results/correlate.csv"]
    assert "3 rows left out" in answer.findings


async def test_the_map_of_a_clustering_is_coloured_by_its_labels() -> None:
    bench = Bench("plotting", written, (*COLUMNS, "cluster"))
    context = {"tool": "plot_map", "previous": {"tool": "cluster", "columns": ["Au"], "label_column": "cluster"}}
    await work(bench, "plotting", "map them by longitude and latitude", ("results/labels.csv",), context)
    wanted = {"path": "results/labels.csv", "x": "Longitude", "y": "Latitude", "color": "cluster"}
    assert bench.called[1] == ("plot_map", wanted)


async def test_an_unknown_column_is_an_error_that_offers_the_closest_names() -> None:
    bench = Bench("analytics", written)
    answer = await work(bench, "analytics", "summarise Latitue and Au")
    assert [name for name, _ in bench.called] == ["inspect_dataset"]
    assert answer.status == "error"
    assert answer.blockers == [
        '"summarise Latitue and Au": "Latitue" is no column of soil.csv; closest: Latitude, Longitude'
    ]


async def test_a_method_that_is_not_offered_is_a_gap_and_nothing_is_called() -> None:
    bench = Bench("analytics", written)
    answer = await work(bench, "analytics", "cluster on Au and Cu using spectral clustering")
    assert [name for name, _ in bench.called] == ["inspect_dataset"]
    assert answer.status == "capability_gap"
    assert '"spectral" is not offered by cluster' in answer.blockers[0]
    assert answer.gap is not None


async def test_what_no_tool_of_the_role_does_is_a_gap_quoting_the_clause() -> None:
    answer = await work(Bench("plotting", written), "plotting", "bake a cake")
    assert answer.status == "capability_gap"
    assert 'Not understood: "bake a cake"' in answer.blockers[0]


async def test_an_error_of_the_tool_is_told_with_its_reason_and_the_call_is_not_repeated() -> None:
    def refuse(name: str, arguments: Json) -> Json:
        raise ArgumentError("columns", "soil.csv: column 'Au' holds text")

    bench = Bench("analytics", refuse)
    answer = await work(bench, "analytics", "summarise Au")
    assert [name for name, _ in bench.called] == ["inspect_dataset", "summarize"]
    assert answer.status == "error"
    assert answer.blockers == ["\"summarise Au\": columns: soil.csv: column 'Au' holds text"]


async def test_a_table_that_cannot_be_read_is_an_error_with_its_reason() -> None:
    class Broken(Bench):
        async def call(self, name: str, arguments: Json, call_id: str) -> str:
            raise DataError("soil.csv: is a PDF document, not a table that can be read")

    answer = await work(Broken("analytics", written), "analytics", "summarise Au")
    assert answer.status == "error"
    assert "is a PDF document" in answer.blockers[0]


async def test_without_a_data_file_nothing_is_guessed() -> None:
    bench = Bench("analytics", written)
    answer = await work(bench, "analytics", "summarise Au", ())
    assert bench.called == []
    assert answer.status == "error"


async def test_several_clauses_are_worked_on_together_and_answered_together() -> None:
    bench = Bench("analytics", written)
    answer = await work(bench, "analytics", "summarise Au, correlate Au with Cu, and plot a histogram of Au")
    assert sorted(name for name, _ in bench.called) == ["correlate", "inspect_dataset", "summarize"]
    assert list(answer.results) == ["1_summarize", "2_correlate"]
    assert answer.status == "partial"
    assert 'Not understood: "plot a histogram of Au"' in answer.blockers[0]


async def test_cleaning_steps_work_on_what_the_step_before_wrote() -> None:
    bench = Bench("cleaning", written)
    await work(bench, "cleaning", "remove duplicates, then keep rows with Au above 1 and Cu below 5")
    assert bench.called[1:] == [
        ("remove_duplicates", {"path": "soil.csv"}),
        ("inspect_dataset", {"path": "results/remove_duplicates.csv"}),
        ("filter_rows", {"path": "results/remove_duplicates.csv", "column": "Au", "operator": ">", "value": 1}),
        ("filter_rows", {"path": "results/filter_rowsAu.csv", "column": "Cu", "operator": "<", "value": 5}),
    ]


async def test_of_a_chain_the_last_table_comes_first() -> None:
    answer = await work(Bench("cleaning", written), "cleaning", "keep rows with Au above 1 and Cu below 5")
    assert [artifact.path for artifact in answer.artifacts] == [
        "results/filter_rowsCu.csv",
        "results/filter_rowsAu.csv",
    ]


async def test_each_column_of_a_one_column_tool_gets_its_call_and_one_failure_leaves_the_others() -> None:
    def draw(name: str, arguments: Json) -> Json:
        if arguments["column"] == "Cu":
            raise DataError("Cu holds no value")
        return written(name, arguments)

    bench = Bench("plotting", draw)
    answer = await work(bench, "plotting", "histograms of Au, Cu and Zn")
    assert [arguments["column"] for name, arguments in bench.called if name == "plot_histogram"] == ["Au", "Cu", "Zn"]
    assert answer.status == "partial"
    assert list(answer.results) == ["Au", "Zn"]
    assert answer.blockers == ['"histograms of Au, Cu and Zn": Cu holds no value']


async def test_long_results_are_shortened_to_what_a_lead_reads_and_that_is_said() -> None:
    def long(name: str, arguments: Json) -> Json:
        columns = {f"column_{number}": {"mean": number / 7, "sd": 1.0} for number in range(200)}
        return {"summary": "long", "results": {"rows": 50, "columns": columns, "pairs": list(range(100))}}

    answer = await work(Bench("analytics", long), "analytics", "summarise Au")
    assert len(wire.dumps(answer.results).decode()) <= limits.SPECIALIST_RESULT_CHARS
    assert answer.results["rows"] == 50
    assert list(answer.results["columns"])[:2] == ["column_0", "column_1"]
    assert len(answer.results["pairs"]) == limits.COMPLETE_LIST_RECORDS
    assert any("of 200 entries are kept here" in text for text in answer.findings)
    assert any("the first 20 of 100 are kept here" in text for text in answer.findings)


async def test_a_refused_completion_is_answered_by_a_smaller_one() -> None:
    answers: list[Json] = []

    class Watched:
        async def create(self, request: ModelRequest) -> ModelResponse:
            response = await OfflineModel().create(request)
            answers.extend(call.input for call in response.tool_uses() if call.name == "complete")
            return response

    def refuse(value: Any) -> Any:
        raise ValueError("not this one")

    refusing = create_model(
        "Refusing", __base__=SpecialistAnswer, __validators__={"refuse": field_validator("summary")(refuse)}
    )
    agent = Agent(
        Watched(),
        Bench("analytics", written),
        system="",
        opening=opening("summarise Au", ("soil.csv",)),
        answer=refusing,
    )
    end = await agent.run()
    assert end.stop == "invalid_completion"
    assert [sorted(answer) for answer in answers] == [
        ["artifacts", "blockers", "findings", "results", "status", "summary"],
        ["artifacts", "blockers", "status", "summary"],
        ["status", "summary"],
    ]
    for answer in answers:
        SpecialistAnswer.model_validate(answer)


async def test_a_suspicion_on_a_column_that_was_used_makes_the_answer_partial() -> None:
    def suspect(name: str, arguments: Json) -> Json:
        said = "Zn: mean 4. CAUTION: includes 3 suspected fill values -999 in Zn; see notes"
        return {"summary": said, "results": {"columns": {"Zn": {"mean": 4.0}}}, "notes": []}

    answer = await work(Bench("analytics", suspect), "analytics", "summarise Zn")
    assert answer.status == "partial"
    assert "CAUTION: includes 3 suspected fill values -999 in Zn" in answer.summary
    assert answer.blockers == ['"summarise Zn": CAUTION: includes 3 suspected fill values -999 in Zn']


async def test_a_suspicion_in_the_notes_counts_for_the_columns_that_were_used_only() -> None:
    def suspect(name: str, arguments: Json) -> Json:
        note = "SUSPECTED fill values, kept as numbers (remove them before computing): Zn has -999 in 3 rows"
        return {"summary": f"{name} done", "results": {}, "notes": [note]}

    drawn = await work(Bench("plotting", suspect), "plotting", "histogram of Zn")
    assert drawn.status == "partial"
    assert "SUSPECTED fill values" in drawn.summary
    other = await work(Bench("plotting", suspect), "plotting", "histogram of Cu")
    assert other.status == "success"
    assert any("SUSPECTED" in text for text in other.findings)


async def test_no_row_of_data_goes_into_the_results() -> None:
    def rows(name: str, arguments: Json) -> Json:
        results = {"path": "soil.csv", "columns": ["Au", "Cu"], "rows": [[1.0, 2.0]], "n_rows": 1}
        artifact = {"path": "results/head.csv", "kind": "table", "title": "head"}
        return {"summary": "head", "results": results, "artifacts": [artifact], "notes": []}

    answer = await work(Bench("analytics", rows), "analytics", "show the first 5 rows")
    assert answer.results == {"path": "soil.csv", "columns": ["Au", "Cu"], "n_rows": 1}
    assert [artifact.path for artifact in answer.artifacts] == ["results/head.csv"]


async def test_values_that_are_not_listed_are_counted() -> None:
    def counts(name: str, arguments: Json) -> Json:
        return {"summary": "counts", "results": {"distinct": 25, "values": [{"value": "a", "count": 3}]}, "notes": []}

    answer = await work(Bench("analytics", counts), "analytics", "count values of Zn")
    assert "24 more values are not listed, of 25" in answer.findings


class RealBench:
    """The tools of a role on real files."""

    def __init__(self, role: str, folder: Path) -> None:
        self._tools = {tool.name: tool for tool in get_role(role).tools}
        self._context = ToolContext(folder, folder / "results", folder)
        self.called: list[tuple[str, Json]] = []

    def schemas(self) -> list[ToolSchema]:
        return [tool.schema() for tool in self._tools.values()]

    async def call(self, name: str, arguments: Json, call_id: str) -> str:
        self.called.append((name, arguments))
        return wire.dumps(run_tool(self._tools[name], self._context, arguments).as_json()).decode()


@pytest.mark.parametrize(
    ("objective", "tool", "columns"),
    [("summarise Mo_ppm", "summarize", ["Mo_ppm"]), ("choose the number of clusters", "choose_clusters", None)],
)
async def test_a_table_of_which_one_answer_tells_a_part_is_known_whole(
    tmp_path: Path, objective: str, tool: str, columns: list[str] | None
) -> None:
    names = [*(f"v{number}" for number in range(150)), "Mo_ppm"]
    rows = [",".join(str((row * (number + 3)) % 17 + 0.5) for number in range(151)) for row in range(40)]
    (tmp_path / "wide.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    bench = RealBench("analytics", tmp_path.resolve())
    await work(bench, "analytics", objective, ("wide.csv",))  # type: ignore[arg-type]
    name, given = bench.called[-1]
    assert name == tool
    assert given.get("columns") == columns or columns is None
    assert sum(each == "inspect_dataset" for each, _ in bench.called) <= 5
