"""Who decides about a package that is missing: the allow-list, then the user. Else it is said how to allow it.

No tool of a lead or a specialist leads here but by a gap, and a gap decides nothing.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from outcrop.events import GapAsked, GapDecided, Watcher
from outcrop.gaps.config import GapSettings
from outcrop.gaps.installing import Installed, PackageStore
from outcrop.gaps.requirement import PIP, Requirement, allowed, parsed
from outcrop.text import inert, shorten
from outcrop_schemas import limits
from outcrop_schemas.errors import PackageError
from outcrop_schemas.outcome import Outcome, Status

_log = logging.getLogger(__name__)
_TEXT_CHARS = 300
# A success found its way without; what failed for another reason is not mended by a package.
MENDABLE: frozenset[Status] = frozenset({"capability_gap", "partial", "error"})

By = Literal["allow-list", "user", "nobody"]


@dataclass(frozen=True)
class GapQuestion:
    """What the user is asked: may this be installed, there, for that reason. Texts are the specialist's own."""

    dispatch_id: str
    specialist: str
    requirement: str
    reason: str
    fallback: str
    place: Path
    manager: str = PIP


OnGap = Callable[[GapQuestion], Awaitable[bool] | bool]
"""Whoever answers for the user: true installs. It is called in a thread of the orchestrator, one
question at a time; what it returns may be awaitable."""


@dataclass(frozen=True)
class Decision:
    """What became of one gap. `told` is the line that stands in the outcome where nothing was installed."""

    by: By
    installed: Installed | None = None
    told: str = ""


class Gaps:
    """Decides about the gaps of one run and has packages installed; after a no a package is not asked for again."""

    def __init__(
        self,
        packages: PackageStore,
        logs: Path,
        settings: GapSettings,
        note: Callable[[str, Mapping[str, Any]], Awaitable[Any]],
        watcher: Watcher,
        on_gap: OnGap | None = None,
        *,
        is_local: bool = True,
    ) -> None:
        self._packages, self._logs, self._settings, self._note, self._watcher = packages, logs, settings, note, watcher
        self._on_gap, self._is_local = on_gap, is_local
        self._one_at_a_time = asyncio.Lock()
        self._decided: dict[str, Decision] = {}
        self._said_no: dict[str, Decision] = {}
        self._ended_for: dict[str, str] = {}

    def folders(self) -> list[Path]:
        """What specialists of this run may import besides what there is."""
        return self._packages.folders() if self._is_local else []

    async def decided(self, outcome: Outcome, before: Sequence[str]) -> Decision | None:
        """What becomes of the gap of a dispatch that ended; None where it names no package that would help. `before`
        are the dispatches as which this work was begun. Raises JournalError."""
        gap = outcome.gap or {}
        if outcome.status not in MENDABLE or not gap.get("package"):
            return None
        package, manager = str(gap["package"]), str(gap.get("manager") or "unknown")
        async with self._one_at_a_time:
            decision = await self._about(package, manager, outcome, before)
            if not decision.installed and (fallback := gap.get("fallback")):
                without = inert(shorten(str(fallback), _TEXT_CHARS), keep_newlines=False)
                decision = replace(decision, told=f"{decision.told}; what can be done without it: {without}")
            await self._record(package, manager, outcome, decision)
        return decision

    async def _about(self, package: str, manager: str, outcome: Outcome, before: Sequence[str]) -> Decision:
        requirement = parsed(package)
        shown = inert(shorten(repr(package), _TEXT_CHARS), keep_newlines=False)
        if manager != PIP:
            return _refused(f"{shown} ({inert(manager)[:20]}) is missing; only pip packages are ever installed here")
        if requirement is None:
            return _refused(f"{shown} is missing and was not installed: it is no package name with version bounds")
        if not self._is_local:
            return _refused(f"{requirement} is missing on the cluster; nothing is installed there: do so on its nodes")
        if any(self._ended_for.get(dispatch_id) == str(requirement) for dispatch_id in before):
            return _refused(f"{requirement} is installed, and the work still lacks it")
        if len(before) >= limits.GAP_ROUNDS:
            return _refused(f"{requirement} is missing too: the work was taken up again {len(before)} times already")
        # A no is about the package, however it is spelt and whatever its version: nobody is asked until they say yes.
        said_no = self._said_no.get(requirement.key)
        decision = said_no or self._decided.get(str(requirement)) or await self._settled(requirement, outcome)
        self._decided[str(requirement)] = decision
        self._ended_for[outcome.dispatch_id] = str(requirement)
        return decision

    async def _settled(self, requirement: Requirement, outcome: Outcome) -> Decision:
        by, bounded = await self._allowed_by(requirement, outcome)
        if by == "nobody":
            return _refused(
                f"{requirement} is missing and was not installed, since nobody allowed it; "
                f'`allow = ["pip:{requirement.name}"]` under [gaps] in outcrop.toml does'
            )
        if bounded is None:
            refused = Decision(by, told=f"{requirement} is missing and was not installed: the user said no")
            self._said_no[requirement.key] = refused
            return refused
        try:
            return Decision(by, await self._packages.install(bounded, self._logs / f"{outcome.dispatch_id}.log"))
        except PackageError as error:
            return Decision(by, told=inert(str(error), keep_newlines=False))

    async def _allowed_by(self, requirement: Requirement, outcome: Outcome) -> tuple[By, Requirement | None]:
        """Who decided, and what may be installed: None where that was no."""
        for entry in map(allowed, self._settings.allow):
            if entry.key == requirement.key:
                return "allow-list", requirement.within(entry)
        if self._on_gap is None or not self._settings.ask:
            return "nobody", None
        gap = outcome.gap or {}
        reason, fallback = (shorten(str(gap.get(name) or ""), limits.ENTRY_CHARS) for name in ("reason", "fallback"))
        question = GapQuestion(
            outcome.dispatch_id, outcome.specialist, str(requirement), reason, fallback, self._packages.place
        )
        self._watcher(GapAsked(outcome.dispatch_id, str(requirement)))
        try:
            # One that waits for somebody must not hold up everything else.
            answer = await asyncio.to_thread(self._on_gap, question)
            said = await answer if inspect.isawaitable(answer) else answer
        except Exception:  # noqa: BLE001 - the boundary to code of the user's: what fails to answer has not said yes
            _log.exception("on_gap failed on %s", requirement)
            said = False
        finally:
            self._watcher(GapDecided(outcome.dispatch_id, str(requirement)))
        return "user", requirement if said is True else None

    async def _record(self, package: str, manager: str, outcome: Outcome, decision: Decision) -> None:
        installed = decision.installed
        body: dict[str, Any] = {
            "agent": outcome.dispatch_id,
            "package": shorten(package, _TEXT_CHARS),
            "manager": manager[:20],
            "reason": shorten(str((outcome.gap or {}).get("reason") or ""), limits.ENTRY_CHARS),
            "decision": "installed" if installed else "refused",
            "by": decision.by,
            "told": decision.told,
            "installed": [one.as_json() for one in installed.distributions] if installed else [],
            "folder": installed.folder.name if installed else "",
        }
        await self._note("gap", body)


def _refused(told: str) -> Decision:
    return Decision("nobody", told=told)
