"""What of a run's state stands in a specialist's brief: its view, declared by role and enforced where briefs are made.

The dispatch itself (objective, data files and the context that the lead wrote for it) is always there. Of the rest a
role gets the fields of its view and no other: not what other dispatches found, supposed or noted, not the history, not
the memory, unless the view names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, Literal

StateField = Literal["pins", "skills", "attachments", "hypotheses", "run_objective", "memory", "history"]

OF_THE_WORK: frozenset[StateField] = frozenset({"pins", "skills", "attachments", "hypotheses"})
"""What every specialist's work needs, and the view of a role that declares none: facts that bind all work, the names of
skills, and those attachments and hypotheses that the dispatch names."""


def seen(state: Mapping[StateField, Any], view: Set[StateField]) -> dict[str, Any]:
    """The fields of a state that a view has, in the order of the state."""
    return {name: value for name, value in state.items() if name in view and value}
