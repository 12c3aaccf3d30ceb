"""Where there is no room for all facts, what binds outlives chatter, and nothing goes uncounted."""

from __future__ import annotations

from outcrop_schemas import limits
from outcrop_specialists.context.fact_choice import chosen, of_stale, remember, tokens_of_fact

CHATTER = [f"In step {n} the mean is {n * 1.7:.3f} ppm over {n * 13} samples." for n in range(400)]
PLANTED = [
    "The credit of 412.75 EUR expires on 2027-03-31.",
    "Hole DDH-104 stays out.",
    "Not via Frankfurt.",
    "The tonnage is 1.24e6 t at 2.71 t/m3.",
]


def known(*said: str, by_user: bool = False) -> dict[str, int]:
    found: dict[str, int] = {}
    remember(found, said, by_user=by_user)
    return found


def test_what_was_said_once_outlives_newer_chatter_full_of_figures() -> None:
    weights = known(*PLANTED, *CHATTER)
    kept, others = chosen(list(weights), weights, 1_000)
    assert kept[:4] == PLANTED
    assert kept[-1] == CHATTER[-1]
    assert len(kept) + len(others) == len(weights)
    assert set(kept).isdisjoint(others)
    assert sum(map(tokens_of_fact, kept)) <= 1_000


def test_what_a_user_said_goes_before_what_binds_by_a_model() -> None:
    weights = known("Blue is nice.", by_user=True)
    remember(weights, [f"Model {chr(65 + n % 26)}{'x' * n} must never be used after 2026-01-01." for n in range(50)])
    kept, _ = chosen(list(weights), weights, 60)
    assert kept[0] == "Blue is nice."
    assert len(kept) > 1


def test_what_a_user_said_is_not_worth_less_because_a_model_says_it_again() -> None:
    weights = known("Blue is nice.", by_user=True)
    before = dict(weights)
    remember(weights, ["Other.", "Blue is nice."])
    assert weights["Blue is nice."] == before["Blue is nice."]
    assert list(weights)[-1] == "Blue is nice."


def test_a_fact_too_long_for_the_room_does_not_shut_out_shorter_ones() -> None:
    weights = known("must " * 200, *PLANTED)
    kept, others = chosen(list(weights), weights, 100)
    assert (kept, others) == (PLANTED, ["must " * 200])


def test_what_binds_stays_of_a_stale_text_and_the_others_are_counted() -> None:
    kept, others = of_stale([PLANTED[0], *CHATTER], None, 500)
    assert kept[0] == PLANTED[0]
    assert len(kept) + others == len(CHATTER) + 1
    named = [f"name_{n} = {n}" for n in range(100)]
    kept, others = of_stale([*named, "note = Never use LB-2291.", *CHATTER], named, 500)
    assert kept[0] == named[0]
    assert "note = Never use LB-2291." in kept
    assert sum(len(line) + 1 for line in kept) <= 500


def test_the_number_of_facts_that_are_known_is_bounded_by_weight() -> None:
    weights = known(PLANTED[0], *(f"It is {n}." for n in range(limits.FACTS_KNOWN)))
    assert len(weights) <= limits.FACTS_KNOWN
    assert PLANTED[0] in weights
    assert f"It is {limits.FACTS_KNOWN - 1}." in weights
