"""What a dispatch is given: its order, and what all dispatches of one run share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from outcrop.attaching import Attached
from outcrop.events import Watcher, nobody
from outcrop.gaps.deciding import Gaps
from outcrop.gateway import Gateway
from outcrop.hands import Hands
from outcrop.history import History
from outcrop.isolation import IsolationProof
from outcrop.journal import Journal
from outcrop.launching import Launcher
from outcrop.outside.servers import NOTHING, Offered
from outcrop.pins import CurrentPins
from outcrop.runs import RunFolder
from outcrop.telemetry import SILENT_RUN, RunSpans
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.protocol import ToolCall, WindowSettings
from outcrop_specialists.brief import ATTACH
from outcrop_specialists.context.skills import SKILLS_KEY


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done, by whom, within which limits. `command` is a program that plays the specialist."""

    specialist: str
    objective: str
    data: tuple[str, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    timeout_seconds: float = limits.DISPATCH_SECONDS
    grace_seconds: float = limits.GRACE_SECONDS
    environment: Mapping[str, str] = field(default_factory=dict)
    require: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None
    call: ToolCall | None = None
    """The one tool that is run at once, without an agent."""
    is_aside: bool = False
    """Such a call by the orchestrator itself, which only reads: not in the journal, bounded as a tool result."""
    window: WindowSettings | None = None
    """The window that a call answers to, where it is not that of the specialist's model."""
    pins: Mapping[str, str] = field(default_factory=dict)
    current_pins: CurrentPins | None = None
    """Those of the run, which each request is held to; None where the order's own are all there are."""
    skills: Mapping[str, str] = field(default_factory=dict)
    attach: tuple[str, ...] = ()
    attached: Attached = field(default_factory=Attached)
    seen: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the run's state that the role's view has."""
    watcher: Watcher = nobody
    """Is told what happens in this dispatch, besides whoever watches the whole run."""
    lost: tuple[str, ...] = ()
    """The dispatches of the same work whose nodes were lost."""

    outside: Offered = NOTHING
    """Tools of outside servers that it may call."""

    resumes: tuple[str, ...] = ()
    """The dispatches of the same work that ended for want of a package which is there now."""

    until: float | None = None
    """The time of `time.monotonic` by which it must have begun; its time limit is what is left until then."""

    @property
    def given_context(self) -> dict[str, Any]:
        """The context with the pins and the skills that go along."""
        more: dict[str, Mapping[str, str]] = {"pins": self.pins, SKILLS_KEY: self.skills}
        return {**self.context, **self.seen, **{key: dict(value) for key, value in more.items() if value}}

    @property
    def needs_model(self) -> bool:
        return self.command is None and self.call is None

    @property
    def result_chars(self) -> int:
        """How much of its results the outcome has: aside what a tool result, or all attachments, may have."""
        if self.call is None or not self.is_aside:
            return limits.RESULT_CHARS
        return limits.ATTACHED_CHARS if self.call.tool == ATTACH else limits.TOOL_RESULT_CHARS


@dataclass(frozen=True)
class Services:
    """What the dispatches of one run share."""

    workspace: Workspace
    folder: RunFolder
    journal: Journal
    history: History
    gateway: Gateway
    launcher: Launcher
    proof: IsolationProof
    hands: Hands
    gaps: Gaps
    watcher: Watcher = nobody
    spans: RunSpans = SILENT_RUN
