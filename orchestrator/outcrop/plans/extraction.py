"""Takes the plan out of a run's record: which calls were made, and which files of theirs later calls worked on.

Looking (lists, first lines, profiles) is left out, and so is what failed or was done before. Nothing is started here;
what the columns of the inputs are is looked up by `inspecting.py`.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outcrop.exchanges import read_exchanges
from outcrop.playback import answers_in
from outcrop.recovery import RunRecord
from outcrop.text import shorten
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import UsageError
from outcrop_schemas.journal import JournalRecord
from outcrop_schemas.plan import FileReference, Plan, PlanCall, PlanInput, PlanStep
from outcrop_specialists.completion import COMPLETE
from outcrop_specialists.reading.address import MARK
from outcrop_specialists.tools.argument_kinds import columns_in, is_file, paths_in
from outcrop_specialists.tools.lineage import record_of
from outcrop_specialists.tools.registry import NAMES, family_of, get_tool

NAVIGATION = frozenset(("list_files", "read_file", "check_script", "verify_claims"))
"""Never part of a plan: they only look, or are about figures of the one file."""
LOOKS = frozenset(("inspect_dataset",))
ROWS_SHOWN = frozenset(("head", "tail", "sample"))
"""Operations of `query_data` that only look."""
SCRIPTS = "scripts"
# Between the name of an outside server and that of its tool; no name of our own has it.
_OUTSIDE = "__"


@dataclass(frozen=True)
class _Made:
    """One call as it is recorded: with the files that it made, by kind."""

    tool: str
    arguments: dict[str, Any]
    files: list[tuple[str, str]]

    @property
    def only_looks(self) -> bool:
        return self.tool in LOOKS or (
            self.tool == "query_data" and self.arguments.get("operation") in ROWS_SHOWN and not self.files
        )


@dataclass
class Extracted:
    """A plan whose inputs have no columns yet. `used` are names that may be columns of an input, with values that are
    asked for of them; `found` those that tools found by themselves; `direct` those of `used` that a call on the input
    itself names."""

    plan: Plan
    used: dict[str, dict[str, list[str]]]
    found: dict[str, list[str]]
    direct: dict[str, set[str]]


def extract(run: RunRecord) -> Extracted:
    """Raises UsageError where the run has no call that could be done again, JournalError where it is damaged."""
    found = _Extraction(run)
    for start in run.records:
        if start.type == "start":
            found.add(start)
    return found.result()


@dataclass
class _Extraction:
    """The plan as it grows, call by call in the order of the dispatches."""

    run: RunRecord
    steps: list[PlanStep] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    """The id of each input by its path."""
    made: dict[str, FileReference] = field(default_factory=dict)
    origins: dict[str, set[str]] = field(default_factory=dict)
    """The inputs that a call worked on, itself or by the files of others."""
    used: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    found: dict[str, list[str]] = field(default_factory=dict)
    direct: dict[str, set[str]] = field(default_factory=dict)
    seen: set[bytes] = field(default_factory=set)
    left_out: list[str] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        self.workspace = self.run.folder.path.parents[2]
        self.good = {outcome.dispatch_id: outcome for outcome in self.run.outcomes if outcome.is_good}

    def add(self, start: JournalRecord) -> None:
        """The calls of one dispatch as a step."""
        name = f"{start.id[:5]} {start.body['specialist']}"
        if start.body["command"] is not None:
            self.left_out.append(f"{name}: a program of one's own, whose work is not known")
            return
        if "call" in start.body:
            self.left_out.append(f"{name}: a call by itself, not of an agent")
            return
        if start.id not in self.good:
            self.left_out.append(f"{name}: it did not succeed")
            return
        calls, passed = self._recorded(start.id)
        work = [call for call in calls if not call.only_looks] or calls
        passed.update(call.tool for call in calls if call not in work)
        kept: list[PlanCall] = []
        for call in work:
            made = self._call(call)
            if made:
                kept.append(made)
            else:
                passed[call.tool] += 1
        if outside := {tool: passed.pop(tool) for tool in list(passed) if _OUTSIDE in tool}:
            told = ", ".join(f"{tool} ({count})" if count > 1 else tool for tool, count in outside.items())
            self.left_out.append(
                f"{name}: {told}: of an outside server, which a plan cannot call; what it gave is lost"
            )
        if passed:
            told = ", ".join(f"{tool} ({count})" if count > 1 else tool for tool, count in passed.items())
            self.left_out.append(f"{name}: {told}: only looked, failed, or was done before")
        if kept:
            said = shorten(str(start.body["objective"]), limits.ENTRY_CHARS)
            for at in range(0, len(kept), limits.PLAN_CALLS):
                part = kept[at : at + limits.PLAN_CALLS]
                self.steps.append(PlanStep(specialist=start.body["specialist"], objective=said, calls=part))

    def result(self) -> Extracted:
        if not self.steps:
            why = "; ".join(self.left_out) or "it has no dispatch"
            raise UsageError(f"{self.run.folder.run_id}: there is no call that could be done again: {why}")
        if len(self.steps) > limits.PLAN_STEPS or len(self.inputs) > limits.PLAN_INPUTS:
            raise UsageError(
                f"{self.run.folder.run_id}: {len(self.steps)} steps on {len(self.inputs)} files are more than the "
                f"{limits.PLAN_STEPS} and {limits.PLAN_INPUTS} of a plan"
            )
        about = self.run.about
        order = [_canonical(self.workspace, entry["path"]) for entry in about.get("data", [])]
        ranked = sorted(self.inputs.items(), key=lambda item: _rank(item[0], order))
        objectives = [step.objective for step in self.steps]
        plan = Plan(
            format="outcrop-plan",
            version=1,
            run=self.run.folder.run_id,
            objective=str(about.get("objective") or "; ".join(dict.fromkeys(objectives))),
            inputs=[PlanInput(id=name, file=path) for path, name in ranked],
            steps=self.steps,
            left_out=self.left_out,
        )
        return Extracted(plan, self.used, self.found, self.direct)

    def _recorded(self, dispatch_id: str) -> tuple[list[_Made], Counter[str]]:
        """The calls that were carried out, and how many others there are by tool."""
        exchanges = [
            each for each in read_exchanges(self.run.folder.exchanges / f"{dispatch_id}.jsonl") if each.is_used
        ]
        answers = answers_in(exchanges)
        turns = [each for each in exchanges if "purpose" not in each.about]
        calls: list[_Made] = []
        passed: Counter[str] = Counter()
        for turn, exchange in enumerate(turns, 1):
            for use in exchange.response.tool_uses() if exchange.response else ():
                answer = answers.get((turn, use.id))
                if use.name == COMPLETE:
                    continue
                if use.name not in NAMES or use.name in NAVIGATION or answer is None or answer.is_error:
                    passed[use.name] += 1
                else:
                    calls.append(_Made(use.name, use.input, list(_files(answer.content))))
        return calls, passed

    def _call(self, call: _Made) -> PlanCall | None:
        """The call with references in place of paths; None for one that was made before."""
        name = f"c{self.count + 1}"
        arguments = {
            argument: self._referred(value) if is_file(argument) else value
            for argument, value in call.arguments.items()
        }
        key = wire.canonical([call.tool, arguments])
        if key in self.seen:
            return None
        self.seen.add(key)
        self.count += 1
        self._note_columns(call, name)
        by_kind: Counter[str] = Counter()
        for kind, path in call.files:
            by_kind[kind] += 1
            made = FileReference.model_validate({"from": name, "kind": kind, "number": by_kind[kind]})
            self.made.setdefault(_canonical(self.workspace, path), made)
        return PlanCall(
            id=name,
            tool=call.tool,
            version=get_tool(call.tool).version,
            arguments=arguments,
            obstacle=self._obstacle(call),
        )

    def _referred(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._referred(part) for part in value]
        return self._reference(value).as_json() if isinstance(value, str) else value

    def _reference(self, path: str) -> FileReference:
        known = _canonical(self.workspace, path)
        if known in self.made:
            return self.made[known]
        name = self.inputs.setdefault(known, f"input{len(self.inputs) + 1}")
        return FileReference.model_validate({"from": name})

    def _note_columns(self, call: _Made, name: str) -> None:
        sources = {
            argument: [self._reference(path).source for path in paths]
            for argument, paths in paths_in(call.tool, call.arguments).items()
        }
        everything = [source for listed in sources.values() for source in listed]
        self.origins[name] = {origin for source in everything for origin in self.origins.get(source, {source})}
        for argument, columns in columns_in(call.tool, call.arguments).items():
            # A column that is not said to be of another file may be of any.
            for source in sources.get(argument, []) if argument != "path" else everything:
                for origin in self.origins.get(source, {source}):
                    names = self.used.setdefault(origin, {})
                    for column, values in columns.items():
                        names.setdefault(column, []).extend(values)
                    if source == origin:
                        self.direct.setdefault(origin, set()).update(columns)

        for column in self._found_by_the_tool(call):
            for origin in self.origins[name]:
                self.found.setdefault(origin, []).append(column)

    def _found_by_the_tool(self, call: _Made) -> list[str]:
        """Columns that the call does not name and its tool found, as the lineage of its file has them."""
        for _, path in call.files:
            made_by = (record_of(self.workspace / path) or {}).get("parameters")
            if isinstance(made_by, dict):
                more = {
                    name: value
                    for name, value in made_by.items()
                    if isinstance(value, str) and call.arguments.get(name) is None
                }
                return [name for names in columns_in(call.tool, more).values() for name in names]
        return []

    def _obstacle(self, call: _Made) -> str | None:
        """A script knows its files by their names and columns, which nobody can change for it."""
        if family_of(call.tool) != SCRIPTS:
            return None
        text = str(call.arguments.get("code") or call.arguments.get("command") or "")
        known = [*self.inputs, *self.made]
        names = [path for path in known if posixpath.basename(path.partition(MARK)[0]) in text]
        names += [path for paths in paths_in(call.tool, call.arguments).values() for path in paths]
        if not names:
            return None
        return f"{call.tool} is about {names[0]} by its own text, which cannot be changed for other files"


def _files(content: str) -> Iterator[tuple[str, str]]:
    """Kind and path of each file that a result tells of."""
    try:
        result = wire.loads(content)
    except ValueError:
        return
    listed = result.get("artifacts") if isinstance(result, dict) else None
    for record in listed if isinstance(listed, list) else ():
        if isinstance(record, dict) and isinstance(record.get("path"), str):
            yield str(record.get("kind", "other")), record["path"]


def _canonical(workspace: Path, path: str) -> str:
    """A path as it is told: relative to the workspace, without detours."""
    given = Path(path)
    if given.is_absolute() and given.is_relative_to(workspace):
        path = given.relative_to(workspace).as_posix()
    return posixpath.normpath(path)


def _rank(path: str, order: list[str]) -> int:
    file = path.partition(MARK)[0]
    return next((at for at, given in enumerate(order) if given in (path, file)), len(order))
