"""What is made of a dispatch that has ended: its outcome, with artifacts verified, results capped, all of it bounded.

What was seen becomes a status, errors and warnings in `settle.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import dataclass
from typing import Any

from outcrop.artifacts import Grounds, verify
from outcrop.cap import cap_outcome, cap_results
from outcrop.due import Due
from outcrop.figures import valid_claims
from outcrop.launching import Child
from outcrop.launching.environment import signal_name
from outcrop.order import Order, Services
from outcrop.properties import IsolationSet, of_launch, unlaunched, unproven, with_outside
from outcrop.settle import Observed, errors_of, status_of, warnings_of
from outcrop.spill import sha256_of_bytes
from outcrop.starting import Start
from outcrop_schemas import limits
from outcrop_schemas.errors import SpillError
from outcrop_schemas.outcome import Exit, Outcome, Truncated, VerifiedArtifact
from outcrop_schemas.protocol import Completion
from outcrop_specialists.reading.address import MARK

_MEASURED = frozenset({"spending", "node", "cpu_seconds", "max_rss_bytes"})


def is_lost(seen: Observed, due: Due) -> bool:
    """Whether the node of a dispatch was lost, and its work with it."""
    is_ended = seen.completion or seen.ended_by or due.is_cancelled
    return seen.lost is not None and not is_ended


@dataclass(frozen=True)
class Conclusion:
    """One dispatch that has ended, and what there is of it."""

    order: Order
    dispatch_id: str
    services: Services
    start: Start
    child: Child | None
    seen: Observed
    due: Due
    hurry: threading.Event
    """Set when what takes long is to end with what it has."""

    async def outcome(self, started_at: str) -> Outcome:
        """Build the outcome: status, verified artifacts, capped texts."""
        seen, completion, line = self.seen, self.seen.completion, self.start.line
        if line and line.refused_because and seen.ended_by not in ("cancelled", "output_limit"):
            seen.ended_by, seen.ended_because = "budget", line.refused_because
        if is_lost(seen, self.due) and len(self.order.lost) + 1 >= limits.LOST_NODES:
            seen.lost = f"{seen.lost}; that is {limits.LOST_NODES} nodes lost at this work: it is set aside"
        status = status_of(seen)
        again = [f"it was done again for {', '.join(self.order.lost)}: lost with its node"] if self.order.lost else []
        warnings = again + warnings_of(seen) + (line.warnings if line else [])
        warnings += self.order.outside.problems
        fields: dict[str, Any] = (
            _from_completion(completion) if completion else {"results": self._partial_findings(warnings)}
        )
        if status == "budget" and completion and not completion.results:
            fields["results"] = self._partial_findings(warnings)
        if completion and completion.artifacts:
            fields["artifacts"], said = await self._verified(completion)
            warnings += said
        if completion and completion.claims:
            fields["claims"], said = valid_claims(completion.claims)
            warnings += said
        fields["results"], fields["truncated"] = await self._capped(fields["results"], warnings)
        with contextlib.suppress(OSError):
            self.services.folder.scratch(self.dispatch_id).rmdir()
        ended = seen.exit
        outcome = Outcome(
            dispatch_id=self.dispatch_id,
            specialist=self.order.specialist,
            objective=self.order.objective,
            status=status,
            errors=errors_of(seen, status),
            warnings=warnings,
            usage=self._usage(completion),
            started_at=started_at,
            duration_s=round(self.due.passed(), 3),
            exit=Exit(code=ended.code, signal=signal_name(ended.signal) if ended.signal else None) if ended else Exit(),
            launch=self.child.kind if self.child else None,
            isolation=await self._isolation(),
            **fields,
        )
        # The orchestrator's own tool calls are bounded as tool results are, not as a specialist's results.
        return outcome if self.order.is_aside else cap_outcome(outcome)

    async def _verified(self, completion: Completion) -> tuple[list[VerifiedArtifact], list[str]]:
        """What there is of the artifacts, and what is to be said; what cannot be read in time is said so."""
        workspace, scratch = self.services.workspace, self.services.folder.scratch(self.dispatch_id)
        # The mark of a table in a file may also be part of a file's own name.
        inputs = {workspace.folder / name for path in self.order.data for name in (path, path.split(MARK)[0])}
        grounds = Grounds(
            workspace.descriptor, workspace.folder, scratch, self.start.granted, frozenset(inputs), self.start.since_ns
        )
        timer = asyncio.get_running_loop().call_later(self.due.seconds_to_settle(), self.hurry.set)
        try:
            checked = await self.services.hands.do(verify, completion.artifacts, grounds, self.hurry)
        finally:
            timer.cancel()
        return checked.verified, checked.said

    def _partial_findings(self, warnings: list[str]) -> dict[str, Any]:
        partial = self.seen.scanner.partial()
        if partial is None:
            return {}
        warnings.append("results are the last partial findings, not a completion")
        return partial

    async def _capped(self, results: dict[str, Any], warnings: list[str]) -> tuple[dict[str, Any], Truncated | None]:
        async with self.services.hands.large:
            capped = await self.services.hands.do(cap_results, results, self.order.result_chars)
            if capped.full is None:
                return capped.results, None
            digest = sha256_of_bytes(capped.full)
            try:
                write = self.services.folder.spill.write
                path = await self.services.hands.do(write, f"{self.dispatch_id}.json", capped.full)
            except SpillError as error:
                warnings.append(str(error))
                return capped.results, Truncated(chars=capped.chars, spill=None, sha256=digest)
        return capped.results, Truncated(chars=capped.chars, spill=str(path), sha256=digest)

    async def _isolation(self) -> IsolationSet:
        """What was proved for launches like this one; nothing for one that never was."""
        child = self.child
        if child is None:
            return unlaunched()
        try:
            async with asyncio.timeout(self.due.seconds_to_settle()):
                found = of_launch(child.proved or await self.services.proof.get(child.kind), child.layers)
                return with_outside(found, self.order.outside.networked)
        except TimeoutError:
            return unproven("the probe had not ended when this did")

    def _usage(self, completion: Completion | None) -> dict[str, Any]:
        # What was spent and measured is ours to say: a program may claim anything.
        own = completion.usage.items() if completion else ()
        usage, line = {name: value for name, value in own if name not in _MEASURED}, self.start.line
        if line and line.turns:
            usage |= {"model": line.model_name, "turns": line.turns, **line.usage.model_dump()}
        if line and (account := self.services.gateway.ledger.spent_by(self.dispatch_id)):
            usage["spending"] = account
        if self.child and self.child.node:
            usage["node"] = self.child.node
        if self.seen.exit:
            usage |= {
                "cpu_seconds": round(self.seen.exit.cpu_seconds, 3),
                "max_rss_bytes": self.seen.exit.max_rss_bytes,
            }
        return usage


def _from_completion(completion: Completion) -> dict[str, Any]:
    names = ("summary", "results", "findings", "evidence", "recommendations", "blockers", "gap")
    return {name: getattr(completion, name) for name in names}
