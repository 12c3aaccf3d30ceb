"""Outcrop: research objectives about tables in, verified results out.

The names here are loaded when they are first used, so that importing `outcrop` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outcrop.many import Work as Work
    from outcrop.models import Model as Model
    from outcrop.models.scripted import ScriptedModel as ScriptedModel
    from outcrop.pool import Pool as Pool
    from outcrop.run import Run as Run
    from outcrop_schemas.errors import OutcropError as OutcropError
    from outcrop_schemas.errors import PoolBusyError as PoolBusyError
    from outcrop_schemas.outcome import Outcome as Outcome
    from outcrop_schemas.outcome import RunOutcome as RunOutcome

_HOME = {
    "Model": "outcrop.models",
    "Outcome": "outcrop_schemas.outcome",
    "OutcropError": "outcrop_schemas.errors",
    "Pool": "outcrop.pool",
    "PoolBusyError": "outcrop_schemas.errors",
    "Run": "outcrop.run",
    "RunOutcome": "outcrop_schemas.outcome",
    "ScriptedModel": "outcrop.models.scripted",
    "Work": "outcrop.many",
}
__all__ = [
    "Model",
    "Outcome",
    "OutcropError",
    "Pool",
    "PoolBusyError",
    "Run",
    "RunOutcome",
    "ScriptedModel",
    "Work",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'outcrop' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
