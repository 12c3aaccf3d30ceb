"""Scripted models that work like an analyst: a lead that dispatches, specialists that call tools and report what these
gave. Every figure comes out of a tool's answer in the conversation; none is written here."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from answers.asking import Answer
from outcrop import Run, ScriptedModel
from outcrop.models.scripted import turn
from outcrop_schemas.messages import ModelRequest, ModelResponse, ToolResultBlock
from outcrop_schemas.outcome import RunOutcome

Found = list[Answer]
Arguments = dict[str, Any] | Callable[[list[str], Found], dict[str, Any]]
"""What a tool is called with; where it depends on it, given the dispatch's files and what the tools before it said."""


@dataclass(frozen=True)
class Dispatch:
    """One piece of work: `data` names its files, given the files that earlier dispatches made; each step is a tool and
    its arguments; `report` makes the specialist's results of what the tools said."""

    specialist: str
    objective: str
    data: Callable[[list[str]], list[str]]
    steps: Sequence[tuple[str, Arguments]]
    report: Callable[[Found], dict[str, Any]]


@dataclass
class Finished:
    """The run's outcome, and what the dispatches reported as the lead saw it."""

    outcome: RunOutcome
    facts: dict[str, Any] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


def file_of(files: Sequence[str], tool: str, part: str = "") -> str:
    """The last file that this tool made."""
    return [name for name in files if f"_{tool}_{part}" in Path(name).name][-1]


async def work_through(objective: str, data: list[str], dispatches: Sequence[Dispatch], workspace: Path) -> Finished:
    """Run the script through a real run. Raises whatever a turn raises."""
    given: list[list[str]] = [[] for _ in dispatches]
    turns: dict[str, list[Callable[[ModelRequest], ModelResponse]]] = defaultdict(list)
    for number, each in enumerate(dispatches):
        for place, step in enumerate(each.steps):
            turns[each.specialist].append(_calling(step, given[number], f"d{number}s{place}"))
        turns[each.specialist].append(_reporting(each, f"d{number}end"))
    lead = [_dispatching(each, given[number], f"lead{number}") for number, each in enumerate(dispatches)]
    finished: dict[str, Any] = {}

    def ends(request: ModelRequest) -> ModelResponse:
        finished["facts"], finished["files"] = _seen(request)
        summary = "; ".join(f"{name}: {value}" for name, value in finished["facts"].items() if _is_number(value))
        return turn(("complete", {"status": "success", "summary": summary[:1_900]}), turn_id="leadend")

    models = {role: ScriptedModel(script, name=role) for role, script in turns.items()}
    run = Run(objective, data, workspace=workspace, model={"lead": ScriptedModel([*lead, ends]), **models})
    return Finished(await run.start(), **finished)


def _calling(step: tuple[str, Arguments], data: list[str], turn_id: str) -> Callable[[ModelRequest], ModelResponse]:
    tool, arguments = step

    def call(request: ModelRequest) -> ModelResponse:
        used = arguments if isinstance(arguments, dict) else arguments(data, _answers(request))
        return turn((tool, used), turn_id=turn_id)

    return call


def _reporting(work: Dispatch, turn_id: str) -> Callable[[ModelRequest], ModelResponse]:
    def report(request: ModelRequest) -> ModelResponse:
        found = _answers(request)
        results, files = work.report(found), [name for answer in found for name in answer.files]
        artifacts = [{"path": name, "kind": "plot" if name.endswith(".png") else "table"} for name in files]
        given = {"status": "success", "summary": work.objective, "results": results, "artifacts": artifacts}
        return turn(("complete", given), turn_id=turn_id)

    return report


def _dispatching(work: Dispatch, given: list[str], turn_id: str) -> Callable[[ModelRequest], ModelResponse]:
    def dispatch(request: ModelRequest) -> ModelResponse:
        given[:] = work.data(_seen(request)[1])
        wanted = {"specialist": work.specialist, "objective": work.objective, "data": given}
        return turn(("dispatch", wanted), turn_id=turn_id)

    return dispatch


def _contents(request: ModelRequest) -> list[Any]:
    """What the tools said, in order. Fails on an error, which no good analyst's call should meet."""
    blocks = [block for message in request.messages for block in message.content if isinstance(block, ToolResultBlock)]
    assert not [block.content for block in blocks if block.is_error]
    return [json.loads(block.content) for block in blocks]


def _answers(request: ModelRequest) -> Found:
    return [
        Answer(said["summary"], said["results"], said.get("notes", []), [a["path"] for a in said.get("artifacts", [])])
        for said in _contents(request)
    ]


def _seen(request: ModelRequest) -> tuple[dict[str, Any], list[str]]:
    """The results that the outcomes so far hold, and the files they name."""
    facts: dict[str, Any] = {}
    files: list[str] = []
    for outcome in _contents(request):
        assert outcome["status"] == "success", outcome
        facts.update(outcome.get("results", {}))
        files += [artifact["path"] for artifact in outcome.get("artifacts", [])]
    return facts, files


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
