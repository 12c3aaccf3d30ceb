"""Places whose number changes while they are taken."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from outcrop.places import Places

STEPS = st.lists(st.one_of(st.just("take"), st.just("give"), st.integers(1, 6)), max_size=40)


@given(STEPS)
def test_there_are_as_many_places_as_was_said_last_once_those_taken_are_given_back(steps: list[str | int]) -> None:
    async def follow() -> int:
        places, taken = Places(3, 6), 0
        for step in steps:
            if isinstance(step, int):
                await places.resize(step)
            elif step == "give" and taken:
                places.release()
                taken -= 1
            elif step == "take" and not places.locked():
                await places.acquire()
                taken += 1
                assert taken <= 6
        for _ in range(taken):
            places.release()
        free = 0
        while not places.locked():
            await places.acquire()
            free += 1
        assert free == places.count
        return free

    assert 1 <= asyncio.run(follow()) <= 6


async def test_whoever_waits_gets_a_place_that_is_added() -> None:
    places = Places(1, 2)
    await places.acquire()
    waiting = asyncio.create_task(places.acquire())
    await asyncio.sleep(0)
    assert not waiting.done()
    await places.resize(2)
    assert await asyncio.wait_for(waiting, 1)


async def test_there_is_one_place_at_least_and_no_more_than_most() -> None:
    places = Places(2, 3)
    await places.resize(0)
    assert places.count == 1
    await places.resize(10)
    assert places.count == 3
