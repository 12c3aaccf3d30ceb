"""One run: a research objective in, an answer with verified artifacts out, everything recorded on the way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop import figures
from outcrop.attaching import read_attachments, to_attach
from outcrop.background import BackgroundLoop
from outcrop.desk import Desk
from outcrop.events import LeadTurn, Watcher, nobody
from outcrop.gaps.deciding import OnGap
from outcrop.gateway import Line
from outcrop.journal import now
from outcrop.launching import Launcher
from outcrop.lead.agent import lead_agent, render_tail, status_of_failure
from outcrop.lead.toolbox import LeadToolbox
from outcrop.memory import Memory, Remembered
from outcrop.memory import told_of as memory_block
from outcrop.models import ModelChoice, ModelTable
from outcrop.objective import checked_objective
from outcrop.outside.config import told_of as servers_block
from outcrop.pins import Pins, read_pins
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop.shared import LOCAL, Shared
from outcrop.telemetry import Providers
from outcrop.text import shorten
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import ModelError
from outcrop_schemas.messages import ModelRequest, ModelResponse, Usage
from outcrop_schemas.outcome import DispatchLine, Outcome, RunOutcome
from outcrop_specialists.agent import Agent, AgentEnd
from outcrop_specialists.completion import LeadAnswer
from outcrop_specialists.context.checkpoint import Checkpoint
from outcrop_specialists.context.skills import told_of as skills_block
from outcrop_specialists.context.store import Store

if TYPE_CHECKING:
    from outcrop.telemetry import MeterProvider, TracerProvider

LEAD = "lead"


class Run:
    """`await Run("clean and plot", data=["assays.csv"]).start()`, or `.start_sync()`.

    `model` is a name, a Model, or a mapping of roles (`lead`, a specialist's name, `default`) to either.
    `backend` is `local`, or `dask:ADDRESS` of a cluster that starts the specialists.
    The text of the files in `attach` (of a data file its columns) stands before the lead's objective.
    `tracer_provider` and `meter_provider` are those of an application that uses OpenTelemetry: the run is told to them.
    `on_gap` is asked whether a package that a specialist lacks may be installed; without it only the allow-list
    counts. `asked_by` is the id of the chat that hands it the objective, for the record.
    A run is started once. Starting raises UsageError, PathError, WorkspaceError, JournalError.
    """

    def __init__(
        self,
        objective: str,
        data: Sequence[str | Path] = (),
        *,
        workspace: str | Path = ".",
        model: ModelChoice | None = None,
        workers: int | None = None,
        pins: Mapping[str, str] | None = None,
        attach: Sequence[str | Path] = (),
        watcher: Watcher = nobody,
        settings: Settings | None = None,
        launcher: Launcher | str = "auto",
        backend: str = LOCAL,
        shared: Shared | None = None,
        on_open: Callable[[RunFolder], Awaitable[None]] | None = None,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        on_gap: OnGap | None = None,
        asked_by: str | None = None,
    ) -> None:
        self._objective, self._given_data, self._given_attach = checked_objective(objective), data, attach
        self._workspace = shared.workspace if shared else Workspace(workspace)
        self._settings = settings or (shared.models.settings if shared else Settings.load(self._workspace.folder))
        self._choice = model
        self._workers, self._backend = self._settings.chosen_workers(workers), backend
        # Those of the workspace hold for every run in it.
        self._pins = Pins({**read_pins(self._workspace.home), **(pins or {})})
        self._watcher, self._shared = watcher, shared
        self._on_open, self._launcher, self._on_gap = on_open, launcher, on_gap
        self._providers, self._asked_by = Providers(tracer_provider, meter_provider), asked_by
        self.desk: Desk | None = None

    async def start(self) -> RunOutcome:
        """Work until the lead completes. Cancelling ends every specialist and records the run as cancelled."""
        data = [self._workspace.data(path) for path in self._given_data]
        attach = to_attach(self._workspace, self._given_attach)
        async with AsyncExitStack() as stack:
            shared = self._shared or await self._opened(stack)
            workflow = stack.enter_context(shared.telemetry.within("outcrop"))
            turns = shared.models.parameters(LEAD).turns
            window = shared.models.window(LEAD)
            about: dict[str, Any] = {
                "kind": "run",
                "objective": self._objective,
                "pins": self._pins.as_dict(),
                "turns": turns,
                "window": window.model_dump(),
                "known": self._known(shared.skills, facts := Memory(self._workspace.home).relevant(self._objective)),
                "memory": [fact.line() for fact in facts],
                **({"asked_by": self._asked_by} if self._asked_by else {}),
            }
            self.desk = await Desk.open(shared, about, data, self._watcher, attach, self._on_gap)
            stack.push_async_callback(self.desk.close)
            workflow.known_as(self.desk.folder.run_id, self._objective)
            if self._on_open:
                await self._on_open(self.desk.folder)
            outcome = await _Work(self.desk, self._objective, data, self._pins, about["known"], attach).run()
            workflow.ended(outcome)
            return outcome

    def _known(self, skills: Mapping[str, str], facts: Sequence[Remembered]) -> list[str]:
        """What the workspace brings to every objective: its skills, whom specialists may ask beyond their own tools,
        and what fits of what was remembered."""
        servers = servers_block(self._settings.mcp) if self._settings.mcp else None
        memory = memory_block(facts) if facts else None
        return [block for block in (skills_block(skills) if skills else None, servers, memory) if block]

    async def _opened(self, stack: AsyncExitStack) -> Shared:
        models, calls = ModelTable(self._choice, self._settings), self._settings.model_calls
        return await stack.enter_async_context(
            Shared.opened(
                self._workspace,
                models,
                self._workers,
                calls,
                self._launcher,
                backend=self._backend,
                providers=self._providers,
            )
        )

    def start_sync(self) -> RunOutcome:
        """`start` for code without an event loop."""
        background = BackgroundLoop()
        try:
            return background.run(self.start())
        finally:
            background.close()


class _Work:
    """The lead at work on one open run."""

    def __init__(
        self, desk: Desk, objective: str, data: Sequence[str], pins: Pins, known: Sequence[str], attach: Sequence[str]
    ) -> None:
        self._desk, self._objective, self._data, self._pins, self._known = desk, objective, data, pins, known
        self._line = desk.gateway.line(LEAD, LEAD, pins=pins.as_dict)
        self._attach, self._store = attach, Store(desk.folder.stored)
        self._toolbox = LeadToolbox(desk, pins, self._store, desk.gateway.models.window(LEAD), attach)
        self._started_at, self._started = now(), time.monotonic()

    async def run(self) -> RunOutcome:
        with self._desk.spans.lead(self._objective) as span:
            outcome = await self._done()
            span.ended(outcome)
        return outcome

    async def _done(self) -> RunOutcome:
        try:
            attached = await self._attached()
            end = await self._agent(attached).run()
            outcome = await self._checked(self._answered(end), end)
        except ModelError as error:
            outcome = self._outcome(status_of_failure(error), errors=[f"model: {error}"])
        except asyncio.CancelledError:
            cancelled = self._outcome("cancelled", errors=["the run was cancelled"])
            self._desk.journal.append_now("event", self._desk.folder.run_id, _answer_note(cancelled))
            raise
        finally:
            self._line.close()
        await self._desk.note("answer", {"outcome": outcome.model_dump(mode="json")})
        return outcome

    async def _attached(self) -> Sequence[str]:
        """What the lead is shown of the attached files, recorded."""
        read = await read_attachments(self._desk.call_tool, self._desk.folder, self._attach, LEAD, is_lead=True)
        if self._attach:
            await self._desk.note("attached", {"paths": list(self._attach), "handles": list(read.handles)})
        return read.texts

    def _agent(self, attached: Sequence[str]) -> Agent:
        return lead_agent(
            _RecordedTurns(self._desk, self._line, self._desk.watcher),
            self._toolbox,
            self._objective,
            self._data,
            self._pins.as_dict(),
            self._tail,
            self._desk.gateway.models.parameters(LEAD).turns or limits.LEAD_TURNS,
            self._desk.gateway.models.window(LEAD),
            self._store,
            [*self._known, *attached],
            self._on_checkpoint,
        )

    def _tail(self) -> list[str]:
        return render_tail(self._pins.render(), self._desk.history.render(), self._toolbox.hypotheses.render())

    async def _on_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Record the account with what the record itself says: task, pins, dispatches and their files."""
        dispatches = [
            {
                **_line(outcome).model_dump(include={"dispatch_id", "specialist", "objective", "status"}),
                "artifacts": [artifact.path for artifact in outcome.artifacts],
            }
            for outcome in self._toolbox.outcomes
        ]
        task = {"objective": self._objective, "data": list(self._data), "pins": self._pins.as_dict()}
        await self._desk.note("checkpoint", {**checkpoint.model_dump(), "task": task, "dispatches": dispatches})

    def _answered(self, end: AgentEnd) -> RunOutcome:
        if not isinstance(end.answer, LeadAnswer):
            return self._outcome("error", errors=[f"{end.stop}: {end.reason}"])
        return self._outcome(**end.answer.model_dump(exclude={"claims"}))

    async def _checked(self, outcome: RunOutcome, end: AgentEnd) -> RunOutcome:
        """The answer with its figures computed again from their tables; one that is refuted makes it partial."""
        own = end.answer.claims if isinstance(end.answer, LeadAnswer) else []
        texts = figures.texts_of(outcome)
        claims = figures.claims_behind(texts, own, self._toolbox.outcomes)
        checked = await figures.check_claims(claims, self._desk.call_tool) if claims else []
        traced = figures.trace(texts, checked)
        said = figures.told(traced, checked)
        return outcome.model_copy(
            update={
                "claims": checked,
                "figures": traced,
                "warnings": [*outcome.warnings, *said],
                "status": "partial" if said and outcome.status == "success" else outcome.status,
            }
        )

    def _outcome(self, status: Any, **fields: Any) -> RunOutcome:
        # Those of one turn end in any order; they are told in the order in which they were given out.
        outcomes = sorted(self._toolbox.outcomes, key=lambda outcome: outcome.dispatch_id)
        bad = [outcome for outcome in outcomes if not outcome.is_good]
        warnings = [f"{len(bad)} of {len(outcomes)} dispatches did not succeed"] if bad and status == "success" else []
        warnings += [*self._line.warnings, *self._desk.shared.problems]
        artifacts = {artifact.path: artifact for outcome in outcomes for artifact in outcome.artifacts}
        return RunOutcome(
            run_id=self._desk.folder.run_id,
            objective=self._objective,
            status="partial" if bad and status == "success" else status,
            warnings=warnings,
            artifacts=list(artifacts.values()),
            hypotheses=self._toolbox.hypotheses.all(),
            dispatches=[_line(outcome) for outcome in outcomes],
            data=list(self._data),
            model=self._line.model_name,
            usage=_total_usage(self._line, [*outcomes, *self._desk.done_again], self._desk.ledger.report()),
            started_at=self._started_at,
            duration_s=round(time.monotonic() - self._started, 3),
            run_folder=str(self._desk.folder.path),
            **fields,
        )


class _RecordedTurns:
    """The lead's model. Each request is noted in the journal before it is sent: its place among the dispatches."""

    def __init__(self, desk: Desk, line: Line, watcher: Watcher) -> None:
        self._desk, self._line, self._watcher, self._count = desk, line, watcher, 0

    async def create(self, request: ModelRequest) -> ModelResponse:
        if request.purpose != "turn":
            return await self._line.create(request)
        self._count += 1
        await self._desk.note("turn", {"number": self._count})
        used, account = self._line.usage, self._desk.ledger.spent_by(LEAD)
        tokens = used.prompt_tokens + used.output_tokens
        self._watcher(LeadTurn(self._count, tokens, account["spent_usd"] if account else "0"))
        return await self._line.create(request)


def _answer_note(outcome: RunOutcome) -> dict[str, Any]:
    return {"kind": "answer", "outcome": outcome.model_dump(mode="json")}


def _line(outcome: Outcome) -> DispatchLine:
    return DispatchLine(
        dispatch_id=outcome.dispatch_id,
        specialist=outcome.specialist,
        objective=shorten(outcome.objective, limits.HISTORY_OBJECTIVE_CHARS),
        status=outcome.status,
        duration_s=outcome.duration_s,
        summary=outcome.summary,
    )


def _total_usage(line: Line, outcomes: Sequence[Outcome], spending: dict[str, Any] | None) -> dict[str, Any]:
    total = line.usage
    for outcome in outcomes:
        total = total.plus(Usage.model_validate({k: v for k, v in outcome.usage.items() if k in Usage.model_fields}))
    turns = line.turns + sum(o.usage.get("turns", 0) for o in outcomes)
    return {"turns": turns, **total.model_dump(), **({"spending": spending} if spending else {})}
