"""Tool: gives the terms of a text column one spelling each."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from outcrop_schemas.counts import many
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.inspection.preview import cut

if TYPE_CHECKING:
    import polars as pl

Case = Literal["keep", "lower", "upper", "title"]
MERGED_SHOWN = 20
SPELLINGS_SHOWN = 10
TERM_CHARS = 60


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    column: str = Field(description="The text column whose terms are to be made uniform.")
    mapping: dict[str, str] | None = Field(
        default=None, description="Terms to replace, whatever their case, and what to write for each."
    )
    case: Case = Field(
        default="keep", description="keep takes the commonest spelling of each term; lower, upper and title change it."
    )


@dataclass(frozen=True)
class Spellings:
    """`final` gives the new spelling of every distinct value; `unused` the mapping's terms that do not occur."""

    final: dict[str, str]
    unused: list[str]


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Blanks are trimmed and collapsed, spellings that differ in case become the commonest one (of equally common ones
    the first in the file), then case and mapping are applied. Missing values stay missing."""
    table = read_table(context, arguments.path)
    name = find_column(table, arguments.column)
    column = _text_column(table, name)
    counts = column.drop_nulls().value_counts().rows()
    first = {text: row for row, text in enumerate(column.drop_nulls().unique(maintain_order=True))}
    ordered = sorted(counts, key=lambda pair: first[pair[0]])
    spellings = standardize(ordered, arguments.case, arguments.mapping or {})
    new = column.replace(list(spellings.final), list(spellings.final.values()))
    frame = table.frame.with_columns(new.alias(name))
    published = publish_table(context, TOOL, table, arguments, frame, f"{table.path.name} with uniform {name}")
    changed = int((new != column).sum())
    merged = _merged(spellings.final)
    notes = list(table.notes)
    if len(merged) > MERGED_SHOWN:
        notes.append(f"{len(merged) - MERGED_SHOWN} more terms were merged")
    if spellings.unused:
        notes.append(f"not found in {name!r}: {_listed(spellings.unused)}")
    after = new.drop_nulls().n_unique()
    return ToolResult(
        summary=f"{changed} of {many(len(column), 'value')} of {name} changed; "
        f"{many(len(counts), 'distinct term')} became {after}",
        results={
            "column": name,
            "changed": changed,
            "distinct_before": len(counts),
            "distinct_after": after,
            "merged": dict(list(merged.items())[:MERGED_SHOWN]),
            "path": published.artifact.path,
        },
        artifacts=[published.artifact],
        notes=notes,
    )


def standardize(terms: Sequence[tuple[str, int]], case: Case, mapping: Mapping[str, str]) -> Spellings:
    """One spelling for each distinct term. `terms` are values with their counts, in the order of the file."""
    variants: dict[str, dict[str, int]] = {}
    for text, count in terms:
        tidy = _tidy(text)
        spellings = variants.setdefault(tidy.casefold(), {})
        spellings[tidy] = spellings.get(tidy, 0) + count
    mapped = {_tidy(term).casefold(): new for term, new in mapping.items()}
    commonest = {key: max(spellings, key=lambda tidy: spellings[tidy]) for key, spellings in variants.items()}
    final = {}
    for text, _ in terms:
        key = _tidy(text).casefold()
        final[text] = mapped[key] if key in mapped else _in_case(commonest[key], case)
    return Spellings(final, [term for term in mapping if _tidy(term).casefold() not in variants])


def _text_column(table: Table, name: str) -> pl.Series:
    import polars as pl

    column = table.frame.get_column(name)
    if column.dtype != pl.String:
        raise ArgumentError("column", f"{name!r} holds {column.dtype} values, not text; only terms can be standardized")
    if column.null_count() == len(column):
        raise ArgumentError("column", f"{name!r} holds no value at all")
    return column


def _tidy(text: str) -> str:
    return " ".join(text.split())


def _in_case(text: str, case: Case) -> str:
    # Not str.title: it makes "Kite'S" of "kite's".
    match case:
        case "lower":
            return text.lower()
        case "upper":
            return text.upper()
        case "title":
            return string.capwords(text)
        case "keep":
            return text


def _listed(terms: Sequence[str]) -> str:
    more = f" and {len(terms) - MERGED_SHOWN} more" if len(terms) > MERGED_SHOWN else ""
    return ", ".join(repr(cut(term, TERM_CHARS)) for term in terms[:MERGED_SHOWN]) + more


def _merged(final: Mapping[str, str]) -> dict[str, list[str]]:
    """New spelling → the spellings that differ from it, both cut for showing; only where there are any."""
    merged: dict[str, list[str]] = {}
    for old, new in final.items():
        if old != new:
            merged.setdefault(cut(new, TERM_CHARS), []).append(cut(old, TERM_CHARS))
    return {new: old[:SPELLINGS_SHOWN] for new, old in merged.items()}


TOOL = Tool(
    name="standardize_terms",
    version=2,
    description="Makes the terms of a text column uniform: trims blanks, merges spellings that differ in case, "
    "replaces terms by a mapping, and writes the table.",
    asked_for=(
        "standardize terms",
        "harmonize names",
        "unify spellings",
        "normalize categories",
        "fix inconsistent labels",
        "standardise names",
        "standardise spellings",
    ),
    specialists=frozenset({"cleaning"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        the same thing is written in different ways; upper and lower case variants; typing variants of a
        category; synonyms of rock names; inconsistent codes; merge categories; map codes to names; translate
        abbreviations; relabel categories; lookup of codes; clean up the labels; typos in names; trailing
        spaces; capital letters; consolidate classes; one spelling for each; group similar lithology codes;
        vocabulary; naming convention; recode lithologies; different loggers used different names; abbreviations
        for rock types; unify terminology; consistent nomenclature; expand the logging codes; controlled
        vocabulary; legend; typed in five ways; shorthand to full words; all mean the same rock; different
        spellings of one rock; various names for the same thing; should be one category; treat as one; mixed
        case; written inconsistently; same rock under several names; spelling mistakes in the labels; logging
        codes differ; several loggers; uniform naming; one name for; replace abbreviations; expand
        abbreviations; equivalent terms; plurals and singulars; ambiguous labels
        """
    ),
)
