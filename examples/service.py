"""A small web service on an Outcrop pool: jobs in, progress as server-sent events, outcomes out.

    pip install . fastapi            in the checkout
    EXAMPLE_WORKSPACE=folder-with-data uvicorn --app-dir examples --timeout-graceful-shutdown 30 service:app

    POST   /jobs               {"specialist": "analytics", "objective": "summarise Au", "data": ["assays.csv"]}
    GET    /jobs/{number}      how far it is, and its outcome
    GET    /jobs/{number}/events   progress as server-sent events
    DELETE /jobs/{number}      cancel it: its process is ended
    GET    /health, /statistics

503 with Retry-After says that as many jobs wait as may. From SIGTERM on no further jobs are taken, and those that were
have EXAMPLE_DRAIN seconds to end; whoever listens to their events is told how they ended. uvicorn waits for open
responses before it ends the application, at most as long as `--timeout-graceful-shutdown` says: that is for listeners
who no longer read, and is to be longer than EXAMPLE_DRAIN.
"""

import asyncio
import json
import os
import signal
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel

from outcrop import OutcropError, Pool, PoolBusyError
from outcrop.events import DispatchProgress, DispatchStarted, Event

WORKSPACE = os.environ.get("EXAMPLE_WORKSPACE", ".")
WORKERS = int(os.environ.get("EXAMPLE_WORKERS", "4"))
QUEUE = int(os.environ.get("EXAMPLE_QUEUE", "20"))
DRAIN_SECONDS = float(os.environ.get("EXAMPLE_DRAIN", "20"))
KEPT_JOBS = 1_000
KEPT_EVENTS = 200


class JobIn(BaseModel):
    """What is to be done."""

    specialist: str = "analytics"
    objective: str
    data: list[str] = []
    deadline: float | None = None


@dataclass
class Job:
    """A job that was taken."""

    number: int
    state: str = "waiting"
    outcome: dict[str, Any] | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    task: asyncio.Task[None] | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_over(self) -> bool:
        return self.state not in ("waiting", "running")

    def tell(self, event: Event) -> None:
        """Remember an event for whoever listens."""
        if isinstance(event, DispatchStarted):
            self.state = "running"
        elif isinstance(event, DispatchProgress) and len(self.events) < KEPT_EVENTS:
            self.events.append(event.message)
        self.wake()

    def wake(self) -> None:
        """Let all who wait look again; who waits from now on waits for the next change."""
        self.changed.set()
        self.changed = asyncio.Event()


class Jobs:
    """The jobs of this service; the oldest that are over are forgotten."""

    def __init__(self, pool: Pool) -> None:
        self._pool, self._jobs, self._count = pool, OrderedDict[int, Job](), 0

    def take(self, wanted: JobIn) -> Job:
        """Begin a job. Raises PoolBusyError, and PoolClosedError while the service ends."""
        health = self._pool.health()["status"]
        # Jobs that were taken a moment ago have not come to the pool yet.
        is_full = sum(not job.is_over for job in self._jobs.values()) >= WORKERS + QUEUE
        if health != "ok" or is_full:
            raise PoolBusyError(f"the service is {'busy' if is_full else health}")
        self._count += 1
        job = Job(self._count)
        job.task = asyncio.create_task(self._do(job, wanted))
        self._jobs[job.number] = job
        for number in [number for number, old in self._jobs.items() if old.is_over][:-KEPT_JOBS]:
            del self._jobs[number]
        return job

    def find(self, number: int) -> Job:
        """Raises HTTPException 404."""
        if number not in self._jobs:
            raise HTTPException(404, f"there is no job {number}")
        return self._jobs[number]

    async def _do(self, job: Job, wanted: JobIn) -> None:
        try:
            outcome = await self._pool.dispatch(
                wanted.specialist, wanted.objective, wanted.data, deadline=wanted.deadline, watcher=job.tell
            )
            job.state, job.outcome = outcome.status, outcome.model_dump(mode="json")
        except asyncio.CancelledError:
            job.state = "cancelled"
            raise
        except OutcropError as error:
            job.state, job.outcome = error.kind, {"errors": [str(error)]}
        finally:
            job.wake()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """The pool lives as long as the application; what is under way when it ends gets its time."""
    async with Pool(workers=WORKERS, queue=QUEUE, workspace=WORKSPACE) as pool:
        app.state.pool, app.state.jobs = pool, Jobs(pool)
        if threading.current_thread() is threading.main_thread():
            # At the signal, and not only below: uvicorn comes there when all who listen to events have gone.
            pool.drain_on(signal.SIGTERM, signal.SIGINT, seconds=DRAIN_SECONDS, pass_on=True)
        yield
        await pool.drain(DRAIN_SECONDS)


app = FastAPI(title="Outcrop as a service", lifespan=lifespan)


@app.exception_handler(PoolBusyError)
async def busy(request: Request, error: PoolBusyError) -> Response:
    """As many jobs wait as may."""
    return JSONResponse({"error": error.kind, "message": str(error)}, 503, {"Retry-After": "1"})


@app.post("/jobs", status_code=202)
async def post_job(wanted: JobIn, request: Request) -> dict[str, Any]:
    """Take a job."""
    job = request.app.state.jobs.take(wanted)
    return {"number": job.number, "state": job.state}


@app.get("/jobs/{number}")
async def get_job(number: int, request: Request, wait: float = 0) -> dict[str, Any]:
    """How far a job is; with `wait` up to so many seconds until it is over."""
    job = request.app.state.jobs.find(number)
    if wait > 0:
        try:
            async with asyncio.timeout(wait):
                while not job.is_over:
                    await job.changed.wait()
        except TimeoutError:
            pass  # told as it is
    return {"number": job.number, "state": job.state, "outcome": job.outcome}


@app.get("/jobs/{number}/events")
async def get_events(number: int, request: Request) -> StreamingResponse:
    """Progress as server-sent events; the last one is the end."""
    job = request.app.state.jobs.find(number)

    async def sent() -> AsyncIterator[str]:
        at = 0
        while True:
            if len(job.events) == at and not job.is_over:
                await job.changed.wait()
            for message in job.events[at:]:
                yield f"event: progress\ndata: {json.dumps(message)}\n\n"
            at = len(job.events)
            if job.is_over:
                yield f"event: end\ndata: {json.dumps({'state': job.state, 'outcome': job.outcome})}\n\n"
                return

    return StreamingResponse(sent(), media_type="text/event-stream")


@app.delete("/jobs/{number}")
async def delete_job(number: int, request: Request) -> dict[str, Any]:
    """Cancel a job; answers when its process has ended."""
    job = request.app.state.jobs.find(number)
    if job.task and not job.task.done():
        job.task.cancel()
        await asyncio.wait([job.task])
    return {"number": job.number, "state": job.state}


@app.get("/health")
async def health(request: Request) -> dict[str, Any]:
    """Whether jobs are taken."""
    return dict(request.app.state.pool.health())


@app.get("/statistics")
async def statistics(request: Request) -> dict[str, Any]:
    """What was done so far."""
    return dict(request.app.state.pool.statistics())
