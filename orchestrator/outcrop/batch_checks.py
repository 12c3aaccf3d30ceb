"""What is looked at of every job before the first one begins: its files, its pins, its plan, whether it has a price.

Plans and pins are read; a data file is looked up, and not opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

from outcrop.budget import Ceiling
from outcrop.jobs import BadLine, Job, Line
from outcrop.ledger import check_prices
from outcrop.pins import Pins, read_pins
from outcrop.plans.files import read_plan
from outcrop.shared import Shared
from outcrop.workspace import Workspace
from outcrop_schemas.errors import PathError, UsageError
from outcrop_schemas.plan import Plan


class Checks:
    """Tells the jobs that can begin from lines that are none; `plans` are those that the jobs name, by name."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._pinned: Mapping[str, str] = {}
        self._of_paths: dict[str, str | None] = {}
        self._of_plans: dict[str, str | None] = {}
        self.plans: dict[str, Plan] = {}

    async def parted(self, lines: list[Line], shared: Shared) -> tuple[list[Line], list[BadLine]]:
        """The jobs that can begin, and the others with the first fault of each. Raises UsageError for damaged pins of
        the workspace, which no job could begin with."""
        self._pinned = read_pins(self._workspace.home)
        price = _price(shared)
        good: list[Line] = []
        bad: list[BadLine] = []
        for line in lines:
            await asyncio.sleep(0)  # of very many lines this takes seconds: an interrupt is heard meanwhile
            if reason := self._fault(line.job, price):
                bad.append(BadLine(line.number, reason))
            else:
                good.append(line)
        return good, bad

    def _fault(self, job: Job, price: str | None) -> str | None:
        if job.budget_usd is not None and price:
            return f"budget_usd: {price}"
        if job.plan is not None and (fault := _once(self._of_plans, job.plan, self._plan)):
            return f"plan: {fault}"
        for path in job.data:
            if fault := _once(self._of_paths, path, self._path):
                return f"data: {fault}"
        try:
            Pins({**self._pinned, **job.pins})
        except UsageError as error:
            return f"pins: {error}"
        return None

    def _path(self, path: str) -> str | None:
        if not path.strip():
            return "a path is blank; name a file of the workspace"
        try:
            self._workspace.data(path)
        except PathError as error:
            return str(error)
        return None

    def _plan(self, name: str) -> str | None:
        try:
            path = self._workspace.folder / name
            self.plans[name] = read_plan(path if path.exists() else Path(name))
        except UsageError as error:
            return str(error)
        except (OSError, ValueError) as error:
            return f"{name[:200]!r} is not a path: {error}"
        return None


def _once(known: dict[str, str | None], name: str, fault_of: Callable[[str], str | None]) -> str | None:
    """Many lines name the same file: it is looked at once."""
    if name not in known:
        known[name] = fault_of(name)
    return known[name]


def _price(shared: Shared) -> str | None:
    """Why a ceiling in dollars could not hold, for want of a price."""
    try:
        check_prices(Ceiling(usd=Decimal(1)), shared.terms.prices, shared.models.paid_names())
    except UsageError as error:
        return str(error)
    return None
