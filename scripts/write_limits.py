"""Writes every limit and setting into docs/limits.md from the code itself: `scripts/write_limits.py [--check]`."""

import ast
import inspect
import sys
from typing import get_args

from marked import cell, write
from pydantic import BaseModel

TOLD = {
    "roles": ("Settings of a role", "In `[roles.NAME]`: `default`, `lead`, `chat` or a specialist."),
    "prices": ("Prices of your own", 'In `[prices."MODEL"]`, US dollars per million tokens.'),
}


def tables() -> str:
    """The limits with where and how each is enforced, then the settings by their class."""
    from outcrop.settings import Settings
    from outcrop_schemas.limits import LIMITS

    rows = ["| limit | value | unit | enforced in | how |", "|---|--:|---|---|---|"]
    for one in LIMITS:
        value = f"{one.value:,.0f}" if one.value >= 1e6 else f"{one.value:,g}"
        rows.append(f"| {cell(one.name)} | {value} | {cell(one.unit)} | `{one.enforced_in}` | {cell(one.how)} |")
    parts = ["\n".join(rows)]
    parts.append(section("Settings", "In `outcrop.toml`, as `OUTCROP_NAME`, or as `--set NAME=VALUE`.", Settings))
    for name, field in Settings.model_fields.items():
        if kind := entry_of(field.annotation):
            is_named = kind is not field.annotation
            title, where = TOLD.get(name, (f"Settings of `{name}`", f"In `[{name}{'.NAME' if is_named else ''}]`."))
            parts.append(section(title, where, kind))
    return "\n\n".join(parts) + "\n"


def entry_of(annotation: object) -> type[BaseModel] | None:
    """The kind of a table of settings, or of its entries where they have names; None of what is no table."""
    for kind in (annotation, *get_args(annotation)):
        if inspect.isclass(kind) and issubclass(kind, BaseModel):
            return kind
    return None


def section(title: str, where: str, kind: type[BaseModel]) -> str:
    return f"## {title}\n\n{where}\n\n{fields_of(kind)}"


def fields_of(kind: type[BaseModel]) -> str:
    """A line for each field: its default, and the text that stands beneath it in the source."""
    told = told_beneath(kind)
    rows = ["| setting | default | what |", "|---|---|---|"]
    for name, field in kind.model_fields.items():
        default = "" if field.is_required() else f"`{shown(field.get_default(call_default_factory=True))}`"
        rows.append(f"| `{name}` | {default} | {cell(told.get(name, ''))} |")
    return "\n".join(rows)


def shown(value: object) -> str:
    """A default as it would stand in TOML; of what has no value there, in words."""
    if isinstance(value, BaseModel):
        return "a table"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value) or '""'


def told_beneath(kind: type[BaseModel]) -> dict[str, str]:
    """The docstrings of fields, which Python does not keep, those of its bases too."""
    found = told_beneath(kind.__base__) if kind.__base__ and kind.__base__.__module__.startswith("outcrop") else {}
    (body,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(body, ast.ClassDef)
    for field, text in zip(body.body, body.body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(words))):
                found[name] = " ".join(words.split())
    return found


if __name__ == "__main__":
    sys.exit(write("limits.md", "write_limits.py", __doc__ or "", tables))
