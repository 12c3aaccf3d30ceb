"""`outcrop chat` through the installed command: one question, a pipe, a terminal, and what its record gives."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
from pathlib import Path
from typing import Any

import pytest
from installed import OUTCROP, outcrop

_ROCKS = ("granite", "basalt")
ROWS = "sample,Au,rock\n" + "".join(f"s{n},{n / 7},{_ROCKS[n % 2]}\n" for n in range(40)) + "s40,,slate\n"
PATIENCE_SECONDS = 120


@pytest.fixture
def data(workspace: Path) -> Path:
    (workspace / "a.csv").write_text(ROWS)
    (workspace / "notes.md").write_text("Au is in ppm.\n")
    return workspace


def test_lines_of_a_pipe_are_messages_and_json_is_one_document(data: Path) -> None:
    lines = "which files are there?\n\nhow many values are missing in a.csv?\nmean of Au by rock in a.csv\n"
    done = outcrop(data, "chat", "--json", "--model", "offline", "--data", "a.csv", "--attach", "notes.md", input=lines)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    files, missing, mean = document["turns"]
    assert [each["path"] for each in files["files"]] == ["a.csv", "notes.md"]
    assert "1 missing cells: Au 1" in missing["answer"]
    assert {each["text"]: each["verdict"] for each in missing["figures"]}["41"] == "verified"
    assert mean["runs"] == document["runs"]
    assert any(each["verdict"] == "verified" for each in mean["figures"])
    assert {each["text"]: each["verdict"] for each in files["figures"]}["2"] == "verified"
    [outcome] = document["outcomes"]
    assert outcome["run_id"] == mean["runs"][0]
    assert "granite" in outcome["summary"]
    chat = document["chat_id"]
    shown = outcrop(data, "show", chat)
    assert "> how many values are missing in a.csv?" in shown.stdout
    assert f"run: {mean['runs'][0]}" in shown.stdout
    assert [each["number"] for each in json.loads(outcrop(data, "show", chat, "--json").stdout)["turns"]] == [1, 2, 3]
    log = outcrop(data, "log", chat)
    assert "given back: research" in log.stdout
    assert "answers [success]" in log.stdout or "answers [partial]" in log.stdout
    checked = outcrop(data, "replay", chat, "--verify")
    assert checked.returncode == 0, checked.stdout
    assert "chat: 6 prompts rebuilt, the same, byte for byte" in checked.stdout
    again = outcrop(data, "chat", "what was made so far?", "--continue", chat, "--model", "offline")
    assert again.returncode == 0, again.stderr
    assert "by summarize" in again.stdout


def test_the_user_is_shown_the_answer_of_a_run_whole(data: Path) -> None:
    done = outcrop(data, "chat", "summarise a.csv", "--data", "a.csv", "--model", "offline")
    assert done.returncode == 0, done.stderr
    own, _, reply = done.stdout.partition("  Record: ")
    assert own.startswith("  The run's own answer (")
    assert "\n  SUCCESS: " in own
    assert "\n    - " in own
    assert all(line.startswith("  ") or not line for line in own.splitlines())
    assert "run: " in reply


@pytest.mark.parametrize(
    ("arguments", "said", "code", "words"),
    [
        (["chat"], "", 2, "Nothing was asked"),
        (["chat", "-"], " \n", 2, "The objective is empty"),
        (["chat", "hello", "--continue"], None, 2, "no chat in this workspace"),
        (["chat", "hello", "--continue", "2019"], None, 2, "2019"),
        (["chat", "hello", "--data", "none.csv"], None, 1, "none.csv"),
        (["chat", "--data", "a.csv", "which gaps?"], None, 2, "put the question first"),
        (["chat", "hello", "--pin", "x"], None, 2, "--pin takes KEY=VALUE"),
    ],
)
def test_wrong_usage_says_so(data: Path, arguments: list[str], said: str, code: int, words: str) -> None:
    done = outcrop(data, *arguments, input=said or "")
    assert words in done.stderr
    assert done.returncode == code
    assert "Traceback" not in done.stderr


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, workspace: Path, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "dumb", "NO_COLOR": "1"}
        self.process = subprocess.Popen(
            [OUTCROP, *arguments],
            cwd=workspace,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            start_new_session=True,
            preexec_fn=_takes_terminal,
        )
        os.close(theirs)
        self._read = ""

    def waits_for(self, words: str) -> str:
        """All that was shown up to these words."""
        while words not in self._read:
            ready, _, _ = select.select([self._ours], [], [], PATIENCE_SECONDS)
            assert ready, self._read
            try:
                self._read += os.read(self._ours, 65_536).decode()
            except OSError:
                break
        assert words in self._read, self._read
        shown, _, self._read = self._read.partition(words)
        return shown + words

    def types(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def ends(self) -> int:
        code = self.process.wait(PATIENCE_SECONDS)
        os.close(self._ours)
        return code


def _takes_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_on_a_terminal_it_is_a_conversation(data: Path) -> None:
    terminal = Terminal(data, "chat", "--model", "offline", "--data", "a.csv")
    try:
        terminal.waits_for("you> ")
        terminal.types("/help\r")
        assert "/attach FILE" in terminal.waits_for("you> ")
        terminal.types("/attach notes.md\r")
        terminal.waits_for("Attached: notes.md")
        terminal.waits_for("you> ")
        terminal.types("/files\r")
        terminal.waits_for("2 data files and results")
        terminal.waits_for("you> ")
        terminal.types("how many values are \\\r")
        terminal.waits_for("...> ")
        terminal.types("missing in a.csv?\r")
        terminal.waits_for("1 missing cells: Au 1")
        terminal.waits_for("you> ")
        terminal.types("mean of Au in a.csv\r")
        terminal.waits_for("started")
        terminal.types("\x03")
        terminal.waits_for("cancelled; everything that it had started has ended")
        terminal.waits_for("you> ")
        terminal.types("/runs\r")
        terminal.waits_for("you> ")
        terminal.types("\x04")
        terminal.waits_for("Go on with: outcrop chat --continue")
        assert terminal.ends() == 0
    finally:
        terminal.process.kill()
    history = data / ".outcrop" / "chat_history"
    if history.exists():
        assert history.stat().st_mode & 0o777 == 0o600
        assert "missing in a.csv?" in history.read_text()
