"""A job of a batch has a ceiling of its own beneath the batch's: it holds, and the other jobs go on."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from servers.messages_api import MessagesApi
from servers.turns import answer, call
from warm import warm

from outcrop.batch import Batch, read_jobs
from outcrop.budget import Amount, Budget, Ceiling
from outcrop.ledger import spent_in
from outcrop.prices import public_prices
from outcrop.records import read
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop_schemas.errors import BudgetError
from outcrop_schemas.messages import ModelRequest, ModelResponse, Usage

CHEAP = "claude-haiku-5-5"
OWN = Decimal("0.05")


def endless_where_asked(body: Any) -> Any:
    """A lead that goes on for ever with one objective, and ends at once with every other."""
    if "for ever" in json.dumps(body["messages"]):
        return answer(call("pin", key="k", value=str(len(body["messages"]))), output_tokens=4_000)
    return answer(call("complete", status="success", summary="done"), output_tokens=4_000)


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Any:
    with MessagesApi(endless_where_asked) as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        yield server


def write(workspace: Path, *jobs: dict[str, Any]) -> Path:
    path = workspace / "jobs.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in jobs))
    return path


def billed(api: MessagesApi) -> Counter[bool]:
    """What the server takes, in units of 1e-9 dollars: for the job without an end (True), and for the others."""
    price, found = public_prices().of(CHEAP), Counter[bool]()
    assert price is not None
    names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    for seen in api.seen:
        assert seen.usage
        cost = price.cost(Usage(**{name: seen.usage[name] for name in names}))
        found["for ever" in json.dumps(seen.body)] += int(cost * 10**9)
    return found


async def test_the_ceiling_of_a_job_holds_and_its_siblings_go_on(api: MessagesApi, workspace: Path) -> None:
    jobs = [{"objective": f"count {number}"} for number in range(4)]
    path = write(workspace, jobs[0], {"objective": "count for ever", "budget_usd": str(OWN)}, *jobs[1:])
    settings = Settings(model=CHEAP, budget_usd=Decimal(1))
    found = await Batch(path, workspace=workspace, launcher=warm(), workers=2, settings=settings).start()
    assert {number: outcome.status for number, outcome in found.outcomes.items()} == {
        1: "success", 2: "budget", 3: "success", 4: "success", 5: "success",
    }  # fmt: skip
    assert "the job's own ceiling of $0.05" in found.outcomes[2].errors[0]
    bills = billed(api)
    assert 0 < bills[True] <= OWN * 10**9
    spending = found.outcomes[2].usage["spending"]
    assert Decimal(spending["ceiling_usd"]) == OWN
    assert Decimal(spending["spent_usd"]) <= OWN
    assert found.spending is not None
    assert Decimal(found.spending["spent_usd"]) * 10**9 == bills.total()
    assert Decimal(found.spending["remaining_usd"]) == 1 - Decimal(found.spending["spent_usd"])

    # Done again beneath the same ceiling, what it spent before counts; a higher one lets it go on.
    again = await Batch(
        path, workspace=workspace, launcher=warm(), settings=settings, resume=True, retry=["budget"]
    ).start()
    assert again.outcomes[2].status == "budget"
    assert billed(api)[True] <= OWN * 10**9
    write(workspace, jobs[0], {"objective": "count for ever", "budget_usd": "0.15"}, *jobs[1:])
    higher = await Batch(
        path, workspace=workspace, launcher=warm(), settings=settings, resume=True, retry=["budget"]
    ).start()
    assert higher.resumed == 4
    assert OWN * 10**9 < billed(api)[True] <= Decimal("0.15") * 10**9


async def test_the_ceiling_of_the_batch_holds_for_a_job_with_a_higher_one(api: MessagesApi, workspace: Path) -> None:
    path = write(workspace, {"objective": "count for ever", "budget_usd": "9", "budget_tokens": 10**9})
    settings = Settings(model=CHEAP, budget_usd=OWN)
    found = await Batch(path, workspace=workspace, launcher=warm(), settings=settings).start()
    assert found.outcomes[1].status == "budget"
    assert "the ceiling of $0.05" in found.outcomes[1].errors[0]
    assert 0 < billed(api)[True] <= OWN * 10**9


async def test_a_ceiling_in_tokens_holds_for_all_runs_of_a_job(api: MessagesApi, workspace: Path) -> None:
    path = write(workspace, {"objective": "count for ever", "budget_tokens": 300_000}, {"objective": "count"})
    settings = Settings(model=CHEAP)
    folders: set[str] = set()
    for retry in ([], ["budget"], ["budget"]):
        found = await Batch(
            path, workspace=workspace, launcher=warm(), settings=settings, resume=True, retry=retry
        ).start()
        assert [outcome.status for outcome in found.outcomes.values()] == ["budget", "success"]
        folders.add(found.outcomes[1].run_folder)
    assert len(folders) == 3
    spent = [spent_in(read(RunFolder(Path(folder)).journal)[0]).tokens for folder in folders]
    assert 0 < sum(spent) <= 300_000


def test_ceilings_that_are_none_are_bad_lines(tmp_path: Path) -> None:
    values = ("0", "-1", "NaN", "Infinity", "much", True, 10**12)
    jobs = [{"objective": "x", "budget_usd": value} for value in values]
    jobs += [{"objective": "x", "budget_tokens": value} for value in (0, -5, 1.5, "much", True)]
    lines, bad = read_jobs(write(tmp_path, *jobs, {"objective": "x", "budget_usd": 0.25, "budget_tokens": 7}))
    assert [line.job.ceiling for line in lines] == [Ceiling(Decimal("0.25"), 7)]
    assert len(bad) == len(jobs)
    assert all(one.reason.startswith(("budget_usd: ", "budget_tokens: ")) for one in bad)


def test_rows_of_a_csv_file_have_ceilings_too(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("objective,budget_usd,budget_tokens\na,0.10,\nb,,5000\nc,0,\nd,1.00,-2\n")
    lines, bad = read_jobs(path)
    assert [line.job.ceiling for line in lines] == [Ceiling(Decimal("0.10")), Ceiling(None, 5000)]
    assert [(one.number, one.reason.partition(":")[0]) for one in bad] == [(4, "budget_usd"), (5, "budget_tokens")]


class Unpriced:
    """A model that costs something nobody knows."""

    name = "mine"

    async def create(self, request: ModelRequest) -> ModelResponse:
        raise AssertionError("it was asked")


async def test_a_ceiling_in_dollars_for_a_model_without_a_price_is_a_bad_line(workspace: Path) -> None:
    path = write(workspace, {"objective": "x", "budget_usd": 1})
    found = await Batch(path, workspace=workspace, launcher=warm(), model=Unpriced()).start()
    assert [one.number for one in found.bad_lines] == [1]
    assert "budget_usd: There is no price for the model 'mine'" in found.bad_lines[0].reason
    assert len(found.outcomes) == 0


async def test_what_the_outer_ceiling_refuses_takes_nothing_of_the_inner_one() -> None:
    outer = Budget(Ceiling(tokens=100), Amount(tokens=60))
    inner = Budget(Ceiling(tokens=90), within=outer)
    with pytest.raises(BudgetError, match="the ceiling of 100 tokens"):
        await inner.reserve(Amount(tokens=50), "a call")
    with pytest.raises(BudgetError, match="the job's own ceiling of 90 tokens"):
        await inner.reserve(Amount(tokens=95), "a call")
    assert inner.reserved == outer.reserved == Amount()
    await inner.reserve(Amount(tokens=40), "a call")
    assert outer.reserved == Amount(tokens=40)
    waiting = asyncio.create_task(inner.reserve(Amount(tokens=30), "a call"))
    for _ in range(5):
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert inner.reserved == Amount(tokens=40)
    inner.settle(Amount(tokens=40), Amount(tokens=4))
    assert (inner.spent, outer.spent) == (Amount(tokens=4), Amount(tokens=64))
