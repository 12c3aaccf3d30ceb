"""Calls that make no sense, and answers that are too much: typed words, our bounds, and the server goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from outcrop.mcp_server import answers, images
from outcrop.mcp_server.prompts import PROMPTS
from outcrop_schemas import limits

DEEP: dict[str, Any] = {}
for _ in range(200):
    DEEP = {"a": DEEP}
ODD: list[tuple[str, dict[str, Any], str]] = [
    ("plot_scater", {}, "Did you mean 'plot_scatter'"),
    ("check_script", {"handle": "x"}, "There is no tool 'check_script'"),
    ("complete", {}, "There is no tool"),
    ("call_tool", {"name": "list_files"}, "There is no tool"),
    ("filter_rows", {"path": "small.csv", "colum": "Cu ppm", "operator": ">", "value": 1}, "did you mean 'column'?"),
    ("filter_rows", {"path": "small.csv"}, "is needed"),
    ("filter_rows", {"path": "small.csv", "column": "Cupm", "operator": ">", "value": 1}, "Cu ppm"),
    ("inspect_dataset", {"path": "smal.csv"}, "did you mean small.csv"),
    ("inspect_dataset", {"path": "../outside.csv"}, "outside the workspace"),
    ("inspect_dataset", {"path": "/etc/passwd"}, "outside the workspace"),
    ("inspect_dataset", {"path": ["small.csv"]}, "valid string"),
    ("inspect_dataset", {"path": "a\x00b"}, "path"),
    ("inspect_dataset", {"path": "x" * 100_000}, "path"),
    ("read_file", {"path": ".outcrop/lock"}, "Outcrop's own"),
    ("list_files", DEEP, "list_files has no such argument"),
    ("run_research", {"objective": ""}, "objective"),
    ("run_research", {"objective": "x" * 30_000}, "objective"),
    ("run_research", {"objective": "x", "data": ["nothing.csv"]}, "nothing.csv"),
    ("run_research", {"objective": "x", "budget_usd": -1}, "budget_usd"),
    ("dispatch", {"specialist": "cleaner", "objective": "x"}, "cleaner"),
    ("show_run", {"run": "../../../etc"}, "There is no run"),
    ("show_run", {"run": "/etc"}, "There is no run"),
    ("find_tools", {"query": " "}, "plain words"),
]


@pytest.mark.parametrize(("name", "arguments", "said"), ODD)
async def test_a_call_that_makes_no_sense_is_answered_in_words(
    served: Any, name: str, arguments: dict[str, Any], said: str
) -> None:
    async with served.client() as client:
        result = await client.call_tool(name, arguments)
    assert result.is_error
    text = result.content[0].text
    assert said in text
    assert "Traceback" not in text
    assert len(text) <= limits.RESULT_CHARS


async def test_what_went_wrong_is_told_once(served: Any) -> None:
    arguments = {"path": "small.csv", "column": "Cupm", "operator": ">", "value": 1}
    long = {"code": f"raise ValueError('{'much ' * 200}')"}
    async with served.client() as client:
        wrong = await client.call_tool("filter_rows", arguments)
        script = await client.call_tool("run_script", long)
        dispatched = await client.call_tool(
            "dispatch", {"specialist": "analytics", "objective": "mean of Cupm", "data": ["small.csv"]}
        )
    for result, said in ((wrong, "has no column 'Cupm'"), (script, "the script failed"), (dispatched, '"Cupm" is no')):
        assert result.is_error
        assert "\n".join(part.text for part in result.content).count(said) == 1
    for result in (wrong, script):
        assert json.dumps(result.structured_content).count(result.content[0].text[20:40]) == 1
    assert wrong.structured_content["errors"][0].startswith("argument: column: small.csv has no column 'Cupm'")
    # An entry of a list has room for 500 characters; of what is told once nothing is cut that was told before.
    assert len(script.structured_content["errors"][0]) > limits.ENTRY_CHARS


async def test_a_client_is_not_told_of_options_of_the_command_line(stdio: Any, workspace: Path) -> None:
    async with stdio(workspace) as client:
        empty = await client.call_tool("run_research", {"objective": "the mean of Cu"})
        outside = await client.call_tool("inspect_dataset", {"path": "../x.csv"})
    assert "There is no table in the workspace; put a data file there" in empty.structured_content["summary"]
    for result in (empty, outside):
        assert result.is_error
        assert "--" not in " ".join(part.text for part in result.content) + json.dumps(result.structured_content)


async def test_a_result_that_is_too_long_is_cut_and_the_whole_of_it_named(served: Any) -> None:
    # Twenty rows of forty columns of 200 characters are more than 8,000 characters.
    header = ",".join(f"column {n}" for n in range(40))
    (served.workspace / "fat.csv").write_text("\n".join([header, *[",".join(["x" * 200] * 40)] * 30]) + "\n")
    async with served.client() as client:
        result = await client.call_tool("query_data", {"path": "fat.csv", "operation": "head", "n": 20})
        answer = result.structured_content
        assert not result.is_error
        assert len(json.dumps(answer["results"], separators=(",", ":"))) <= limits.RESULT_CHARS
        assert answer["truncated"]["chars"] > limits.RESULT_CHARS
        assert json.loads(Path(answer["truncated"]["spill"]).read_text())["rows"]
        assert answer["truncated"]["spill"] in result.content[0].text


async def test_a_text_is_read_by_pages_that_are_shown_whole(served: Any) -> None:
    (served.workspace / "story.txt").write_text("".join(f"Sentence {n} of the story.\n" for n in range(2_000)))
    async with served.client() as client:
        result = await client.call_tool("read_file", {"path": "story.txt"})
        page = result.structured_content["results"]
        assert result.structured_content["truncated"] is None
        assert page["text"].startswith("Sentence 0")
        following = await client.call_tool("read_file", {"path": "story.txt", **page["next"]})
        assert following.structured_content["results"]["start_line"] == page["end_line"] + 1


async def test_a_script_is_waited_for_to_its_end(served: Any) -> None:
    code = "import time; time.sleep(1.5); print('===RESULT===', 7, '===END_RESULT===', sep='\\n')"
    async with served.client() as client:
        result = await client.call_tool("run_script", {"code": code, "wait_seconds": 0.5})
        assert result.structured_content["results"]["answer"] == 7
        result = await client.call_tool("run_command", {"command": "sleep 1.2; echo done", "wait_seconds": 0.5})
        assert "done" in str(result.structured_content["results"])
        failed = await client.call_tool("run_script", {"code": "raise SystemExit('no')"})
        assert failed.is_error
        assert failed.structured_content["status"] == "error"


async def test_prompts_are_filled_with_what_is_given_and_nothing_else(served: Any) -> None:
    async with served.client() as client:
        assert {one.name for one in (await client.list_prompts()).prompts} == PROMPTS.keys()
        found = await client.get_prompt("describe_table", {"path": "{question} {path}.csv"})
        assert "the table {question} {path}.csv of" in found.messages[0].content.text
        for name, given in (("describe_table", {}), ("describe_table", {"pat": "x"}), ("nothing", {})):
            with pytest.raises(MCPError):
                await client.get_prompt(name, given)


async def test_few_tools_are_a_way_to_all(stdio: Any, small: Path) -> None:
    async with stdio(small, "--tools", "find_tools,call_tool", "--tools", "inspection") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names[:2] == ["find_tools", "call_tool"]
        assert "read_file" in names
        assert "plot_histogram" not in names
        found = (await client.call_tool("find_tools", {"query": "histogram"})).structured_content["tools"]
        [tool] = [one for one in found if one["name"] == "plot_histogram"]
        assert tool["input_schema"]["properties"]["column"]
        asked = {"name": "plot_histogram", "arguments": {"path": "small.csv", "column": "Cu ppm"}}
        made = await client.call_tool("call_tool", asked)
        assert "image" in [block.type for block in made.content]
        wrong = await client.call_tool("call_tool", {**asked, "arguments": {"pth": "small.csv"}})
        assert "did you mean 'path'" in wrong.content[0].text
        assert (await client.call_tool("plot_histogram", {})).is_error


def test_of_an_image_that_is_too_large_or_was_changed_only_the_link_is_given(tmp_path: Path) -> None:
    data = b"\x89PNG\r\n\x1a\n" + b"\0" * limits.MCP_IMAGE_BYTES
    (tmp_path / "large.png").write_bytes(data)
    (tmp_path / "changed.png").write_bytes(data[:100])
    files = [
        answers.File(path=name, kind="plot", title="", bytes=size, sha256="0" * 64, uri=answers.uri_of(name))
        for name, size in (("large.png", len(data)), ("changed.png", 100), ("gone.png", 10))
    ]
    found = images.images_of(tmp_path, files)
    assert [image.data for image in found] == [None] * 3
    assert all(image.reason for image in found)


async def test_the_record_of_calls_can_be_verified_and_walked(stdio: Any, small: Path) -> None:
    import subprocess
    import sys

    async with stdio(small) as client:
        await client.call_tool("summarize", {"path": "small.csv"})
        await client.call_tool("inspect_dataset", {"path": "nothing.csv"})
    outcrop = str(Path(sys.executable).parent / "outcrop")
    for arguments in (["replay", "last", "--verify"], ["replay", "last"], ["show", "last"], ["log", "last"], ["runs"]):
        command = [outcrop, *arguments, "--workspace", str(small)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (arguments, done.stderr)
