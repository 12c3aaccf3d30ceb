"""The ceiling: what may be spent is reserved before, what was spent is settled after, and it is never passed."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers.messages_api import Fault, MessagesApi
from servers.turns import answer, call, in_turn
from warm import warm

from outcrop import Pool, Run, ScriptedModel
from outcrop.budget import Amount, Budget, Ceiling
from outcrop.ledger import RunLedger, Terms, accounts_in, spent_in
from outcrop.models.scripted import turn
from outcrop.prices import Price, most_input_tokens, public_prices
from outcrop.records import read
from outcrop.recovery import RunRecord, open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop_schemas.errors import BudgetError, ModelError, UsageError
from outcrop_schemas.journal import JournalRecord
from outcrop_schemas.messages import ModelRequest, ModelResponse, Usage

CHEAP = "claude-haiku-5-5"
CSV = "sample,Au,Cu\na,0.1,10\nb,0.2,20\nb,0.2,20\nc,0.4,30\n"
COMPLETE = ("complete", {"status": "success", "summary": "done"})


def price_of(model: str) -> Price:
    price = public_prices().of(model)
    assert price is not None
    return price


def a_request(words: str = "hello", max_tokens: int | None = 1_000) -> ModelRequest:
    messages = [{"role": "user", "content": [{"type": "text", "text": words}]}]
    return ModelRequest.model_validate({"system": "s", "messages": messages, "max_tokens": max_tokens})


class Notes:
    """A journal that is a list."""

    def __init__(self) -> None:
        self.records: list[JournalRecord] = []

    async def take(self, kind: str, body: Mapping[str, Any]) -> None:
        await asyncio.sleep(0)
        number = len(self.records)
        record = JournalRecord(type="event", seq=number, id="r", crc32c="0" * 8, at="", body={"kind": kind, **body})
        self.records.append(record)


class Adverse:
    """A server whose every call takes all that its request allows, and which bills the calls that fail as well."""

    def __init__(self, turns: int = 1_000_000, seed: int = 0, faults: float = 0.0) -> None:
        self.name, self.billed, self.calls = CHEAP, Decimal(0), 0
        self._turns, self._random, self._faults = turns, random.Random(seed), faults

    async def prepared(self, request: ModelRequest) -> ModelRequest:
        return request.model_copy(update={"max_tokens": request.max_tokens or 16_000})

    async def attempt(self, request: ModelRequest, hears: Any) -> ModelResponse:
        most = most_input_tokens(request)
        usage = Usage(
            cache_creation_input_tokens=most, cache_creation_1h_input_tokens=most, output_tokens=request.max_tokens or 0
        )
        self.billed += price_of(self.name).cost(usage)
        self.calls += 1
        await asyncio.sleep(self._random.random() * 0.01)
        if self._random.random() < self._faults:
            raise ModelError("it broke", retryable=self._random.random() < 0.5)
        last = self._random.random() < 1 / self._turns
        calls = COMPLETE if last else ("query_data", {"path": "t.csv", "operation": "describe", "n": self.calls})
        return turn(calls, turn_id=f"m{self.calls}").model_copy(update={"usage": usage})

    async def create(self, request: ModelRequest) -> ModelResponse:
        return await self.attempt(await self.prepared(request), None)


async def test_32_specialists_of_the_most_adverse_usage_never_pass_a_dollar(workspace: Path) -> None:
    (workspace / "t.csv").write_text(CSV)
    model = Adverse(faults=0.1)
    settings = Settings(budget_usd=Decimal("1.00"))
    async with Pool(workers=8, model=model, workspace=workspace, launcher=warm(), settings=settings) as pool:
        work = [pool.dispatch("analytics", f"summarise Au, part {n}", ["t.csv"]) for n in range(32)]
        outcomes = await asyncio.gather(*work)
        folder = pool.run_folder
    assert model.billed <= Decimal("1.00")
    # It was used: another call would not have fitted.
    assert model.billed > Decimal("0.80")
    assert {outcome.status for outcome in outcomes} <= {"budget", "error"}
    refused = [outcome for outcome in outcomes if outcome.status == "budget"]
    assert len(refused) > 16
    assert all("the ceiling of $1.00 is reached" in outcome.errors[0] for outcome in refused)
    spent = spent_in(read(folder.journal)[0])
    assert model.billed <= spent.usd <= Decimal("1.00")


@pytest.mark.parametrize("seed", range(5))
async def test_calls_that_fail_are_cancelled_or_of_unknown_cost_count(seed: int) -> None:
    notes, model = Notes(), Adverse(seed=seed)
    budget = Budget(Ceiling(usd=Decimal("0.05")))
    ledger = RunLedger(budget, Terms(public_prices()), notes.take)
    chance = random.Random(seed)

    async def one(name: str) -> None:
        while True:
            try:
                reservation = await ledger.reserve(name, "analytics", CHEAP, a_request("x" * chance.randrange(9_000)))
            except BudgetError:
                return
            assert budget.spent.usd + budget.reserved.usd <= Decimal("0.05")
            response = None
            try:
                async with asyncio.timeout(chance.choice((0.001, 1.0))):
                    response = await model.attempt(a_request(), None)
            except TimeoutError:
                pass
            finally:
                reservation.on_attempt(chance.choice((None, response.usage)) if response else None)

    await asyncio.gather(*(one(f"d{n}") for n in range(32)))
    await ledger.close()
    assert budget.reserved == Amount()
    assert budget.spent.usd <= Decimal("0.05")
    assert spent_in(notes.records) == budget.spent
    told = ledger.report()
    assert told is not None
    assert Decimal(told["spent_usd"]) == budget.spent.usd
    assert Decimal(told["remaining_usd"]) == Decimal("0.05") - budget.spent.usd


async def test_a_call_waits_while_those_under_way_may_still_turn_out_cheaper() -> None:
    budget = Budget(Ceiling(usd=Decimal("1.00")))
    await budget.reserve(Amount(Decimal("0.90")), "one")
    waiting = asyncio.create_task(budget.reserve(Amount(Decimal("0.50")), "two"))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiting.done()
    budget.settle(Amount(Decimal("0.90")), Amount(Decimal("0.10")))
    await asyncio.wait_for(waiting, 10)
    assert (budget.spent.usd, budget.reserved.usd) == (Decimal("0.10"), Decimal("0.50"))


async def test_a_call_that_waited_in_vain_is_refused() -> None:
    budget = Budget(Ceiling(tokens=100))
    await budget.reserve(Amount(tokens=90), "one")
    waiting = asyncio.create_task(budget.reserve(Amount(tokens=50), "two"))
    await asyncio.sleep(0)
    budget.settle(Amount(tokens=90), Amount(tokens=90))
    with pytest.raises(BudgetError, match=r"the ceiling of 100 tokens is reached: spent are \$0\.00 and 90 tokens"):
        await asyncio.wait_for(waiting, 10)


COUNTS = st.integers(0, 300_000)


@given(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, st.sampled_from(sorted(public_prices().prices)))
def test_no_usage_within_the_bounds_costs_more_than_the_worst_case(
    plain: int, written: int, for_an_hour: int, read_: int, out: int, model: str
) -> None:
    usage = Usage(
        input_tokens=plain,
        cache_creation_input_tokens=written + for_an_hour,
        cache_creation_1h_input_tokens=for_an_hour,
        cache_read_input_tokens=read_,
        output_tokens=out,
    )
    price = price_of(model)
    assert price.cost(usage) <= price.worst(plain + written + for_an_hour + read_, out)


@given(st.text(max_size=200))
def test_the_bound_on_tokens_is_never_below_the_bytes_of_the_words(words: str) -> None:
    words = words.encode("utf-8", "ignore").decode()
    assert most_input_tokens(a_request(words)) > len(words.encode())


def test_money_is_exact() -> None:
    usage = Usage(input_tokens=1, output_tokens=3, cache_read_input_tokens=7)
    assert price_of(CHEAP).cost(usage) == Decimal("0.00000167")
    long = Usage(input_tokens=100_001)
    assert price_of(CHEAP).cost(long) == Decimal("0.0500005")
    assert price_of("claude-haiku-4-5-20251001") == price_of("claude-haiku-4-5")


async def test_a_call_that_was_refused_costs_nothing_and_one_without_a_bound_is_not_made() -> None:
    ledger = RunLedger(budget := Budget(Ceiling(usd=Decimal(1))), Terms(public_prices()), Notes().take)
    (await ledger.reserve("lead", "lead", CHEAP, a_request())).on_attempt(Usage())
    assert budget.spent == Amount()
    with pytest.raises(ModelError, match="without max_tokens"):
        await ledger.reserve("lead", "lead", CHEAP, a_request(max_tokens=None))


async def test_nonsense_for_a_usage_counts_as_all_that_was_reserved() -> None:
    ledger = RunLedger(budget := Budget(Ceiling(usd=Decimal(1))), Terms(public_prices()), Notes().take)
    reservation = await ledger.reserve("lead", "lead", CHEAP, a_request())
    worst = budget.reserved
    reservation.on_attempt(Usage(input_tokens=-5_000_000))
    assert budget.spent == worst


async def test_what_cannot_be_recorded_is_not_called(tmp_path: Path) -> None:
    from outcrop_schemas.errors import JournalError

    async def full(kind: str, body: Mapping[str, Any]) -> None:
        raise JournalError("no space")

    ledger = RunLedger(budget := Budget(Ceiling(usd=Decimal(1))), Terms(public_prices()), full)
    with pytest.raises(JournalError):
        await ledger.reserve("lead", "lead", CHEAP, a_request())
    assert (budget.spent, budget.reserved) == (Amount(), Amount())


async def test_a_model_without_a_price_is_refused_before_anything_begins(workspace: Path) -> None:
    class Own:
        name = "my-model"

        async def create(self, request: ModelRequest) -> ModelResponse:
            raise AssertionError("it was asked")

    with pytest.raises(UsageError, match=r"no price for the model 'my-model'.*prices\.\"my-model\""):
        await Run(
            "x", workspace=workspace, launcher=warm(), model=Own(), settings=Settings(budget_usd=Decimal(1))
        ).start()
    assert not (workspace / ".outcrop").exists()
    priced = Settings.load(workspace, {"budget_usd": "1"}, ['prices."my-model".input=1', 'prices."my-model".output=2'])
    outcome = await Run("x", workspace=workspace, launcher=warm(), model=Own(), settings=priced).start()
    assert "it was asked" in outcome.errors[0]
    spending = outcome.usage["spending"]
    assert Decimal(spending["spent_usd"]) > 0
    assert spending["by_specialist"]["lead"]["calls_of_unknown_cost"] == 1


async def test_models_that_are_free_need_no_price_and_no_ceiling_holds_for_them(workspace: Path) -> None:
    settings = Settings(budget_usd=Decimal("0.01"), budget_tokens=1)
    outcome = await Run(
        "x", workspace=workspace, launcher=warm(), model=ScriptedModel([turn(COMPLETE)]), settings=settings
    ).start()
    assert outcome.status == "success"
    assert outcome.usage["spending"]["spent_usd"] == "0"


async def test_a_turn_that_nobody_counted_is_paid_for_as_the_worst_case(workspace: Path) -> None:
    turns = [turn(("pin", {"key": "k", "value": str(n)}), turn_id=str(n)) for n in range(9)]
    negative = turns[1].model_copy(update={"usage": Usage(input_tokens=-5, output_tokens=9)})
    model = Paid([turns[0], negative, *turns[2:]], name=CHEAP)
    outcome = await Run(
        "x", workspace=workspace, launcher=warm(), model=model, settings=Settings(budget_tokens=300_000)
    ).start()
    assert outcome.status == "budget"
    assert 1 < len(model.requests) < 9
    assert (outcome.usage["input_tokens"], outcome.usage["output_tokens"]) == (0, 0)
    assert outcome.usage["spending"]["spent_tokens"] > 16_000
    [lead] = outcome.usage["spending"]["by_specialist"].values()
    assert lead["calls_of_unknown_cost"] == len(model.requests)


@pytest.mark.parametrize("most", [None, 0, -1, -(10**9)])
async def test_a_call_without_a_bound_is_not_reserved_for(most: int | None) -> None:
    budget = Budget(Ceiling(usd=Decimal(1)))
    ledger = RunLedger(budget, Terms(public_prices()), Notes().take)
    with pytest.raises(ModelError, match="cannot be bounded"):
        await ledger.reserve("d1", "analytics", CHEAP, a_request().model_copy(update={"max_tokens": most}))
    assert budget.reserved == Amount()


class Paid(ScriptedModel):
    """Scripted turns that cost something."""

    is_free = False


async def test_a_specialist_at_the_ceiling_ends_with_what_it_has(tmp_path: Path) -> None:
    # Its turns cost next to nothing; under the ceiling is room for what is reserved for the first, not for the second.
    whole = await a_cleaning_under(tmp_path / "whole", 10**9)
    first, second = (reserved["tokens"] for reserved in whole.events("reserved"))
    assert first < second
    record = await a_cleaning_under(tmp_path / "short", (first + second) // 2)
    [done] = record.outcomes
    assert done.status == "budget"
    assert "the ceiling of" in done.errors[0]
    assert [artifact.path for artifact in done.artifacts]
    assert done.findings[0].startswith("remove_duplicates: ")
    assert record.answer is not None
    assert record.answer.warnings == []
    assert [one.difference for one in await asyncio.to_thread(verify, record)] == [None, None]


async def a_cleaning_under(workspace: Path, most_tokens: int) -> RunRecord:
    workspace.mkdir()
    (workspace / "t.csv").write_text(CSV)
    little = {"usage": Usage(input_tokens=1, output_tokens=1)}
    work = [turn(("remove_duplicates", {"path": "t.csv"})).model_copy(update=little), turn(COMPLETE)]
    lead = [
        turn(("dispatch", {"specialist": "cleaning", "objective": "drop duplicates", "data": ["t.csv"]})),
        turn(("complete", {"status": "partial", "summary": "the money was spent"})),
    ]
    models = {"lead": ScriptedModel(lead), "cleaning": Paid(work, name=CHEAP)}
    settings = Settings.load(workspace, {"budget_tokens": most_tokens})
    outcome = await Run(
        "clean", ["t.csv"], workspace=workspace, launcher=warm(), model=models, settings=settings
    ).start()
    return open_run(RunFolder(Path(outcome.run_folder)))


async def test_a_lead_at_the_ceiling_ends_the_run_with_what_is_there(workspace: Path) -> None:
    (workspace / "t.csv").write_text(CSV)
    cleaning = [turn(("remove_duplicates", {"path": "t.csv"})), turn(COMPLETE)]
    order = {"specialist": "cleaning", "objective": "drop duplicates", "data": ["t.csv"]}

    class Dear(Adverse):
        async def attempt(self, request: ModelRequest, hears: Any) -> ModelResponse:
            response = await super().attempt(request, hears)
            return response.model_copy(update={"content": turn(("dispatch", order)).content})

    model = Dear()
    models = {"lead": model, "cleaning": ScriptedModel(cleaning)}
    settings = Settings(budget_usd=Decimal("0.022"))
    run = Run("clean", ["t.csv"], workspace=workspace, launcher=warm(), model=models, settings=settings)
    outcome = await run.start()
    assert (outcome.status, model.calls) == ("budget", 1)
    assert "the ceiling of $0.0220 is reached" in outcome.errors[0]
    assert [line.status for line in outcome.dispatches] == ["success"]
    assert outcome.artifacts
    assert run.desk is not None
    assert [one.difference for one in await asyncio.to_thread(verify, open_run(run.desk.folder))] == [None, None]


def start(workspace: Path, *arguments: str) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "outcrop.cli.main", *arguments, "--workspace", str(workspace)]
    return subprocess.Popen(line, env={**os.environ}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(condition: Any, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def billed(api: MessagesApi, model: str) -> Decimal:
    """What the server takes for all that it worked on, those turns too whose stream broke."""
    names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    bills = [seen.usage for seen in api.seen if seen.usage]
    return sum((price_of(model).cost(Usage(**{name: bill[name] for name in names})) for bill in bills), Decimal(0))


@pytest.mark.parametrize("faults", [[None, Fault("stall")], [None, None, Fault("stall", after_events=1)]])
def test_after_a_kill_in_a_call_journal_and_ledger_agree_and_say_no_less_than_the_bill(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, faults: list[Any]
) -> None:
    script = in_turn(*(answer(call("pin", key="k", value=str(n))) for n in range(9)))
    with MessagesApi(script, faults=faults) as api:
        for name, value in api.environment().items():
            monkeypatch.setenv(name, value)
        working = start(workspace, "run", "count", "--model", CHEAP, "--budget-usd", "1")
        wait_for(lambda: len(api.seen) == len(faults))
        working.send_signal(signal.SIGKILL)
        working.communicate()
        bill = billed(api, CHEAP)
    told = json.loads(start(workspace, "show", "last", "--json").communicate()[0])
    spending = told["spending"]
    assert Decimal(spending["spent_usd"]) >= bill > 0
    lead = spending["by_specialist"]["lead"]
    assert (lead["calls"], lead["calls_of_unknown_cost"]) == (len(faults), 1)
    [folder] = [RunFolder(path) for path in (workspace / ".outcrop/runs").iterdir()]
    accounts = accounts_in(read(folder.journal)[0])
    assert accounts["lead"][1].spent.usd == Decimal(spending["spent_usd"])
    settled = [record.body for record in read(folder.journal)[0] if record.body.get("kind") == "settled"]
    assert sum(Decimal(body["usd"]) for body in settled) <= bill
    shown = start(workspace, "show", "last").communicate()[0]
    assert "remain" in shown
    assert "of unknown cost" in shown


def test_a_batch_that_is_taken_up_again_starts_from_what_was_spent(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = workspace / "jobs.jsonl"
    jobs.write_text("".join(json.dumps({"objective": f"count {n}"}) + "\n" for n in range(3)))
    done = answer(call("complete", status="success", summary="x"))
    with MessagesApi(in_turn(done), faults=[None, Fault("stall")]) as api:
        for name, value in api.environment().items():
            monkeypatch.setenv(name, value)
        options = ("batch", str(jobs), "--model", CHEAP, "--budget-usd", "0.05", "--workers", "1", "--json")
        working = start(workspace, *options)
        wait_for(lambda: len(api.seen) == 2)
        working.send_signal(signal.SIGKILL)
        working.communicate()
        told = json.loads(start(workspace, *options, "--resume").communicate()[0])
        bill = billed(api, CHEAP)
    assert told["statuses"] == {"success": 3}
    assert told["resumed"] == 1
    spent = Decimal(told["spending"]["spent_usd"])
    assert bill < spent <= Decimal("0.05")
    assert Decimal(told["spending"]["remaining_usd"]) == Decimal("0.05") - spent
    shown = json.loads(start(workspace, "show", Path(told["run_folder"]).name, "--json").communicate()[0])
    assert shown["spending"]["spent_usd"] == told["spending"]["spent_usd"]


def test_the_jobs_of_a_batch_share_one_ceiling(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = workspace / "jobs.jsonl"
    jobs.write_text("".join(json.dumps({"objective": f"count {n}"}) + "\n" for n in range(40)))
    done = answer(call("complete", status="success", summary="x"), output_tokens=10_000)
    with MessagesApi(in_turn(done)) as api:
        for name, value in api.environment().items():
            monkeypatch.setenv(name, value)
        options = ("batch", str(jobs), "--model", CHEAP, "--budget-usd", "0.06", "--workers", "4", "--json")
        told = json.loads(start(workspace, *options).communicate()[0])
        bill = billed(api, CHEAP)
    assert bill <= Decimal("0.06")
    assert set(told["statuses"]) == {"success", "budget"}
    assert Decimal(told["spending"]["spent_usd"]) == bill


def test_the_command_line_says_what_is_wrong_with_a_ceiling(workspace: Path) -> None:
    for option, words in (
        ("--budget-usd=0", "more than 0"),
        ("--budget-usd=x", "2.50"),
        ("--budget-tokens=0", "at least 1"),
    ):
        working = start(workspace, "run", "x", option)
        assert words in working.communicate()[1]
        assert working.returncode == 2
    working = start(workspace, "run", "x", "--model=anthropic:mine", "--budget-usd=1")
    assert "There is no price for the model 'mine'" in working.communicate()[1]
    assert working.returncode == 2
