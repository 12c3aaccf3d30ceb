"""The geometry of the charts: nothing beyond its frame, nothing that does not add up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from outcrop.report.charts import seconds_text, ticks_to, timeline_of, times_to, token_chart
from outcrop.report.dispatches import DispatchFact
from outcrop.report.tokens import AgentTokens
from outcrop.steps import Step
from outcrop_specialists.context.segments import SEGMENTS

SECONDS = st.floats(0, 1e7, allow_nan=False)


def dispatch(begun: float, seconds: float | None) -> DispatchFact:
    return DispatchFact("d1-0", "analytics", "o", "success", begun, seconds)


@given(
    st.lists(st.tuples(SECONDS, st.none() | SECONDS), max_size=20), st.lists(SECONDS, max_size=5), st.none() | SECONDS
)
def test_every_bar_lies_within_the_timeline(
    times: list[tuple[float, float | None]], turns: list[float], whole: float | None
) -> None:
    line = timeline_of([dispatch(*each) for each in times], turns, whole)
    for bar in line.bars:
        assert 0 <= bar.x <= 100
        assert 0 < bar.width <= 100.01 - bar.x
        assert bar.y + 36 <= line.base + 4
    assert all(0 <= turn <= 100 for turn in line.turns)
    assert all(0 <= tick.at <= 100.001 for tick in line.ticks)
    assert len(line.bars) == len(times)


@given(st.floats(1e-6, 1e12))
def test_ticks_are_round_numbers_from_nought_up(whole: float) -> None:
    ticks = ticks_to(whole)
    assert ticks[0] == 0
    assert ticks == sorted(ticks)
    assert 2 <= len(ticks) <= 7
    assert ticks[-1] <= whole * 1.001


@given(st.floats(1e-6, 1e12))
def test_times_are_those_of_a_clock_and_their_labels_have_room(whole: float) -> None:
    times = times_to(whole)
    assert [*times] == sorted(times)
    assert next(iter(times)) == 0
    assert 2 <= len(times) <= 9
    assert max(times) <= whole * 1.001
    assert len(set(times.values())) == len(times)
    assert sum(map(len, times.values())) <= 44


def test_times_are_told_in_the_unit_of_their_steps() -> None:
    said = {whole: ", ".join(times_to(whole).values()) for whole in (45, 600, 20_000, 129_600, 345_600, 31_536_000)}
    assert said == {
        45: "0 s, 10 s, 20 s, 30 s, 40 s",
        600: "0 s, 2 min, 4 min, 6 min, 8 min, 10 min",
        20_000: "0 s, 1 h, 2 h, 3 h, 4 h, 5 h",
        129_600: "0 s, 6 h, 12 h, 18 h, 24 h, 30 h, 36 h",
        345_600: "0 s, 1 d, 2 d, 3 d, 4 d",
        31_536_000: "0 s, 91 d, 182 d, 273 d, 364 d",
    }


@given(st.lists(st.dictionaries(st.sampled_from(SEGMENTS), st.integers(0, 10**6)), max_size=30), st.integers(1, 10**6))
def test_the_blocks_of_a_request_add_up_to_its_tokens(requests: list[dict[str, int]], window: int) -> None:
    steps = [Step(n, "turn", parts, sum(parts.values()), True, 0) for n, parts in enumerate(requests, 1)]  # type: ignore[arg-type]
    agent = AgentTokens("lead", "the lead", window, steps, 0)
    chart = token_chart(agent)
    for block in chart.blocks:
        assert block.y >= -0.01
        assert block.y + block.height <= 100.01
        assert block.x >= 0
        assert block.x + block.width <= 100.01
    height = sum(block.height for block in chart.blocks)
    most = max(agent.most, 1)
    whole = window if most <= window <= 1.6 * most else most * 1.05
    assert abs(height - 100 * sum(step.total for step in steps) / whole) < 0.1


def test_times_are_told_as_people_say_them() -> None:
    told = {
        0: "0 s",
        0.0123: "0.0123 s",
        1.506: "1.51 s",
        42: "42 s",
        125: "2 min 5 s",
        120: "2 min",
        7_500: "2 h 5 min",
    }
    assert {seconds: seconds_text(seconds) for seconds in told} == told
