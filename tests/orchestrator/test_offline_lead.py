"""The offline model as the lead: driven through the real agent loop, with answers that are given here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outcrop.lead.toolbox import lead_schemas, roster
from outcrop.models.offline.model import OfflineModel
from outcrop.models.offline.report import told_once
from outcrop_schemas import wire
from outcrop_schemas.errors import DataError
from outcrop_schemas.messages import ModelRequest, ModelResponse, ToolSchema
from outcrop_specialists.agent import Agent, AgentEnd
from outcrop_specialists.brief import opening
from outcrop_specialists.completion import LeadAnswer

Json = dict[str, Any]
DEMO = (
    "Remove duplicate rows, summarise alcohol and proline, cluster the samples into 3 groups on alcohol, flavanoids "
    "and color_intensity, and plot the groups"
)
WINE = ("alcohol", "flavanoids", "color_intensity", "proline")


def described(path: str, columns: tuple[str, ...]) -> Json:
    return {
        "path": path,
        "rows": 178,
        "columns": [{"name": name, "type": "number", "role": "measure"} for name in columns],
    }


def done(tool: str, path: str, **results: Any) -> Json:
    """An outcome as the lead sees it, of a tool that writes a table (or a plot)."""
    kind = "plot" if tool.startswith("plot") else "table"
    artifact = {"path": f"results/{tool}.{'png' if kind == 'plot' else 'csv'}", "kind": kind, "title": tool}
    return {
        "dispatch_id": "d0001-00",
        "status": "success",
        "summary": f"{tool} of {path} is done",
        "results": results,
        "artifacts": [artifact],
    }


class Desk:
    """A toolbox of the lead whose dispatches are answered by a function."""

    def __init__(
        self,
        outcome: Callable[[str, Json], Json],
        tables: dict[str, tuple[str, ...]] | None = None,
        schemas: list[ToolSchema] | None = None,
    ) -> None:
        self._outcome, self._tables = outcome, tables if tables is not None else {"wine.csv": WINE}
        self._schemas = schemas or lead_schemas()
        self.dispatched: list[Json] = []

    def schemas(self) -> list[ToolSchema]:
        return self._schemas

    async def call(self, name: str, arguments: Json, call_id: str) -> str:
        if name == "list_files":
            files = [{"path": path, "kind": "table", "bytes": 9} for path in self._tables]
            wanted = arguments.get("tables", [])
            tables = [described(path, self._tables[path]) for path in wanted]
            return wire.dumps({"summary": "", "results": {"files": files, "tables": tables}}).decode()
        if name == "check_missing":
            return wire.dumps({"summary": "no missing cells", "results": {"missing_cells": 0}}).decode()
        assert name == "dispatch"
        self.dispatched.append(arguments)
        return wire.dumps(self._outcome(arguments["context"]["tool"], arguments)).decode()


class Recorded:
    """The offline model, with its turns kept."""

    def __init__(self) -> None:
        self.turns: list[list[tuple[str, Json]]] = []
        self.requests: list[ModelRequest] = []

    async def create(self, request: ModelRequest) -> ModelResponse:
        response = await OfflineModel().create(request)
        self.requests.append(request)
        self.turns.append([(call.name, call.input) for call in response.tool_uses()])
        return response


async def lead(
    objective: str, desk: Desk, data: tuple[str, ...] = ("wine.csv",), tail: str | None = None
) -> tuple[LeadAnswer, Recorded]:
    model = Recorded()
    agent = Agent(
        model,
        desk,
        system="You are the lead.",
        opening=opening(objective, data),
        answer=LeadAnswer,
        tail=lambda: [tail] if tail else [],
    )
    end: AgentEnd = await agent.run()
    assert end.stop == "completed", end.reason
    assert isinstance(end.answer, LeadAnswer)
    return end.answer, model


def clustering(tool: str, arguments: Json) -> Json:
    extra = (
        {"label_column": "cluster", "columns": list(WINE[:3]), "silhouette": 0.25} if tool == "cluster" else {"n": 178}
    )
    return done(tool, arguments["data"][0], **extra)


async def test_the_demo_goes_out_in_three_rounds_and_the_plot_gets_the_labels() -> None:
    desk = Desk(clustering)
    answer, model = await lead(DEMO, desk)
    tools = [[call["context"]["tool"] for name, call in turn if name == "dispatch"] for turn in model.turns]
    assert tools == [[], ["remove_duplicates"], ["summarize", "cluster"], ["plot_clusters"], []]
    assert model.turns[0] == [("list_files", {"tables": ["wine.csv"]})]
    assert [(call["specialist"], call["data"]) for call in desk.dispatched] == [
        ("cleaning", ["wine.csv"]),
        ("analytics", ["results/remove_duplicates.csv"]),
        ("analytics", ["results/remove_duplicates.csv"]),
        ("plotting", ["results/cluster.csv"]),
    ]
    assert desk.dispatched[3]["objective"] == "plot the groups"
    assert desk.dispatched[3]["context"]["previous"] == {
        "tool": "cluster",
        "columns": list(WINE[:3]),
        "label_column": "cluster",
    }
    assert answer.status == "success"
    assert answer.blockers == []


async def test_the_answer_says_who_planned_and_gives_the_figures_of_the_outcomes() -> None:
    answer, _ = await lead(DEMO, Desk(clustering))
    assert [text for text in answer.findings if "no language model" in text] == [
        "Planned by the offline model (no language model): remove_duplicates (cleaning), summarize (analytics), "
        "cluster (analytics), plot_clusters (plotting)"
    ]
    assert answer.summary.startswith("4 of 4 steps done on wine.csv.")
    assert "Cluster of results/remove_duplicates.csv is done." in answer.summary
    assert any("silhouette 0.25" in text for text in answer.findings)
    assert any("results/cluster.csv" in text for text in answer.findings)


async def test_a_map_of_them_waits_for_the_clusters() -> None:
    columns = ("Longitude", "Latitude", "Rb", "K", "La", "Th")
    desk = Desk(clustering, {"soil.csv": columns})
    objective = "cluster the samples into 2 groups on log10 of Rb, K, La and Th and map them by longitude and latitude"
    answer, _ = await lead(objective, desk, ("soil.csv",))
    assert [(call["specialist"], call["data"], call["objective"]) for call in desk.dispatched] == [
        ("analytics", ["soil.csv"], "cluster the samples into 2 groups on log10 of Rb, K, La and Th"),
        ("plotting", ["results/cluster.csv"], "map them by longitude and latitude"),
    ]
    assert answer.status == "success"


async def test_a_clause_that_is_not_understood_is_quoted_and_the_rest_is_done() -> None:
    answer, _ = await lead("Summarise alcohol. Frobnicate the proline.", Desk(clustering))
    assert answer.status == "partial"
    assert answer.blockers == ['Not understood: "Frobnicate the proline" (no tool is asked for with these words)']
    assert "1 of 2 steps done" in answer.summary


async def test_an_objective_that_no_tool_serves_is_an_error_and_dispatches_nothing() -> None:
    desk = Desk(clustering)
    answer, _ = await lead("Write a poem about the wine", desk)
    assert answer.status == "error"
    assert desk.dispatched == []
    assert answer.summary.startswith("Nothing was done.")
    assert '"Write a poem about the wine"' in answer.blockers[0]


async def test_after_a_failure_what_depends_on_it_is_not_dispatched_and_the_rest_goes_on() -> None:
    def outcome(tool: str, arguments: Json) -> Json:
        if tool == "cluster":
            return {"status": "timeout", "summary": "", "errors": ["the limit of 600 s was reached"]}
        return clustering(tool, arguments)

    desk = Desk(outcome)
    clause = "Cluster the samples on alcohol into 3 groups"
    answer, _ = await lead(f"{clause}, plot the groups, and summarise alcohol", desk)
    assert [call["context"]["tool"] for call in desk.dispatched] == ["cluster", "summarize"]
    assert answer.status == "partial"
    assert answer.blockers == [
        f'Not done: "{clause}": timeout: the limit of 600 s was reached',
        f'Not done: "plot the groups": it needs the result of "{clause}", which failed',
    ]


async def test_after_failed_cleaning_nothing_is_computed_on_the_dirty_table() -> None:
    def outcome(tool: str, arguments: Json) -> Json:
        return {"status": "error", "summary": "no", "blockers": ["the file is locked"]}

    desk = Desk(outcome)
    answer, _ = await lead("Remove duplicates, summarise alcohol", desk)
    assert len(desk.dispatched) == 1
    assert answer.status == "error"
    assert answer.blockers[1] == (
        'Not done: "summarise alcohol": it needs the table of "Remove duplicates", which failed'
    )


async def test_a_cleaning_tool_that_only_looks_holds_nothing_up() -> None:
    _, model = await lead("Check data quality, and summarise alcohol", Desk(clustering))
    assert [call["context"]["tool"] for _, call in model.turns[1]] == ["detect_cleaning_issues", "summarize"]


async def test_labels_of_a_table_that_was_changed_since_are_not_drawn() -> None:
    objective = "Cluster the samples on alcohol, keep rows with alcohol above 12, and plot the groups"
    desk = Desk(clustering)
    answer, _ = await lead(objective, desk)
    assert [call["context"]["tool"] for call in desk.dispatched] == ["cluster", "filter_rows"]
    assert "is about the table as it was before a later step changed it" in answer.blockers[0]


async def test_blockers_of_an_outcome_make_the_run_partial() -> None:
    def outcome(tool: str, arguments: Json) -> Json:
        return {**done(tool, "wine.csv"), "status": "partial", "blockers": ['"10" has no effect']}

    answer, _ = await lead("Summarise alcohol", Desk(outcome))
    assert answer.status == "partial"
    assert answer.blockers == ['"Summarise alcohol": "10" has no effect']


async def test_the_same_clause_said_three_times_is_dispatched_once() -> None:
    desk = Desk(clustering)
    answer, _ = await lead("Summarise alcohol. Summarise alcohol. Summarise alcohol. Summarise alcohol.", desk)
    assert len(desk.dispatched) == 1
    assert answer.status == "success"


async def test_no_more_than_eight_dispatches_go_out_at_once() -> None:
    names = tuple(f"column_{number}" for number in range(12))
    desk = Desk(clustering, {"wine.csv": names})
    await lead("; ".join(f"summarise {name}" for name in names), desk)
    assert len(desk.dispatched) == 12
    _, model = await lead("; ".join(f"summarise {name}" for name in names), Desk(clustering, {"wine.csv": names}))
    assert [len(turn) for turn in model.turns] == [1, 8, 4, 1]


async def test_a_question_after_gaps_is_answered_by_the_leads_own_tool() -> None:
    desk = Desk(clustering)
    answer, model = await lead("How many values are missing?", desk)
    assert desk.dispatched == []
    assert ("check_missing", {"path": "wine.csv"}) in model.turns[1]
    assert answer.status == "success"
    assert "no missing cells" in answer.summary.lower()


async def test_a_dispatch_that_is_refused_is_not_sent_again() -> None:
    class Refusing(Desk):
        async def call(self, name: str, arguments: Json, call_id: str) -> str:
            if name == "dispatch":
                self.dispatched.append(arguments)
                raise DataError("the budget of this run is used up")
            return await super().call(name, arguments, call_id)

    desk = Refusing(clustering)
    answer, _ = await lead("Summarise alcohol", desk)
    assert len(desk.dispatched) == 1
    assert answer.blockers == ['Not done: "Summarise alcohol": the budget of this run is used up']


async def test_the_history_at_the_end_of_the_prompt_changes_nothing() -> None:
    _, plain = await lead(DEMO, Desk(clustering))
    _, told = await lead(DEMO, Desk(clustering), tail="Objective:\nwrite a poem\nDispatches so far: none")
    assert plain.turns == told.turns


async def test_specialists_and_tools_of_a_user_take_part() -> None:
    text = roster() + "\nmetals: knows assays\n- grade_curve: Draws it. Asked for as: grade curve, grade by cut-off."
    schemas = [
        ToolSchema(name="dispatch", description=f"Hand over.\n{text}", input_schema={"type": "object"}),
        *(schema for schema in lead_schemas() if schema.name != "dispatch"),
    ]
    desk = Desk(clustering, schemas=schemas)
    answer, _ = await lead("Make the grade curve of alcohol", desk)
    assert [(call["specialist"], call["context"]["tool"]) for call in desk.dispatched] == [("metals", "grade_curve")]
    assert answer.status == "success"


def test_what_several_tools_found_odd_about_a_table_is_told_once() -> None:
    odd, own = "SUSPECTED totals, kept as rows: line 9", "Not said, so left at its default: seed 42"
    notes = [("cluster", own), ("cluster", odd), ("summarize", odd), ("cluster", odd)]
    assert told_once(notes) == [f"cluster: {own}", f"cluster, summarize: {odd}"]
