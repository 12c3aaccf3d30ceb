"""Ending one dispatch from another process: a request is a file in the run folder, which no specialist can write.

Its orchestrator looks for such files on a timer, while dispatches run only. What names none of them is removed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from outcrop.recovery import RunRecord
from outcrop.runs import RunFolder
from outcrop.spill import write_private
from outcrop_schemas import limits
from outcrop_schemas.errors import NotUnderWayError, OutcropError, UnknownNameError, WorkspaceError

REQUESTED = "cancel_requested"
_PREFIX = "cancel-"
_BECAUSE = "it was cancelled on request"
_log = logging.getLogger(__name__)
Note = Callable[[str, Mapping[str, Any]], Awaitable[object]]


class Cancellable(Protocol):
    """A dispatch that waits or is at work."""

    dispatch_id: str

    def cancel(self, because: str) -> None:
        """Make it end soon."""


def ask_to_cancel(run: RunRecord, name: str) -> str:
    """Ask the orchestrator of a run to cancel the dispatch that `name`, an id or its beginning, means; its id.

    Raises UnknownNameError, NotUnderWayError where there is nothing left to cancel, WorkspaceError.
    """
    begun = [entry.id for entry in run.records.entries if entry.type == "start"]
    # Also those that waited when the orchestrator ended: they are known, and there is nothing left to cancel.
    ids = begun + [entry.id for entry in run.records.waiting()]
    matching = [each for each in ids if each.startswith(name)] if name else []
    if len(matching) != 1:
        raise UnknownNameError("dispatch", name, matching[:20], ids[-20:])
    end = run.outcome(matching[0])
    if end is not None:
        raise NotUnderWayError(f"{matching[0]} has ended: {end.status}")
    if not run.is_under_way:
        raise NotUnderWayError(f"{run.folder.run_id}: its orchestrator is gone")
    leave_request(run.folder, matching[0])
    return matching[0]


def leave_request(folder: RunFolder, dispatch_id: str) -> None:
    """Write the request for a dispatch that is known to wait or run. Raises WorkspaceError."""
    request = folder.requests / f"{_PREFIX}{dispatch_id}"
    try:
        folder.requests.mkdir(mode=0o700, exist_ok=True)
        write_private(request, b"", is_flushed=False)
    except OSError as error:
        raise WorkspaceError(f"{request}: the request cannot be written: {error.strerror}") from error


class Requests:
    """Looks for the requests of one run and does what they ask. Belongs to one event loop."""

    def __init__(self, folder: RunFolder, note: Note) -> None:
        self._folder, self._note = folder, note
        self._works: dict[str, Cancellable] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._under_way: set[asyncio.Task[None]] = set()
        self._stuck: set[str] = set()

    def hear_for(self, work: Cancellable) -> None:
        """From now on this dispatch may be cancelled on request."""
        self._works[work.dispatch_id] = work
        if self._timer is None:
            self._look_later()

    def forget(self, work: Cancellable) -> None:
        """It has ended."""
        del self._works[work.dispatch_id]
        if not self._works and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def close(self) -> None:
        """Wait for what is being recorded, and remove requests that came too late."""
        if self._under_way:
            await asyncio.wait(self._under_way)
        self._take()

    def _look_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(limits.REQUEST_LOOK_SECONDS, self._look)

    def _look(self) -> None:
        for dispatch_id in self._take():
            if work := self._works.get(dispatch_id):
                task = asyncio.ensure_future(self._cancel(work))
                self._under_way.add(task)
                task.add_done_callback(self._under_way.discard)
        self._look_later()

    def _take(self) -> list[str]:
        """The dispatches that requests name; the requests are gone then."""
        found = []
        try:
            # Without a request there is no such folder: a look costs one system call.
            for path in self._folder.requests.iterdir():
                if self._is_removed(path) and path.name.startswith(_PREFIX):
                    found.append(path.name.removeprefix(_PREFIX))
        except FileNotFoundError:
            pass
        except OSError as error:
            _log.warning("requests cannot be looked for: %s", error)
        return found

    def _is_removed(self, path: Path) -> bool:
        """Whether this is gone now; what cannot be removed, such as a folder, is told of once and stands in no way."""
        try:
            path.unlink()
        except OSError as error:
            if path.name not in self._stuck:
                self._stuck.add(path.name)
                _log.warning("a request cannot be taken: %s", error)
            return False
        return True

    async def _cancel(self, work: Cancellable) -> None:
        try:
            await self._note(REQUESTED, {"agent": work.dispatch_id})
        except OutcropError as error:
            # What stands in the way of the record must not stand in the way of the end.
            _log.warning("the request to cancel %s is not recorded: %s", work.dispatch_id, error)
        work.cancel(_BECAUSE)
