"""The tables of a sheet or of a delimited text: one as a rule, else those that blank lines or new headers part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.blocks import Block, find_blocks, names_of
from outcrop_specialists.reading.header import Record, fill
from outcrop_specialists.reading.layout import lay_out
from outcrop_specialists.reading.several import Candidate
from outcrop_specialists.reading.tables import Table


def block_tables(
    path: Path,
    records: Callable[[], Iterable[Record]],
    notes: list[str],
    *,
    may_be_several: bool,
    comma_decimals: bool = False,
) -> list[Candidate]:
    """The tables that the records hold, each to be read with `notes`. Where `may_be_several` is false, several are
    only looked for if the records are not one table. Raises DataError where they are none.
    """
    if may_be_several:
        found = list(records())
        blocks = find_blocks(found)
        if len(blocks) < 2:
            return [_single(lay_out(path, found, notes, comma_decimals=comma_decimals))]
    else:
        told = list(notes)
        try:
            return [_single(lay_out(path, records(), notes, comma_decimals=comma_decimals))]
        except DataError:
            notes[:] = told
            found = list(records())
            blocks = find_blocks(found)
            if len(blocks) < 2:
                raise
    between = sum(bool(fill(fields)) for _, fields in found) - sum(len(block.records) + block.above for block in blocks)
    if between:
        notes.append(f"{between} lines beside the tables of the file are in none of them")
    return blocks_as_candidates(path, blocks, notes, comma_decimals=comma_decimals)


def blocks_as_candidates(
    path: Path, blocks: Sequence[Block], notes: list[str], *, comma_decimals: bool = False, prefix: str = ""
) -> list[Candidate]:
    return [
        Candidate(
            f"{prefix}{name}", block.kind, len(block.records), partial(read_block, path, block, notes, comma_decimals)
        )
        for name, block in zip(names_of(blocks), blocks, strict=True)
    ]


def read_block(path: Path, block: Block, notes: Sequence[str], comma_decimals: bool = False) -> Table:
    """One block laid out. Raises DataError."""
    table = lay_out(path, block.records, list(notes), comma_decimals=comma_decimals)
    return replace(table, header={**block.facts, **table.header})


def _single(table: Table) -> Candidate:
    return Candidate("", "data", table.frame.height + 1, lambda: table)
