"""A ceiling on money and tokens that holds: what a call may cost is reserved before it, what it did is settled after.

One budget serves all runs under a ceiling. What is spent and what is reserved together never pass it. A call that does
not fit waits while others under way may still turn out cheaper than what is reserved for them; where nothing can make
room any more, it is refused.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from decimal import Decimal

from outcrop.prices import shown_dollars
from outcrop_schemas.errors import BudgetError


@dataclass(frozen=True)
class Amount:
    """Dollars and tokens that go together."""

    usd: Decimal = Decimal(0)
    tokens: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.usd + other.usd, self.tokens + other.tokens)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.usd - other.usd, self.tokens - other.tokens)


@dataclass(frozen=True)
class Ceiling:
    """At most so many dollars and tokens; None is no bound."""

    usd: Decimal | None = None
    tokens: int | None = None

    def holds(self, amount: Amount) -> bool:
        return (self.usd is None or amount.usd <= self.usd) and (self.tokens is None or amount.tokens <= self.tokens)

    def __str__(self) -> str:
        usd = [shown_dollars(self.usd)] if self.usd is not None else []
        return " and ".join([*usd, *([f"{self.tokens:,} tokens"] if self.tokens is not None else [])]) or "none"


class Budget:
    """What is spent and reserved under one ceiling. `spent` is where it starts, for work that is taken up again.

    Of one that is `within` another, all counts there too: neither ceiling is passed.
    """

    def __init__(self, ceiling: Ceiling = Ceiling(), spent: Amount = Amount(), within: Budget | None = None) -> None:
        self.ceiling, self.spent, self.reserved = ceiling, spent, Amount()
        self._within = within
        # First come, first served: small calls must not keep a large one from its turn for ever.
        self._turn = asyncio.Lock()
        self._settled = asyncio.Event()

    async def reserve(self, amount: Amount, what: str) -> None:
        """Set `amount` aside, waiting for calls under way where that may help. Raises BudgetError."""
        self._refuse_if_hopeless(amount, what)
        async with self._turn:
            while not self.ceiling.holds(self.spent + self.reserved + amount):
                self._refuse_if_hopeless(amount, what)
                self._settled.clear()
                await self._settled.wait()
            self.reserved += amount
        if self._within:
            try:
                await self._within.reserve(amount, what)
            except BaseException:
                self._settle(amount, Amount())
                raise

    def settle(self, reserved: Amount, actual: Amount) -> None:
        """A call that was reserved for has ended; it cost `actual`."""
        self._settle(reserved, actual)
        if self._within:
            self._within.settle(reserved, actual)

    def _settle(self, reserved: Amount, actual: Amount) -> None:
        self.reserved -= reserved
        self.spent += actual
        self._settled.set()

    def _refuse_if_hopeless(self, amount: Amount, what: str) -> None:
        if self.ceiling.holds(self.spent + amount):
            return
        name = "the job's own ceiling" if self._within else "the ceiling"
        raise BudgetError(
            f"{name} of {self.ceiling} is reached: spent are {shown_dollars(self.spent.usd)} and "
            f"{self.spent.tokens:,} tokens, and {what} may take up to {shown_dollars(amount.usd)} and "
            f"{amount.tokens:,} tokens"
        )
