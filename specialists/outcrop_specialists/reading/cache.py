"""Keeps typed copies of large tables, so that only the first tool to read a file reads it carefully.

`.outcrop/cache/tables/<key>.parquet` holds the columns, `<key>.json` all else that a `Table` is, and the state of the
parquet file when it was written: one that was changed, cut short, copied or put there by others is not used. The key
is made of the SHA-256 of the data file, its name, the table within it, its lineage record and the reader itself.
Where there is no cache, or it cannot be written, tables are read as if there were none.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop_schemas import limits, wire
from outcrop_specialists.reading.address import TablePath
from outcrop_specialists.reading.cache_folder import cache_folder, write_whole
from outcrop_specialists.reading.fingerprints import fingerprint, state_of
from outcrop_specialists.reading.report import report_of
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.tools.lineage import record_path

if TYPE_CHECKING:
    import polars as pl

ROWS_A_GROUP = 500_000
HELD_BYTES = 1 << 30
SPARE_BYTES = 1 << 30
"""The cache never takes the last of a disk."""
ABANDONED_SECONDS = 3_600
_log = logging.getLogger(__name__)


class StoredTable(Table):
    """A table whose columns are read from the cache when they are asked for, each once."""

    _stored: Path
    _schema: pl.Schema
    _rows: int
    _nulls: dict[str, int]
    _read: dict[str, pl.Series]

    @classmethod
    def of(cls, path: Path, stored: Path, nulls: dict[str, int], others: dict[str, Any]) -> StoredTable:
        """The table kept in the parquet file `stored`; `others` are its further fields, `nulls` how many each column
        has. Raises PolarsError, OSError."""
        import polars as pl

        scan = pl.scan_parquet(stored, glob=False)
        rows = scan.select(pl.len()).collect().item()
        table = cls(path, None, **others)  # type: ignore[arg-type]
        del table.__dict__["frame"]  # made by the property below when it is asked for
        own = {"_stored": stored, "_schema": scan.collect_schema(), "_rows": rows, "_nulls": nulls, "_read": {}}
        table.__dict__.update(own)
        return table

    @cached_property
    def frame(self) -> pl.DataFrame:
        """All columns."""
        return self.select(self.columns)

    @property
    def schema(self) -> pl.Schema:
        return self.frame.schema if self._is_here else self._schema

    @property
    def height(self) -> int:
        return self.frame.height if self._is_here else self._rows

    def scan(self) -> pl.LazyFrame:
        import polars as pl

        return self.frame.lazy() if self._is_here else pl.scan_parquet(self._stored, glob=False)

    def select(self, names: Sequence[str]) -> pl.DataFrame:
        import polars as pl
        import polars.selectors as cs

        if self._is_here:
            return super().select(names)
        lacking = [name for name in names if name not in self._read]
        if lacking:
            read = self.scan().select(cs.by_name(lacking)).collect()
            self._read.update((column.name, column) for column in read.get_columns())
        found = pl.DataFrame([self._read[name] for name in names])
        self._let_go(names)
        return found

    def _let_go(self, names: Sequence[str]) -> None:
        """Forget the columns read first until the others are small enough: a tool may go through hundreds."""
        size = sum(int(column.estimated_size()) for column in self._read.values())
        for name in [name for name in self._read if name not in names]:
            if size <= HELD_BYTES:
                return
            size -= int(self._read.pop(name).estimated_size())

    def slice(self, offset: int, length: int, names: Sequence[str]) -> pl.DataFrame:
        import polars as pl
        import polars.selectors as cs

        if self._is_here:
            return super().slice(offset, length, names)
        rows = self.scan().select(cs.by_name(names)).slice(offset, length).collect()
        return pl.DataFrame([rows.get_column(name) for name in names])

    def null_count(self, name: str) -> int:
        return super().null_count(name) if self._is_here else self._nulls[name]

    @property
    def _is_here(self) -> bool:
        """Whether the frame was read, or given by `dataclasses.replace`."""
        return "frame" in self.__dict__


def read_cached(workspace: Path, source: Path, wanted: str, read: Callable[[], Table]) -> Table:
    """The table `wanted` of a data file: its typed copy where there is one, else as `read` gives it, which is kept."""
    if source.stat().st_size < limits.CACHED_FROM_BYTES:
        return read()
    folder = cache_folder(workspace, "tables")
    if folder is None:
        return read()
    key = _key(workspace, source, wanted)
    found = _load(folder, key, source)
    if found is None:
        found = read()
        if key == _key(workspace, source, wanted):  # else the file changed while it was read
            _store(folder, key, found)
    return found


def _key(workspace: Path, source: Path, wanted: str) -> str:
    try:
        record = record_path(source).read_bytes()
    except OSError:
        record = b""
    made_of = [fingerprint(workspace, source), source.name, wanted, sha256(record).hexdigest(), reader_version()]
    return wire.digest(made_of)[:40]


@cache
def reader_version() -> str:
    """A hash of the code that reads: what another reader made of a file is not what this one would make of it."""
    found = sha256()
    package = Path(__file__).parent.parent
    for folder in ("reading", "columns"):
        for path in sorted((package / folder).glob("*.py")):
            found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def _load(folder: Path, key: str, source: Path) -> Table | None:
    import polars as pl

    manifest, stored = folder / f"{key}.json", folder / f"{key}.parquet"
    try:
        known = wire.loads(manifest.read_bytes())
        if known["state"] != state_of(stored):
            raise ValueError("the parquet file is not as it was written")
        others = {**known["table"], "notes": tuple(known["table"]["notes"])}
        table = StoredTable.of(TablePath.of(source, others["name"]), stored, dict(known["nulls"]), others)
        if [[name, str(kind)] for name, kind in table.schema.items()] != known["schema"] or table.height < 1:
            raise ValueError("the parquet file holds other columns")
        os.utime(manifest)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        _log.debug("typed copy %s not used: %s", key, error)
        return None
    return table


def _store(folder: Path, key: str, table: Table) -> None:
    """Keep a typed copy, and let go of the oldest ones beyond the limit. A copy that cannot be kept is no fault."""
    import polars as pl

    others = {each.name: getattr(table, each.name) for each in fields(Table) if each.name not in ("path", "frame")}
    size = table.frame.estimated_size()
    if size > limits.TABLE_CACHE_BYTES or shutil.disk_usage(folder).free < size + SPARE_BYTES:
        return
    with _temporary(folder) as temporary:
        try:
            table.frame.write_parquet(temporary, compression="lz4", row_group_size=ROWS_A_GROUP)
            if pl.read_parquet_schema(temporary) != table.frame.schema:
                raise ValueError("parquet does not give back its types")
            stored = folder / f"{key}.parquet"
            temporary.replace(stored)
            known = {
                "state": state_of(stored),
                "schema": [[name, str(kind)] for name, kind in table.frame.schema.items()],
                "nulls": {column.name: column.null_count() for column in table.frame.get_columns()},
                "report": report_of(table),
                "table": {name: dict(value) if hasattr(value, "items") else value for name, value in others.items()},
            }
            write_whole(folder / f"{key}.json", wire.dumps(known))
            _bound(folder, key)
        except (OSError, ValueError, pl.exceptions.PolarsError) as error:
            _log.debug("no typed copy kept of %s: %s", table.path.name, error)


@contextlib.contextmanager
def _temporary(folder: Path) -> Iterator[Path]:
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=folder)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _bound(folder: Path, newest: str) -> None:
    """Remove the copies that were used longest ago until the others fit, and what an ended process left behind."""
    used: list[tuple[float, Path, int]] = []
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            found = path.stat()
            if path.suffix == ".tmp" and found.st_mtime < time.time() - ABANDONED_SECONDS:
                path.unlink()
            elif path.suffix == ".parquet":
                manifest = path.with_suffix(".json")
                last = manifest.stat().st_mtime if manifest.exists() else found.st_mtime
                used.append((last, path, found.st_size))
    total = sum(size for _, _, size in used)
    for _, path, size in sorted(used):
        if total <= limits.TABLE_CACHE_BYTES:
            break
        if path.stem != newest:
            path.with_suffix(".json").unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            total -= size
