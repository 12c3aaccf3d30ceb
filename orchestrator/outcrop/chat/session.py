"""A conversation: `async with Chat(workspace="data") as chat: answered = await chat.ask("which files are there?")`.

It is kept like a run: a folder with journal and exchanges. The runs that it begins are runs of their own that name it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from outcrop.attaching import Attached, read_attachments, to_attach
from outcrop.budget import Amount
from outcrop.chat.answer import Answered
from outcrop.chat.citations import Sources
from outcrop.chat.history import Earlier
from outcrop.chat.message import Answering
from outcrop.chat.pasted import checked_message
from outcrop.chat.record import conversation_in
from outcrop.chat.sight import Sight
from outcrop.chat.toolbox import ResearchArguments
from outcrop.desk import Desk, Shared
from outcrop.events import Event, Watcher, nobody
from outcrop.gaps.deciding import OnGap
from outcrop.launching import Launcher
from outcrop.models import ModelChoice, ModelTable
from outcrop.pins import Pins, read_pins
from outcrop.prices import dollars
from outcrop.run import Run
from outcrop.runs import RunFolder
from outcrop.settings import CHAT, Settings
from outcrop.telemetry import Workflow
from outcrop.workspace import Workspace
from outcrop_schemas.errors import ArgumentError, PoolClosedError
from outcrop_schemas.outcome import RunOutcome
from outcrop_specialists.context.store import Store


class Chat:
    """A conversation about the tables of a workspace. `watcher` may be changed between two messages.

    `earlier` is the folder of a chat to go on with, `on_gap` answers for the user where a run lacks a
    package. Opening raises UsageError, PathError, WorkspaceError, JournalError.
    """

    def __init__(
        self,
        *,
        workspace: str | Path = ".",
        data: Sequence[str | Path] = (),
        attach: Sequence[str | Path] = (),
        pins: Mapping[str, str] | None = None,
        model: ModelChoice | None = None,
        settings: Settings | None = None,
        workers: int | None = None,
        launcher: Launcher | str = "auto",
        watcher: Watcher = nobody,
        earlier: RunFolder | None = None,
        on_gap: OnGap | None = None,
    ) -> None:
        self._workspace = Workspace(workspace)
        self._settings = settings or Settings.load(self._workspace.folder)
        self._choice, self._workers, self._launcher = model, self._settings.chosen_workers(workers), launcher
        self._given_data, self._given_attach, self._earlier, self._on_gap = data, attach, earlier, on_gap
        # Those of the workspace hold for the runs; what of them shows no row, for the chat too.
        self._pins = Pins({**read_pins(self._workspace.home), **(pins or {})})
        self.watcher = watcher
        self.turns: list[Answered] = []
        self.runs: list[str] = []
        self.outcomes: list[RunOutcome] = []
        """What its runs answered, whole: for the user, and not for the chat's model."""

        self.warnings: list[str] = []
        self._history: list[Earlier] = []
        self._attached = Attached()
        self._opened = AsyncExitStack()
        self._one_at_a_time = asyncio.Lock()
        self._desk: Desk | None = None
        self._workflow = Workflow()

    async def __aenter__(self) -> Chat:
        data = [self._workspace.data(path) for path in self._given_data]
        attach = to_attach(self._workspace, self._given_attach)
        async with AsyncExitStack() as stack:
            models = ModelTable(self._choice, self._settings)
            calls = self._settings.model_calls
            shared = await stack.enter_async_context(
                Shared.opened(self._workspace, models, self._workers, calls, self._launcher)
            )
            about = {
                "kind": CHAT,
                "objective": None,
                "pins": self._pins.as_dict(),
                "turns": models.parameters(CHAT).turns,
                "window": models.window(CHAT).model_dump(),
                **({"continues": self._earlier.run_id} if self._earlier else {}),
            }
            self._workflow = shared.telemetry.workflow("outcrop.chat")
            stack.callback(self._workflow.end)
            desk = await Desk.open(shared, about, data, self._watch, attach)
            self._workflow.known_as(desk.folder.run_id)
            stack.push_async_callback(desk.close)
            self._begin(desk, data)
            await self._show_pins()
            await self._restore()
            self._opened = stack.pop_all()
        try:
            await self.attach(attach)
        except BaseException:
            await self._opened.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the workspace back. What is under way belongs to whoever awaits it, and has ended."""
        if self._line:
            self._line.close()
        self._desk = None
        await self._opened.aclose()

    def _begin(self, desk: Desk, data: Sequence[str]) -> None:
        self._desk, self._data = desk, list(data)
        self._sight, self._sources = Sight(desk.call_tool), Sources()
        self._sources.know(data, "given")
        self._store = Store(desk.folder.stored)
        self._shown_pins: dict[str, str] = {}
        self._attach: tuple[str, ...] = ()
        self._line = desk.gateway.line(CHAT, CHAT, pins=lambda: self._shown_pins)

    async def ask(self, message: str) -> Answered:
        """The answer to one message, checked. Cancelling ends its run, with every process, and records it so; the
        conversation goes on. Raises ObjectiveError for a message that cannot be asked, JournalError."""
        async with self._one_at_a_time:
            desk = self._open_desk
            text, notice = checked_message(message)
            work = Answering(
                desk,
                self._line,
                self._sight,
                self._sources,
                self._store,
                self._research,
                number=len(self._history) + 1,
                message=text,
                data=self._data,
                pins=self._shown_pins,
                earlier=self._history,
                attached=self._attached.texts,
                runs=self.runs,
                warnings=[notice] if notice else [],
            )
            try:
                with self._workflow.above():
                    answered = await work.run()
            finally:
                # Also of one that was cancelled: the user goes on from there.
                self._history = [*self._history, work.as_earlier()]
                if work.answered is not None:
                    self.turns.append(work.answered)
            return answered

    async def attach(self, paths: Sequence[str | Path]) -> list[str]:
        """Attach further files; the texts of all attachments as the chat sees them. Raises PathError."""
        desk = self._open_desk
        found = tuple(dict.fromkeys([*self._attach, *to_attach(self._workspace, paths)]))
        if found:
            self._attached = await read_attachments(
                desk.call_tool, desk.folder, found, CHAT, is_lead=True, tables=self._data, screen=self._sight.screened
            )
            await desk.note("attached", {"agent": CHAT, "paths": list(found), "handles": list(self._attached.handles)})
            self._attach = found
            self._sources.know(found, "attached")
        return list(self._attached.texts)

    @property
    def folder(self) -> RunFolder:
        """Where the conversation is recorded."""
        return self._open_desk.folder

    @property
    def attachments(self) -> list[str]:
        return list(self._attach)

    @property
    def pins(self) -> dict[str, str]:
        """All pins: they hold for every run."""
        return self._pins.as_dict()

    async def list_files(self) -> dict[str, Any]:
        """What `list_files` tells, for the user. Raises DataError."""
        found = await self._sight.look("list_files", {})
        self._sources.take_look("list_files", found)
        return found

    def spending(self) -> dict[str, Any] | None:
        """What the conversation spent, and under `with_runs` what it and its runs did; None where nothing costs."""
        spent = self._open_desk.shared.budget.spent
        own = self._open_desk.ledger.report()
        if own is None and spent == Amount():
            return None
        return {**(own or {}), "with_runs": {"spent_usd": dollars(spent.usd), "spent_tokens": spent.tokens}}

    @property
    def _open_desk(self) -> Desk:
        if self._desk is None:
            raise PoolClosedError("the chat is not open; use it in an `async with` block")
        return self._desk

    def _watch(self, event: Event) -> None:
        self.watcher(event)

    async def _show_pins(self) -> None:
        """Pins are the user's own words; one that looks like rows is for the runs alone."""
        pins = self._pins.as_dict()
        texts = [f"{key} = {value}" for key, value in pins.items()]
        screened = await self._sight.screened(texts, self._data)
        shown = [key for key, text, was in zip(pins, screened, texts, strict=True) if text == was]
        self._shown_pins = {key: pins[key] for key in shown}
        for text in self._shown_pins.values():
            self._sight.hear(text)
        if hidden := [key for key in pins if key not in self._shown_pins]:
            self.warnings.append(f"pins for runs only, since they tell of rows: {', '.join(hidden)}")
        await self._open_desk.note("shown_pins", {"agent": CHAT, "shown": shown})

    async def _restore(self) -> None:
        """Go on with an earlier conversation: its messages, and its answers as far as they tell of no row."""
        if self._earlier is None:
            return
        before = await self._open_desk.shared.hands.do(conversation_in, self._earlier)
        answers = await self._sight.screened([turn.answer for turn in before.turns], [*self._data, *before.tables])
        self._history = [Earlier(turn.message, answer) for turn, answer in zip(before.turns, answers, strict=True)]
        for turn in before.turns:
            self._sight.hear(turn.message)
        self.runs += before.runs
        for path, known in before.files.items():
            self._sources.know([path], known)
        self._sources.claims = before.claims
        turns = [{"message": turn.message, "answer": turn.answer} for turn in self._history]
        await self._open_desk.note("earlier", {"agent": CHAT, "turns": turns, "runs": before.runs})

    async def _research(self, asked: ResearchArguments, call_id: str) -> tuple[RunFolder, RunOutcome]:
        desk = self._open_desk
        for path in asked.attachments:
            if path not in self._attach:
                there = ", ".join(self._attach) or "nothing"
                raise ArgumentError("attachments", f"{path!r} is not attached; attached is {there}")

        async def on_open(folder: RunFolder) -> None:
            self.runs.append(folder.run_id)
            await desk.note("research", {"agent": CHAT, "call_id": call_id, "run_id": folder.run_id})

        run = Run(
            asked.objective,
            asked.data or self._data,
            pins=self._pins.as_dict(),
            attach=asked.attachments,
            watcher=self._watch,
            shared=desk.shared,
            on_open=on_open,
            asked_by=desk.folder.run_id,
            on_gap=self._on_gap,
        )
        outcome = await run.start()
        self.outcomes.append(outcome)
        assert run.desk is not None
        return run.desk.folder, outcome
