"""A server's prompt cache, computed from the requests themselves: prefixes up to a breakpoint, for five minutes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from servers import tool_search

_LOOKBACK_BLOCKS = 20
_SECONDS = {"5m": 300.0, "1h": 3_600.0}
_BYTES_PER_TOKEN = 4


def tokens_of(block: Any) -> int:
    """Tokens of a block: a quarter of its JSON text, at least one."""
    return max(len(json.dumps(block, separators=(",", ":"), ensure_ascii=False).encode()) // _BYTES_PER_TOKEN, 1)


class PrefixCache:
    """Says of each request how much of it was read from the cache, how much was written to it, and how much neither.

    A breakpoint reads the longest prefix that was written at it or at one of the 20 blocks before, and writes its own.
    """

    def __init__(self, least_tokens: int = 0, now: Callable[[], float] = time.monotonic) -> None:
        self._least, self._now = least_tokens, now
        self._until: dict[str, float] = {}

    def usage(self, body: dict[str, Any]) -> dict[str, Any]:
        """`input_tokens` and the cache fields of a request, which is remembered."""
        blocks = list(_blocks(body))
        sums, keys, marks = [], [], []
        total, running = 0, sha256(str(body["model"]).encode())
        for number, (place, block) in enumerate(blocks):
            bare = {key: value for key, value in block.items() if key != "cache_control"}
            total += tokens_of(bare)
            running.update(json.dumps([place, bare], sort_keys=True).encode())
            sums.append(total)
            keys.append(running.hexdigest())
            if "cache_control" in block:
                marks.append((number, block["cache_control"].get("ttl", "5m")))
        read = self._read(marks, keys, sums)
        reached, hour = read, 0
        for number, ttl in marks:
            if sums[number] >= self._least:
                self._until[keys[number]] = self._now() + _SECONDS[ttl]
                hour += max(sums[number] - reached, 0) if ttl == "1h" else 0
                reached = max(reached, sums[number])
        written = reached - read
        return {
            "input_tokens": total - read - written,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "cache_creation": {"ephemeral_5m_input_tokens": written - hour, "ephemeral_1h_input_tokens": hour},
        }

    def _read(self, marks: list[tuple[int, str]], keys: list[str], sums: list[int]) -> int:
        best = 0
        for number, ttl in marks:
            for place in range(number, max(number - _LOOKBACK_BLOCKS, -1), -1):
                if self._until.get(keys[place], 0.0) > self._now():
                    best = max(best, sums[place])
                    self._until[keys[place]] = self._now() + _SECONDS[ttl]
                    break
        return best


def _blocks(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """All blocks in the order of the cache: tools, system, messages."""
    yield from tool_search.seen_blocks(body)
    system = body.get("system") or []
    for block in [{"type": "text", "text": system}] if isinstance(system, str) else system:
        yield "system", block
    for message in body["messages"]:
        for block in message["content"]:
            yield message["role"], tool_search.expanded(body, block)
