"""What model calls cost: a price list with its date, and the rules that make money of tokens. Decimals, no floats."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from outcrop_schemas import limits
from outcrop_schemas.messages import ModelRequest, Usage

_LEAST_EXPONENT = -18


def writable(amount: Decimal) -> Decimal:
    """An amount that can be written with all its digits. Raises ValueError for one with a billion zeros."""
    if amount and int(amount.as_tuple().exponent) < _LEAST_EXPONENT:
        raise ValueError("this is finer than any price")
    return amount


def no_number_is_true(given: object, info: ValidationInfo) -> object:
    """A switch is no number, though Python counts with it. Raises ValueError."""
    if isinstance(given, bool) and info.field_name not in _SWITCHES:
        raise ValueError("a switch (true or false) is no value for this")
    return given


_SWITCHES = ("bubblewrap", "cluster_plain", "report")
Dollars = Annotated[Decimal, Field(ge=0, le=1_000_000, allow_inf_nan=False), AfterValidator(writable)]
DollarCeiling = Annotated[Decimal, Field(gt=0, le=1_000_000_000, allow_inf_nan=False), AfterValidator(writable)]
TokenCeiling = Annotated[int, Field(gt=0, le=10**15)]
_MILLION = Decimal(1_000_000)
_DATED = re.compile(r"-\d{8}$")


class Rates(BaseModel):
    """US dollars per million tokens. What is not given of the cache follows from `input`, never too low."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Dollars
    output: Dollars
    cache_write_5m: Dollars
    cache_write_1h: Dollars
    cache_read: Dollars

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, given: object) -> object:
        if not isinstance(given, Mapping) or "input" not in given:
            return given
        try:
            base = Decimal(str(given["input"]))
            # The multiples of the public list; reading from the cache is at most as dear as reading.
            also = {"cache_write_5m": base * Decimal("1.25"), "cache_write_1h": base * 2, "cache_read": base}
        except (ArithmeticError, ValueError):
            # No number: the field itself says so.
            return given
        return {**also, **given}

    _numbers = field_validator("*", mode="before")(no_number_is_true)

    @property
    def dearest_input(self) -> Decimal:
        """What a token of a prompt can cost at most."""
        return max(self.input, self.cache_write_5m, self.cache_write_1h, self.cache_read)


class LongRates(Rates):
    """The rates of a prompt of more than `above_tokens` tokens."""

    above_tokens: int = Field(ge=0)


class Price(Rates):
    """The price of one model; `long` where long prompts cost more."""

    long: LongRates | None = None

    def cost(self, usage: Usage) -> Decimal:
        """What a call with this usage cost, in dollars."""
        written, for_an_hour = usage.cache_creation_input_tokens, usage.cache_creation_1h_input_tokens
        prompt = usage.input_tokens + written + usage.cache_read_input_tokens
        rates = self.long if self.long and prompt > self.long.above_tokens else self
        return (
            usage.input_tokens * rates.input
            + max(written - for_an_hour, 0) * rates.cache_write_5m
            + for_an_hour * rates.cache_write_1h
            + usage.cache_read_input_tokens * rates.cache_read
            + usage.output_tokens * rates.output
        ) / _MILLION

    def worst(self, input_tokens: int, output_tokens: int) -> Decimal:
        """What a call of at most so many tokens can cost at most, in dollars."""
        rates: list[Rates] = [self]
        if self.long and input_tokens > self.long.above_tokens:
            rates.append(self.long)
        dearest, output = max(one.dearest_input for one in rates), max(one.output for one in rates)
        return (input_tokens * dearest + output_tokens * output) / _MILLION


@dataclass(frozen=True)
class PriceList:
    """The prices that hold, and the date of those that come with Outcrop."""

    as_of: str
    prices: Mapping[str, Price]
    batch_factor: Decimal

    def of(self, model: str) -> Price | None:
        """The price of a model; one with a date in its name has that of the name without. None where there is none."""
        return self.prices.get(model) or self.prices.get(_DATED.sub("", model))

    def with_own(self, own: Mapping[str, Price]) -> PriceList:
        return PriceList(self.as_of, {**self.prices, **own}, self.batch_factor)


@cache
def public_prices() -> PriceList:
    """The list that comes with Outcrop."""
    data = tomllib.loads((files("outcrop") / "prices.toml").read_text("utf-8"))
    prices = {name: Price.model_validate(price) for name, price in data["prices"].items()}
    return PriceList(data["as_of"], prices, Decimal(data["batch_factor"]))


def most_input_tokens(request: ModelRequest) -> int:
    """How many tokens the prompt of a request can have at most.

    A token of a byte-level tokenizer has at least one byte. The server adds what marks messages, blocks and tools, and
    a system prompt of its own where there are tools; the allowances for those are far above what it documents.
    """
    blocks = sum(len(message.content) for message in request.messages)
    marks = len(request.messages) + blocks + len(request.tools)
    return len(request.as_bytes()) + marks * limits.MARK_TOKENS + limits.PROMPT_TOKENS_OF_SERVER


def dollars(amount: Decimal) -> str:
    """An amount as it is recorded: all its digits, none behind the last that says something."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def shown_dollars(amount: Decimal) -> str:
    """An amount as a person reads it: cents, or four digits where it is less than a dollar."""
    return f"${amount:.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"
