"""Two runs compared: what was asked, what was done, which figures and files came of it, what it cost."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import PurePath
from typing import Any, Literal

from outcrop.hypotheses import hypotheses_of
from outcrop.ledger import spent_in
from outcrop.recovery import RunRecord
from outcrop.text import shorten
from outcrop_specialists.reading.address import MARK

_TEXT_CHARS = 200
Change = Literal["same", "changed", "only_first", "only_second"]


@dataclass(frozen=True)
class Difference:
    """One thing of two runs, as either has it; None where it has none."""

    what: str
    change: Change
    first: str | None
    second: str | None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def compare(first: RunRecord, second: RunRecord) -> list[Difference]:
    """All that can be compared of two runs: objective, data, steps, figures, artifacts, hypotheses, cost, in order."""
    found = [_pair("objective", _objective(first), _objective(second))]
    found += _by_name(
        "data", *({entry["path"]: entry.get("sha256", "") for entry in _data(run)} for run in (first, second))
    )
    found += _steps(first, second)
    names = _names_of_data(first, second)
    figures, artifacts = (
        [of(run, own) for run, own in zip((first, second), names, strict=True)] for of in (_figures, _artifacts)
    )
    found += _by_name("figure", *figures)
    found += _by_name("artifact", *artifacts)
    found += _by_name("hypothesis", _hypotheses(first), _hypotheses(second))
    found += [_pair(name, *(_cost(run)[name] for run in (first, second))) for name in _cost(first)]
    return found


def _pair(what: str, one: str | None, other: str | None) -> Difference:
    change: Change = (
        "same" if one == other else "only_second" if one is None else "only_first" if other is None else "changed"
    )
    return Difference(what, change, one, other)


def _by_name(what: str, one: Mapping[str, str], other: Mapping[str, str]) -> list[Difference]:
    return [_pair(f"{what} {name}", one.get(name), other.get(name)) for name in dict.fromkeys([*one, *other])]


def _objective(run: RunRecord) -> str:
    return shorten(str(run.about.get("objective") or run.about.get("jobs") or ""), _TEXT_CHARS)


def _data(run: RunRecord) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = run.about.get("data", [])
    return found


def _steps(first: RunRecord, second: RunRecord) -> list[Difference]:
    """Dispatches in their order, matched by specialist and objective; what stands between is of one run only."""
    one, other = (
        [
            (f"{outcome.specialist}: {shorten(outcome.objective, _TEXT_CHARS)}", outcome.status)
            for outcome in run.each_outcome()
        ]
        for run in (first, second)
    )
    found: list[Difference] = []
    matcher = SequenceMatcher(None, [step for step, _ in one], [step for step, _ in other], autojunk=False)
    for _, start, end, begin, stop in matcher.get_opcodes():
        is_same = [step for step, _ in one[start:end]] == [step for step, _ in other[begin:stop]]
        if is_same:
            found += [
                _pair(f"step {step}", status, others)
                for (step, status), (_, others) in zip(one[start:end], other[begin:stop], strict=True)
            ]
        else:
            found += [_pair(f"step {step}", status, None) for step, status in one[start:end]]
            found += [_pair(f"step {step}", None, status) for step, status in other[begin:stop]]
    return found


def _names_of_data(first: RunRecord, second: RunRecord) -> tuple[dict[str, str], dict[str, str]]:
    """What stands for the names of data files, where the second run had others in their places: what was made of one
    is compared with what was made of the other."""
    one, other = (
        [PurePath(str(entry["path"]).partition(MARK)[0]).stem for entry in _data(run)] for run in (first, second)
    )
    if len(one) != len(other):
        return {}, {}
    places = [
        (f"{{data {at}}}", *names) for at, names in enumerate(zip(one, other, strict=True), 1) if len(set(names)) > 1
    ]
    return {name: place for place, name, _ in places}, {name: place for place, _, name in places}


def _figures(run: RunRecord, names: Mapping[str, str]) -> dict[str, str]:
    """The figures of the answer that were checked, by what they are of."""
    answer = run.answer
    found: dict[str, str] = {}
    for claim in answer.claims if answer else ():
        of = [claim.statistic if claim.percent is None else f"{claim.statistic} {claim.percent:g}"]
        of += [f"of {claim.column}"] * (claim.column is not None) + [f"with {claim.with_column}"] * (
            claim.with_column is not None
        )
        of += [f"where {claim.where}"] * (claim.where is not None)
        of += [f"{column} = {value}" for column, value in claim.group.items()]
        found[f"{' '.join(of)} in {_unnamed(claim.path, names)}"] = f"{claim.value} ({claim.verdict})"
    return found


def _hypotheses(run: RunRecord) -> dict[str, str]:
    """By their claims: two runs number theirs as they come."""
    held = run.answer.hypotheses if run.answer else hypotheses_of(run)
    return {
        shorten(one.claim, _TEXT_CHARS): f"{one.status} ({one.confidence}; {len(one.evidence_for)} for, "
        f"{len(one.evidence_against)} against)"
        for one in held
    }


def _artifacts(run: RunRecord, names: Mapping[str, str]) -> dict[str, str]:
    """Files by their names without the hash of inputs and parameters: the same step on other data has the same."""
    found: dict[str, str] = {}
    for outcome in run.each_outcome():
        for artifact in outcome.artifacts:
            rows = f"{artifact.rows} rows × {artifact.columns}, " if artifact.rows is not None else ""
            found[_unnamed(artifact.path, names)] = f"{rows}{artifact.bytes} bytes, sha256 {artifact.sha256[:12]}"
    return found


_HASH = re.compile(r"_[0-9a-f]{8}\+*(?=\.\w+$)")


def _unnamed(path: str, names: Mapping[str, str]) -> str:
    folder, _, file = _HASH.sub("", path).rpartition("/")
    # Of two names that it may begin with the longer one is meant.
    stem = max(
        (name for name in names if file.startswith(f"{name}_") or file.startswith(f"{name}.")), key=len, default=""
    )
    return f"{folder}/{names[stem]}{file.removeprefix(stem)}".lstrip("/") if stem else f"{folder}/{file}".lstrip("/")


def _cost(run: RunRecord) -> dict[str, str]:
    answer, spent = run.answer, spent_in(run.records)
    return {
        "status": answer.status if answer else "no answer",
        "dispatches": str(sum(entry.type == "start" for entry in run.records.entries)),
        "tokens": str(spent.tokens),
        "dollars": str(spent.usd),
        "seconds": f"{answer.duration_s:.1f}" if answer else "",
    }
