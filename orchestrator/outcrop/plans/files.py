"""Plan files: indented JSON, written for people, read with one fault named by its field."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import orjson
from pydantic import ValidationError

from outcrop.plans.references import references_of, with_files
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ArgumentError, PlanError, UnknownNameError, UsageError
from outcrop_schemas.plan import Plan, PlanCall
from outcrop_specialists.completion import checked, first_fault
from outcrop_specialists.roles import get_role
from outcrop_specialists.tools.registry import get_tool


def plan_text(plan: Plan) -> str:
    """A plan as it is written: what is at its default is left out."""
    told = plan.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return orjson.dumps(told, option=orjson.OPT_INDENT_2).decode() + "\n"


def write_plan(plan: Plan, path: Path) -> None:
    """Write a plan to a new file. Raises UsageError where there is one, or it cannot be written."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(plan_text(plan))
    except FileExistsError as error:
        raise UsageError(f"{path} is there already; nothing is replaced") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def read_plan(path: Path) -> Plan:
    """The plan in a file. Raises UsageError where it cannot be read, PlanError for the first thing wrong with it."""
    try:
        with path.open("rb") as file:
            data = file.read(limits.PLAN_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: the plan cannot be read: {error.strerror}") from error
    if len(data) > limits.PLAN_BYTES:
        raise PlanError(str(path), f"has more than {limits.PLAN_BYTES} bytes, which no plan has")
    try:
        plan = Plan.model_validate(wire.loads(data))
    except ValidationError as error:
        where, reason = first_fault(error)
        raise PlanError(f"{path}: {where}", reason) from error
    except ValueError as error:
        raise PlanError(str(path), f"is not JSON: {error}") from error
    try:
        check_plan(plan)
    except PlanError as error:
        raise PlanError(f"{path}: {error.field}", error.reason) from error
    return plan


def check_plan(plan: Plan) -> None:
    """Whether every call is one that its specialist can make, of files that are there by then. Raises PlanError."""
    names = [*(given.id for given in plan.inputs), *(call.id for call in plan.calls)]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise PlanError("id", f"{twice[0]!r} is the id of several inputs or calls")
    known = {given.id for given in plan.inputs}
    for number, step in enumerate(plan.steps):
        where = f"steps.{number}"
        try:
            role = get_role(step.specialist)
        except UnknownNameError as error:
            raise PlanError(f"{where}.specialist", str(error)) from error
        for place, call in enumerate(step.calls):
            _check_call(call, {tool.name for tool in role.tools}, role.name, known, f"{where}.calls.{place}")
            known.add(call.id)


def _check_call(call: PlanCall, tools: set[str], specialist: str, known: set[str], where: str) -> None:
    try:
        tool = get_tool(call.tool)
    except UnknownNameError as error:
        raise PlanError(f"{where}.tool", str(error)) from error
    if call.tool not in tools:
        raise PlanError(f"{where}.tool", f"{specialist} has no {call.tool}")
    for reference in references_of(call, f"{where}.arguments"):
        if reference.source not in known:
            raise PlanError(
                f"{where}.arguments", f"{reference.source!r} is neither an input of the plan nor an earlier call"
            )
    try:
        checked(tool.arguments, with_files(call.arguments, lambda file: file.key))
    except ArgumentError as error:
        raise PlanError(f"{where}.arguments.{error.field}", error.reason) from error
