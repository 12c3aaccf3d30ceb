"""Files and runs as resources: bounded, listed by pages, and no way out of the workspace."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp.shared.exceptions import MCPError

from outcrop.mcp_server import files
from outcrop_schemas import limits
from outcrop_schemas.errors import PathError

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(scope="module", autouse=True)
def more(place: Path) -> None:
    """Files of every kind, and ways out."""
    (place / "sub folder").mkdir()
    (place / "sub folder" / "é #1%.png").write_bytes(PIXEL)
    (place / "long.txt").write_text("".join(f"Line {number} of the report, in words.\n" for number in range(5_000)))
    (place / "rows.csv").write_text("a,b\n" + "".join(f"{n},{n}\n" for n in range(1_000)))
    (place / "huge.png").write_bytes(PIXEL + b"\0" * limits.MCP_BLOB_BYTES)
    outside = place.parent / "outside"
    outside.mkdir()
    (outside / "secret.png").write_bytes(PIXEL)
    (outside / "secret.txt").write_text("secret")
    (place / "out.png").symlink_to(outside / "secret.png")
    (place / "out").symlink_to(outside)
    (place / "outcrop.toml").write_text("workers = 2\n")


async def read(client: Any, uri: str) -> Any:
    [content] = (await client.read_resource(uri)).contents
    return content


async def test_files_are_read_within_bounds(served: Any) -> None:
    async with served.client() as client:
        table = json.loads((await read(client, "workspace:///rows.csv")).text)
        assert table["total_lines"] == 1_001
        assert table["text"].count("\n") == limits.DATA_LINES_SHOWN
        note = await read(client, "workspace:///notes.txt")
        assert (note.mime_type, note.text) == ("text/plain", "Two holes.\nAssayed for four elements.\n")
        page, seen = await read(client, "workspace:///long.txt"), ""
        assert len(page.text) <= limits.MCP_RESOURCE_CHARS + 200
        while "[this is not all of it; it goes on at " in page.text:
            text, _, following = page.text.partition("\n[this is not all of it; it goes on at ")
            seen += text
            page = await read(client, following.strip()[:-1])
        assert (seen + page.text) == (served.workspace / "long.txt").read_text()
        image = await read(client, "workspace:///" + quote("sub folder/é #1%.png"))
        assert base64.b64decode(image.blob) == PIXEL
        assert image.mime_type == "image/png"
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template.partition("://")[0] for one in templates] == ["workspace", "run", "run"]


@pytest.mark.parametrize(
    "ending", ["png", "jpg", "gif", "svg", "tiff", "webp", "bmp", "ico", "bin", "pdf", "mp4", "md", ""]
)
async def test_a_table_of_any_name_comes_with_its_first_lines_only(served: Any, ending: str) -> None:
    name = f"renamed.{ending}"
    (served.workspace / name).write_text("a,b\n" + "".join(f"cell{n},{n}\n" for n in range(5_000)))
    async with served.client() as client:
        content = await read(client, f"workspace:///{name}")
    assert 0 < content.text.count("cell") <= limits.PREVIEW_ROWS


HIDDEN = (
    "out.png", "out/secret.txt", "../outside/secret.txt", "%2e%2e/outside/secret.txt", "/etc/passwd", ".outcrop/lock",
    "outcrop.toml", "sub%20folder/../.outcrop/lock", "", "nothing.csv", "huge.png", "%00", "%ff", "sub%20folder",
    "long.txt?start_line=0", "long.txt?start_line=x", "x" * 9_000,
)  # fmt: skip
NO_RUN = (
    "last/journal.jsonl",
    "last/../../lock",
    "..%2f..%2f/answer",
    "/etc/answer",
    "nothing/answer",
    "last/report.html",
)


@pytest.mark.parametrize(
    "uri",
    [
        *(f"workspace:///{path}" for path in HIDDEN),
        *(f"run://{path}" for path in NO_RUN),
        "file:///etc/passwd",
        "http://127.0.0.1/",
    ],
)
async def test_what_is_not_offered_is_refused_in_words(served: Any, uri: str) -> None:
    async with served.client() as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
    told = str(refused.value)
    assert "secret" not in told.replace("secret.txt", "").replace("secret.png", "")
    assert "Traceback" not in told
    assert len(told) < 1_000


async def test_what_came_of_a_run_is_read(served: Any) -> None:
    async with served.client() as client:
        asked = {"objective": "histogram of Cu ppm", "data": ["small.csv"]}
        run = (await client.call_tool("run_research", asked)).structured_content
        told = json.loads((await read(client, f"run://{run['run_id']}/answer")).text)
        assert told["answer"]["summary"] == run["summary"]
        report = served.workspace / ".outcrop" / "runs" / run["run_id"] / "report.html"
        report.write_text("<p>found</p>")
        content = await read(client, f"run://{run['run_id']}/report.html")
        assert (content.mime_type, content.text) == ("text/html", "<p>found</p>")
        listed = (await client.list_resources()).resources
        assert f"run://{run['run_id']}/report.html" in [one.uri for one in listed]
        plot = await read(client, run["artifacts"][0]["uri"])
        assert base64.b64decode(plot.blob).startswith(b"\x89PNG")


async def test_many_files_are_listed_by_pages_without_links_and_records(served: Any) -> None:
    many = served.workspace / "many"
    many.mkdir(exist_ok=True)
    for number in range(1_200):
        (many / f"{number:04}.csv").write_text("a\n1\n")
    async with served.client() as client:
        cursor, pages = None, []
        while not pages or cursor:
            found = await client.list_resources(cursor=cursor)
            cursor = found.next_cursor
            pages.append([one.name for one in found.resources])
        assert all(len(page) <= limits.LIST_FILES_ENTRIES for page in pages)
        names = [name for page in pages for name in page]
        assert len(names) == len(set(names))
        files_named = [name for name in names if not name.endswith("report.html")]
        assert len([name for name in files_named if name.startswith("many/")]) == 1_200
        assert not [name for name in files_named if name.startswith((".outcrop", "out", "outcrop.toml"))]
        with pytest.raises(MCPError, match="cursor"):
            await client.list_resources(cursor="nonsense!")


def test_a_link_that_is_put_in_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "w" / "a.png").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "w" / "b.png")
    for name in ("a.png", "b.png", "../secret", "/etc/passwd", ""):
        with pytest.raises(PathError):
            files.whole(tmp_path / "w", name)
