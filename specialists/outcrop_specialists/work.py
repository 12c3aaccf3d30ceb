"""The work of one dispatch: an agent of the role at work, or one tool called at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from outcrop_schemas import limits
from outcrop_schemas.errors import ModelError, ProtocolError
from outcrop_schemas.protocol import Artifact, Completion, Dispatch, Log, WindowSettings
from outcrop_specialists.agent import Agent, AgentEnd, Asks, Toolbox
from outcrop_specialists.brief import ATTACH, opening, pinned
from outcrop_specialists.channel import ChannelModel
from outcrop_specialists.completion import SpecialistAnswer, checked
from outcrop_specialists.context.attachments import AttachArguments, attached
from outcrop_specialists.context.selection.embedding import find_embedder
from outcrop_specialists.context.selection.offering import Offering
from outcrop_specialists.context.skills import SKILLS_KEY, told_of
from outcrop_specialists.context.store import Store
from outcrop_specialists.naming import claims_of
from outcrop_specialists.outside import OutsideTools, are_many, schema_of
from outcrop_specialists.reading.cache_folder import cache_folder
from outcrop_specialists.roles import Role, get_role
from outcrop_specialists.stream import Stream
from outcrop_specialists.table_fit import FIT, FitArguments, fit_table
from outcrop_specialists.telling import Gap
from outcrop_specialists.telling_calls import TellingCalls
from outcrop_specialists.toolbox import SpecialistToolbox, run_tool
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.registry import get_tool
from outcrop_specialists.unseen.looking import LOOK, LookArguments, look_safely

# In the scratch folder of the dispatch, which goes with the run.
_STORE = "stored"
# What scripts and commands say that go on.
RUNNING = "running"


async def play_role(request: Dispatch, stream: Stream) -> Completion:
    """Have the role's agent work on the objective. Raises ModelError, ProtocolError, UnknownNameError."""
    if request.model_channel is None:
        raise ProtocolError("a built-in specialist needs a model channel", field="model_channel")
    role = get_role(request.specialist)
    store, channel = Store(Path.cwd() / _STORE), ChannelModel(request.model_channel.fd)
    calls = TellingCalls(channel.tell, request.model_channel.tools_told)

    def on_call(name: str) -> None:
        calls.began(name)
        stream.progress(name, tool=name)

    toolbox = SpecialistToolbox(
        role.tools,
        _context(request, stream),
        on_call,
        store,
        has_skills=SKILLS_KEY in request.context,
        offering=_offering(role, request, stream),
        is_deferring=request.limits.window.tools == "api",
        outside=OutsideTools(request.outside, channel, _context(request, stream)) if request.outside else None,
    )
    agent = specialist_agent(role, request, channel, calls.around(toolbox), store)
    try:
        end = await agent.run()
    except ModelError as error:
        return _unfinished(request, toolbox, f"model: {error}")
    if not isinstance(end.answer, SpecialistAnswer):
        return _unfinished(request, toolbox, f"{end.stop}: {end.reason}")
    return _finished(request, toolbox, end, end.answer)


def _offering(role: Role, request: Dispatch, stream: Stream) -> Offering | None:
    """What of the role's tools and of outside ones the objective needs; None where it is not we who choose."""
    wanted = request.limits.window.tools
    if wanted != "select" and not (wanted == "all" and are_many(request.outside)):
        return None
    # What others serve changes as they like: of that nothing is kept for other runs.
    cache = None if request.outside else cache_folder(Path(request.workspace).resolve(), "tools")
    outside = [schema_of(tool) for tool in request.outside]
    offering = Offering(role.tools, lambda text: stream.send(Log(text=text)), cache, find_embedder(), outside)
    offering.begin(request.objective)
    return offering


def specialist_agent(role: Role, request: Dispatch, model: ChannelModel, toolbox: Toolbox, store: Store) -> Agent:
    """The agent of a dispatch; replay builds the very same one."""
    context = dict(request.context)
    data, pins = context.pop("data", []), context.pop("pins", None)
    told = request.limits
    return role_agent(
        role,
        model,
        toolbox,
        request.objective,
        data,
        context,
        pins,
        told.turns,
        told.window,
        store,
        request.attachments,
    )


def role_agent(
    role: Role,
    model: Asks,
    toolbox: Toolbox,
    objective: str,
    data: Sequence[str],
    context: Mapping[str, Any],
    pins: Mapping[str, str] | None,
    turns: int,
    window: WindowSettings,
    store: Store | None = None,
    attachments: Sequence[str] = (),
) -> Agent:
    """The agent of a role; pins stand at the start and at the end of all that it sees. Without a store (in a replay)
    nothing is put aside again."""
    context = dict(context)
    skills: Mapping[str, str] = context.pop(SKILLS_KEY, {})
    return Agent(
        model,
        toolbox,
        system=role.prompt(turns),
        opening=opening(objective, data, context, pins, [told_of(skills)] if skills else [], attachments),
        answer=SpecialistAnswer,
        max_turns=turns,
        tail=lambda: [pinned(pins)] if pins else [],
        window=window,
        store=store,
    )


def answer_call(request: Dispatch, stream: Stream) -> Completion:
    """Run the one tool that the request names. Raises OutcropError."""
    assert request.call is not None
    if request.call.tool == ATTACH:
        texts = attached(_context(request, stream), checked(AttachArguments, request.call.arguments))
        return Completion(dispatch_id=request.dispatch_id, status="success", results={"texts": texts})
    if request.call.tool == FIT:
        found = fit_table(_context(request, stream), checked(FitArguments, request.call.arguments))
        return Completion(dispatch_id=request.dispatch_id, status="success", results=found)
    if request.call.tool == LOOK:
        seen = look_safely(_context(request, stream), checked(LookArguments, request.call.arguments))
        return Completion(dispatch_id=request.dispatch_id, status="success", results=seen)
    tool = get_tool(request.call.tool)
    stream.progress(tool.name, tool=tool.name)
    context = _context(request, stream)
    result = run_tool(tool, context, request.call.arguments)
    while result.results.get("state") == RUNNING and "handle" in result.results:
        # There is nobody who could ask for it later; how long it may take is the dispatch's to say.
        result = run_tool(get_tool("check_script"), context, {"handle": result.results["handle"]})
    return Completion(
        dispatch_id=request.dispatch_id,
        status="success",
        summary=result.summary,
        results=result.as_json()["results"],
        artifacts=[_placed(request, artifact) for artifact in result.artifacts],
        findings=result.notes,
    )


def _context(request: Dispatch, stream: Stream) -> ToolContext:
    workspace = Path(request.workspace).resolve()

    def report(text: str, done: int | None = None, total: int | None = None) -> None:
        stream.progress(text, done, total)

    return ToolContext(workspace, Path(request.results_dir), Path.cwd(), report, request.limits.window.tokens)


def _finished(request: Dispatch, toolbox: SpecialistToolbox, end: AgentEnd, answer: SpecialistAnswer) -> Completion:
    """The answer as a completion. Files that the tools wrote and the model forgot are named too: nothing gets lost."""
    artifacts = {artifact.path: artifact for artifact in answer.artifacts}
    for path, artifact in toolbox.artifacts.items():
        artifacts.setdefault(path, artifact)
    said = [answer.summary, *answer.findings, *answer.evidence.supports, *answer.evidence.contradicts]
    cited = claims_of(said, toolbox.claims)
    claims = list(answer.claims) + [claim for claim in cited if claim not in answer.claims]
    fields = answer.model_dump(exclude={"artifacts", "claims", "gap", "blockers"})
    return Completion(
        dispatch_id=request.dispatch_id,
        artifacts=[_placed(request, artifact) for artifact in artifacts.values()],
        claims=[claim.model_dump(exclude_defaults=True) for claim in claims[: limits.CLAIMS_CHECKED]],
        usage={"turns": end.turns},
        gap=_gap(answer.gap or toolbox.told.gap()),
        blockers=[*answer.blockers, *toolbox.told.blockers()],
        **fields,
    )


def _gap(gap: Gap | None) -> dict[str, Any] | None:
    return gap.model_dump(exclude_none=True) if gap else None


def _unfinished(request: Dispatch, toolbox: SpecialistToolbox, reason: str) -> Completion:
    """What there is when the agent did not complete: an error, with what its tools said and wrote all the same."""
    return Completion(
        dispatch_id=request.dispatch_id,
        status="error",
        summary=f"The work was not completed: {reason}"[:2_000],
        results={},
        artifacts=[_placed(request, artifact) for artifact in toolbox.artifacts.values()],
        findings=toolbox.summaries[-limits.LIST_ENTRIES :],
        gap=_gap(toolbox.told.gap()),
        blockers=toolbox.told.blockers(),
        errors=[reason],
    )


def _placed(request: Dispatch, artifact: Artifact) -> Artifact:
    """An artifact with an absolute path: a relative one would start at the scratch folder."""
    return artifact.model_copy(update={"path": str(Path(request.workspace) / artifact.path)})
