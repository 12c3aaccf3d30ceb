"""Puts new files in the place of a plan's inputs: which is which, by number and fit, and what of them does not fit.

A column that has another name here is renamed first, by a call of its own that stands in the record: so every later
call, expression and derived name is the plan's, word for word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from outcrop.plans.inspecting import Look
from outcrop.plans.mapping import of_file, read_mappings
from outcrop.plans.references import references_of, with_files
from outcrop_schemas.errors import DataError, PlanError, PlanMismatchError, UsageError
from outcrop_schemas.plan import FileReference, Plan, PlanCall, PlanStep
from outcrop_specialists.tools.registry import get_tool

RENAME, RENAMED_BY = "select_columns", "cleaning"
MOST_PERMUTED = 6
"""Of more files every order is not tried: then they are taken as they are given."""
PUT_ASIDE = "{} (as it was)"


@dataclass(frozen=True)
class BoundPlan:
    """A plan with a file for each input; `repairs` tells what was mapped, `warnings` what may be another thing here."""

    plan: Plan
    files: Mapping[str, str]
    repairs: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


async def bind(plan: Plan, files: Sequence[str], given: Mapping[str, str], look: Look) -> BoundPlan:
    """Raises PlanError for a plan that cannot be followed, UsageError for files or names that it does not take,
    PlanMismatchError with every column that does not fit."""
    _refuse_obstacles(plan)
    mappings = read_mappings(plan, files, given)
    if len(files) != len(plan.inputs):
        named = ", ".join(one.file for one in plan.inputs)
        raise UsageError(
            f"the plan takes a data file for each of its {len(plan.inputs)} inputs ({named}), {len(files)} were given; "
            "for many tables run it once for each (`outcrop batch`)"
        )
    needs = {one.id: [column.model_dump() for column in one.columns] for one in plan.inputs}
    found = [await _looked_at(look, file, needs, of_file(mappings, file)) for file in files]
    order = _order(plan, found)
    chosen = {one.id: files[order[number]] for number, one in enumerate(plan.inputs)}
    fits = {one.id: found[order[number]] for number, one in enumerate(plan.inputs)}
    misfits = [
        {"input": name, "file": chosen[name], **misfit}
        for name in chosen
        for misfit in fits[name]["fits"][name]["misfits"]
    ]
    if misfits:
        raise PlanMismatchError(_report(misfits, plan, chosen, fits), misfits)
    mapped = {(chosen[name], old) for name in chosen for old, _, _ in fits[name]["fits"][name]["mapped"]}
    for one in mappings:
        if not any(old == one.old and one.is_for(file, mappings) for file, old in mapped):
            raise UsageError(f"map {one}: no file that needs the first has a column of the second name")
    renames = {name: _renames(fits[name]["fits"][name]) for name in chosen}
    repairs = [
        f"{chosen[name]}: {old} is {new} here ({how})"
        for name in chosen
        for old, new, how in fits[name]["fits"][name]["mapped"]
    ]
    warnings = [f"{chosen[name]}: {told}" for name in chosen for told in fits[name]["fits"][name]["warnings"]]
    warnings += _other_versions(plan)
    return BoundPlan(_with_renames(plan, {k: v for k, v in renames.items() if v}), chosen, repairs, warnings)


def _refuse_obstacles(plan: Plan) -> None:
    blocked = {call.id: call.obstacle for call in plan.calls if call.obstacle}
    if not blocked:
        return
    lost = set(blocked)
    for call in plan.calls:
        if any(reference.source in lost for reference in references_of(call)):
            lost.add(call.id)
    also = sorted(lost - set(blocked), key=lambda name: [call.id for call in plan.calls].index(name))
    more = f"; {', '.join(also)} need what it makes" if also else ""
    told = "; ".join(f"{name}: {reason}" for name, reason in blocked.items())
    raise PlanError("calls", f"{told}{more}. Take these calls out of the plan to follow the rest of it")


async def _looked_at(look: Look, file: str, needs: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    try:
        return await look({"path": file, "inputs": dict(needs), "given": dict(given)})
    except DataError as error:
        if any(needs.values()):
            raise PlanMismatchError(
                f"{file} cannot be read as a table, so nothing was started: {error}",
                [{"input": name, "file": file, "column": None, "reason": str(error)} for name in needs],
            ) from error
        # No column is asked for by name: it may be a raster, and its tools will say what is wrong with it.
        return {
            "fits": {name: {"mapped": [], "misfits": [], "warnings": [], "aside": []} for name in needs},
            "columns": [],
        }


def _order(plan: Plan, found: Sequence[Mapping[str, Any]]) -> Sequence[int]:
    """For each input the place of its file: as given where that fits, else the order in which most fits."""
    places = range(len(found))

    def cost(order: Sequence[int]) -> tuple[int, int]:
        fits = [found[place]["fits"][one.id] for place, one in zip(order, plan.inputs, strict=True)]
        return sum(len(fit["misfits"]) for fit in fits), sum(len(fit["mapped"]) for fit in fits)

    if len(found) > MOST_PERMUTED or cost(places) == (0, 0):
        return places
    return min(permutations(places), key=cost)


def _report(
    misfits: Sequence[Mapping[str, Any]], plan: Plan, chosen: Mapping[str, str], fits: Mapping[str, Mapping[str, Any]]
) -> str:
    lines = ["the plan does not fit, and nothing was started:"]
    for one in plan.inputs:
        own = [misfit for misfit in misfits if misfit["input"] == one.id]
        if not own:
            continue
        lines.append(f"{chosen[one.id]} for {one.file}: {len(own)} of {len(one.columns)} columns do not fit")
        for misfit in own:
            kind = f" ({misfit['needed']})" if misfit.get("needed") else ""
            lines.append(f"  {misfit['column']}{kind}: {misfit['reason']}")
        listed = fits[one.id]["columns"]
        more = int(fits[one.id].get("column_count", 0)) - len(listed)
        lines.append(f"  the file has {', '.join(listed)}" + (f" and {more} more" if more > 0 else ""))
    form = "FILE:OLD=NEW" if len(plan.inputs) > 1 else "OLD=NEW"
    lines.append(f"the map {form} says which column NEW of the file stands for OLD of the plan")
    return "\n".join(lines)


def _renames(fit: Mapping[str, Any]) -> dict[str, str]:
    """New names by those in the file. A column that has such a name already, and is not the one meant, is put aside."""
    return {**{new: old for old, new, _ in fit["mapped"]}, **{name: PUT_ASIDE.format(name) for name in fit["aside"]}}


def _with_renames(plan: Plan, renames: Mapping[str, Mapping[str, str]]) -> Plan:
    """The plan with a first step that renames, and all else working on what that made."""
    if not renames:
        return plan
    names = {call.id for call in plan.calls} | {one.id for one in plan.inputs}
    calls, instead = [], {}
    for source, rename in renames.items():
        name = f"rename_{source}"
        while name in names:
            name += "_"
        arguments = {"path": {"from": source}, "rename": dict(rename)}
        version = get_tool(RENAME).version
        calls.append(PlanCall(id=name, tool=RENAME, version=version, arguments=arguments))
        instead[source] = {"from": name, "kind": "table", "number": 1}

    def put(file: FileReference) -> dict[str, Any]:
        return instead.get(file.source, file.as_json())

    first = PlanStep(specialist=RENAMED_BY, objective="Give columns the names that the plan has for them", calls=calls)
    steps = [
        step.model_copy(
            update={
                "calls": [call.model_copy(update={"arguments": with_files(call.arguments, put)}) for call in step.calls]
            }
        )
        for step in plan.steps
    ]
    return plan.model_copy(update={"steps": [first, *steps]})


def _other_versions(plan: Plan) -> list[str]:
    found = {call.tool: call.version for call in plan.calls if get_tool(call.tool).version != call.version}
    return [
        f"{tool} is version {get_tool(tool).version} here and was {version} in the plan: it may compute otherwise"
        for tool, version in found.items()
    ]
