"""Looks at the files of a plan before anything runs: in specialist processes, so that no row is read here."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from outcrop.about import hashes
from outcrop.desk import Desk
from outcrop.journal import Journal
from outcrop.plans.extraction import Extracted, extract
from outcrop.recovery import RunRecord
from outcrop.runs import new_run
from outcrop.shared import Shared
from outcrop_schemas.errors import DataError, OutcropError
from outcrop_schemas.outcome import Outcome
from outcrop_schemas.plan import Plan, PlanColumn, PlanInput
from outcrop_specialists.reading.address import MARK
from outcrop_specialists.table_fit import FIT

Look = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]


@asynccontextmanager
async def looking(shared: Shared) -> AsyncIterator[Look]:
    """A function that has a table looked at (`FitArguments`); it raises DataError where that cannot be done.

    Its processes need a folder as those of a run do. It never becomes a run, for it has no first record, and is gone
    at the end.
    """
    folder = new_run(shared.workspace)
    journal = Journal.create(folder.journal)
    try:
        desk = Desk(shared, folder, journal)

        async def look(arguments: Mapping[str, Any]) -> dict[str, Any]:
            outcome = await desk.call_tool(FIT, arguments)
            if not outcome.is_good:
                raise DataError(_reason(outcome))
            return outcome.results

        yield look
    finally:
        await journal.close()
        shutil.rmtree(folder.path, ignore_errors=True)


async def export(run: RunRecord, shared: Shared) -> Plan:
    """The plan of a run, with what is known of the columns that it needs. Raises UsageError, JournalError."""
    extracted = extract(run)
    async with looking(shared) as look:
        described = [await _described(given, extracted, run, shared, look) for given in extracted.plan.inputs]
    notes = [note for _, note in described if note]
    return extracted.plan.model_copy(
        update={"inputs": [given for given, _ in described], "left_out": [*extracted.plan.left_out, *notes]}
    )


async def _described(
    given: PlanInput, extracted: Extracted, run: RunRecord, shared: Shared, look: Look
) -> tuple[PlanInput, str]:
    """An input with its columns. Where the file is not as it was, those that calls on it name, without more."""
    used, by_tools = extracted.used.get(given.id, {}), extracted.found.get(given.id, [])
    if not used and not by_tools:
        return given, ""
    try:
        _check_unchanged(given.file, run, shared)
        found = await look({"path": given.file, "described": used, "found": by_tools})
        columns = [PlanColumn.model_validate(record) for record in found["described"]]
        return given.model_copy(update={"columns": columns}), ""
    except OutcropError as error:
        columns = [PlanColumn(name=name) for name in used if name in extracted.direct.get(given.id, ())]
        note = f"{given.id}: types and units of its columns are not known: {error}"
        return given.model_copy(update={"columns": columns}), note


def _check_unchanged(file: str, run: RunRecord, shared: Shared) -> None:
    recorded = {entry["path"]: entry["sha256"] for entry in run.about.get("data", [])}
    before = recorded.get(file) or recorded.get(file.partition(MARK)[0])
    if before and hashes(shared.workspace, [file])[0]["sha256"] != before:
        raise DataError(f"{file} is not as it was")


def _reason(outcome: Outcome) -> str:
    return "; ".join(outcome.errors) or outcome.summary or f"{FIT}: {outcome.status}"
