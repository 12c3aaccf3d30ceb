"""What the first record of a run says of its setting: files with their hashes, models, limits, prices."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from outcrop.journal import now
from outcrop.prices import dollars
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import WorkspaceError
from outcrop_specialists.reading.address import addressed
from outcrop_specialists.tools.publish import sha256_of

if TYPE_CHECKING:
    from outcrop.shared import Shared


def hashes(workspace: Workspace, files: Sequence[str]) -> list[dict[str, Any]]:
    """Size and SHA-256 of each file. Raises WorkspaceError."""
    found = []
    for path in files:
        absolute, _ = addressed(workspace.folder, path)
        try:
            found.append({"path": path, "bytes": absolute.stat().st_size, "sha256": sha256_of(absolute)})
        except OSError as error:
            raise WorkspaceError(f"{path}: cannot be read: {error.strerror}") from error
    return found


def setting(shared: Shared) -> dict[str, Any]:
    """What holds for the run besides what it is about."""
    return {
        "at": now(),
        "models": shared.models.names(),
        "version": _version(),
        "backend": shared.backend,
        "limits": {limit.name: limit.value for limit in limits.LIMITS},
        "roles": {role: shared.models.parameters(role).model_dump(exclude_none=True) for role in shared.models.names()},
        "ceiling": {"usd": _text(shared.budget.ceiling.usd), "tokens": shared.budget.ceiling.tokens},
        "prices_as_of": shared.terms.prices.as_of,
    }


@cache
def _version() -> str:
    # It is looked up in files.
    return version("outcrop")


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else dollars(amount)
