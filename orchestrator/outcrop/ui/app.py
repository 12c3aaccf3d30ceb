"""The addresses of the live view, and what is answered there."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from outcrop.cancelling import leave_request
from outcrop.journal import is_held
from outcrop.recovery import SHAPE
from outcrop.runs import RunFolder
from outcrop.text import inert
from outcrop.ui.batch_jobs import Asked, JobsView
from outcrop.ui.catalogue import RUN_ID, Catalogue
from outcrop.ui.compare import comparison
from outcrop.ui.earlier import earlier
from outcrop.ui.files import Codes, FileAnswer, opened
from outcrop.ui.follow import Follower
from outcrop.ui.pages import Html, Pages
from outcrop.ui.run_view import RunView
from outcrop.ui.runs_view import RunsView
from outcrop.ui.watching import Watch, Watches
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import NotUnderWayError, OutcropError, PathError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from starlette.requests import Request

_log = logging.getLogger(__name__)
_FOLLOWERS = 64
_QUERY_CHARS = 200
Endpoint = Callable[["Request"], Awaitable[Response]]


class Application:
    """The live view of one workspace."""

    def __init__(self, workspace: Workspace, token: str) -> None:
        self.workspace, self.watches = workspace, Watches()
        self._codes = Codes()
        self._pages = Pages(workspace.folder, workspace.runs, self._codes)
        self._followers: OrderedDict[str, Follower] = OrderedDict()
        self._catalogue = Catalogue(workspace, self.follower)
        # It is not made for two threads, and each page of the list asks it.
        self._listing = asyncio.Lock()
        routes = [
            Route("/", self._told(self._runs)),
            Route("/events", self._told(self._runs_events)),
            Route("/compare", self._told(self._compare)),
            Route("/run/{run_id}", self._told(self._run_at)),
            Route("/run/{run_id}/", self._told(self._run)),
            Route("/run/{run_id}/events", self._told(self._run_events)),
            Route("/run/{run_id}/jobs", self._told(self._jobs)),
            Route("/run/{run_id}/jobs/events", self._told(self._jobs_events)),
            Route("/run/{run_id}/earlier", self._told(self._earlier)),
            Route("/run/{run_id}/cancel/{dispatch_id}", self._told(self._cancel), methods=["POST"]),
            Route("/run/{run_id}/file/{code}/{path:path}", self._told(self._file)),
            Route("/{anything:path}", self._told(_nothing)),
        ]
        self.asgi = Starlette(routes=[Mount(f"/{token}", routes=routes)])

    def warm(self) -> None:
        """Have ready what the first page needs; blocking."""
        self._pages.warm()

    def follower(self, folder: RunFolder) -> Follower:
        """What reads the journal of a run, for all pages together."""
        known = self._followers.setdefault(folder.run_id, Follower(folder.journal))
        self._followers.move_to_end(folder.run_id)
        if len(self._followers) > _FOLLOWERS:
            self._followers.popitem(last=False)
        return known

    # --- the list

    async def _runs(self, request: Request) -> Response:
        return _html(await self._runs_watch(request).page())

    async def _runs_events(self, request: Request) -> Response:
        return _events(self._runs_watch(request), request)

    def _runs_watch(self, request: Request) -> Watch:
        query = request.query_params.get("q", "")[:_QUERY_CHARS].strip()
        given = request.query_params.get("page", "1")
        number = _number(given) or 1
        key = ("runs", number, query)
        return self.watches.find(key) or self.watches.add(
            key, RunsView(self._catalogue, self._pages, number, query), self._listing
        )

    async def _compare(self, request: Request) -> Response:
        names = request.query_params.getlist("run")
        if len(names) != 2:
            raise UsageError(f"Two runs are compared; {len(names)} were chosen.")
        first, second = (self._folder(name) for name in names)
        return _html(self._pages.compared(await asyncio.to_thread(comparison, first, second)))

    # --- one run

    async def _run_at(self, request: Request) -> Response:
        """The links of its page are relative: its address ends with a slash, which people leave out."""
        return RedirectResponse(f"{self._folder(request.path_params['run_id']).run_id}/")

    async def _run(self, request: Request) -> Response:
        return _html(await self._run_watch(request).page())

    async def _run_events(self, request: Request) -> Response:
        return _events(self._run_watch(request), request)

    def _run_watch(self, request: Request) -> Watch:
        folder = self._folder(request.path_params["run_id"])
        key = ("run", folder.run_id)
        return self.watches.find(key) or self.watches.add(key, RunView(folder, self.follower, self._pages))

    async def _jobs(self, request: Request) -> Response:
        return _html(await self._jobs_watch(request).page())

    async def _jobs_events(self, request: Request) -> Response:
        return _events(self._jobs_watch(request), request)

    def _jobs_watch(self, request: Request) -> Watch:
        folder = self._folder(request.path_params["run_id"])
        given = request.query_params
        asked = Asked(
            _number(given.get("before", given.get("from", ""))) or 0,
            "before" in given,
            given.get("status", "")[:_QUERY_CHARS],
            given.get("q", "")[:_QUERY_CHARS].strip(),
        )
        key = ("jobs", folder.run_id, asked)
        return self.watches.find(key) or self.watches.add(
            key, JobsView(folder, self.follower(folder), self._pages, asked)
        )

    async def _earlier(self, request: Request) -> Response:
        folder = self._folder(request.path_params["run_id"])
        asked = request.query_params
        before, status, words = asked.get("before", ""), asked.get("status", ""), asked.get("q", "")[:_QUERY_CHARS]
        follower = self.follower(folder)

        def look() -> Html:
            until = time.monotonic() + limits.UI_SEARCH_SECONDS
            follower.read_all(lambda: time.monotonic() < until)
            found = earlier(follower, _number(before), status, words)
            return self._pages.earlier(folder.run_id, found, status, words, follower.totals())

        return _html(await asyncio.to_thread(look))

    async def _cancel(self, request: Request) -> Response:
        folder, dispatch_id = self._folder(request.path_params["run_id"]), request.path_params["dispatch_id"]
        follower = self.follower(folder)

        def ask() -> None:
            follower.read_all()
            if dispatch_id not in follower.dispatches.open and dispatch_id not in follower.waiting:
                raise NotUnderWayError(f"{dispatch_id} is not under way in this run.")
            if not is_held(folder.journal):
                raise NotUnderWayError("The orchestrator of this run is gone.")
            leave_request(folder, dispatch_id)

        await asyncio.to_thread(ask)
        return JSONResponse({"told": f"{dispatch_id.partition('-')[0]} is being cancelled."}, 202)

    async def _file(self, request: Request) -> Response:
        folder = self._folder(request.path_params["run_id"])
        path = self._codes.path_of(request.path_params["path"])
        if not self._codes.is_good(folder.run_id, path, request.path_params["code"]):
            raise UnknownNameError("file", path)
        is_download = "download" in request.query_params
        file = await asyncio.to_thread(opened, self.workspace, path, is_download=is_download)
        return FileAnswer(file)

    def _folder(self, name: str) -> RunFolder:
        """The run of this id. Raises UnknownNameError."""
        folder = RunFolder(self.workspace.runs / name)
        if not RUN_ID.fullmatch(name) or not folder.has_begun():
            raise UnknownNameError("run", name)
        return folder

    def _told(self, endpoint: Endpoint) -> Endpoint:
        """An endpoint whose faults are told to who asked."""

        async def answer(request: Request) -> Response:
            try:
                return await endpoint(request)
            except (UnknownNameError, PathError, FileNotFoundError) as error:
                return self._refusal(request, 404, "Not found", str(error))
            except NotUnderWayError as error:
                return self._refusal(request, 409, "Not under way", str(error))
            except UsageError as error:
                return self._refusal(request, 400, "This makes no sense", str(error))
            except (OutcropError, OSError) as error:
                _log.warning("%s: %s", _asked_for(request), error)
                return self._refusal(request, 500, "This cannot be read", str(error))
            except SHAPE as error:
                _log.warning("%s: %r", _asked_for(request), error)
                return self._refusal(request, 500, "This cannot be read", "A record is not as this version writes it.")

        return answer

    def _refusal(self, request: Request, status: int, title: str, text: str) -> Response:
        if request.method == "POST":
            return JSONResponse({"told": text}, status)
        # From wherever it is said, the list is at the root.
        depth = request.url.path.count("/") - 2
        return _html(self._pages.told(title, text, "../" * depth or "./"), status)


def _number(given: str) -> int | None:
    """A whole number of a query; None for anything else."""
    return int(given) if given.isdecimal() and len(given) < 16 else None


def _asked_for(request: Request) -> str:
    """What was asked for, without the token: a log may be kept and shown."""
    return inert(request.url.path.split("/", 2)[2], keep_newlines=False)


async def _nothing(request: Request) -> Response:
    raise UnknownNameError("page", request.path_params["anything"])


def _html(page: Html, status: int = 200) -> Response:
    return HTMLResponse(page.text.encode("utf-8", "replace"), status, {"content-security-policy": page.policy})


def _events(watch: Watch, request: Request) -> Response:
    since = request.headers.get("last-event-id") or request.query_params.get("since", "")
    return StreamingResponse(watch.feed.stream(since), media_type="text/event-stream")
