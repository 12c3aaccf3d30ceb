"""The settings of a command: its options over the environment, over `outcrop.toml`."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outcrop.settings import Settings

_NAMES = ("model", "workers", "budget_usd", "budget_tokens")


def add_settings(parser: ArgumentParser) -> None:
    """The options that say how models are asked and what they may cost."""
    parser.add_argument(
        "--model", metavar="NAME", help="offline (default), anthropic, or the name of a model, for lead and specialists"
    )
    parser.add_argument(
        "--budget-usd", type=_dollars, metavar="X", help="never spend more than so many dollars on models"
    )
    parser.add_argument(
        "--budget-tokens", type=_tokens, metavar="N", help="never use more than so many tokens, read and written"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="assigned",
        metavar="KEY=VALUE",
        help="any setting of outcrop.toml, such as roles.lead.effort=high",
    )


def settings_of(options: Namespace) -> Settings:
    """What holds for this command. Where nobody chose a model the key decides, and it is said. Raises UsageError."""
    from outcrop.settings import Settings, is_model_chosen

    given = {name: getattr(options, name, None) for name in _NAMES}
    settings = Settings.load(options.workspace, given, options.assigned)
    # A COMMAND asks no model.
    if is_model_chosen(settings) or getattr(options, "command", None) is not None:
        return settings
    from outcrop.cli.output import warn
    from outcrop.models import ANTHROPIC
    from outcrop.models.anthropic.names import has_credentials

    if has_credentials():
        warn("Claude is asked, since there is a key; `--model offline` asks no language model and costs nothing")
        return settings.model_copy(update={"model": ANTHROPIC})
    warn("there is no key (ANTHROPIC_API_KEY): the offline model plans, which is no language model")
    return settings


def _dollars(text: str) -> Decimal:
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        raise ArgumentTypeError(f"must be an amount of dollars such as 2.50, not {text!r}") from None
    if not (amount.is_finite() and amount > 0):
        raise ArgumentTypeError(f"must be more than 0 dollars, not {text}")
    return amount


def _tokens(text: str) -> int:
    try:
        number = int(text.replace("_", "").replace(",", ""))
    except ValueError:
        raise ArgumentTypeError(f"must be a number of tokens such as 200000, not {text!r}") from None
    if number < 1:
        raise ArgumentTypeError(f"must be at least 1 token, not {number}")
    return number
