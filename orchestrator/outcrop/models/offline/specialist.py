"""The offline model as a specialist: looks at the data, picks the tool, binds its arguments, calls it, answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from outcrop.models.offline.answers import cut, sentence, sentences, small_results, smaller
from outcrop.models.offline.binding import Binding, bind
from outcrop.models.offline.calling import NO_CONDITION
from outcrop.models.offline.cards import own_cards
from outcrop.models.offline.conversation import Answer, Call, Conversation, string_of
from outcrop.models.offline.inspection import INSPECT, next_look, profile_of
from outcrop.models.offline.judging import judged
from outcrop.models.offline.profile import Profile, joined
from outcrop.models.offline.references import Previous
from outcrop.models.offline.routing import asks_for_number, without_asides
from outcrop.models.offline.schema import properties_of
from outcrop.models.offline.sequence import (
    CLEANING,
    Attempt,
    Done,
    Place,
    Progress,
    Record,
    replaces_table,
    work_through,
)
from outcrop.models.offline.steps import Plan, Step, make_plan, quoted
from outcrop.models.offline.supposing import entries_of, told_to, undecided, with_interval_tops
from outcrop.models.offline.tables import is_raster_file, takes_several, targets_of, unusable
from outcrop.models.offline.values import INSPECT_COLUMNS, look_up, with_columns
from outcrop_schemas import limits
from outcrop_schemas.messages import ModelRequest
from outcrop_specialists.completion import COMPLETE
from outcrop_specialists.context.checkpoint import CHECKPOINT
from outcrop_specialists.telling import ASK, REPORT_GAP

CLUSTER, CHOOSE = "cluster", "choose_clusters"
FILES_INSPECTED = 3
SUSPECTED = "SUSPECTED"
ROWS_OF_DATA = frozenset(("rows", "preview"))
_CAUTION = re.compile(r"CAUTION: includes .+?(?=; see notes|$)")
_ROLE = re.compile(r"You are the ([\w-]+) specialist")


class SpecialistTurn:
    """One turn of a specialist, worked out anew from the whole conversation."""

    def __init__(self, request: ModelRequest, conversation: Conversation) -> None:
        self._conversation = conversation
        self._tools = {tool.name: tool for tool in request.tools if tool.name != COMPLETE}
        self._cards = own_cards(self._tools.values(), without=(CHECKPOINT.name, REPORT_GAP.name, ASK.name))
        role = _ROLE.search(request.system)
        self._role = role[1] if role else ""
        self._given = Previous.of_context(conversation.context)
        self._profiles: dict[str, Profile] = {}

    def calls(self) -> list[Call]:
        """What to call now: an inspection, the tool, or `complete`."""
        paths = list(dict.fromkeys(self._conversation.data))[:FILES_INSPECTED]
        if not paths:
            return [self._refuse("No data file was given, and nothing can be done without one")]
        tables = [path for path in paths if INSPECT in self._tools and not is_raster_file(path)]
        unseen = [look for path in tables if (look := next_look(self._conversation, path))]
        if unseen:
            return unseen
        blockers = [reason for path in paths if (reason := self._take_profile(path))]
        if not self._profiles:
            return [self._refuse(*blockers)]
        plan = self._plan()
        progress = work_through(plan.steps, self._targets, self._attempt, lambda step: replaces_table(step, self._role))
        if progress.calls:
            return progress.calls
        return [self._complete(plan, progress, blockers)]

    def _plan(self) -> Plan:
        """The steps of the objective; a tool that the lead has chosen settles it."""
        chosen = self._conversation.context.get("tool")
        card = next((card for card in self._cards if card.name == chosen), None)
        if card:
            return Plan([Step(self._conversation.objective, card)])
        return make_plan(self._conversation.objective, self._cards, joined(list(self._profiles.values())))

    def _take_profile(self, path: str) -> str:
        """Read what the inspection of a table said; the reason where it cannot be used."""
        if is_raster_file(path):
            self._profiles[path] = Profile(path, (), None)
            return ""
        if INSPECT not in self._tools:
            return f"{path}: {INSPECT} is not among the tools, so its columns are not known"
        answer = self._conversation.answer(Call(INSPECT, {"path": path}))
        if answer is None or answer.is_error:
            return unusable(path, answer.error if answer else "it was not inspected")
        self._profiles[path] = profile_of(self._conversation, path)
        return ""

    def _targets(self, step: Step) -> list[str]:
        """The tables of a step; where the lead chose the tool, the first file is the one to work on."""
        if takes_several(step.card) and self._conversation.context.get("tool") == step.card.name:
            return list(self._profiles)[:1]
        return targets_of(step.clause, list(self._profiles.values()), step.card)

    def _attempt(self, step: Step, place: Place, previous: Previous | None) -> Attempt:
        path = place.path
        if path in self._profiles and is_raster_file(path):
            return self._bound(step, self._profiles[path], place, previous)
        look = next_look(self._conversation, path)
        if look is not None:
            return Attempt([look])
        seen = self._conversation.answer(Call(INSPECT, {"path": path}))
        assert seen is not None
        if seen.is_error:
            return Attempt(failure=unusable(path, seen.error))
        if step.card.name == INSPECT:
            return Attempt(done=Done(seen.summary, seen.results, notes=seen.texts("notes")))
        profile = self._profiles.setdefault(path, profile_of(self._conversation, path))
        return self._bound(step, profile, place, previous)

    def _bound(self, step: Step, profile: Profile, place: Place, previous: Previous | None) -> Attempt:
        """The calls of a step; a value that is named without its column is looked for among those of categories."""
        if step.card.name == CLUSTER and CHOOSE in self._tools and asks_for_number(step.clause):
            return self._cluster_best(step, profile)
        others = [self._profiles[path] for path in place.others(list(self._profiles)) if path in self._profiles]
        tool, given = self._tools[step.card.name], previous or self._given
        clause, notes = with_interval_tops(step.card.name, step.clause, profile)
        binding = bind(tool, clause, profile, given, others)
        binding.notes += notes
        lookup = look_up(profile) if NO_CONDITION in binding.refusals and INSPECT_COLUMNS in self._tools else None
        if lookup:
            answer = self._conversation.answer(lookup)
            if answer is None:
                return Attempt([lookup])
            if told := with_columns(clause, answer):
                binding = bind(tool, told[0], profile, given, others)
                binding.notes += told[1]
        if binding.refusals:
            return Attempt(failure="; ".join(binding.refusals))
        return self._call(step, binding)

    def _cluster_best(self, step: Step, profile: Profile) -> Attempt:
        """ "Try two to six groups and pick by silhouette": the number first, then the groups."""
        told = without_asides(step.clause)
        binding = bind(self._tools[CHOOSE], told, profile, self._given)
        if binding.refusals:
            return Attempt(failure="; ".join(binding.refusals))
        trial = Call(CHOOSE, {"columns": profile.measures, **binding.calls[0]})
        tried = self._conversation.answer(trial)
        if tried is None:
            return Attempt([trial])
        best = tried.results.get("best_k")
        if tried.is_error or not isinstance(best, int):
            return Attempt(failure=tried.error if tried.is_error else f"{CHOOSE} gave no best number")
        known = {prop.name for prop in properties_of(self._tools[CLUSTER].input_schema)}
        arguments = {key: value for key, value in trial.arguments.items() if key in known} | {"n_clusters": best}
        binding.calls, binding.notes = [arguments], [f"n_clusters {best}: {tried.summary}", *binding.notes]
        attempt = self._call(step, binding)
        if attempt.done:
            attempt.done.summary = f"{sentence(tried.summary)} {attempt.done.summary}"
            kept = [key for key in ("best_k", "silhouette_by_k") if key in tried.results]
            figures: dict[str, Any] = {key: tried.results[key] for key in kept}
            attempt.done.results = {**dict(attempt.done.results), **figures}
        return attempt

    def _call(self, step: Step, binding: Binding) -> Attempt:
        """The calls of a step, side by side or each on what the one before wrote."""
        done = Done(notes=list(binding.notes), blockers=list(binding.blockers))
        waiting: list[Call] = []
        failures: list[str] = []
        answers: list[Answer] = []
        for arguments in binding.calls:
            table = _table(answers[-1]) if binding.is_chain and answers else None
            call = Call(step.card.name, {**arguments, "path": table} if table else arguments)
            answer = self._conversation.answer(call)
            if answer is None:
                waiting.append(call)
            elif answer.is_error:
                failures.append(answer.error)
            else:
                answers.append(answer)
            if binding.is_chain and (waiting or failures):
                break
        if waiting:
            return Attempt(waiting)
        if failures and (binding.is_chain or not answers):
            return Attempt(failure="; ".join(failures))
        _gather(done, answers, is_chain=binding.is_chain)
        done.blockers += failures
        done.columns = tuple(name for call in binding.calls for name in _columns_of(call))
        if not step.is_reporting:
            _doubt(done, is_whole=self._role != CLEANING)
        return Attempt(done=done)

    def _complete(self, plan: Plan, progress: Progress, blockers: list[str]) -> Call:
        done = [record for record in progress.records if record.done]
        for record in progress.records:
            said = quoted(record.step.clause)
            if record.done:
                blockers += [f'"{said}": {blocker}' for blocker in record.done.blockers]
            else:
                blockers.append(f'"{said}": {record.failure or "it was not reached"}')
        blockers += plan.blockers
        if not done:
            is_gap = not plan.steps or any("is not offered" in record.failure for record in progress.records)
            return self._refuse(*(blockers or ["The objective asks for nothing"]), is_gap=is_gap)
        results, notes = small_results(_results(done))
        findings = [note for record in done if record.done for note in record.done.notes]
        summary = " ".join(
            sentence(record.done.summary or quoted(record.step.clause)) for record in done if record.done
        )
        evidence, open_ones = self._evidence(done)
        answer = {
            "status": "partial" if blockers else "success",
            "summary": cut(summary, limits.SUMMARY_CHARS),
            "results": results,
            "artifacts": [artifact for record in done if record.done for artifact in record.done.artifacts],
            "findings": sentences([*open_ones, *plan.notes, *findings, *notes]),
            **evidence,
            "blockers": sentences(blockers),
        }
        return Call(COMPLETE, smaller(answer, self._conversation.refused_completions))

    def _evidence(self, done: list[Record]) -> tuple[dict[str, Any], list[str]]:
        """What the figures say of the hypotheses that it was told, and where they say neither."""
        told = told_to(self._conversation)
        found = [
            one
            for record in done
            if record.done
            and (one := judged(record.step.card.name, record.done.results, record.table, record.done.notes))
        ]
        evidence = entries_of(told, found)
        return ({"evidence": evidence} if evidence else {}), undecided(told, found)

    def _refuse(self, *blockers: str, is_gap: bool = False) -> Call:
        """Complete with nothing done. A capability that no tool has is a gap, anything else an error."""
        answer: dict[str, Any] = {
            "status": "capability_gap" if is_gap else "error",
            "summary": cut(f"Nothing was done. {blockers[0]}", limits.SUMMARY_CHARS),
            "blockers": sentences(blockers),
        }
        if is_gap:
            answer["gap"] = {
                "capability": cut(quoted(self._conversation.objective), limits.ENTRY_CHARS),
                "reason": cut(blockers[0], limits.ENTRY_CHARS),
            }
        return Call(COMPLETE, smaller(answer, self._conversation.refused_completions))


def _gather(done: Done, answers: list[Answer], *, is_chain: bool) -> None:
    """Several answers to one step as one: of a chain the last table counts, the others lie on the way to it."""
    done.summary = " ".join(sentence(answer.summary) for answer in answers if answer.summary)
    if is_chain or len(answers) == 1:
        done.results = answers[-1].results
    else:
        done.results = {_title(answer, number): answer.results for number, answer in enumerate(answers, start=1)}
    artifacts = [artifact for answer in answers for artifact in answer.records("artifacts")]
    done.artifacts = [
        _artifact(found) for found in (reversed(artifacts) if is_chain else artifacts) if found.get("path")
    ]
    done.notes += [note for answer in answers for note in answer.texts("notes")]
    for answer in answers:
        distinct, values = answer.results.get("distinct"), answer.results.get("values")
        if isinstance(distinct, int) and isinstance(values, list) and distinct > len(values):
            done.notes.append(f"{distinct - len(values)} more values are not listed, of {distinct}")


def _doubt(done: Done, *, is_whole: bool) -> None:
    """Suspected fill values or totals in a column that was used: beside the figures and among what is open."""
    if cautions := _CAUTION.findall(done.summary):
        done.blockers += cautions
        return
    known = done.results.get("columns")
    listed = [name for name in known if isinstance(name, str)] if isinstance(known, dict | list) else []
    used = {*done.columns, *listed}
    for note in [note for note in done.notes if SUSPECTED in note]:
        names = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", note) for name in used)
        if names or (is_whole and not used) or (is_whole and "total" in note):
            done.notes.remove(note)
            done.blockers.append(note)
            done.summary = f"{sentence(done.summary)} {sentence(note)}" if done.summary else sentence(note)


def _without_rows(results: Mapping[str, Any]) -> dict[str, Any]:
    """Results without rows of data; those are in the file that the tool wrote."""
    is_data = isinstance(results.get("rows"), list)
    return {key: value for key, value in results.items() if key not in ROWS_OF_DATA or not is_data}


def _title(answer: Answer, number: int) -> str:
    return string_of(answer.results, "column") or str(number)


def _artifact(found: dict[str, Any]) -> dict[str, Any]:
    kind = string_of(found, "kind")
    known = kind if kind in ("table", "plot", "report", "other") else "other"
    return {"path": string_of(found, "path"), "kind": known, "title": string_of(found, "title")}


def _table(answer: Answer) -> str | None:
    return Done(artifacts=answer.records("artifacts")).table


def _columns_of(arguments: dict[str, Any]) -> list[str]:
    """Column names among the arguments of a call, as far as their names say so."""
    listed = arguments.get("columns")
    keys = ("column", "x", "y", "color", "by", "target")
    names = listed if isinstance(listed, list) else [arguments.get(key) for key in keys]
    return [name for name in names if isinstance(name, str)]


def _results(done: list[Record]) -> dict[str, Any]:
    """The results of the only step as they are, those of several each under its tool."""
    found = [(record.step.card.name, _without_rows(record.done.results)) for record in done if record.done]
    if len(found) == 1:
        return found[0][1]
    return {f"{number}_{name}": results for number, (name, results) in enumerate(found, start=1)}
