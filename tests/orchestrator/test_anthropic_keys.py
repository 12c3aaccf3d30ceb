"""No key of ours is ever written down, in whatever form a server or a library repeats it; a bad one is told at once."""

from __future__ import annotations

import base64
import json
import traceback
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from servers.ledger import Took
from servers.messages_api import MODELS, Fault, MessagesApi
from servers.turns import answer, call, text

from outcrop import Run
from outcrop.gateway import Gateway, Line
from outcrop.models import ModelTable
from outcrop.models.anthropic import AnthropicModel, secrecy
from outcrop.models.anthropic.secrecy import scrubbed
from outcrop.rates import RateGovernor
from outcrop.retry import RetryPolicy
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop_schemas.errors import ModelError
from outcrop_schemas.messages import Message, ModelRequest, TextBlock, Usage

CANARY = "sk-canary-4f1d9b7c2e60-0123456789abcdef"
REQUEST = ModelRequest(system="You answer.", messages=[Message(role="user", content=[TextBlock(text="hello")])])
QUICK = RetryPolicy(attempts=3, first_seconds=0.01, longest_seconds=0.02)
Serving = Callable[..., MessagesApi]


def line_to(folder: Path, ledger: Took, model: AnthropicModel | None = None) -> Line:
    (folder / "exchanges").mkdir(parents=True)
    table = ModelTable(model or AnthropicModel(MODELS[0], max_tokens=300))
    return Gateway(table, RunFolder(folder), RateGovernor(8), ledger=ledger, retry=QUICK).line("d1", "analytics")


async def told(folder: Path, ledger: Took, model: AnthropicModel | None = None) -> str:
    """Everything that is left of a call that fails: the error with all that hangs on it, and every file."""
    line = line_to(folder, ledger, model)
    with pytest.raises(ModelError) as caught:
        await line.create(REQUEST)
    line.close()
    error = caught.value
    left = [str(error), str(error.request_id), *traceback.format_exception(error)]
    return "\n".join([*left, *(path.read_text() for path in folder.rglob("*") if path.is_file())])


@pytest.mark.parametrize("around", ["{}\n", "{}\r\n", " {}", "\t{} \n\n"])
async def test_white_space_around_a_key_is_none_of_it(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, around: str
) -> None:
    api = serving(key=CANARY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", around.format(CANARY))
    await AnthropicModel(MODELS[0]).create(REQUEST)
    assert api.seen[0].headers["authorization"] == f"Bearer {CANARY}"


@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"])
@pytest.mark.parametrize("bad", ["\x01", "\t", "\u200b", "é", "\x7f", "\r"])
async def test_a_key_that_no_header_can_have_is_refused_at_once_and_not_shown(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, bad: str
) -> None:
    api, ledger = serving(key=CANARY), Took()
    if variable == "ANTHROPIC_AUTH_TOKEN":
        monkeypatch.delenv("ANTHROPIC_API_KEY")
    key = f"{CANARY[:20]}{bad}{CANARY[20:]}"
    monkeypatch.setenv(variable, f"x-gate: {key}" if variable.endswith("HEADERS") else key)
    left = await told(tmp_path / "run", ledger)
    assert "a character that no header can have" in left
    assert (CANARY[:20] in left, CANARY[20:] in left) == (False, False)
    assert (api.seen, ledger.took) == ([], [])


async def test_a_header_that_the_transport_refuses_is_not_tried_again_and_took_nothing(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    api, ledger, model = serving(), Took(), AnthropicModel(MODELS[0], max_tokens=300)
    client = await model.client()
    client.api_key = f"{CANARY}\n"
    left = await told(tmp_path / "run", ledger, model)
    assert "Illegal header value" in left
    assert "canary" not in left
    assert (api.seen, ledger.took) == ([], [Usage()])


async def test_an_address_that_is_none_is_told_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    ledger = Took()
    left = await told(tmp_path / "run", ledger, AnthropicModel(MODELS[0], max_tokens=9, base_url="ftp://nowhere.test"))
    assert "unsupported protocol" in left
    assert ledger.took == [Usage()]


REPEATED = {
    "as it is": CANARY,
    "in JSON": json.dumps(json.dumps(f"{CANARY}\n")),
    "as Python shows it": repr(f"Bearer {CANARY}\n".encode()),
    "in a URL": quote_plus(CANARY),
    "all percent-encoded": "".join(f"%{byte:02X}" for byte in CANARY.encode()),
    "with escapes": CANARY.replace("-", "\\u002d"),
    "in base64": base64.b64encode(CANARY.encode()).decode(),
    "in base64 amid others": base64.b64encode(f"user:{CANARY}:x".encode()).decode(),
    "in URL-safe base64": base64.urlsafe_b64encode(f"ab{CANARY}".encode()).decode(),
    "where the reason is cut off": "x" * 1_985 + CANARY,
    "cut off by the server": f"this is no key: {CANARY[:17]}",
}


@pytest.mark.parametrize("form", REPEATED)
async def test_a_server_that_repeats_the_key_in_any_form_does_not_get_it_written_down(
    serving: Serving, tmp_path: Path, form: str
) -> None:
    said = REPEATED[form]
    serving(key=CANARY, faults=[Fault("status", 400, said)])
    left = await told(tmp_path / "run", Took())
    assert "[key]" in left or said.startswith("x")
    assert said[-16:] not in left
    assert "canary" not in left


@pytest.mark.parametrize("form", [name for name in REPEATED if "cut off" not in name])
@pytest.mark.parametrize("other", [f"{CANARY[:20]}{CANARY}", f"{CANARY[:12]}-of-another", CANARY[:-1], f"{CANARY}s"])
def test_of_two_keys_that_begin_alike_each_is_taken_out_whole(
    monkeypatch: pytest.MonkeyPatch, form: str, other: str
) -> None:
    monkeypatch.setattr(secrecy, "_held", {CANARY, other})
    said = REPEATED[form]
    cleaned = scrubbed(f"told: {said}. And {other}. And {CANARY}.")
    assert said[-16:].rstrip("'\"=") not in cleaned
    assert cleaned.startswith("told: ")
    assert cleaned.endswith(". And [key]. And [key].")


@pytest.mark.parametrize("form", ["as it is", "all percent-encoded", "with escapes"])
def test_a_key_that_was_cut_off_is_taken_out_to_its_end(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setattr(secrecy, "_held", {CANARY})
    assert scrubbed(f"no key: {REPEATED[form][:-3]} is it") == "no key: [key] is it"


async def test_a_key_in_a_request_id_or_a_kind_of_error_is_not_written_down(serving: Serving, tmp_path: Path) -> None:
    serving(key=CANARY, faults=[Fault("status", 400, "no", headers={"request-id": CANARY})])
    assert "canary" not in await told(tmp_path / "refused", Took())
    api = serving(answer(text(f"Your key is {CANARY}."), stop_details={"of": CANARY}), key=CANARY)
    api.headers = {"request-id": f"req-{CANARY}"}
    line = line_to(tmp_path / "answered", Took())
    response = await line.create(REQUEST)
    line.close()
    assert response.content == [TextBlock(text="Your key is [key].")]
    files = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 4
    assert "canary" not in "".join(files)


async def test_a_password_in_the_address_is_not_written_down(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    api = serving()
    password = "pass-canary:%40/word"
    address = api.url.replace("http://", f"http://user:{quote(password, safe='')}@")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    # The server repeats what it was given, which is base64 of user and password.
    left = await told(tmp_path / "run", Took())
    assert "[key]" in left
    assert base64.b64encode(f"user:{password}".encode()).decode() not in left
    assert scrubbed(f"at {address}").count("canary") == 0


async def test_the_token_of_a_profile_is_not_written_down(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, workspace: Path
) -> None:
    folder = profile(tmp_path / "profiles", {"access_token": CANARY, "refresh_token": f"rt-{CANARY[3:]}"})
    api = serving(key="another-key-of-the-server")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_PROFILE", "t")
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(folder))
    left = await told(tmp_path / "run", Took())
    assert "invalid x-api-key: [key]" in left
    assert "canary" not in left
    assert api.statuses == [401]
    failed = await Run("count", workspace=workspace, settings=Settings(model=MODELS[0])).start()
    assert "authentication_error" in failed.errors[0]
    assert [path for path in workspace.rglob("*") if path.is_file() and b"canary" in path.read_bytes()] == []


async def test_credentials_that_cannot_be_read_are_told_once_and_took_nothing(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = profile(tmp_path / "profiles", {"access_token": CANARY})
    (folder / "credentials" / "t.json").unlink()
    serving()
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_PROFILE", "t")
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(folder))
    ledger = Took()
    left = await told(tmp_path / "run", ledger)
    assert "there is no key for the request: Credentials file not found" in left
    assert ledger.took == [Usage()]


async def test_a_run_with_a_key_from_a_file_leaves_no_trace_of_it(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, workspace: Path
) -> None:
    api = serving(answer(call("complete", status="success", summary="done")), key=CANARY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", f"{CANARY}\r\n")
    outcome = await Run("count", workspace=workspace, settings=Settings(model=MODELS[0])).start()
    assert outcome.status == "success"
    assert len(api.seen) == 1
    assert [path for path in workspace.rglob("*") if path.is_file() and b"canary" in path.read_bytes()] == []


def profile(folder: Path, credentials: dict[str, str]) -> Path:
    """A profile of the SDK with these credentials."""
    for name, content in {
        "configs": {"version": "1.0", "authentication": {"type": "user_oauth", "client_id": "c"}},
        "credentials": {"version": "1.0", "type": "oauth_token", "expires_at": 4_000_000_000, **credentials},
    }.items():
        (folder / name).mkdir(parents=True)
        path = folder / name / "t.json"
        path.write_text(json.dumps(content))
        path.chmod(0o600)
    return folder
