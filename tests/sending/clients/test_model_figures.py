"""What the user's own configuration and the reports of providers say goes before the shipped tables."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from aggregate import ConfigError, Prompt, PromptTooLongError, Reply, Usage, open_project
from aggregate.sending import (
    ModelSelection,
    cache_policy,
    context_window,
    cost,
    select_model,
    shipped_ratio,
)
from aggregate.sending.learned_models import (
    HIGHEST,
    LEARNED_FILE,
    LOWEST,
    NOTHING,
    Endpoint,
    Learned,
    record_reply,
    token_ratio,
)
from aggregate.sending.prices import OWN_COUNT, TokenRatio, check_window
from tests.fakes.prompts import part, plan_of
from tests.fakes.user_files import by_user

OWN = """
[models."my-model"]
window = "64k"
input = 2.0
output = 10.0
cache_read = 0.5
minimum = 2048
lifetime = 900
"""


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of the user's own configuration, which says something of a model."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    return by_user(OWN)


def test_price_window_and_cache(users: Path) -> None:
    """Each follows the user's table; what it leaves out follows the provider's rules (S-8)."""
    usage = Usage(fresh=1_000_000, cache_read=1_000_000, cache_write=1_000_000, output=1_000_000)
    assert cost(usage, "My-Model", provider="anthropic") == Decimal(
        "15.0"
    )  # 2 + 0.5 + 2 * 1.25 + 10
    assert context_window("my-model") == 64_000
    policy = cache_policy("anthropic", "my-model")
    assert (policy.read, policy.minimum, policy.seconds) == (0.25, 2048, 900)
    shipped = cache_policy("anthropic", "my-model-2")
    assert (policy.write, shipped.minimum) == (shipped.write, 4096)
    assert cost(usage, "my-model-2", provider="anthropic") is None


def test_a_change_is_seen(users: Path) -> None:
    """A process that lives on reads a table that was written anew (S-8)."""
    assert context_window("my-model") == 64_000
    users.write_text(OWN.replace("64k", "128k"), encoding="utf-8")
    assert context_window("my-model") == 128_000


def test_half_a_price_is_refused(users: Path) -> None:
    """Input without output would make every answer free (S-8)."""
    users.write_text("[models.m]\ninput = 2.0\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"models\.m.*must have both input and output"):
        context_window("m")


def test_a_project_says_nothing_of_models(users: Path) -> None:
    """A wrong price would hide what is paid: it is not used, and said (S-8)."""
    theirs = open_project({"models": {"claude-opus-5": {"input": 0, "output": 0}}})
    _, chosen = select_model(theirs, ModelSelection("scripted", "claude-opus-5"))
    assert chosen.warnings == (f"[models] of a project is not used: move it to {users}",)
    amount = cost(Usage(fresh=1_000_000), "claude-opus-5", provider="scripted")
    assert amount is not None
    assert amount > 0


MODEL = "claude-sonnet-4-5"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's state folder, of each test its own."""
    monkeypatch.setenv("AGGREGATE_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.mark.parametrize(
    ("provider", "model", "ratio"),
    [
        ("openai", "gpt-5.6", 1.0),
        ("anthropic", MODEL, 1.25),
        ("anthropic", "claude-opus-5", 1.5),
        ("compatible", "anthropic/claude-opus-5", 1.5),
        ("gemini", "gemini-3.5-flash", 1.15),
        ("compatible", "nobody-knows", 1.0),
        ("scripted", "claude-opus-5", 1.0),
    ],
)
def test_the_table(provider: str, model: str, ratio: float) -> None:
    """The first send goes by the model's own vocabulary, as far as anything is known of it (rule B-10)."""
    assert shipped_ratio(provider, model).value == ratio
    assert token_ratio(provider, model) == shipped_ratio(provider, model)


@given(st.integers(LOWEST, HIGHEST), st.integers(0, 10**7))
def test_both_counts_are_inverses(thousandths: int, tokens: int) -> None:
    """A limit in the provider's tokens is the largest of ours that keeps to it, exactly (rule B-10)."""
    ratio = TokenRatio(thousandths, "")
    own = ratio.own_tokens(tokens)
    assert ratio.provider_tokens(own) <= tokens < ratio.provider_tokens(own + 1)


def report(endpoint: Endpoint, sent: int, usage: Usage) -> tuple[str, ...]:
    """Record the usage that a provider reports for so many tokens of o200k."""
    return record_reply(endpoint, Reply("", usage), sent=sent)


def test_what_is_reported_is_used_from_then_on() -> None:
    """Another model, and the same model elsewhere, have ratios of their own (rule B-10)."""
    assert report(Endpoint("anthropic", MODEL), 10_000, Usage(2_000, 1_000, 8_300)) == ()
    ratio = token_ratio("anthropic", MODEL)
    assert ratio == TokenRatio(1130, "as anthropic has reported for one request")
    assert token_ratio("anthropic", MODEL, "https://gateway.example").value == 1.25
    assert token_ratio("anthropic", "claude-opus-5").value == 1.5
    assert token_ratio("compatible", MODEL).value == 1.25


def test_the_last_reports_count_most() -> None:
    """After a few requests of another kind the ratio is theirs, and one odd report is outweighed (rule B-10)."""
    for _ in range(4):
        report(Endpoint("anthropic", MODEL), 10_000, Usage(12_000))
    report(Endpoint("anthropic", MODEL), 10_000, Usage(20_000))
    assert 1.2 < token_ratio("anthropic", MODEL).value < 1.6
    for _ in range(12):
        report(Endpoint("anthropic", MODEL), 10_000, Usage(15_000))
    assert token_ratio("anthropic", MODEL).value == pytest.approx(1.5, abs=0.01)
    assert token_ratio("anthropic", MODEL).source == "as anthropic has reported for 17 requests"


@pytest.mark.parametrize(("reported", "ratio"), [(10, 0.6), (10_000_000, 3.0)])
def test_odd_reports_are_bounded(reported: int, ratio: float) -> None:
    """A ratio that no vocabulary can have is taken as the nearest that one can, and said (rule B-10)."""
    (warning,) = report(Endpoint("anthropic", MODEL), 10_000, Usage(reported))
    assert warning.startswith(f"anthropic reports {reported:,} tokens where o200k has 10,000")
    assert token_ratio("anthropic", MODEL).value == ratio


@pytest.mark.parametrize(
    ("provider", "sent", "reported"),
    [
        ("anthropic", 10_000, 0),  # nothing was reported
        ("anthropic", 150, 200),  # what stands around a message weighs too much
        ("scripted", 10_000, 12_000),
    ],
)
def test_what_says_nothing_is_not_kept(
    state: Path, provider: str, sent: int, reported: int
) -> None:
    """Reports that say nothing of the vocabulary leave no file (rule B-10)."""
    assert report(Endpoint(provider, MODEL), sent, Usage(reported)) == ()
    assert not state.exists()


ROW = {"provider": "anthropic", "model": MODEL, "address": "", **NOTHING._asdict()}


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", '{"version": 2, "models": []}', '{"version": 1, "models": 3}', "[" * 9000,
        json.dumps({"version": 1, "models": [ROW | {"sent": -1}]}), json.dumps({"version": 1, "models": [{"provider": "x"}]}),
        json.dumps({"version": 1, "models": [ROW | {"reported": float("nan"), "requests": True}]}),
    ],
)  # fmt: skip
def test_a_damaged_file_holds_nothing(state: Path, text: str) -> None:
    """The table counts again, and the next report replaces the file (rule B-10)."""
    state.mkdir()
    (state / LEARNED_FILE).write_text(text, encoding="utf-8")
    assert token_ratio("anthropic", MODEL).value == 1.25
    assert report(Endpoint("anthropic", MODEL), 10_000, Usage(11_000)) == ()
    assert token_ratio("anthropic", MODEL).value == 1.1


def test_the_file_is_small_and_private(state: Path) -> None:
    """It lies in the user's state folder, for the user alone, and forgets the models of long ago (rule B-10)."""
    report(Endpoint("compatible", "model-0"), 1000, Usage(1100))
    file = state / LEARNED_FILE
    kept = json.loads(file.read_text(encoding="utf-8"))
    (row,) = kept["models"]
    kept["models"] = [row | {"model": f"model-{number}"} for number in range(200)]
    file.write_text(json.dumps(kept), encoding="utf-8")
    for number in range(200, 205):
        report(Endpoint("compatible", f"model-{number}"), 1000, Usage(1100))
    models = [row["model"] for row in json.loads(file.read_text(encoding="utf-8"))["models"]]
    assert (len(models), models[0], models[-1]) == (200, "model-5", "model-204")
    assert (file.stat().st_mode & 0o777, state.stat().st_mode & 0o777) == (0o600, 0o700)


def test_an_unwritable_folder_loses_no_answer(state: Path) -> None:
    """What cannot be kept is said, not raised: the answer was paid for (rule B-10)."""
    state.write_text("a file", encoding="utf-8")
    (warning,) = report(Endpoint("anthropic", MODEL), 10_000, Usage(11_000))
    assert warning.startswith("cannot save how anthropic counts tokens: ")
    assert token_ratio("anthropic", MODEL).value == 1.25


def test_the_window_is_checked_by_the_providers_count() -> None:
    """What fits by o200k and not by the provider's count is refused, with both numbers (rule B-10)."""
    prompt = Prompt((part("files", "## Files"),))
    plan = plan_of(prompt, [170_000], ("anthropic", MODEL))
    check_window(plan.total, MODEL, 16_000, ratio=OWN_COUNT)
    with pytest.raises(PromptTooLongError) as caught:
        check_window(plan.total, MODEL, 16_000, ratio=shipped_ratio("anthropic", MODEL))
    said = str(caught.value)
    assert "about 212,500 tokens (170,000 by o200k; an estimate as of " in said
    assert caught.value.tokens == 228_500


@given(st.lists(st.tuples(st.integers(200, 10**6), st.integers(0, 10**7)), max_size=30))
def test_no_report_leads_astray(reports: list[tuple[int, int]]) -> None:
    """Whatever is reported, the ratio stays within what a vocabulary can have (rule C-9)."""
    learned = NOTHING
    for sent, reported in reports:
        learned = learned.after(Reply("", Usage(reported)), sent=sent)
    ratio = learned.ratio(Endpoint("anthropic", MODEL))
    assert LOWEST <= ratio.thousandths <= HIGHEST


def read_of(learned: Learned, read: int, *, needs_hour: bool = False) -> Learned:
    """Return what is learned from a request that was to read 1,000 tokens from the cache."""
    reply = Reply("", Usage(cache_read=read))
    return learned.after(reply, sent=1000, expected_read=1000, needs_hour=needs_hour)


def test_a_cache_that_fails_is_trusted_less() -> None:
    """After two misses in a row nobody pays for an hour, nor where hours were never kept; reads bring it back (C-9)."""

    def after(*reads: tuple[int, bool]) -> Learned:
        learned = NOTHING
        for read, needs_hour in reads:
            learned = read_of(learned, read, needs_hour=needs_hour)
        return learned

    good, bad = (990, False), (0, False)
    assert not after(bad).distrusts_hours
    assert after(good, bad, bad).distrusts_hours
    assert not after(bad, bad, good).distrusts_hours
    never = after((0, True), good, (0, True), good)
    assert never.distrusts_hours
    assert not after((0, True), (990, True), (0, True), (990, True), (990, True)).distrusts_hours
    for _ in range(40):
        never = read_of(never, 1000)
    assert not never.distrusts_hours  # tried again
    assert after().miss_share == 0.0
    assert after(bad, good).miss_share == pytest.approx(1 / 6, abs=0.01)
