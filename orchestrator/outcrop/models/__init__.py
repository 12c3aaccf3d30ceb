"""What answers Messages API requests, and which of it answers whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from outcrop_schemas.errors import UsageError
from outcrop_schemas.messages import ModelRequest, ModelResponse

DEFAULT = "default"
OFFLINE = "offline"


@runtime_checkable
class Model(Protocol):
    """Anything that answers a Messages API request. Raises ModelError when it cannot."""

    @property
    def name(self) -> str: ...

    async def create(self, request: ModelRequest) -> ModelResponse: ...


ModelChoice = str | Model | Mapping[str, "str | Model"]


class ModelTable:
    """The model of each role: `lead`, a specialist's name, or `default` for all others.

    A model given by name is loaded when it is first asked. Raises UsageError for an unknown name.
    """

    def __init__(self, choice: ModelChoice) -> None:
        table: dict[str, str | Model] = dict(choice) if isinstance(choice, Mapping) else {DEFAULT: choice}
        self._by_role = {DEFAULT: OFFLINE, **table}
        for one in self._by_role.values():
            if isinstance(one, str) and one != OFFLINE:
                raise UsageError(
                    f"There is no model {one!r} in this version. Use {OFFLINE!r}, or give a Model object in Python; "
                    "Claude models come with the next versions."
                )

    def of(self, role: str) -> Model:
        role = role if role in self._by_role else DEFAULT
        model = self._by_role[role]
        if isinstance(model, str):
            from outcrop.models.offline.model import OfflineModel

            model = self._by_role[role] = OfflineModel()
        return model

    def names(self) -> dict[str, str]:
        return {role: model if isinstance(model, str) else model.name for role, model in self._by_role.items()}
