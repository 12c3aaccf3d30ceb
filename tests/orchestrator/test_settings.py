"""Settings: one file, the environment over it, options over both; a name that there is none of is told."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from servers.messages_api import Fault, MessagesApi
from servers.turns import answer, call, in_turn, text
from warm import warm

from outcrop import Run, ScriptedModel
from outcrop.exchanges import read_exchanges
from outcrop.ledger import accounts_in
from outcrop.models import ModelTable
from outcrop.models.scripted import turn
from outcrop.records import read
from outcrop.recovery import open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder
from outcrop.settings import Settings, effective, is_model_chosen
from outcrop_schemas import limits
from outcrop_schemas.errors import UsageError
from outcrop_schemas.outcome import RunOutcome
from outcrop_specialists.context.compaction import Window, decide

FILE = """
workers = 4
model = "anthropic"
budget_usd = 2.50

[roles.default]
effort = "medium"

[roles.lead]
model = "claude-opus-5-5"
fallback = "claude-sonnet-5-5"
effort = "high"
turns = 12

[roles.analytics]
thinking = "off"
max_tokens = 4000

[prices."anthropic-like"]
input = 1
output = "2.5"
"""


def stored(workspace: Path, text: str = FILE) -> Path:
    (workspace / "outcrop.toml").write_text(text)
    return workspace


def test_a_file_says_what_holds_and_what_it_does_not_say_is_as_ever(workspace: Path) -> None:
    settings = Settings.load(stored(workspace))
    assert (settings.workers, settings.model, settings.budget_usd) == (4, "anthropic", Decimal("2.50"))
    assert settings.model_calls == 8
    lead, analytics, plotting = (settings.role(name) for name in ("lead", "analytics", "plotting"))
    assert (lead.effort, lead.turns, lead.max_tokens) == ("high", 12, limits.MODEL_OUTPUT_TOKENS)
    assert (analytics.effort, analytics.thinking, analytics.max_tokens) == ("medium", "off", 4000)
    assert (plotting.effort, plotting.turns) == ("medium", limits.AGENT_TURNS)
    price = settings.price_list().of("anthropic-like")
    assert price is not None
    assert (price.output, price.cache_write_1h) == (Decimal("2.5"), Decimal(2))


def test_the_environment_goes_over_the_file_and_options_over_both(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(workspace)
    monkeypatch.setenv("OUTCROP_WORKERS", "5")
    monkeypatch.setenv("OUTCROP_ROLES__LEAD__EFFORT", "low")
    settings = Settings.load(workspace)
    assert (settings.workers, settings.role("lead").effort, settings.role("lead").turns) == (5, "low", 12)
    settings = Settings.load(workspace, {"workers": 6, "budget_usd": None}, ["roles.lead.effort=max", "model=offline"])
    assert (settings.workers, settings.role("lead").effort, settings.model) == (6, "max", "offline")
    assert settings.budget_usd == Decimal("2.50")


def test_a_model_that_is_given_is_that_of_everyone(workspace: Path) -> None:
    stored(workspace)
    table = ModelTable(None, Settings.load(workspace))
    assert table.names() == {"default": "claude-sonnet-5-5", "lead": "claude-opus-5-5"}
    settings = Settings.load(workspace, {"model": "claude-haiku-5-5"})
    assert ModelTable(None, settings).names() == {"default": "claude-haiku-5-5"}
    assert settings.role("lead").effort == "high"
    one = Settings.load(workspace, {"model": "claude-haiku-5-5"}, ["roles.lead.model=claude-fable-5-2"])
    assert ModelTable(None, one).names() == {"default": "claude-haiku-5-5", "lead": "claude-fable-5-2"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wrokers = 3", "no setting 'wrokers'. Did you mean 'workers'?"),
        ("[roles.lead]\nefort = 'high'", "no setting 'roles.lead.efort'. Did you mean 'effort'?"),
        ("[roles.analitics]\neffort = 'high'", "no role 'analitics'. Did you mean 'analytics'?"),
        ("[prices.x]\ninptu = 3", "no setting 'prices.x.inptu'. Did you mean 'input'?"),
        ("[prices.x]\ninput = 3", "prices.x.output: Field required"),
        ("[roles.lead]\neffort = 'hi'", "roles.lead.effort: Input should be 'low', 'medium'"),
        ("[roles]\nlead = 3", "roles.lead"),
        ("budget_usd = -1", "budget_usd: Input should be greater than 0"),
        ("[roles.lead]\nturns = 0", "roles.lead.turns: Input should be greater than or equal to 1"),
        ("workers = ", "is not TOML"),
        ("budget_usd = nan", "budget_usd"),
        ("budget_usd = 1e999999999", "budget_usd: Input should be less than or equal to"),
        ("budget_usd = 1e-999999999", "budget_usd: this is finer than any price"),
        ("budget_usd = true", "budget_usd: a switch (true or false) is no value for this"),
        ("budget_tokens = true", "budget_tokens: a switch"),
        ("workers = true", "workers: a switch"),
        ("api_batch_seconds = true", "api_batch_seconds: a switch"),
        ("[roles.lead]\nturns = true", "roles.lead.turns: a switch"),
        ("[prices.x]\ninput = 'abc'\noutput = 3", "prices.x.input: Input should be a valid decimal"),
        ("[prices.x]\ninput = true\noutput = 3", "prices.x.input: a switch"),
        ("[prices.x]\ninput = [1]\noutput = 3", "prices.x.input: Decimal input should be"),
        ("[prices.x]\ninput = 'sNaN'\noutput = 3", "prices.x.input: Input should be a finite number"),
        ("[prices.x]\ninput = '1e999999999'\noutput = 3", "prices.x.input: Input should be less than or equal to"),
        ("[prices.x]\ninput = 3\noutput = '1e-999999999'", "prices.x.output: this is finer than any price"),
        ("[prices.x.long]\ninput = 3", "prices.x.input: Field required"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_key_and_a_hint(workspace: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        Settings.load(stored(workspace, text))
    assert words in str(caught.value)
    assert "outcrop.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("workers", "KEY=VALUE"),
        ("=3", "KEY=VALUE"),
        ("a b=3", "cannot be read"),
        ("rols.lead.effort=high", "Did you mean 'roles'?"),
        ("workers=none", "workers"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(workspace: Path, item: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        Settings.load(workspace, {}, [item])
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("OUTCROP_BUGDET_USD", "1", "no setting 'OUTCROP_BUGDET_USD'. Did you mean 'OUTCROP_BUDGET_USD'?"),
        ("outcrop_modell", "offline", "no setting 'outcrop_modell'. Did you mean 'OUTCROP_MODEL'?"),
        ("OUTCROP_BUDGET__USD", "1", "Did you mean 'OUTCROP_BUDGET_USD'?"),
        ("OUTCROP_WORKERS__LEAD", "1", "Did you mean 'OUTCROP_WORKERS'?"),
        ("OUTCROP_XYZZY", "1", "Known: OUTCROP_WORKERS, "),
        ("OUTCROP_ROLES__LEAD__EFORT", "low", "Did you mean 'OUTCROP_ROLES__LEAD__EFFORT'?"),
        ("OUTCROP_PRICES__X__INPTU", "1", "Did you mean 'OUTCROP_PRICES__X__INPUT'?"),
        ("OUTCROP_ROLES", "notjson", "OUTCROP_ROLES is not JSON"),
        ("OUTCROP_PRICES", "{", "OUTCROP_PRICES is not JSON"),
        ("OUTCROP_ROLES", "[1]", "roles: Input should be a valid dictionary"),
        ("OUTCROP_ROLES__LEAD", "notjson", "roles.lead"),
        ("OUTCROP_WORKERS", "true", "workers: Input should be a valid integer"),
        ("OUTCROP_BUDGET_TOKENS", "abc", "budget_tokens: Input should be a valid integer"),
    ],
)
def test_a_variable_that_sets_nothing_is_refused(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError) as caught:
        Settings.load(workspace)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "environment", [{"OUTCROP_BUGDET_USD": "1"}, {"OUTCROP_ROLES": "notjson"}, {"OUTCROP_PRICES__X__INPUT": "abc"}]
)
def test_settings_that_make_no_sense_are_wrong_usage_and_no_internal_error(
    workspace: Path, environment: dict[str, str]
) -> None:
    command = [sys.executable, "-m", "outcrop.cli.main", "run", "x", "--workspace", str(workspace)]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "internal error" not in done.stderr
    assert next(iter(environment)).split("__")[0] in done.stderr or "prices.x.input" in done.stderr


def test_variables_that_are_no_settings_of_ours_are_left_alone(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OUTCROP_LONG", "OUTCROP_SEED", "OUTCROP_ROUNDS", "OUTCROP_CONFINEMENT", "MY_OUTCROP_THING"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("OUTCROP_UNSET", "")
    monkeypatch.setenv("OUTCROP_PRICES__MINE__INPUT", "1")
    monkeypatch.setenv("OUTCROP_PRICES__MINE__OUTPUT", "2")
    assert Settings.load(workspace).prices["mine"].output == 2


def test_values_of_options_need_no_quotes(workspace: Path) -> None:
    given = ["model=claude-haiku-5-5", 'prices."a.b".input=1.5', 'prices."a.b".output=3', "bubblewrap=false"]
    settings = Settings.load(workspace, {}, given)
    assert (settings.model, settings.bubblewrap) == ("claude-haiku-5-5", False)
    assert settings.prices["a.b"].input == Decimal("1.5")


@pytest.mark.parametrize(
    ("name", "words"), [("ofline", "Did you mean 'offline'"), ("gpt", "anthropic:NAME"), ("claude-", "no model")]
)
def test_an_unknown_model_is_refused_wherever_it_stands(name: str, words: str) -> None:
    for settings in (Settings(model=name), Settings(roles={"lead": {"fallback": name}})):  # type: ignore[dict-item]
        with pytest.raises(UsageError, match=words):
            ModelTable(None, settings)


def test_what_holds_is_shown_with_where_it_comes_from(workspace: Path) -> None:
    rows = {name: (value, origin) for name, value, origin in effective(Settings.load(stored(workspace)))}
    assert rows["workers"] == ("4", "set")
    assert rows["model_calls"] == ("8", "default")
    assert rows["roles.plotting.effort"] == ("medium", "set")
    assert rows["roles.plotting.turns"] == (str(limits.AGENT_TURNS), "default")
    assert rows["budget_tokens"] == ("none", "default")


def test_limits_and_doctor_show_the_settings_of_the_workspace(workspace: Path) -> None:
    stored(workspace)
    line = [sys.executable, "-m", "outcrop.cli.main"]
    told = subprocess.run([*line, "limits", "--json", "--workspace", str(workspace)], capture_output=True, check=True)
    found = {one["setting"]: one for one in json.loads(told.stdout) if "setting" in one}
    assert found["roles.lead.turns"] == {"setting": "roles.lead.turns", "value": "12", "origin": "set"}
    shown = subprocess.run([*line, "doctor", "--json", "--workspace", str(workspace)], capture_output=True, check=False)
    checks = {one["name"]: one for one in json.loads(shown.stdout)["checks"]}
    assert "roles.lead.effort = high" in checks["settings"]["text"]
    assert "lead: claude-opus-5-5" in checks["model"]["text"]
    assert "of 2026-" in checks["prices"]["text"]


def test_whether_a_model_was_chosen_is_known(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_model_chosen(Settings.load(workspace))
    assert is_model_chosen(Settings.load(workspace, {"model": "offline"}))
    assert is_model_chosen(Settings.load(stored(workspace)))
    monkeypatch.setenv("OUTCROP_MODEL", "offline")
    assert is_model_chosen(Settings())


async def run_with(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings, script: Any, faults: Any = (), **more: Any
) -> tuple[RunOutcome, MessagesApi]:
    with MessagesApi(script, faults=faults) as api:
        for name, value in api.environment().items():
            monkeypatch.setenv(name, value)
        return await Run("count", workspace=workspace, settings=settings, **more).start(), api


DONE = answer(call("complete", status="success", summary="done"))


async def test_each_role_is_asked_as_its_settings_say(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(workspace)

    def script(body: Any) -> Any:
        is_lead = any(tool["name"] == "dispatch" for tool in body["tools"])
        if is_lead and len(body["messages"]) == 1:
            return answer(call("dispatch", specialist="analytics", objective="count"))
        return DONE

    outcome, api = await run_with(workspace, monkeypatch, Settings.load(workspace), script)
    assert outcome.status == "success"
    lead, analytics = api.seen[0].body, api.seen[1].body
    assert (lead["model"], lead["output_config"], lead["max_tokens"]) == ("claude-opus-5-5", {"effort": "high"}, 16_000)
    assert (analytics["model"], analytics["output_config"]) == ("claude-sonnet-5-5", {"effort": "medium"})
    assert (analytics["max_tokens"], analytics["thinking"]) == (4_000, {"type": "disabled"})
    assert "You have 12 turns" in json.dumps(lead["system"])
    checked = await asyncio.to_thread(verify, open_run(RunFolder(Path(outcome.run_folder))))
    assert [one.difference for one in checked] == [None, None]


async def test_a_limit_of_turns_that_was_set_ends_the_work(workspace: Path) -> None:
    lead = [turn(("pin", {"key": "k", "value": str(n)}), turn_id=str(n)) for n in range(9)]
    settings = Settings.load(workspace, {}, ["roles.lead.turns=3"])
    outcome = await Run(
        "count", workspace=workspace, launcher=warm(), model=ScriptedModel(lead), settings=settings
    ).start()
    assert "limit of 3 turns" in outcome.errors[0]
    [lead_checked] = await asyncio.to_thread(verify, open_run(RunFolder(Path(outcome.run_folder))))
    assert (lead_checked.prompts, lead_checked.difference) == (3, None)


async def test_a_limit_of_turns_reaches_the_specialist(workspace: Path) -> None:
    (workspace / "t.csv").write_text("a,b\n1,2\n2,4\n")
    lead = [
        turn(("dispatch", {"specialist": "analytics", "objective": "count", "data": ["t.csv"]})),
        turn(("complete", {"status": "error", "summary": "it did not end"})),
    ]
    work = [turn(("query_data", {"path": "t.csv", "operation": "describe", "column": c})) for c in "abab"]
    settings = Settings.load(workspace, {}, ["roles.analytics.turns=2"])
    models = {"lead": ScriptedModel(lead), "analytics": ScriptedModel(work)}
    outcome = await Run("count", workspace=workspace, launcher=warm(), model=models, settings=settings).start()
    record = open_run(RunFolder(Path(outcome.run_folder)))
    assert "limit of 2 turns" in record.outcomes[0].errors[0]
    assert [one.difference for one in await asyncio.to_thread(verify, record)] == [None, None]


FALLBACK = ["model=claude-opus-5-5", "roles.default.fallback=claude-sonnet-5-5"]


async def test_after_a_refusal_another_model_goes_on_and_it_is_said(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = in_turn(answer(text("no"), stop="refusal"), answer(call("pin", key="k", value="v")), DONE)
    outcome, api = await run_with(workspace, monkeypatch, Settings.load(workspace, {}, FALLBACK), script)
    assert outcome.status == "success"
    assert [seen.body["model"] for seen in api.seen] == ["claude-opus-5-5", "claude-sonnet-5-5", "claude-sonnet-5-5"]
    [said] = outcome.warnings
    assert said == "from claude-opus-5-5 the work went over to claude-sonnet-5-5: it refused to answer"
    folder = RunFolder(Path(outcome.run_folder))
    refused, first, second = read_exchanges(folder.exchanges / "lead.jsonl")
    assert not refused.is_used
    assert (first.about["model"], first.about["fallback_from"]) == ("claude-sonnet-5-5", "claude-opus-5-5")
    assert "fallback_from" not in second.about
    # Both models are paid for, each at its price.
    assert accounts_in(read(folder.journal)[0])["lead"][1].calls == 3
    [checked] = await asyncio.to_thread(verify, open_run(folder))
    assert (checked.prompts, checked.difference) == (2, None)


async def test_a_model_that_is_not_there_is_stood_in_for(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.load(workspace, {}, ["model=claude-nobody-9", "roles.default.fallback=claude-sonnet-5-5"])
    outcome, api = await run_with(workspace, monkeypatch, settings, in_turn(DONE))
    assert outcome.status == "success"
    assert api.seen[-1].body["model"] == "claude-sonnet-5-5"
    assert "claude-nobody-9" in outcome.warnings[0]


async def test_a_request_that_is_wrong_is_wrong_for_any_model(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [Fault("status", 400, "messages: no")]
    settings = Settings.load(workspace, {}, FALLBACK)
    outcome, api = await run_with(workspace, monkeypatch, settings, in_turn(DONE), faults)
    assert outcome.status == "error"
    assert "messages: no" in outcome.errors[0]
    assert len(api.seen) == 1


@pytest.mark.parametrize(
    ("written", "share"),
    [
        ('model = "claude-opus-5-5"', 0.05),
        ('model = "claude-opus-5-5"\n[roles.default]\ncached_price = 0.3', 0.3),
        ('model = "claude-opus-5-5"\n[roles.analytics]\ncached_price = 0', 0.0),
        ('model = "anthropic:mine"', limits.CACHED_PRICE),
        ('model = "anthropic:mine"\n[prices.mine]\ninput = 4\noutput = 8\ncache_read = 1', 0.25),
        # What is not given of a price follows from its input, never too low.
        ('model = "anthropic:mine"\n[prices.mine]\ninput = 4\noutput = 8', 1.0),
        ('model = "anthropic:mine"\n[prices.mine]\ninput = 0\noutput = 0', limits.CACHED_PRICE),
        ('model = "offline"', limits.CACHED_PRICE),
    ],
)
def test_a_cached_token_counts_what_it_costs(tmp_path: Path, written: str, share: float) -> None:
    models = ModelTable(settings=Settings.load(stored(tmp_path, written)))
    assert models.window("analytics").cached_price == share


@pytest.mark.parametrize("value", ["-0.1", "1.5", "true", "nan", "'cheap'"])
def test_a_share_that_is_none_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(UsageError, match=r"roles\.lead\.cached_price"):
        Settings.load(stored(tmp_path, f"[roles.lead]\ncached_price = {value}"))


def test_whether_a_compaction_pays_goes_by_the_price_that_is_set() -> None:
    window = Window(100_000, 0)
    said = {share: decide(75_000, window, 40_000, 12, share) for share in (0.05, 0.1, 0.5)}
    assert said == {0.05: "no", 0.1: "pays", 0.5: "pays"}
