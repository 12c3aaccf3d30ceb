"""What the arguments of tools stand for: files, columns, values of a column. Read by whoever follows a plan.

Where a schema marks columns with `x-role` that decides; other arguments go by their names here. A test holds that no
argument with text in it is without a place in one of these lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.expressions.grammar import Column, Comparison, Literal, Membership, Node, Operation, parse
from outcrop_specialists.expressions.tokens import Source
from outcrop_specialists.tools.registry import get_tool

FILES = frozenset(("path", "paths", "data"))
FILE_ENDING = "_path"
EXPRESSIONS = frozenset(("expression", "where"))
COLUMNS = frozenset(
    """azimuth collar_depth collar_hole column columns depth depth_from depth_to dip filter_column hole id_columns index
    intervals_depth_from intervals_depth_to intervals_hole order order_by other_x other_y rank_by right_depth_from
    right_depth_to right_hole right_on subset to values weight with_column within x y z log""".split()  # noqa: SIM905
)
PAIRS = "pairs"
KEYED = frozenset(("delta", "detection_limits", "limits", "rename", "group"))
"""Objects whose keys are columns."""
OF_OTHER_FILES = ("right_", "collar_", "intervals_", "other_")
"""How arguments begin that are about another file of the call, whose argument is this and `path`."""
NOT_COLUMNS = frozenset(
    {
        ("convert_types", "to"),
        ("plot_control_chart", "group"),
        ("plot_downhole", "hole"),
        ("replace_values", "values"),
        ("verify_claims", "values"),
    }
)
VALUES = {
    "compare_groups": ("by", "groups"),
    "plot_downhole": ("hole_column", "hole"),
    "plot_control_chart": ("by", "group"),
}
"""By tool: the argument that names a column, and the one with values of it."""
CONDITIONS = frozenset(("==", "!=", "in", "not_in"))
OTHER = frozenset(
    """box_crs claims code command date_order dip_convention folder from_units groups handle labels mapping name
    named_in replacement source_column source_crs standard statement suffix tables target_crs to_units unit value
    value_name variable_name certified derived tops""".split()  # noqa: SIM905
)
"""Text that names neither file nor column of an input."""


def is_file(name: str) -> bool:
    return name in FILES or name.endswith(FILE_ENDING)


def paths_in(tool: str, arguments: Mapping[str, Any]) -> dict[str, list[str]]:
    """The paths that a call names, by argument."""
    known = get_tool(tool).arguments.model_fields
    found = {name: _texts(value) for name, value in arguments.items() if name in known and is_file(name)}
    return {name: paths for name, paths in found.items() if paths}


def columns_in(tool: str, arguments: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """What may be columns in the arguments of a call, by the argument of the file that they are of; each with the
    values that are asked for of it."""
    schema = get_tool(tool).arguments.model_json_schema()
    found: dict[str, dict[str, list[str]]] = {}
    for name, value in arguments.items():
        of_file = found.setdefault(_file_of(name, arguments), {})
        for column in _columns(tool, name, value, schema["properties"].get(name, {})):
            of_file.setdefault(column, [])
    for column, values in _asked_for(tool, arguments):
        if column in found.get("path", {}):
            found["path"][column] += [text for text in values if text not in found["path"][column]]
    return found


def _file_of(name: str, arguments: Mapping[str, Any]) -> str:
    for beginning in OF_OTHER_FILES:
        if name.startswith(beginning) and arguments.get(f"{beginning}path"):
            return f"{beginning}path"
    return "path"


def _columns(tool: str, name: str, value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    if is_file(name) or "enum" in schema or (tool, name) in NOT_COLUMNS:
        return
    if schema.get("x-role") or name in COLUMNS:
        yield from _texts(value)
    elif name in EXPRESSIONS and isinstance(value, str):
        yield from (node.name for node in _nodes(value) if isinstance(node, Column))
    elif name in KEYED and isinstance(value, dict):
        yield from value
    elif name == PAIRS:
        for pair in _texts(value):
            for at in (place for place, sign in enumerate(pair) if sign == "/"):
                yield from (pair[:at], pair[at + 1 :])
    elif isinstance(value, list):
        for record in (each for each in value if isinstance(each, dict)):
            for inner, part in record.items():
                yield from _columns(tool, inner, part, {})


def _asked_for(tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Columns with the texts that they are compared with for being the same."""
    column = arguments.get("filter_column") or arguments.get("column")
    if isinstance(column, str) and arguments.get("operator") in CONDITIONS:
        yield column, _texts(arguments.get("value"))
    if tool in VALUES and isinstance(named := arguments.get(VALUES[tool][0]), str):
        yield named, _texts(arguments.get(VALUES[tool][1]))
    for name in EXPRESSIONS & arguments.keys():
        for node in _nodes(arguments[name]) if isinstance(arguments[name], str) else ():
            yield from _compared(node)


def _compared(node: Node) -> Iterator[tuple[str, list[str]]]:
    if isinstance(node, Membership) and isinstance(node.operand, Column):
        yield node.operand.name, [text for text in map(_text, node.values) if text is not None]
    elif isinstance(node, Comparison) and set(node.operators) <= {"==", "!="}:
        texts = [text for text in map(_text, node.operands) if text is not None]
        yield from ((operand.name, texts) for operand in node.operands if isinstance(operand, Column))


def _text(node: Node) -> str | None:
    return node.value if isinstance(node, Literal) and isinstance(node.value, str) else None


def _nodes(expression: str) -> Iterator[Node]:
    """Every part of an expression; none of one that cannot be read."""
    try:
        waiting: list[Node] = [parse(Source(expression))]
    except ArgumentError:
        return
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, Operation | Comparison):
            waiting += node.operands
        elif isinstance(node, Membership):
            waiting += [node.operand, *node.values]


def _texts(value: Any) -> list[str]:
    listed: Sequence[Any] = value if isinstance(value, list) else [value]
    return [each for each in listed if isinstance(each, str)]
