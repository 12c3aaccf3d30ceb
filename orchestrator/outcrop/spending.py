"""What a run spent, by its journal alone; of a batch what the runs of its jobs did."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from outcrop.budget import Amount, Ceiling
from outcrop.ledger import Account, accounts_in, report
from outcrop.records import read
from outcrop.recovery import RunRecord
from outcrop.runs import RunFolder


def spending_of(run: RunRecord) -> dict[str, Any] | None:
    """What the run spent: calls that were never settled count as their most. None where nothing costs."""
    accounts = accounts_in(run.records)
    if run.about.get("kind") == "batch":
        accounts = _accounts_of_jobs(run)
    return spending_told(accounts, run.about)


def spending_told(accounts: Mapping[str, tuple[str, Account]], about: Mapping[str, Any]) -> dict[str, Any] | None:
    """What these accounts come to, beneath the ceiling of the run that its first record is about."""
    bounds = about.get("ceiling") or {}
    ceiling = Ceiling(Decimal(bounds["usd"]) if bounds.get("usd") else None, bounds.get("tokens"))
    if not accounts and ceiling == Ceiling():
        return None
    spent = sum((account.spent for _, account in accounts.values()), Amount())
    return report(accounts, ceiling, spent, Amount())


def _accounts_of_jobs(run: RunRecord) -> dict[str, tuple[str, Account]]:
    """What the jobs of a batch spent, by role; those of its earlier starts too."""
    found: dict[str, tuple[str, Account]] = {}
    for body in run.events("job_start"):
        journal = RunFolder(run.folder.path.parent / body["run_id"]).journal
        for role, account in accounts_in(read(journal)[0]).values() if journal.is_file() else ():
            found[role] = (role, found.get(role, (role, Account()))[1].plus(account))
    return found
