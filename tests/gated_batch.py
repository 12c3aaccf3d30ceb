"""A batch whose specialists wait for a gate: `gated_batch.py WORKSPACE JOBS GATE`; it ends when the batch does.

The offline model answers a specialist only while nobody holds the lock of the file GATE.
"""

from __future__ import annotations

import asyncio
import fcntl
import sys
from pathlib import Path

from outcrop.batch import Batch
from outcrop.models.offline.model import OfflineModel
from outcrop_schemas.messages import ModelRequest, ModelResponse


class Gated:
    """The offline model behind a gate."""

    name = "offline"

    def __init__(self, gate: Path) -> None:
        self._gate, self._model = gate, OfflineModel()

    async def create(self, request: ModelRequest) -> ModelResponse:
        await asyncio.to_thread(self._wait)
        return await self._model.create(request)

    def _wait(self) -> None:
        with self._gate.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH)


if __name__ == "__main__":
    workspace, jobs, gate = map(Path, sys.argv[1:])
    models = {"lead": OfflineModel(), "default": Gated(gate)}
    asyncio.run(Batch(jobs, workspace=workspace, workers=2, model=models).start())
