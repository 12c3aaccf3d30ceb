"""The ledger of one run: each model call's reservation and settlement, in the run's journal.

A reservation is on disk before the call is made. One that was never settled, because the orchestrator was killed,
counts as spent, so that no account of a run is ever below what was billed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal

from outcrop.budget import Amount, Budget, Ceiling
from outcrop.prices import Price, PriceList, dollars, most_input_tokens
from outcrop.records import Records
from outcrop_schemas.errors import BudgetError, JournalError, ModelError, UsageError
from outcrop_schemas.journal import JournalRecord
from outcrop_schemas.messages import ModelRequest, Usage

Note = Callable[[str, Mapping[str, Any]], Awaitable[object]]
RESERVED, SETTLED = "reserved", "settled"
_ONE = Decimal(1)


@dataclass(frozen=True)
class Terms:
    """On what terms models are called: prices, the factor on them, who is free, what was paid for before."""

    prices: PriceList
    is_free: Callable[[str, str], bool] = lambda role, model: False
    factor: Decimal = _ONE
    is_paid: Callable[[str, ModelRequest], bool] = lambda model, request: False


@dataclass
class Account:
    """What one agent, or all together, spent: settled calls, and those of which nobody knows what they cost."""

    spent: Amount = field(default_factory=Amount)
    reserved: Amount = field(default_factory=Amount)
    calls: int = 0
    unknown: int = 0
    above_bound: int = 0

    def plus(self, other: Account) -> Account:
        return Account(
            self.spent + other.spent,
            self.reserved + other.reserved,
            self.calls + other.calls,
            self.unknown + other.unknown,
            self.above_bound + other.above_bound,
        )

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Account:
        """What `as_json` gave."""
        return cls(
            Amount(Decimal(told["spent_usd"]), told["spent_tokens"]),
            Amount(Decimal(told["reserved_usd"]), told["reserved_tokens"]),
            told["calls"],
            told["calls_of_unknown_cost"],
            told["calls_above_their_bound"],
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "spent_usd": dollars(self.spent.usd),
            "spent_tokens": self.spent.tokens,
            "reserved_usd": dollars(self.reserved.usd),
            "reserved_tokens": self.reserved.tokens,
            "calls": self.calls,
            "calls_of_unknown_cost": self.unknown,
            "calls_above_their_bound": self.above_bound,
        }


class RunLedger:
    """Reserves and settles the calls of one run against its budget, and records both."""

    def __init__(self, budget: Budget, terms: Terms, note: Note) -> None:
        self._budget, self._terms, self._note = budget, terms, note
        self._accounts: dict[str, tuple[str, Account]] = {}
        self._number = 0
        self._notes: set[asyncio.Task[None]] = set()
        self._failure: JournalError | None = None
        self.refusals: dict[str, str] = {}
        """Why a call of an agent was refused, by agent."""

    async def reserve(self, agent_id: str, role: str, model: str, request: ModelRequest) -> Reservation:
        """Set aside what this call may cost at most, and record it. Raises BudgetError, JournalError."""
        if self._terms.is_free(role, model):
            return Reservation(self, None)
        self._raise_failure()
        is_paid = self._terms.is_paid(model, request)
        price = self._terms.prices.of(model)
        worst = Amount() if is_paid else self._worst(model, price, request)
        try:
            await self._budget.reserve(worst, f"the next call of {model}")
        except BudgetError as error:
            self.refusals[agent_id] = str(error)
            raise
        self._number += 1
        call = Call(f"{agent_id}/{self._number}", agent_id, role, model, price, worst, is_paid)
        account = self.account_of(agent_id, role)
        account.calls, account.reserved = account.calls + 1, account.reserved + worst
        body = {"call": call.name, "agent": agent_id, "role": role, "model": model}
        try:
            await self._note(RESERVED, {**body, "usd": dollars(worst.usd), "tokens": worst.tokens})
        except BaseException:
            # The call is not made; its record may have come through all the same.
            self.settle(call, Usage())
            raise
        return Reservation(self, call)

    def account_of(self, agent_id: str, role: str = "") -> Account:
        return self._accounts.setdefault(agent_id, (role, Account()))[1]

    def spent_by(self, agent_id: str) -> dict[str, Any] | None:
        """What one agent spent; None where it made no call that costs."""
        return self._accounts[agent_id][1].as_json() if agent_id in self._accounts else None

    def report(self) -> dict[str, Any] | None:
        """What was spent so far, for an outcome; None where nothing costs and there is no ceiling."""
        if not self._accounts and self._budget.ceiling == Ceiling():
            return None
        return report(self._accounts, self._budget.ceiling, self._budget.spent, self._budget.reserved)

    async def close(self) -> None:
        """Wait until every settlement is recorded. Raises JournalError where one could not be."""
        while self._notes:
            await asyncio.wait(self._notes)
        self._raise_failure()

    def _worst(self, model: str, price: Price | None, request: ModelRequest) -> Amount:
        if request.max_tokens is None or request.max_tokens < 1:
            raise ModelError(f"a call of {model} without max_tokens cannot be bounded, and is not made")
        tokens_in = most_input_tokens(request)
        if price is None and self._budget.ceiling.usd is not None:
            raise BudgetError(no_price(model))
        usd = price.worst(tokens_in, request.max_tokens) * self._terms.factor if price else Decimal(0)
        return Amount(usd, tokens_in + request.max_tokens)

    def settle(self, call: Call, usage: Usage | None) -> None:
        """The call has ended with this usage; None where nobody knows, which counts as all that was reserved."""
        if usage is not None and min(usage.model_dump().values()) < 0:
            usage = None
        actual = call.worst if usage is None else self._cost(call, usage)
        self._budget.settle(call.worst, actual)
        account = self.account_of(call.agent_id, call.role)
        account.reserved, account.spent = account.reserved - call.worst, account.spent + actual
        account.unknown += usage is None
        # A server that bills more than a request of this size can have: nothing bounds that, so it is said.
        account.above_bound += not Ceiling(call.worst.usd, call.worst.tokens).holds(actual)
        body = {"call": call.name, "usd": dollars(actual.usd), "tokens": actual.tokens}
        task = asyncio.get_running_loop().create_task(
            self._recorded({**body, "usage": usage.model_dump() if usage else None})
        )
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    def _cost(self, call: Call, usage: Usage) -> Amount:
        if call.is_paid:
            return Amount()
        usd = call.price.cost(usage) * self._terms.factor if call.price else Decimal(0)
        return Amount(usd, tokens_of(usage))

    async def _recorded(self, body: Mapping[str, Any]) -> None:
        try:
            await self._note(SETTLED, body)
        except JournalError as error:
            # The next call is refused with it: what cannot be recorded is not spent.
            self._failure = error

    def _raise_failure(self) -> None:
        if self._failure:
            raise self._failure


@dataclass(frozen=True)
class Call:
    """One attempt at a model call, as it was reserved for."""

    name: str
    agent_id: str
    role: str
    model: str
    price: Price | None
    worst: Amount
    is_paid: bool


class Reservation:
    """What is set aside for one attempt."""

    def __init__(self, ledger: RunLedger, call: Call | None) -> None:
        self._ledger, self._call = ledger, call

    def on_attempt(self, usage: Usage | None) -> None:
        """The attempt has ended: its usage, zeros where it was refused, None where nobody knows."""
        if self._call:
            self._ledger.settle(self._call, usage)
            self._call = None


def tokens_of(usage: Usage) -> int:
    """All tokens of a call; those that were written to the cache for an hour are among those written."""
    prompt = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
    return prompt + usage.output_tokens


def no_price(model: str) -> str:
    """What to say of a model that has no price."""
    return (
        f"There is no price for the model {model!r}, so a ceiling in dollars cannot hold. Give one, in dollars per "
        f'million tokens: in outcrop.toml [prices."{model}"] input = "3", output = "15" (or `outcrop run '
        f"--set 'prices.\"{model}\".input=3' --set 'prices.\"{model}\".output=15'`); or bound the tokens instead"
    )


def check_prices(ceiling: Ceiling, prices: PriceList, models: Iterable[str]) -> None:
    """Raises UsageError where a ceiling in dollars could not hold, for want of a price."""
    if ceiling.usd is None:
        return
    for model in models:
        if prices.of(model) is None:
            raise UsageError(no_price(model))


def accounts_in(records: Iterable[JournalRecord]) -> dict[str, tuple[str, Account]]:
    """The role and account of each agent, by the record alone. What was never settled counts as spent."""
    if isinstance(records, Records):
        records = records.of("event", RESERVED, SETTLED)  # the others need not be read
    accounts = Accounts("agent")
    for record in records:
        if record.type == "event" and record.body["kind"] in (RESERVED, SETTLED):
            accounts.take(record.body)
    return accounts.told()


class Accounts:
    """The accounts of a run by agent or by role, from the events of its ledger as they come."""

    def __init__(self, by: Literal["agent", "role"]) -> None:
        self._by = by
        self._accounts: dict[str, tuple[str, Account]] = {}
        self._open: dict[str, tuple[str, Amount]] = {}

    def take(self, body: Mapping[str, Any]) -> None:
        """The next reservation or settlement."""
        amount = Amount(Decimal(body["usd"]), body["tokens"])
        if body["kind"] == RESERVED:
            self._open[body["call"]] = (body[self._by], amount)
            self._accounts.setdefault(body[self._by], (body["role"], Account()))[1].calls += 1
        elif body["call"] in self._open:
            name, _ = self._open.pop(body["call"])
            self._accounts[name][1].spent += amount
            self._accounts[name][1].unknown += body["usage"] is None

    def told(self) -> dict[str, tuple[str, Account]]:
        """Role and account of each. What was not settled counts as spent."""
        told = {name: (role, replace(account)) for name, (role, account) in self._accounts.items()}
        for name, amount in self._open.values():
            told[name][1].spent += amount
            told[name][1].unknown += 1
        return told


def spent_in(records: Iterable[JournalRecord]) -> Amount:
    """All that a run spent, by its record."""
    return sum((account.spent for _, account in accounts_in(records).values()), Amount())


def report(
    accounts: Mapping[str, tuple[str, Account]], ceiling: Ceiling, spent: Amount, reserved: Amount
) -> dict[str, Any]:
    """Spent, reserved and remaining, of the run, of each specialist, and under the ceiling that it may share."""
    own = sum((account.spent for _, account in accounts.values()), Amount())
    by_role: dict[str, Account] = {}
    for role, account in accounts.values():
        by_role[role] = by_role.get(role, Account()).plus(account)
    left = ceiling.tokens - spent.tokens - reserved.tokens if ceiling.tokens is not None else None
    return {
        "spent_usd": dollars(own.usd),
        "spent_tokens": own.tokens,
        "reserved_usd": dollars(reserved.usd),
        "ceiling_usd": dollars(ceiling.usd) if ceiling.usd is not None else None,
        "remaining_usd": dollars(ceiling.usd - spent.usd - reserved.usd) if ceiling.usd is not None else None,
        "ceiling_tokens": ceiling.tokens,
        "remaining_tokens": left,
        "by_specialist": {role: account.as_json() for role, account in sorted(by_role.items())},
    }
