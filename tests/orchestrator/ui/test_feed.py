"""What changes on a page reaches all of its readers, once each, also those that come back; nothing is queued."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from outcrop.ui.feed import Feed, Part


def part(name: str, html: str) -> Part:
    return Part("part", name, html)


async def told(stream: AsyncIterator[bytes]) -> tuple[dict[str, Any], str]:
    """The parts of the next events of a stream by name, and the id they end with."""
    while True:
        text = (await asyncio.wait_for(anext(stream), 30)).decode()
        data = [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: {")]
        if data:
            ids = [line.removeprefix("id: ") for line in text.splitlines() if line.startswith("id: ")]
            return {each["name"]: each["data"] for each in data if each}, ids[-1] if ids else ""


async def test_each_reader_is_given_what_is_new_to_it() -> None:
    feed = Feed()
    feed.put([part("head", "1"), part("answer", "1")])
    early, late = feed.stream(""), feed.stream(feed.mark)
    assert (await told(early))[0] == {"head": "1", "answer": "1"}
    waiting = asyncio.ensure_future(told(late))
    await asyncio.sleep(0)
    feed.put([part("head", "2"), part("answer", "1")])
    assert (await waiting)[0] == {"head": "2"}
    assert (await told(early))[0] == {"head": "2"}
    assert feed.readers == 2
    await early.aclose()  # type: ignore[attr-defined]
    await late.aclose()  # type: ignore[attr-defined]
    assert feed.readers == 0


async def test_who_comes_back_is_given_what_changed_meanwhile_as_it_is_now() -> None:
    feed = Feed()
    feed.put([part("head", "1"), part("answer", "1")])
    _, seen = await told(feed.stream(""))
    for number in range(2, 50):
        feed.put([part("head", str(number))])
    assert (await told(feed.stream(seen)))[0] == {"head": "49"}


async def test_a_version_of_another_server_or_of_nobody_is_given_everything() -> None:
    feed, other = Feed(), Feed()
    feed.put([part("head", "1")])
    epoch = feed.mark.partition("-")[0]
    for since in ("", other.mark, "0-0", "-", "x-1", f"{epoch}-x", "9" * 400, f"{epoch}-{'9' * 5_000}", f"{epoch}-²"):
        assert (await told(feed.stream(since)))[0] == {"head": "1"}


async def test_what_is_the_same_is_not_sent_again() -> None:
    feed = Feed()
    feed.put([part("head", "1")])
    mark = feed.mark
    feed.put([part("head", "1")])
    assert feed.mark == mark


async def test_streams_end_with_the_run_and_with_the_server() -> None:
    feed = Feed()
    feed.put([part("head", "1")])
    feed.finish(is_final=True)
    events = [event async for event in feed.stream("")]
    assert events[-1].startswith(b"event: done")
    feed.finish(is_final=False)
    stream = feed.stream(feed.mark)
    assert (await anext(stream)).startswith(b"retry")
    rest = asyncio.ensure_future(anext(stream, b"the end"))
    await asyncio.sleep(0)
    feed.close()
    assert await asyncio.wait_for(rest, 30) == b"the end"


async def test_what_goes_on_now_is_told_to_each_new_reader() -> None:
    feed = Feed()
    feed.put([part("head", "1"), Part("progress", "progress", {"d0001": {"text": "reading"}})])
    assert (await told(feed.stream(feed.mark)))[0] == {"progress": {"d0001": {"text": "reading"}}}
