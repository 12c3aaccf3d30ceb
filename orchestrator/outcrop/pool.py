"""The pool: a bounded number of specialists for a program that has pieces of work. One run per pool."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import psutil

from outcrop import arguments
from outcrop.background import FORKED, SyncFace
from outcrop.desk import Desk
from outcrop.draining import UnderWay, on_signals
from outcrop.events import Event, Watcher, both, nobody
from outcrop.gaps.deciding import OnGap
from outcrop.history import render_history
from outcrop.launching import Launcher
from outcrop.launching.nursery import choose_launcher
from outcrop.launching.unconfined import UnconfinedLauncher
from outcrop.many import Work, as_completed, events_of, in_order
from outcrop.models import ModelChoice, ModelTable
from outcrop.order import Order
from outcrop.places import Places
from outcrop.records import read
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop.shared import LOCAL, Shared
from outcrop.statistics import Call, Statistics
from outcrop.telemetry import Providers, Workflow
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import PoolBusyError, PoolClosedError, UsageError
from outcrop_schemas.outcome import Outcome

if TYPE_CHECKING:
    from outcrop.telemetry import MeterProvider, TracerProvider


class Pool(SyncFace):
    """Specialists for hire: `async with Pool(workers=4) as pool: outcome = await pool.dispatch(...)`.

    `model` is a name, a Model, or a mapping of roles to either. Any number of `dispatch` calls may wait at a time, each
    at the cost of its order (over 10,000 not even that); `workers` of them are at work. A plain `with` gives the same
    pool to threads, through `dispatch_sync`.
    With `queue` no more than so many calls may wait for a worker: further ones raise PoolBusyError at once.
    `backend` is `local`, or `dask:ADDRESS` of a cluster that starts the specialists, as many as its nodes have threads.
    `on_gap` is asked whether a package that a specialist lacks may be installed; without it only the allow-list counts.
    `unconfined` leaves out every layer of confinement but the limits; the outcomes say so.
    `tracer_provider` and `meter_provider` are those of an application that uses OpenTelemetry: the work is told to
    them, beneath the span that is active where `dispatch` is called, else beneath one of the pool.
    Opening raises ClusterError, WorkspaceError (WorkspaceBusyError where another run holds the workspace).
    """

    def __init__(
        self,
        *,
        workers: int | None = None,
        model: ModelChoice | None = None,
        workspace: str | Path = ".",
        watcher: Watcher = nobody,
        launcher: Launcher | str = "auto",
        settings: Settings | None = None,
        unconfined: bool = False,
        queue: int | None = None,
        backend: str = LOCAL,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        on_gap: OnGap | None = None,
    ) -> None:
        self._workspace, self._watcher = Workspace(workspace), watcher
        self._queue = None if queue is None else arguments.whole("queue", queue, 0)
        self._settings = settings or Settings.load(self._workspace.folder)
        asked = None if workers is None else arguments.whole("workers", workers, 1)
        self._asked_workers, self._backend = self._settings.chosen_workers(asked), backend
        if unconfined and backend != LOCAL:
            raise UsageError("unconfined is for specialists that are started here, and does not go with a backend")
        self._providers = Providers(tracer_provider, meter_provider)
        self._workflow = Workflow()
        self._choice, self._on_gap = model, on_gap
        self._places: Places | None = None
        self._launcher, self._is_unconfined = launcher, unconfined
        self._desk: Desk | None = None
        self._opened = AsyncExitStack()
        self._under_way = UnderWay()
        self._taken = asyncio.Semaphore(limits.OPEN_DISPATCHES)
        self._statistics = Statistics()
        self._home: tuple[int, asyncio.AbstractEventLoop] | None = None
        self._is_draining = False
        self._drainage: asyncio.Task[int] | None = None

    async def __aenter__(self) -> Pool:
        async with AsyncExitStack() as stack:
            models = ModelTable(self._choice, self._settings)
            launcher: Launcher | str = self._launcher
            if self._is_unconfined:
                chosen = choose_launcher(launcher, self._workspace.home / "cache")
                launcher = UnconfinedLauncher(chosen)
            shared = await stack.enter_async_context(
                Shared.opened(
                    self._workspace,
                    models,
                    self._asked_workers,
                    self._settings.model_calls,
                    launcher,
                    backend=self._backend,
                    providers=self._providers,
                )
            )
            self._workflow = shared.telemetry.workflow("outcrop.pool")
            stack.callback(self._workflow.end)
            self._places = shared.places
            self._desk = await Desk.open(
                shared,
                {"kind": "pool", "objective": None, "unconfined": self._is_unconfined},
                watcher=both(self._statistics.take, self._watcher),
                on_gap=self._on_gap,
            )
            self._workflow.known_as(self._desk.folder.run_id)
            self._home = os.getpid(), asyncio.get_running_loop()
            stack.push_async_callback(self._desk.close)
            self._opened = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what is under way (it is recorded as cancelled) and give the workspace back."""
        self._open_desk()
        self._desk = None
        try:
            await self._under_way.cancel()
        finally:
            await self._opened.aclose()

    async def dispatch(
        self,
        specialist: str,
        objective: str | None = None,
        data: Sequence[str | Path] = (),
        context: Mapping[str, Any] | None = None,
        *,
        timeout: float = limits.DISPATCH_SECONDS,
        grace: float = limits.GRACE_SECONDS,
        environment: Mapping[str, str] | None = None,
        require: Sequence[str] = (),
        command: Sequence[str] | None = None,
        pins: Mapping[str, str] | None = None,
        attach: Sequence[str | Path] = (),
        deadline: float | None = None,
        watcher: Watcher = nobody,
    ) -> Outcome:
        """Have one piece of work done by a fresh process; waits for a free worker first.

        `timeout` and `grace` are seconds. `command` plays a program of yours that speaks protocol 1. `pins` are facts
        that every request to the specialist's model carries word for word; the text of the files in `attach` (of a data
        file its profile) stands in its first one, read before within the same limit of time. However the work goes, the
        answer is an outcome; raises UsageError and PathError for an order that makes no sense, JournalError or
        SpillError when the record cannot be kept, and CancelledError, after the process was ended, when the caller is
        cancelled.
        `deadline` are the seconds for waiting and working together: PoolBusyError where no worker is free by then, and
        of one that is the time limit is what is left. `watcher` is told what happens in this dispatch.
        """
        self._taking_desk()
        within = None if deadline is None else arguments.seconds("deadline", deadline)
        if self._is_full:
            self._statistics.refused += 1
            raise PoolBusyError(f"{self._workers} workers are at work and {self._queue} calls wait: no more may")
        call = Call(self._statistics, within, watcher)
        with call:
            async with self._taken:
                # It may have been closed while this call waited.
                order = self._taking_desk().order(
                    specialist,
                    objective,
                    data,
                    context,
                    timeout=timeout,
                    grace=grace,
                    environment=environment,
                    require=require,
                    command=command,
                    pins=pins,
                    attach=attach,
                )
                return await self._seen_through(call.bound(order))

    async def _seen_through(self, order: Order) -> Outcome:
        with self._workflow.above():
            return await self._under_way.follow(self._open_desk().dispatch(order))

    @property
    def _workers(self) -> int:
        """How many specialists may be at work now: on a cluster that changes."""
        return self._places.count if self._places else self._asked_workers or self._settings.workers

    @property
    def _is_full(self) -> bool:
        # Calls that have a worker and have not begun yet count as waiting.
        taken = self._statistics.running + self._statistics.waiting
        return self._queue is not None and taken >= self._workers + self._queue

    def map(self, works: Iterable[Work]) -> AsyncIterator[Outcome]:
        """The outcomes of many pieces of work, in their order. `works` may be endless: few are taken ahead.

        When the pool drains no more are taken, and it ends with the outcomes up to the first work that has none.
        """
        return in_order(self._do, works, self._takes)

    def as_completed(self, works: Iterable[Work]) -> AsyncIterator[tuple[Work, Outcome]]:
        """Each piece of work with its outcome, in the order they end.

        When the pool drains no more are taken, and it ends with the outcomes of those that were begun.
        """
        return as_completed(self._do, works, self._takes)

    def stream(self, work: Work) -> AsyncIterator[Event]:
        """What happens in one dispatch: DispatchWaiting where no worker is free, DispatchStarted, DispatchProgress …,
        DispatchEnded with the outcome."""
        return events_of(lambda watcher: self.dispatch(**work.arguments(), watcher=watcher))

    async def _do(self, work: Work) -> Outcome | None:
        """One piece of many: None where the pool drained before it was begun."""
        # Calls of our own wait without being counted as a queue: there are never more than a few of them.
        call = Call(self._statistics, None, nobody)
        with call:
            async with self._taken:
                self._open_desk()
                if self._is_draining:
                    return None
                order = self._taking_desk().order(**work.arguments())
                try:
                    return await self._seen_through(call.bound(order))
                except asyncio.CancelledError:
                    task = asyncio.current_task()
                    if not self._is_draining or (task and task.cancelling()):
                        raise
                    # It was the drain that cancelled it, not whoever asked.
                    return call.outcome

    def _takes(self, under_way: int) -> bool:
        """Whether an iterator with so many under way takes another."""
        return not self._is_draining and under_way < 2 * self._workers

    def statistics(self) -> dict[str, Any]:
        """Calls, those that wait and work, outcomes by status, waiting and working time (p50, p95, p99) in seconds."""
        return self._statistics.as_json()

    def health(self) -> dict[str, Any]:
        """Whether work is taken, and what it needs: `status` is ok, busy, draining or closed."""
        is_open = self._desk is not None
        status = "closed" if not is_open else "draining" if self._is_draining else "busy" if self._is_full else "ok"
        return {
            "status": status,
            "workers": self._workers,
            "running": self._statistics.running,
            "waiting": self._statistics.waiting,
            "disk_free_bytes": shutil.disk_usage(self._workspace.folder).free,
            "rss_bytes": psutil.Process().memory_info().rss,
        }

    async def drain(self, seconds: float) -> int:
        """Take no further calls, and wait so long for those that were taken; the others are cancelled, and counted.

        Raises PoolClosedError in another event loop than the pool's.
        """
        self._desk_here()
        seconds = arguments.seconds("seconds", seconds, may_be_zero=True)
        self._is_draining = True
        # Those that wait for room among many are not under way yet.
        await self._under_way.wait(seconds)
        return await self._under_way.cancel()

    def drain_on(self, *signals: int, seconds: float, pass_on: bool = False) -> None:
        """Drain when one of these signals comes, such as SIGTERM; for the main thread's event loop.

        With `pass_on` the handler that a signal had, such as a web server's, is called then too.
        """
        self._desk_here()
        seconds = arguments.seconds("seconds", seconds, may_be_zero=True)

        def begin() -> None:
            if self._desk is not None and not self._is_draining:
                # A moment passes until the task runs, in which nothing is taken either.
                self._is_draining = True
                self._drainage = asyncio.ensure_future(self.drain(seconds))

        self._opened.enter_context(on_signals(begin, signals, pass_on=pass_on))

    @property
    def run_folder(self) -> RunFolder:
        """Where this pool's run is recorded."""
        return self._open_desk().folder

    def render_history(self) -> str | None:
        """What a lead would be told of the dispatches so far."""
        return render_history(read(self.run_folder.journal)[0])

    def dispatch_sync(self, specialist: str, objective: str | None = None, *args: Any, **options: Any) -> Outcome:
        """`dispatch` for code without an event loop; may be called from several threads at a time."""
        return self._background.run(self.dispatch(specialist, objective, *args, **options))

    def drain_sync(self, seconds: float) -> int:
        """`drain` for code without an event loop, while other threads wait in `dispatch_sync`."""
        return self._background.run(self.drain(seconds))

    def _open_desk(self) -> Desk:
        """The desk of an open pool, for the process and the event loop that opened it. Raises PoolClosedError."""
        if self._desk is None or self._home is None:
            raise PoolClosedError("the pool is not open; use it in a `with` or `async with` block")
        if self._home[0] != os.getpid():
            raise PoolClosedError(FORKED)
        return self._desk

    def _desk_here(self) -> Desk:
        """The desk for who is in the event loop of the pool. Raises PoolClosedError."""
        desk = self._open_desk()
        if self._home and self._home[1] is not asyncio.get_running_loop():
            raise PoolClosedError(
                "the pool was opened in another event loop; await it there, or use dispatch_sync and drain_sync"
            )
        return desk

    def _taking_desk(self) -> Desk:
        """The desk where it takes work. Raises PoolClosedError."""
        desk = self._desk_here()
        if self._is_draining:
            raise PoolClosedError("the pool is draining and takes no further work")
        return desk
