"""What answers Messages API requests, and which of it answers whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Protocol, runtime_checkable

from outcrop.settings import DEFAULT, LEAD, RoleSettings, Settings
from outcrop_schemas import limits
from outcrop_schemas.errors import UsageError
from outcrop_schemas.messages import ModelRequest, ModelResponse
from outcrop_schemas.protocol import Offering, WindowSettings

OFFLINE, ANTHROPIC = "offline", "anthropic"
# With either before it, any name is one of the Messages API, also of a server of one's own.
_CLAUDE, _PREFIX = "claude-", "anthropic:"


@runtime_checkable
class Model(Protocol):
    """Anything that answers a Messages API request. Raises ModelError when it cannot.

    `is_free = True` says that a call costs nothing, so that it needs no price and no ceiling holds for it;
    `searches_tools = True` that its server finds tools that are sent with `defer_loading` (`tools = "api"`). One that
    has `of_agent(agent_id)` gives the model of each agent by it: `lead`, or the id of a dispatch.
    """

    @property
    def name(self) -> str: ...

    async def create(self, request: ModelRequest) -> ModelResponse:
        """One turn. Raises ModelError, `retryable` where another attempt may help."""
        ...


ModelChoice = str | Model | Mapping[str, "str | Model"]
Wrap = Callable[[Model], Model]


class ModelTable:
    """The model of each role: `lead`, a specialist's name, or `default` for all others.

    Without a choice the settings say which; with one they say only how it is asked. A model given by name is loaded
    when it is first asked. Raises UsageError for an unknown name.
    """

    def __init__(
        self, choice: ModelChoice | None = None, settings: Settings | None = None, wrap: Wrap = lambda model: model
    ) -> None:
        self.settings = self._settings = settings or Settings()
        self._wrap = wrap
        self._by_role = self._table(choice)
        self._loaded: dict[tuple[str, RoleSettings], Model] = {}
        self._windows: dict[str, WindowSettings] = {}
        self._parameters: dict[str, RoleSettings] = {}
        for name in [*self._by_role.values(), *self._fallbacks()]:
            if isinstance(name, str):
                _check_name(name)

    def of(self, role: str) -> Model:
        """Who answers a role."""
        model = self._by_role.get(role, self._by_role[DEFAULT])
        return self._load(model, role) if isinstance(model, str) else model

    def fallback_of(self, role: str) -> Model | None:
        """Who answers where the model of a role does not; None where there is nobody else."""
        name = self.parameters(role).fallback
        if name is None or resolved(name, role) == self.of(role).name:
            return None
        return self._load(name, role)

    def parameters(self, role: str) -> RoleSettings:
        """How a role asks."""
        if role not in self._parameters:  # asked for with each run, of each role
            self._parameters[role] = self._settings.role(role)
        return self._parameters[role]

    def window(self, role: str) -> WindowSettings:
        """The window of a role's model. Where nothing else is set, one that costs writes its summaries itself
        and is offered the tools that its work needs, and cached tokens cost what they cost by its price."""
        if role not in self._windows:  # asked after each turn
            told, model = self.parameters(role), self.of(role)
            is_free = getattr(model, "is_free", False)
            self._windows[role] = WindowSettings(
                tokens=told.window_tokens or limits.WINDOW_TOKENS,
                cached_price=self._cached_price(role, model.name),
                summaries=told.summaries or ("extract" if is_free else "model"),
                tools=self._offering(role),
            )
        return self._windows[role]

    def notes(self, role: str) -> list[str]:
        """What of the settings of a role cannot hold for its model, and what holds instead."""
        wanted, given = self.parameters(role).tools, self._offering(role)
        # The lead's few tools are always offered; for it this says how much they tell of the specialists'.
        if role == LEAD or wanted in (None, given):
            return []
        return [f'{self.of(role).name} has no search for tools: instead of tools = "{wanted}", "{given}" holds']

    def _offering(self, role: str) -> Offering:
        """Which tools a role is offered: what is set, and the default also where the model cannot do that."""
        model, wanted = self.of(role), self.parameters(role).tools
        if wanted and (wanted != "api" or getattr(model, "searches_tools", False)):
            return wanted
        # The offline model's lead plans by all that is told of tools, also where it is the one to fall back on.
        is_planner = role == LEAD and self._settings.role(role).fallback == OFFLINE
        return "all" if is_planner or getattr(model, "is_free", False) else "select"

    def _cached_price(self, role: str, name: str) -> float:
        """What a token read from the cache costs, as a share of one that is not."""
        told = self.parameters(role).cached_price
        if told is not None:
            return told
        price = self._settings.price_list().of(name)
        return float(price.cache_read / price.input) if price and price.input else limits.CACHED_PRICE

    def is_free(self, role: str, name: str) -> bool:
        """Whether a call of this model costs nothing."""
        model = self.of(role)
        if model.name != name:
            model = self.fallback_of(role) or model
        return bool(getattr(model, "is_free", False))

    def names(self) -> dict[str, str]:
        """The name of the model of `default`, and of each role that has another."""
        roles = dict.fromkeys([*self._by_role, *([LEAD] if self._by_role[DEFAULT] == ANTHROPIC else [])])
        return {role: self._name(role) for role in roles}

    def paid_names(self) -> list[str]:
        """The names of all models that may be asked and cost something."""
        found: dict[str, None] = {}
        for role in dict.fromkeys([*self._by_role, *self._settings.roles, LEAD]):
            given = self._by_role.get(role, self._by_role[DEFAULT])
            if not (given == OFFLINE if isinstance(given, str) else getattr(given, "is_free", False)):
                found[self._name(role)] = None
            fallback = self._settings.role(role).fallback
            if fallback not in (None, OFFLINE):
                found[resolved(str(fallback), role)] = None
        return list(found)

    async def close(self) -> None:
        """Close the connections of all models that were loaded here."""
        for model in self._loaded.values():
            if close := getattr(model, "close", None):
                await close()

    def _table(self, choice: ModelChoice | None) -> dict[str, str | Model]:
        if choice is not None:
            return {DEFAULT: OFFLINE, **(choice if isinstance(choice, Mapping) else {DEFAULT: choice})}
        own = {role: given.model for role, given in self._settings.roles.items() if given.model is not None}
        return {DEFAULT: self._settings.model, **own}

    def _fallbacks(self) -> list[str]:
        return [given.fallback for given in self._settings.roles.values() if given.fallback is not None]

    def _name(self, role: str) -> str:
        model = self._by_role.get(role, self._by_role[DEFAULT])
        return resolved(model, role) if isinstance(model, str) else model.name

    def _load(self, given: str, role: str) -> Model:
        name = resolved(given, role)
        if name == OFFLINE:
            from outcrop.models.offline.model import OfflineModel

            return self._loaded.setdefault((name, RoleSettings()), OfflineModel())
        how = self._settings.role(role)
        key = (name, RoleSettings(thinking=how.thinking, effort=how.effort, max_tokens=how.max_tokens))
        if key not in self._loaded:
            from outcrop.models.anthropic import AnthropicModel

            thinking = False if how.thinking == "off" else how.thinking
            model = AnthropicModel(name, max_tokens=how.max_tokens, thinking=thinking, effort=how.effort)
            self._loaded[key] = self._wrap(model)
        return self._loaded[key]


def resolved(name: str, role: str) -> str:
    """The name that a server knows."""
    if name == ANTHROPIC:
        from outcrop.models.anthropic.names import DEFAULT_LEAD, DEFAULT_SPECIALIST

        return DEFAULT_LEAD if role == LEAD else DEFAULT_SPECIALIST
    return name.removeprefix(_PREFIX)


def _check_name(name: str) -> None:
    if name in (OFFLINE, ANTHROPIC) or (name.startswith((_CLAUDE, _PREFIX)) and name not in (_CLAUDE, _PREFIX)):
        return
    near = get_close_matches(name, (OFFLINE, ANTHROPIC), 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise UsageError(
        f"There is no model {name!r}.{hint} Use {OFFLINE!r}, {ANTHROPIC!r} (the current defaults), a name that begins "
        f"with {_CLAUDE!r}, {_PREFIX + 'NAME'!r} for a server of your own, or give a Model object in Python."
    )
