"""Policy that a user may change. Limits are not policy.

Read from `outcrop.toml` in the workspace; environment variables with the prefix OUTCROP_ go over the file, options of
the command line over both. `roles` has what holds for the lead, for one specialist, or by `default` for all of them.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from outcrop.environment import DELIMITER, PREFIX, check_variables
from outcrop.gaps.config import GapSettings
from outcrop.outside.config import McpServer, check_name
from outcrop.prices import DollarCeiling, Price, PriceList, TokenCeiling, no_number_is_true, public_prices
from outcrop_schemas import limits
from outcrop_schemas.errors import UsageError
from outcrop_schemas.protocol import Offering, Summaries
from outcrop_schemas.regular import read_file

FILE_NAME = "outcrop.toml"
DEFAULT, LEAD, CHAT = "default", "lead", "chat"

Thinking = Literal["adaptive", "off"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]


class RoleSettings(BaseModel):
    """How the lead or a specialist asks its model; what is not given is as for `default`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str | None = None
    """Instead of the model of all."""

    fallback: str | None = None
    """Asked where the model refuses, is overloaded or is not there, after all retries."""

    thinking: Thinking | None = None
    """`adaptive`, which is the default of a model that can, or `off`."""

    effort: Effort | None = None
    """How much work a model puts into a turn: low, medium, high, xhigh or max."""

    max_tokens: int | None = Field(default=None, ge=1, le=limits.MODEL_OUTPUT_TOKENS_MOST)
    """Of one turn, thinking included."""

    turns: int | None = Field(default=None, ge=1, le=limits.TURNS_MOST)
    """How often the model is asked; by default 100 times for the lead, 40 for a specialist."""

    window_tokens: int | None = Field(default=None, ge=limits.WINDOW_TOKENS_LEAST, le=limits.WINDOW_TOKENS_MOST)
    """How much the model takes at a time; conversations are kept within it."""

    summaries: Summaries | None = None
    """Who sums up the turns that are removed: the model, or a rule (extract)."""

    tools: Offering | None = None
    """Which tools are offered: all, or those that the work needs, more being found when asked for: by an index of our
    own (select), or by the search of the model's own server (api). The lead is told of them in full (all) or in short.
    """

    cached_price: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    """What a token read from the cache costs as a share of one that is not; by default as `prices` have it."""

    _numbers = field_validator("*", mode="before")(no_number_is_true)

    def over(self, other: RoleSettings) -> RoleSettings:
        """These, and those of `other` where these say nothing."""
        return RoleSettings(**{**other.model_dump(exclude_none=True), **self.model_dump(exclude_none=True)})


# What is a table of entries by name.
_TABLES: Mapping[str, type[BaseModel]] = {"roles": RoleSettings, "prices": Price, "mcp": McpServer}


class Settings(BaseSettings):
    """How Outcrop behaves where nothing else is said."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter=DELIMITER, frozen=True, extra="forbid", env_ignore_empty=True
    )

    workers: int = Field(default=2, ge=1, le=256)
    """Specialists at work at a time."""

    bubblewrap: bool = True
    """Wrap cold starts in bubblewrap, where it is on the PATH and a probe of it passes."""

    model: str = "offline"
    """The model of lead and specialists."""

    model_calls: int = Field(default=8, ge=1, le=1024)
    """Model calls at a time, of all agents together."""

    report: bool = True
    """Write report.html into the folder of every run when it ends; `outcrop report` writes it at any time."""

    budget_usd: DollarCeiling | None = None
    """The ceiling of a run or batch in US dollars."""

    budget_tokens: TokenCeiling | None = None
    """The ceiling of a run or batch in tokens, read and written."""

    api_batch_seconds: float = Field(default=5.0, gt=0, le=3_600)
    """`outcrop batch --api-batch`: how long turns are collected before they are sent together."""

    api_batch_poll_seconds: float = Field(default=10.0, gt=0, le=limits.API_BATCH_POLL_SECONDS)
    """How long until a Message Batch is asked after for the first time; later ever more seldom."""

    cluster_retry_lost: int = Field(default=0, ge=0, lt=limits.LOST_NODES)
    """How often work whose node of a cluster was lost is done again, as a dispatch of its own. What it had done until
    then stands: model calls are paid for, and files that it wrote are there."""

    cluster_near: dict[str, list[str]] = {}
    """Of a file or folder of the workspace the workers (name, address or host) that are to be preferred for it."""

    cluster_listen: str | None = None
    """The address of this machine under which nodes reach it; by default that by which it reaches the scheduler."""

    cluster_plain: bool = False
    """Allow a scheduler that is neither encrypted nor on this machine."""

    telemetry: bool = False
    """Tell of runs by OpenTelemetry (OTLP/HTTP), as the OTEL_ variables say; needs the extra `otel`."""

    telemetry_content: bool = False
    """Tell there what was said too: objectives, messages, arguments and results of tools."""

    gaps: GapSettings = GapSettings()
    """Packages that specialists lack: which may be installed, and whether to ask."""

    roles: dict[str, RoleSettings] = {}
    """By `default`, `lead`, `chat` or the name of a specialist."""

    prices: dict[str, Price] = {}
    """Prices of one's own, in US dollars per million tokens."""

    mcp: dict[str, McpServer] = {}
    """MCP servers that are not ours, whose tools specialists may call."""

    _numbers = field_validator("*", mode="before")(no_number_is_true)

    @field_validator("roles")
    @classmethod
    def _known_roles(cls, given: dict[str, RoleSettings]) -> dict[str, RoleSettings]:
        known = role_names()
        for name in given:
            if name not in known:
                raise ValueError(f"there is no role {name!r}.{closest(name, known)}")
        return given

    @field_validator("mcp")
    @classmethod
    def _known_specialists(cls, given: dict[str, McpServer]) -> dict[str, McpServer]:
        known = [name for name in role_names() if name not in (DEFAULT, LEAD)]
        for name, server in given.items():
            check_name(name)
            for specialist in server.specialists or ():
                if specialist not in known:
                    raise ValueError(f"{name}: there is no specialist {specialist!r}.{closest(specialist, known)}")
        return given

    def role(self, name: str) -> RoleSettings:
        """What holds for a role; `turns` and `max_tokens` always have a value."""
        turns = limits.LEAD_TURNS if name == LEAD else limits.AGENT_TURNS
        ours = RoleSettings(turns=turns, max_tokens=limits.MODEL_OUTPUT_TOKENS)
        return self.roles.get(name, RoleSettings()).over(self.roles.get(DEFAULT, RoleSettings())).over(ours)

    def chosen_workers(self, given: int | None = None) -> int | None:
        """How many specialists somebody asked for; None where nobody did, and a cluster says how many it takes."""
        return given if given is not None else self.workers if "workers" in self.model_fields_set else None

    def price_list(self) -> PriceList:
        return public_prices().with_own(self.prices)

    @classmethod
    def load(cls, folder: str | Path, given: Mapping[str, Any] | None = None, assigned: Sequence[str] = ()) -> Settings:
        """The settings that hold in a workspace. `given` and `assigned` (`key=value`) go over file and environment.

        A model in `given` is the model of everyone: those of `roles` in the file hold no more. Raises UsageError for a
        key that there is none of, with the closest name, and for a value that does not fit.
        """
        path = Path(folder) / FILE_NAME
        stored = _file(path)
        over = {name: value for name, value in (given or {}).items() if value is not None}
        if "model" in over and isinstance(stored.get("roles"), dict):
            stored["roles"] = {
                name: {key: value for key, value in role.items() if key != "model"} if isinstance(role, dict) else role
                for name, role in stored["roles"].items()
            }
        for item in assigned:
            _assign(over, item)
        _check_names(stored, str(path))
        _check_names(over, "--set")
        tables = {name: kind.model_fields for name, kind in _TABLES.items()} | {"gaps": GapSettings.model_fields}
        check_variables(os.environ, cls.model_fields, tables)
        try:
            return _with_file(cls, stored)(**over)
        except SettingsError as error:
            # A table of the environment that is no JSON.
            name = re.search(r'field "(\w+)"', str(error))
            variable = f"{PREFIX}{name[1].upper()}" if name else f"a variable {PREFIX}…"
            raise UsageError(f"the environment: {variable} is not JSON") from error
        except ValidationError as error:
            raise UsageError(_told(error, path if stored else None)) from error


def is_model_chosen(settings: Settings) -> bool:
    """Whether somebody said which model is to be asked, of all or of one role."""
    return "model" in settings.model_fields_set or any(role.model for role in settings.roles.values())


def effective(settings: Settings) -> list[tuple[str, str, str]]:
    """Every setting with its value and where that comes from, those of each role apart."""
    rows = []
    for name in Settings.model_fields:
        if name not in (*_TABLES, "gaps"):
            value = getattr(settings, name)
            origin = "set" if name in settings.model_fields_set else "default"
            rows.append((name, "none" if value is None else str(value), origin))
    for name, value in settings.gaps.model_dump().items():
        shown = (", ".join(value) or "none") if isinstance(value, list) else str(value)
        rows.append((f"gaps.{name}", shown, "set" if name in settings.gaps.model_fields_set else "default"))
    for role in role_names():
        own = {**settings.roles.get(DEFAULT, RoleSettings()).model_dump(exclude_none=True)} if role != DEFAULT else {}
        own |= settings.roles.get(role, RoleSettings()).model_dump(exclude_none=True)
        for name, value in settings.role(role).model_dump(exclude_none=True).items():
            rows.append((f"roles.{role}.{name}", str(value), "set" if name in own else "default"))
    for model, price in settings.prices.items():
        rows.append((f'prices."{model}"', f"${price.input} in, ${price.output} out, a million tokens", "set"))
    rows += [(f"mcp.{name}", server.told(), "set") for name, server in settings.mcp.items()]
    return rows


def _with_file(kind: type[Settings], stored: Mapping[str, Any]) -> type[Settings]:
    """The same settings, with what stands in the file below the environment."""

    class FromFile(kind):  # type: ignore[misc, valid-type]
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return init_settings, env_settings, InitSettingsSource(settings_cls, dict(stored))

    return FromFile


def role_names() -> list[str]:
    """Whom settings can be for."""
    from outcrop_specialists.roles import ROLES

    return [DEFAULT, LEAD, CHAT, *ROLES]


def closest(name: str, known: Iterable[str]) -> str:
    """A hint at the name that may have been meant, or at all there are."""
    names = list(known)
    near = get_close_matches(name, names, 1)
    return f" Did you mean {near[0]!r}?" if near else f" Known: {', '.join(names)}."


def _file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_file(path).decode(), parse_float=Decimal)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: is not TOML: {error}") from error


def _assign(into: dict[str, Any], item: str) -> None:
    """`roles.lead.effort=high` as nested tables; the key and, where it is TOML, the value are read as TOML."""
    key, equals, value = item.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--set takes KEY=VALUE, such as roles.lead.effort=high, not {item!r}")
    try:
        parsed = tomllib.loads(f"{key}={value}", parse_float=Decimal)
    except tomllib.TOMLDecodeError:
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        try:
            parsed = tomllib.loads(f'{key}="{quoted}"')
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f"--set: {item!r} cannot be read: {error}") from error
    _merge(into, parsed)


def _merge(into: dict[str, Any], other: Mapping[str, Any]) -> None:
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def _check_names(given: Mapping[str, Any], where: str) -> None:
    """Keys that there are none of. Raises UsageError with the closest name."""
    _check_table(given, Settings.model_fields, where, "")
    if isinstance(gaps := given.get("gaps"), dict):
        _check_table(gaps, GapSettings.model_fields, where, "gaps.")
    for table, kind in _TABLES.items():
        entries = given.get(table)
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            if isinstance(entry, dict):
                _check_table(entry, kind.model_fields, where, f"{table}.{name}.")


def _check_table(given: Iterable[str], known: Iterable[str], where: str, prefix: str) -> None:
    names = set(known)
    for key in given:
        if key not in names:
            raise UsageError(f"{where}: there is no setting {prefix + key!r}.{closest(key, sorted(names))}")


def _told(error: ValidationError, path: Path | None) -> str:
    """The first fault, with the key that has it; where the file has none of it, it came from somewhere else."""
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    where = f"{path}, OUTCROP_ variables or options" if path else "settings (OUTCROP_ variables or options)"
    shown = first["input"] if isinstance(first["input"], str | int | float | Decimal) else type(first["input"]).__name__
    return f"{where}: {key}: {first['msg'].removeprefix('Value error, ')} (found: {shown})"
