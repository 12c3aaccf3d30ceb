"""The cap is an invariant: whatever a specialist completes with, what goes up is bounded, valid, ordered and honest."""

from __future__ import annotations

import json
from typing import Any

import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.cap import OMITTED, cap_outcome, cap_results
from outcrop.text import cut
from outcrop_schemas import limits, wire
from outcrop_schemas.outcome import Outcome
from outcrop_schemas.protocol import Evidence

text = st.text(max_size=60) | st.text(alphabet="😀👩‍🔬é̈\u200d🇩🇪\U0010ffff", max_size=40)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=8) | st.dictionaries(text, inner, max_size=8), max_leaves=60
)


@st.composite
def arbitrary_results(draw: st.DrawFn) -> dict[str, Any]:
    """Arbitrary JSON objects, most of them over the limit in one way or another."""
    found: dict[str, Any] = draw(st.dictionaries(text, values, max_size=12))
    if draw(st.booleans()):
        found[draw(text)] = draw(st.sampled_from('ab"\\\n\u2028😀é')) * draw(st.integers(0, 30_000))
    for number in range(draw(st.sampled_from([0, 0, 30, 2_000]))):
        found[f"k{number}"] = number
    if draw(st.booleans()):
        found["k" * draw(st.integers(0, 9_000))] = draw(values)
    return found


def length(value: Any) -> int:
    return len(wire.dumps(value).decode())


@given(arbitrary_results())
@settings(max_examples=120)
def test_capped_results_are_never_longer_always_valid_and_in_order(results: dict[str, Any]) -> None:
    capped = cap_results(results)
    serialised = wire.dumps(capped.results).decode()
    assert len(serialised) <= limits.RESULT_CHARS
    assert json.loads(serialised) == capped.results
    order = [key for key in capped.results if key in results]
    assert order == [key for key in results if key in capped.results]
    assert len([key for key in capped.results if key not in results]) <= 1
    if capped.full is None:
        assert capped.results == results
    else:
        assert json.loads(capped.full) == results
        assert capped.chars == len(capped.full.decode())


@given(arbitrary_results(), st.integers(200, 3_000))
@settings(max_examples=50)
def test_the_cap_holds_for_other_limits_too(results: dict[str, Any], limit: int) -> None:
    assert length(cap_results(results, limit).results) <= limit


def test_one_giant_string_leaves_its_length_and_its_beginning() -> None:
    capped = cap_results({"answer": "x" * 5_000_000, "n": 3})
    assert capped.results["n"] == 3
    assert capped.results["answer"].startswith("(5000002 characters left out) xxx")
    assert capped.full is not None
    assert len(capped.full) == len('{"answer":"","n":3}') + 5_000_000


def test_later_entries_that_fit_are_kept() -> None:
    capped = cap_results({"big": "y" * 9_000, "mean": 1.25, "also_big": ["z" * 9_000], "sd": 0.5})
    assert list(capped.results) == ["big", "mean", "also_big", "sd"]
    assert (capped.results["mean"], capped.results["sd"]) == (1.25, 0.5)


def test_ten_thousand_keys_end_in_one_note_that_counts_the_rest() -> None:
    results = {f"key{number}": number for number in range(10_000)}
    capped = cap_results(results)
    kept = [key for key in capped.results if key != OMITTED]
    assert capped.results[OMITTED].startswith(f"{10_000 - len(kept)} more entries")
    assert kept == list(results)[: len(kept)]


def test_a_user_key_that_looks_like_the_note_is_not_overwritten() -> None:
    capped = cap_results({OMITTED: "mine", **{f"k{number}": "v" * 50 for number in range(1_000)}})
    assert capped.results[OMITTED] == "mine"
    assert "more entries" in capped.results[f"{OMITTED}_"]


def test_deep_nesting_is_left_out_however_short_it_is() -> None:
    deep: Any = 1
    for _ in range(400):
        deep = [deep]
    capped = cap_results({"deep": deep, "flat": 2})
    assert capped.results["flat"] == 2
    assert "left out" in capped.results["deep"]
    assert capped.full == b'{"deep":' + b"[" * 400 + b"1" + b"]" * 400 + b',"flat":2}'


@given(text, st.integers(0, 80))
def test_a_cut_ends_at_a_grapheme_boundary(value: str, limit: int) -> None:
    found = cut(value, limit)
    boundaries = {0, *(match.end() for match in regex.finditer(r"\X", value))}
    assert len(found) <= limit
    assert value.startswith(found)
    assert len(found) == max(place for place in boundaries if place <= limit)


def outcome(**fields: Any) -> Outcome:
    base = {"dispatch_id": "d0001-ab", "specialist": "analytics", "objective": "o", "status": "success"}
    return Outcome.model_validate({**base, "started_at": "2026-01-01T00:00:00Z", "duration_s": 1.0, **fields})


sentences = st.lists(st.text(alphabet='a"\x00é😀', max_size=700), max_size=60)


@given(
    summary=st.text(alphabet='a\x01"', max_size=5_000),
    findings=sentences,
    blockers=sentences,
    errors=sentences,
    warnings=sentences,
    supports=sentences,
    gap=st.none() | arbitrary_results(),
    results=arbitrary_results(),
)
@settings(max_examples=50)
def test_a_whole_outcome_fits_its_limit(
    summary: str, supports: list[str], results: dict[str, Any], **fields: Any
) -> None:
    capped = cap_outcome(
        outcome(
            summary=summary,
            objective="q" * 20_000,
            results=cap_results(results).results,
            evidence=Evidence(supports=supports),
            **fields,
        )
    )
    assert length(capped.model_dump(mode="json")) <= limits.OUTCOME_CHARS
    for name in ("findings", "blockers", "errors", "warnings", "recommendations"):
        entries = getattr(capped, name)
        assert len(entries) <= limits.LIST_ENTRIES
        assert all(len(entry) <= limits.ENTRY_CHARS for entry in entries)
    assert len(capped.summary) <= limits.SUMMARY_CHARS


def test_an_outcome_within_its_limits_is_left_alone() -> None:
    whole = outcome(summary="s", findings=["a", "b"], warnings=["w"], results={"n": 1})
    assert cap_outcome(whole) == whole


def test_a_shortened_outcome_says_what_was_shortened() -> None:
    capped = cap_outcome(outcome(findings=[f"finding {number}" for number in range(30)]))
    assert capped.findings[-1] == "(11 more)"
    assert capped.warnings == ["shortened, the transcript has all of it: findings"]
