"""A ledger for tests that have no run: it holds nothing back and writes down what each attempt took."""

from __future__ import annotations

from outcrop_schemas.messages import Usage


class Took:
    """A ledger that writes down what each attempt took."""

    def __init__(self) -> None:
        self.refusals: dict[str, str] = {}
        self.took: list[Usage | None] = []

    def spent_by(self, agent_id: str) -> None:
        return None

    async def reserve(self, *about: object) -> Took:
        return self

    def on_attempt(self, usage: Usage | None) -> None:
        self.took.append(usage)
