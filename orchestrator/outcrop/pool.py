"""The pool: a bounded number of specialists for a program that has pieces of work. One run per pool."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from outcrop.background import BackgroundLoop
from outcrop.desk import Desk, Shared
from outcrop.events import Watcher, nobody
from outcrop.history import render_history
from outcrop.launching import Launcher
from outcrop.launching.nursery import choose_launcher
from outcrop.launching.unconfined import UnconfinedLauncher
from outcrop.models import ModelChoice, ModelTable
from outcrop.records import read
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import PoolClosedError
from outcrop_schemas.outcome import Outcome

T = TypeVar("T")


class Pool:
    """Specialists for hire: `async with Pool(workers=4) as pool: outcome = await pool.dispatch(...)`.

    `model` is a name, a Model, or a mapping of roles to either. Any number of `dispatch` calls may wait at a time, each
    at the cost of its order (over 10,000 not even that); `workers` of them are at work. A plain `with` gives the same
    pool to threads, through `dispatch_sync`.
    `unconfined` leaves out every layer of confinement but the limits; the outcomes say so.
    Opening raises WorkspaceError (WorkspaceBusyError where another run holds the workspace).
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
    ) -> None:
        self._workspace, self._watcher = Workspace(workspace), watcher
        self._settings = settings or Settings.load(self._workspace.folder)
        self._workers = self._settings.workers if workers is None else workers
        self._choice = model
        self._launcher, self._is_unconfined = launcher, unconfined
        self._desk: Desk | None = None
        self._opened = AsyncExitStack()
        self._under_way: set[asyncio.Task[Any]] = set()
        self._taken = asyncio.Semaphore(limits.OPEN_DISPATCHES)
        self._background: BackgroundLoop | None = None

    async def __aenter__(self) -> Pool:
        async with AsyncExitStack() as stack:
            models = ModelTable(self._choice, self._settings)
            launcher: Launcher | str = self._launcher
            if self._is_unconfined:
                chosen = choose_launcher(launcher, self._workspace.home / "cache")
                launcher = UnconfinedLauncher(chosen)
            shared = await stack.enter_async_context(
                Shared.opened(self._workspace, models, self._workers, self._settings.model_calls, launcher)
            )
            self._desk = await Desk.open(
                shared, {"kind": "pool", "objective": None, "unconfined": self._is_unconfined}, watcher=self._watcher
            )
            stack.push_async_callback(self._desk.close)
            self._opened = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what is under way (it is recorded as cancelled) and give the workspace back."""
        self._open_desk()
        self._desk = None
        under_way = list(self._under_way)
        for task in under_way:
            task.cancel()
        try:
            await _all_ended(under_way)
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
    ) -> Outcome:
        """Have one piece of work done by a fresh process; waits for a free worker first.

        `timeout` and `grace` are seconds. `command` plays a program of yours that speaks protocol 1. `pins` are facts
        that every request to the specialist's model carries word for word; the text of the files in `attach` (of a data
        file its profile) stands in its first one, read before within the same limit of time. However the work goes, the
        answer is an outcome; raises UsageError and PathError for an order that makes no sense, JournalError or
        SpillError when the record cannot be kept, and CancelledError, after the process was ended, when the caller is
        cancelled.
        """
        self._open_desk()
        async with self._taken:
            # It may have been closed while this call waited.
            desk = self._open_desk()
            order = desk.order(
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
            return await self._tracked(desk.dispatch(order))

    @property
    def run_folder(self) -> RunFolder:
        """Where this pool's run is recorded."""
        return self._open_desk().folder

    def render_history(self) -> str | None:
        """What a lead would be told of the dispatches so far."""
        return render_history(read(self.run_folder.journal)[0])

    def __enter__(self) -> Pool:
        self._background = BackgroundLoop()
        try:
            self._background.run(self.__aenter__())
        except BaseException:
            self._background.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        background, self._background = self._open_background(), None
        try:
            background.run(self.__aexit__(kind, error, trace))
        finally:
            background.close()

    def dispatch_sync(self, specialist: str, objective: str | None = None, *args: Any, **options: Any) -> Outcome:
        """`dispatch` for code without an event loop; may be called from several threads at a time."""
        return self._open_background().run(self.dispatch(specialist, objective, *args, **options))

    async def _tracked(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        try:
            return await task
        except asyncio.CancelledError:
            task.cancel()
            await _all_ended([task])
            raise

    def _open_desk(self) -> Desk:
        if self._desk is None:
            raise PoolClosedError("the pool is not open; use it in a `with` or `async with` block")
        return self._desk

    def _open_background(self) -> BackgroundLoop:
        if self._background is None:
            raise PoolClosedError(
                "dispatch_sync needs the pool in a plain `with` block; in async code use `await dispatch`"
            )
        return self._background


async def _all_ended(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Wait until tasks that were cancelled have ended, which has a bound; a cancellation meanwhile is raised then."""
    cancelled: asyncio.CancelledError | None = None
    while pending := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
