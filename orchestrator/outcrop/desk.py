"""One open run: its folder, journal and services, and the only place where dispatches are begun.

A `Pool`, a `Run` and a batch's job each have one; they share what is passed in: workspace, places, launcher, models.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from outcrop.about import hashes, setting
from outcrop.attaching import read_attachments, to_attach
from outcrop.cancelling import Requests
from outcrop.dispatch import DispatchWork, new_dispatch_id, see_through
from outcrop.events import Watcher, both, harmless, nobody
from outcrop.gaps.deciding import Gaps, OnGap
from outcrop.gaps.resuming import resumed
from outcrop.gateway import Gateway
from outcrop.history import History
from outcrop.journal import Journal
from outcrop.launching.environment import as_text, resolve_command
from outcrop.ledger import RunLedger
from outcrop.objective import check_numbers, checked_context, checked_objective
from outcrop.order import Order, Services
from outcrop.outside.servers import OutsideServers
from outcrop.pins import CurrentPins, Pins
from outcrop.properties import IsolationSet
from outcrop.records import Entry
from outcrop.runs import RunFolder, new_run
from outcrop.shared import LOCAL as LOCAL
from outcrop.shared import Shared as Shared
from outcrop.waiting import Queue, Waiting
from outcrop_schemas import limits
from outcrop_schemas.errors import LaunchError, UnknownNameError, UsageError, WorkspaceError
from outcrop_schemas.outcome import ISOLATION_PROPERTIES, Outcome
from outcrop_schemas.protocol import ToolCall, WindowSettings
from outcrop_specialists.roles import get_role
from outcrop_specialists.views import OF_THE_WORK, StateField, seen

_NAME_CHARS, _LEAST_SECONDS = 200, 0.1
_log = logging.getLogger(__name__)
# Who plays the lead's own two data tools: a process of the lead's, without an agent.
LEAD_HANDS = "lead"


class Desk:
    """Takes orders for one run and sees each of them to its outcome."""

    def __init__(
        self,
        shared: Shared,
        folder: RunFolder,
        journal: Journal,
        watcher: Watcher = nobody,
        state: Mapping[StateField, Any] | None = None,
        *,
        is_proof_told: bool = False,
        on_gap: OnGap | None = None,
    ) -> None:
        self.shared, self.folder, self.journal = shared, folder, journal
        self.watcher = harmless(watcher)
        self.history = History()
        self._state = state or {}
        self.ledger = RunLedger(shared.budget, shared.terms, self.note)
        self.spans = shared.telemetry.of_run(folder.run_id)
        self.gateway = Gateway(shared.models, folder, shared.governor, ledger=self.ledger, spans=self.spans)
        self.outside = OutsideServers(shared, folder, self.note)
        self._services = Services(
            shared.workspace,
            folder,
            journal,
            self.history,
            self.gateway,
            shared.launcher,
            shared.proof,
            shared.hands,
            Gaps(
                shared.packages,
                folder.gaps,
                shared.models.settings.gaps,
                self.note,
                self.watcher,
                on_gap,
                is_local=shared.is_local,
            ),
            self.watcher,
            self.spans,
        )
        self._requests, self._queue = Requests(folder, self.note), Queue(journal)
        self._count, self._is_proof_told = 0, is_proof_told
        self.done_again: list[Outcome] = []
        """Those in whose place a later dispatch counts: what they used was used all the same."""

    @classmethod
    async def open(
        cls,
        shared: Shared,
        about: Mapping[str, Any],
        data: Sequence[str] = (),
        watcher: Watcher = nobody,
        attach: Sequence[str] = (),
        on_gap: OnGap | None = None,
    ) -> Desk:
        """Open a new run and record what it is about; `on_gap` answers for the user where a package is missing.

        Raises WorkspaceError, JournalError.
        """
        files: dict[str, Any] = {"data": []}
        for name, paths in (("data", data), ("attach", attach)):
            if paths:  # a thread that has nothing to do costs as much as a small record
                files[name] = await shared.hands.do(hashes, shared.workspace, paths)
        body = {**about, **files, **setting(shared)}
        folder = new_run(shared.workspace)
        journal = Journal.create(folder.journal, shared.hands.writers)
        # The journal first: a run whose first record is missing never was.
        await journal.append("run", folder.run_id, body)
        proved = shared.proof.known
        folder.describe({**body, "isolation": _told(proved.of("cold"))} if proved else body)
        shared.proof.begin()
        state: dict[StateField, Any] = {"run_objective": about.get("objective"), "memory": about.get("memory")}
        return cls(shared, folder, journal, watcher, state, is_proof_told=proved is not None, on_gap=on_gap)

    async def close(self) -> None:
        """End the outside servers, write down what was proved of the isolation, close the journal, write the report."""
        try:
            await self.outside.close()
            more: dict[str, Any] = {}
            if not self._is_proof_told:
                more["isolation"] = _told(await self.shared.proof.get())
            if packages := self.shared.packages.folders():
                more["packages"] = [folder.name for folder in packages]
            if more:
                self.folder.describe({**self.folder.about(), **more})
        except (WorkspaceError, OSError) as error:
            # A full disk, or a folder that was taken away; every outcome of the run has it too.
            _log.warning("%s", error)
        try:
            await self.ledger.close()
        finally:
            await self._requests.close()
            await self._queue.close()
            await self.journal.close()
        if self.shared.models.settings.report:
            await self._report()

    async def _report(self) -> None:
        """The page about this run. It is read from the record, which is whole by now."""
        from outcrop.report.writing import report_at_end

        await self.shared.hands.do(report_at_end, self.folder)

    def order(
        self,
        specialist: str,
        objective: str | None,
        data: Sequence[str | Path] = (),
        context: Mapping[str, Any] | None = None,
        *,
        timeout: float = limits.DISPATCH_SECONDS,
        grace: float = limits.GRACE_SECONDS,
        environment: Mapping[str, str] | None = None,
        require: Sequence[str] = (),
        command: Sequence[str] | None = None,
        pins: Mapping[str, str] | None = None,
        current_pins: CurrentPins | None = None,
        attach: Sequence[str | Path] = (),
        call: ToolCall | None = None,
        window: WindowSettings | None = None,
        hypotheses: Mapping[str, str] | None = None,
    ) -> Order:
        """A checked order; of the run's state it has what the specialist's view has. With `call` the specialist is not
        an agent, but runs that tool at once. Raises UsageError, PathError."""
        view = get_role(specialist).view if command is None and call is None else OF_THE_WORK - {"skills"}
        for name in require:
            if name not in ISOLATION_PROPERTIES:
                raise UnknownNameError("isolation property", name, known=ISOLATION_PROPERTIES)
        check_numbers(timeout, grace, environment or {})
        if len(specialist) > _NAME_CHARS:
            raise UsageError(f"the specialist's name has {len(specialist)} characters, {_NAME_CHARS} are allowed")
        if command is not None and not command:
            raise UsageError("no command was given after --")
        said = objective if objective is not None or command is None else as_text(command)[: limits.OBJECTIVE_CHARS]
        state: dict[StateField, Any] = {
            **self._state,
            "pins": Pins(pins).as_dict(),
            "skills": self.shared.skills,
            "attachments": to_attach(self.shared.workspace, attach),
            "hypotheses": hypotheses,
            "history": self.history.render() if "history" in view else None,
        }
        given = seen(state, view)
        return Order(
            specialist=specialist,
            objective=checked_objective(said or ""),
            data=tuple(self.shared.workspace.data(path) for path in data),
            context=checked_context(context),
            timeout_seconds=timeout,
            grace_seconds=grace,
            environment=environment or {},
            require=tuple(require),
            command=tuple(_resolved(command)) if command is not None else None,
            pins=given.pop("pins", {}),
            current_pins=current_pins if "pins" in view else None,
            skills=given.pop("skills", {}),
            attach=given.pop("attachments", ()),
            seen=given,
            call=call,
            window=window,
        )

    async def dispatch(self, order: Order) -> Outcome:
        """Wait for a free place, then do the work. Cancelling the caller ends the work and records it as cancelled.

        Where its node was lost, and the settings allow it, it is done again by a dispatch of its own; so it is where a
        package that it lacked was installed.
        """
        is_prepared = False
        while True:
            work, order, outcome = await self._done(order, is_prepared=is_prepared)
            is_prepared = True
            if work.installed:
                order = resumed(order, outcome, work.installed)
            elif work.is_lost and len(order.lost) < self.shared.models.settings.cluster_retry_lost:
                order = replace(order, lost=(*order.lost, outcome.dispatch_id))
            else:
                return outcome
            self.done_again.append(outcome)

    async def _done(self, order: Order, *, is_prepared: bool) -> tuple[DispatchWork, Order, Outcome]:
        """The work of one dispatch, its order when that was prepared, and what came of it. Cancelled by its id while it
        waits, it needs no place."""
        self._count += 1
        waiting = Waiting(new_dispatch_id(self._count))
        watcher = both(self.watcher, harmless(order.watcher))
        self._requests.hear_for(waiting)
        try:
            if self.shared.places.locked():
                self._queue.joins(waiting, order, watcher)
            if not is_prepared:
                order = await self._prepared(order, waiting)
                if self.shared.places.locked():
                    self._queue.joins(waiting, order, watcher)
            async with self.shared.place(self.spans, order.until, waiting) as on_launched:
                timed = replace(order, timeout_seconds=_left(order.timeout_seconds, order.until))
                services = replace(self._services, watcher=watcher)
                work = DispatchWork(timed, waiting.dispatch_id, services, on_launched)
                waiting.begins(work)
                return work, order, await see_through(work)
        finally:
            self._queue.leaves(waiting, watcher)
            self._requests.forget(waiting)

    async def _prepared(self, order: Order, waiting: Waiting) -> Order:
        """With what it has attached and what outside servers offer it, neither of which counts as its own time."""
        call = partial(self.call_tool, timeout=order.timeout_seconds, until=order.until, waiting=waiting)
        order = replace(order, attached=await read_attachments(call, self.folder, order.attach, order.specialist))
        if order.needs_model and not waiting.is_cancelled:
            # A server may take long to start.
            order = replace(order, outside=await self.outside.offered(order.specialist, order.require))
        return order

    async def call_tool(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        reader: str = LEAD_HANDS,
        timeout: float = limits.DISPATCH_SECONDS,
        window: WindowSettings | None = None,
        until: float | None = None,
        waiting: Waiting | None = None,
    ) -> Outcome:
        """Have one tool run at once in a process of its own, without an agent; not a dispatch in the journal. The
        answer is for `window`, or that of `reader`. Such a tool only reads: where its node is lost it is run again.
        Where a dispatch is `waiting` for it, it ends when that is cancelled; raises PoolBusyError where there is no
        place by that one's time."""
        order = Order(
            reader,
            f"call {tool}",
            call=ToolCall(tool=tool, arguments=dict(arguments)),
            is_aside=True,
            window=window,
            timeout_seconds=timeout,
        )
        while True:
            async with self.shared.place(self.spans, until, waiting) as on_launched:
                timed = replace(order, timeout_seconds=_left(timeout, until))
                work = DispatchWork(timed, new_dispatch_id(0), self._services, on_launched)
                with waiting.prepared_by(work) if waiting else nullcontext():
                    outcome = await see_through(work)
            if not work.is_lost or len(order.lost) + 1 >= limits.LOST_NODES:
                return outcome
            order = replace(order, lost=(*order.lost, outcome.dispatch_id))

    async def note(self, kind: str, body: Mapping[str, Any]) -> Entry:
        """Record an event; its place in the journal. Raises JournalError."""
        return await self.journal.append("event", self.folder.run_id, {"kind": kind, **body})


def _left(timeout: float, until: float | None) -> float:
    """The time limit of what begins now and must not end after `until`."""
    return timeout if until is None else min(timeout, max(_LEAST_SECONDS, until - time.monotonic()))


def _told(isolation: IsolationSet) -> dict[str, Any]:
    return {name: found.model_dump() for name, found in isolation.items()}


def _resolved(command: Sequence[str]) -> list[str]:
    try:
        return resolve_command(command)
    except LaunchError:
        # Told as the outcome of the dispatch (spawn_error), like every other launch that fails.
        return list(command)
