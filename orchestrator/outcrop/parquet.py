"""Rows and columns of a Parquet file from its footer, without a library that reads strange files in our process.

The footer is Thrift in its compact form; what stands before the number of rows is read past, nothing behind it is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable

_MAGIC = b"PAR1"
_FOOTER_BYTES = 16 << 20
_NESTING = 8
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS = (4, 5, 6)
# Fields of FileMetaData and of SchemaElement.
_SCHEMA, _NUM_ROWS, _NUM_CHILDREN = 2, 3, 5


class NoParquetError(ValueError):
    """The file is no Parquet file, or its footer cannot be read."""


def shape_of(descriptor: int, size: int, refuse_late: Callable[[], None]) -> tuple[int, int]:
    """Rows and columns. Raises NoParquetError, and whatever `refuse_late` raises, which is called now and then."""
    length = int.from_bytes(os.pread(descriptor, 4, max(size - 8, 0)), "little")
    if size < 12 or os.pread(descriptor, 4, size - 4) != _MAGIC or not 0 < length <= min(size - 12, _FOOTER_BYTES):
        raise NoParquetError("it does not end as a Parquet file")
    try:
        return _Footer(os.pread(descriptor, length, size - 8 - length), refuse_late).shape()
    except IndexError:
        raise NoParquetError("its footer ends too early") from None


class _Footer:
    def __init__(self, data: bytes, refuse_late: Callable[[], None]) -> None:
        self._data, self._at, self._refuse_late = data, 0, refuse_late

    def shape(self) -> tuple[int, int]:
        columns, field = None, 0
        while True:
            field, kind = self._field(field)
            if not kind:
                raise NoParquetError("its footer has no number of rows")
            if field == _SCHEMA and kind == _LIST:
                columns = self._columns()
            elif field == _NUM_ROWS and kind in _INTEGERS and columns is not None:
                return self._integer(), columns
            else:
                self._pass(kind, 0)

    def _columns(self) -> int:
        """The number of children of the root, which is the first element of the schema."""
        count, kind = self._list()
        if not count or kind != _STRUCT:
            raise NoParquetError("its footer has no schema")
        columns, field = 0, 0
        while True:
            field, kind = self._field(field)
            if not kind:
                break
            if field == _NUM_CHILDREN and kind in _INTEGERS:
                columns = self._integer()
            else:
                self._pass(kind, 0)
        for _ in range(count - 1):
            self._pass(_STRUCT, 0)
        return columns

    def _field(self, before: int) -> tuple[int, int]:
        """Number and kind of the next field; kind 0 at the end of a struct."""
        byte = self._byte()
        if not byte:
            return before, 0
        return before + (byte >> 4) if byte >> 4 else self._integer(), byte & 15

    def _list(self) -> tuple[int, int]:
        byte = self._byte()
        return self._varint() if byte >> 4 == 15 else byte >> 4, byte & 15

    def _pass(self, kind: int, depth: int) -> None:
        self._refuse_late()
        if depth > _NESTING:
            raise NoParquetError("its footer is nested too deep")
        if kind == _BYTE:
            self._at += 1
        elif kind in _INTEGERS:
            self._varint()
        elif kind == _DOUBLE:
            self._at += 8
        elif kind == _BINARY:
            length = self._varint()
            self._at += length
        elif kind in (_LIST, _SET):
            count, inner = self._list()
            for _ in range(count):
                self._at += inner in (_TRUE, _FALSE)
                self._pass(inner, depth + 1)
                if self._at > len(self._data):
                    raise IndexError
        elif kind == _STRUCT:
            field = 0
            while True:
                field, inner = self._field(field)
                if not inner:
                    return
                self._pass(inner, depth + 1)
        elif kind not in (_TRUE, _FALSE):
            raise NoParquetError("its footer is not as Parquet writes it")

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise NoParquetError("its footer has a number that is none")

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
