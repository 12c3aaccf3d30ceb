"""How a file was made is found from the records beside it, also through files derived from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from outcrop_schemas.errors import PathError
from outcrop_specialists.tools.base import Tool, ToolContext
from outcrop_specialists.tools.lineage import parameters_of
from outcrop_specialists.tools.multivariate import cluster
from outcrop_specialists.tools.publish import publish
from outcrop_specialists.tools.statistics import summarize


def derive(context: ToolContext, tool: Tool, source: Path, parameters: dict[str, object]) -> Path:
    return publish(
        context,
        tool,
        [source],
        parameters,
        extension="csv",
        kind="table",
        title="t",
        write=lambda path: path.write_text("a\n1\n") and None,
    ).path


@pytest.fixture
def source(context: ToolContext) -> Path:
    path = context.workspace / "a.csv"
    path.write_text("a\n1\n")
    return path


def test_the_parameters_of_a_file_s_own_tool_are_found(context: ToolContext, source: Path) -> None:
    labels = derive(context, cluster.TOOL, source, {"columns": ["a"]})
    assert parameters_of(context, labels, "cluster") == {"columns": ["a"]}
    assert parameters_of(context, labels, "summarize") is None


def test_they_are_found_through_files_derived_from_it(context: ToolContext, source: Path) -> None:
    labels = derive(context, cluster.TOOL, source, {"columns": ["a"]})
    further = derive(context, summarize.TOOL, derive(context, summarize.TOOL, labels, {"n": 1}), {"n": 2})
    assert parameters_of(context, further, "cluster") == {"columns": ["a"]}


def test_a_file_without_a_record_or_with_a_broken_one_was_made_by_nobody(context: ToolContext, source: Path) -> None:
    assert parameters_of(context, source, "cluster") is None
    labels = derive(context, cluster.TOOL, source, {"columns": ["a"]})
    record = labels.parent / ".lineage" / f"{labels.name}.json"
    for broken in ("{", "[]", '{"tool":"other"}', '{"tool":"other","inputs":[3]}', '{"tool":"cluster","parameters":3}'):
        record.write_text(broken)
        assert parameters_of(context, labels, "cluster") is None


def test_a_record_that_names_itself_ends(context: ToolContext, source: Path) -> None:
    labels = derive(context, cluster.TOOL, source, {})
    record = labels.parent / ".lineage" / f"{labels.name}.json"
    record.write_text('{"tool":"other","inputs":[{"path":"results/' + labels.name + '"}]}')
    assert parameters_of(context, labels, "cluster") is None


def test_a_record_that_leads_out_of_the_workspace_is_refused(context: ToolContext, source: Path) -> None:
    labels = derive(context, cluster.TOOL, source, {})
    record = labels.parent / ".lineage" / f"{labels.name}.json"
    record.write_text('{"tool":"other","inputs":[{"path":"../../elsewhere.csv"}]}')
    with pytest.raises(PathError):
        parameters_of(context, labels, "cluster")
