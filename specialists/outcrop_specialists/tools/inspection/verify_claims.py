"""Recomputes claimed figures from their tables: verified, refuted or unverifiable, by one tolerance for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas import limits
from outcrop_schemas.claims import CheckedClaim, Claim
from outcrop_schemas.errors import OutcropError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.inspection.claimed_figures import RULE, check

if TYPE_CHECKING:
    from outcrop_specialists.reading.tables import Table


class Arguments(ToolArguments):
    claims: list[Claim] = Field(
        min_length=1,
        max_length=limits.CLAIMS_CHECKED,
        description="The figures to check, each with its table, statistic, column and selection of rows.",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Every claim gets a verdict; a table that cannot be read makes its claims unverifiable."""
    tables: dict[str, Table | str] = {}
    checked: list[CheckedClaim] = []
    for done, claim in enumerate(arguments.claims):
        context.report("verifying figures", done, len(arguments.claims))
        if claim.path not in tables:
            tables[claim.path] = _read(context, claim.path)
        table = tables[claim.path]
        if isinstance(table, str):
            checked.append(CheckedClaim(**claim.model_dump(), verdict="unverifiable", reason=table))
        else:
            checked.append(check(table, claim))
    counts = {
        verdict: sum(one.verdict == verdict for one in checked) for verdict in ("verified", "refuted", "unverifiable")
    }
    results: dict[str, Any] = {
        **counts,
        "claims": [_record(n, one) for n, one in enumerate(checked, start=1)],
        "rule": RULE,
    }
    return ToolResult(_told(checked, counts), results)


def _read(context: ToolContext, path: str) -> Table | str:
    try:
        return read_table(context, path)
    except OutcropError as error:
        return str(error)


def _record(number: int, claim: CheckedClaim) -> dict[str, Any]:
    """A verdict as it is told: which claim, by its place; the true value where it was computed."""
    found: dict[str, Any] = {"n": number, "verdict": claim.verdict}
    if claim.actual is not None:
        found["actual"] = claim.actual
    if claim.verdict != "verified":
        found["reason"] = claim.reason
    return found


def _told(checked: list[CheckedClaim], counts: dict[str, int]) -> str:
    told = f"{counts['verified']} of {len(checked)} figures verified"
    for verdict in ("refuted", "unverifiable"):
        first = next((one for one in checked if one.verdict == verdict), None)
        if first is not None:
            what = f"{first.statistic} of {first.column or first.path}"
            told += f", {counts[verdict]} {verdict} (first: {what} given as {first.value}: {first.reason})"
    return told


TOOL = Tool(
    name="verify_claims",
    version=1,
    description="Recomputes claimed figures from their tables and says of each whether it is verified, refuted (with "
    "the true value) or cannot be checked.",
    asked_for=(
        "verify claims",
        "verify that",
        "check the claim",
        "confirm that",
        "check figures",
        "verify the numbers",
        "confirm the reported values",
        "double-check",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    projection=("verdict", "actual"),
    told_whole=True,
    also_called=phrases(
        """
        is this number right; fact check; check the report against the data; does the statement hold; true or
        false; reproduce the figures; audit the conclusions; recalculate what was reported; cross-check the
        text; are the quoted values correct; validate the statements in my draft; test an assertion; is it
        correct that; make sure the numbers are not wrong; prove the figures; confirm what somebody wrote;
        consistency of the manuscript with the table; the consultant says; a press release states; substantiate;
        trust but verify; correct the record; before publishing, check each quoted result; are they correct;
        recheck the sums; can the averages be backed up; somebody told me; someone says; does it agree with the
        data; do the numbers in the text match the table; check my statement; is what they say right; can you
        confirm; did we calculate correctly; quoted figure; disprove; validate the conclusion; was the number
        computed properly; double check the result; claimed value; allegedly; true number
        """
    ),
)
