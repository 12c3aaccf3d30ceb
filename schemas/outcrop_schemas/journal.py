"""One line of a run's journal.

The keys stand in this order, so that a prefix test finds records without parsing. `crc32c` is the checksum of the
line's bytes (without its newline) with the eight digits of the checksum itself written as zeros.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

RecordType = Literal["run", "start", "end", "event"]


class JournalRecord(BaseModel):
    """`run` opens a run, `start` and `end` bracket a dispatch, `event` is anything else worth keeping."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    v: Literal[1] = 1
    type: RecordType
    seq: int = Field(ge=0)
    id: str
    crc32c: str = Field(pattern=r"^[0-9a-f]{8}$")
    at: str
    body: dict[str, Any]
