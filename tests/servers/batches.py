"""The Message Batches endpoints of our server: batches are worked on at once, and end when the test lets them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

PATH = "/v1/messages/batches"
Turn = Callable[[Any], dict[str, Any]]
"""A request's parameters to its `result`."""


@dataclass
class Posted:
    """One batch. `looks` counts how often it was asked after."""

    id: str
    requests: list[dict[str, Any]]
    created_at: str
    looks: int = 0
    last: int = 0
    results: list[dict[str, Any]] = field(default_factory=list)


class Batches:
    """All batches of a server. One ends after so many looks, if all in it came before request `held_from`."""

    def __init__(self, looks_until_ended: int = 1) -> None:
        self.posted: list[Posted] = []
        self.looks_until_ended = looks_until_ended
        self.held_from: int | None = None
        self.expire: set[int] = set()
        """Numbers of requests, counted over all batches, that expire."""
        self._ids, self._numbers = count(1), count(0)

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Everything that was ever posted."""
        return [request for posted in self.posted for request in posted.requests]

    def answer(self, method: str, path: str, body: Any, turn: Turn) -> tuple[int, Any]:
        """The status and the JSON, or the bytes of a results file, for one call."""
        name, _, more = path.removeprefix(PATH).strip("/").partition("/")
        if method == "POST" and not name:
            return self._post(body, turn)
        if not name:
            newest = [self._shown(posted) for posted in reversed(self.posted)]
            return 200, {"data": newest, "has_more": False, "first_id": None, "last_id": None}
        posted = next((one for one in self.posted if one.id == name), None)
        if posted is None:
            return 404, f"batch: {name}"
        if more == "results":
            return 200, b"".join(json.dumps(one).encode() + b"\n" for one in reversed(posted.results))
        posted.looks += 1
        return 200, self._shown(posted)

    def _post(self, body: Any, turn: Turn) -> tuple[int, Any]:
        ids = [request["custom_id"] for request in body["requests"]]
        if not ids or len(set(ids)) < len(ids):
            return 400, "requests: custom ids must be there and differ"
        if any(request["params"].get("stream") for request in body["requests"]):
            return 400, "requests: stream is not supported"
        posted = Posted(f"msgbatch_{next(self._ids):04d}", body["requests"], _text(datetime.now(UTC)))
        for request in body["requests"]:
            posted.last = next(self._numbers)
            expired = posted.last in self.expire
            result = {"type": "expired"} if expired else turn(request["params"])
            posted.results.append({"custom_id": request["custom_id"], "result": result})
        self.posted.append(posted)
        return 200, self._shown(posted)

    def _shown(self, posted: Posted) -> dict[str, Any]:
        is_held = self.held_from is not None and posted.last >= self.held_from
        has_ended = posted.looks > self.looks_until_ended and not is_held
        kinds = [one["result"]["type"] for one in posted.results] if has_ended else []
        counts = {kind: kinds.count(kind) for kind in ("succeeded", "errored", "canceled", "expired")}
        created = datetime.fromisoformat(posted.created_at)
        return {
            "id": posted.id, "type": "message_batch", "created_at": posted.created_at,
            "processing_status": "ended" if has_ended else "in_progress",
            "request_counts": {"processing": 0 if has_ended else len(posted.requests), **counts},
            "expires_at": _text(created + timedelta(days=1)), "ended_at": _text(created) if has_ended else None,
            "results_url": f"{PATH}/{posted.id}/results" if has_ended else None,
        }  # fmt: skip


def _text(when: datetime) -> str:
    return when.isoformat().replace("+00:00", "Z")
