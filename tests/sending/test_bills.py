"""What a request is expected to cost, what it has cost, and limits in dollars (rules S-10, S-11, C-9)."""

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from aggregate import (
    ChatRequest,
    ClientSetupError,
    Reply,
    Usage,
    bill_for,
    load_config,
    open_client,
    plan_messages,
)
from aggregate.cli.send import plan_data, plan_lines
from aggregate.sending import Exchange, ModelSelection, charges, prepare_turn, send_turn
from aggregate.sending.clients import OnText, charged
from aggregate.sending.learned_models import Endpoint, Learned, learned_of, record_reply
from tests.cli.command_line import start
from tests.fakes.user_files import by_user
from tests.projects import project

MODEL = "claude-sonnet-5"
FILES = {
    "a.py": "def f(value):\n    return value + 1\n" * 400,
    "manual_slop.toml": '[files]\npaths = ["a.py"]\n',
}
KEY = {"ANTHROPIC_API_KEY": "none"}


class Answers:
    """An adapter that answers with a usage."""

    def __init__(self, usage: Usage) -> None:
        self.usage = usage

    async def exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply:
        if on_text is not None:
            on_text("Yes.")
        return Reply("Yes.", self.usage)


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test be of a user of its own."""
    monkeypatch.setenv("AGGREGATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))


def prepared(tmp_path: Path, **more: object) -> Exchange:
    config = tmp_path / "p" / "manual_slop.toml"
    loaded = load_config(
        config if config.exists() else project(tmp_path / "p", FILES) / "manual_slop.toml"
    )
    return prepare_turn(loaded, "Why?", ModelSelection("anthropic", MODEL, **more), environ=KEY)  # type: ignore[arg-type]


def sent(turn: Exchange, usage: Usage) -> Exchange:
    return send_turn(replace(turn, client=replace(turn.client, transport=Answers(usage))))


def test_a_plan_says_when_the_first_words_come(tmp_path: Path) -> None:
    """As soon as one answer was streamed, by how long those before have taken (rule C-9)."""
    turn = prepared(tmp_path)
    assert (plan_data(turn)["first_words"], "first words" in plan_lines(turn)[-1]) == (None, False)
    client = replace(turn.client, transport=Answers(Usage(12_000, output=5)))
    send_turn(replace(turn, client=client), on_text=lambda _: None)
    learned = replace(prepared(tmp_path), learned=Learned(first_piece=1.25))
    assert learned_of(Endpoint("anthropic", MODEL)).first_piece > 0
    assert plan_data(learned)["first_words"] == 1.2
    assert any(line.endswith("; first words after about 1.2 s") for line in plan_lines(learned))


def test_a_forecast_is_in_the_providers_tokens(tmp_path: Path) -> None:
    """A price is made of what the provider counts, not of o200k's tokens (rule S-10)."""
    turn = prepared(tmp_path)
    assert turn.forecast.input == pytest.approx(1.5 * turn.plan.total, abs=2)
    assert turn.expected_price == turn.price(turn.forecast) > turn.price(turn.expected)  # type: ignore[operator]
    record_reply(Endpoint("anthropic", MODEL), Reply("", Usage(20_000)), sent=10_000)
    assert prepared(tmp_path).forecast.input > 1.8 * turn.plan.total


def test_what_was_charged_is_told_and_summed(tmp_path: Path) -> None:
    """Beside what was expected and what the cache has saved; by day, project and model (rule S-10)."""
    turn = prepared(tmp_path)
    usage = Usage(10, 1_000, 9_000, 100)
    bill = sent(turn, usage).bill
    assert bill.price == turn.price(usage)
    assert bill.saved == turn.price(Usage(10_010, output=100)) - turn.price(usage)  # type: ignore[operator]
    assert bill.sentence.endswith(" saved)")
    sent(prepared(tmp_path), usage)
    (row,) = charges()
    assert (row.project, row.provider, row.model, row.requests) == (
        str(tmp_path / "p"),
        "anthropic",
        MODEL,
        2,
    )
    assert (row.input, row.cache_read, row.output, row.unpriced) == (20_020, 18_000, 200, 0)
    assert row.dollars == 2 * bill.price  # type: ignore[operator]
    client = charged(
        replace(
            open_client("compatible", model="m", base_url="http://127.0.0.1:9"),
            transport=Answers(usage),
        ),
        tmp_path,
    )
    client.send(ChatRequest(message="Why?"))
    assert charges()[-1].unpriced == 1


def test_a_costly_request_is_not_sent(tmp_path: Path) -> None:
    """What could exceed ``--most`` or the day's limit is refused before anything is written or paid (rule S-11)."""
    with pytest.raises(
        ClientSetupError, match=r"it could cost \$0\.\d+, with nothing read .*--most is \$0.01"
    ):
        sent(prepared(tmp_path, most=0.01), Usage(1))
    assert not (tmp_path / "p" / "md_gen").exists()
    by_user("[send]\nmost_per_day = 0.5\n")
    sent(prepared(tmp_path), Usage(80_000))
    assert charges()[0].dollars == pytest.approx(Decimal("0.16"), rel=Decimal("0.6"))
    sent(prepared(tmp_path), Usage(80_000))
    with pytest.raises(ClientSetupError, match="were spent today; most_per_day is"):
        sent(prepared(tmp_path), Usage(80_000))
    unknown = prepare_turn(
        load_config(tmp_path / "p" / "manual_slop.toml"),
        "Why?",
        ModelSelection("compatible", "m", base_url="http://127.0.0.1:9"),
        environ={},
    )
    with pytest.raises(ClientSetupError, match="cannot apply a limit in dollars"):
        send_turn(unknown)


def test_misses_are_part_of_the_plan(tmp_path: Path) -> None:
    """After two in a row nothing is written for an hour, which is said; the expected cost knows of them (C-9)."""
    first = prepared(tmp_path)
    assert 3600 in first.plan.layout.lifetimes
    sent(first, Usage(9_000))
    for _ in range(2):
        sent(prepared(tmp_path), Usage(9_000))
    failed = prepared(tmp_path)
    assert learned_of(Endpoint("anthropic", MODEL)).misses == 2
    assert set(failed.plan.layout.lifetimes) <= {300}
    assert any("one-hour entries are off" in said for said in failed.warnings)
    assert failed.expected_price > failed.price(failed.forecast)  # type: ignore[operator]
    sent(failed, Usage(100, 0, failed.forecast.cache_read))
    assert not any("one-hour" in said for said in prepared(tmp_path).warnings)


def test_another_effort_reads_nothing(tmp_path: Path) -> None:
    """Anthropic's cache compares it: a forecast does not promise what is not there (rule C-9)."""
    sent(prepared(tmp_path, effort="low"), Usage(9_000))
    assert prepared(tmp_path, effort="low").expected.cache_read > 0
    assert prepared(tmp_path, effort="high").expected.cache_read == 0


@pytest.mark.parametrize(
    "usage",
    [
        {
            "input_tokens": 10,
            "cache_creation_input_tokens": 100,
            "cache_read_input_tokens": 2_000,
            "output_tokens": 5,
        },
        {
            "prompt_tokens": 2_110,
            "prompt_tokens_details": {"cached_tokens": 2_000, "cache_write_tokens": 100},
            "completion_tokens": 5,
        },
        Usage(10, 100, 2_000, 5),
    ],
)
def test_a_hosts_own_bill(usage: object) -> None:
    """Of a plan and what the SDK reports, by the names of its fields (rule C-7)."""
    planned = plan_messages([{"role": "user", "content": "word " * 3_000}], model=MODEL)
    bill = bill_for(planned, usage)
    assert bill.usage == Usage(10, 100, 2_000, 5)
    assert bill.expected == Usage(cache_write=round(planned.plan.total * 1.5), output=5)
    assert bill.saved is not None
    assert bill.saved > 0


def test_the_command(tmp_path: Path) -> None:
    """One line a day, project and model, and the sum of all; or by one of them alone (rule S-10)."""
    sent(prepared(tmp_path), Usage(10, 1_000, 9_000, 100))
    folder, state = tmp_path / "p", str(tmp_path / "state")
    (row,) = charges()
    assert row[:8] == (row.day, str(folder), "anthropic", MODEL, 1, 10_010, 9_000, 100)
    told = start(folder, "costs", AGGREGATE_STATE_DIR=state)
    sums = f"1 request\t10,010 tokens in, 90% read\t100 out\t${row.dollars:.4f}\t${row.saved:.4f} saved"
    assert told.out == f"{row.day}\t{folder}\tanthropic {MODEL}\t{sums}\n"
    assert told.err == "in all: " + sums.replace("\t", "; ") + "\n"
    by_project = start(folder, "costs", "--by", "project", AGGREGATE_STATE_DIR=state)
    assert by_project.out == f"{folder}\t{sums}\n"
    data = json.loads(
        start(folder, "costs", "--json", "--by", "day", AGGREGATE_STATE_DIR=state).out
    )
    assert [(one["day"], one["project"], one["requests"]) for one in data] == [(row.day, "", 1)]
    nothing = start(folder, "costs", AGGREGATE_STATE_DIR=str(tmp_path / "other"))
    assert nothing.err == "no requests in the last 30 days\n"
