"""How many tokens a provider counts for each of ours: shipped, recorded, bounded."""

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from aggregate import Prompt, PromptTooLongError, Segment, Usage
from aggregate.base.disk import STATE_VARIABLE
from aggregate.base.values import Section, Stability
from aggregate.sending.cache import HashedPrompt, plan_request
from aggregate.sending.cache.policy import policy_for
from aggregate.sending.clients import shipped_ratio
from aggregate.sending.clients.own_models import (
    HIGHEST,
    LOWEST,
    OWN_COUNT,
    RATIOS_FILE,
    TokenRatio,
    check_window,
    record_usage,
    reported_ratio,
    token_ratio,
)

MODEL = "claude-sonnet-4-5"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's state folder, of each test its own."""
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.mark.parametrize(
    ("provider", "model", "ratio"),
    [
        ("openai", "gpt-5.6", 1.0),
        ("anthropic", MODEL, 1.25),
        ("anthropic", "claude-opus-5", 1.5),
        ("compatible", "anthropic/claude-opus-5", 1.5),
        ("gemini", "gemini-3.5-flash", 1.15),
        ("gemini-cli", "", 1.15),
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


def test_what_is_reported_is_used_from_then_on() -> None:
    """Another model, and the same model elsewhere, have ratios of their own (rule B-10)."""
    assert record_usage("anthropic", MODEL, sent=10_000, usage=Usage(2_000, 1_000, 8_300)) == ()
    ratio = token_ratio("anthropic", MODEL)
    assert ratio == TokenRatio(1130, "as anthropic has reported for one request")
    assert token_ratio("anthropic", "claude-opus-5").value == 1.5
    assert token_ratio("compatible", MODEL).value == 1.25


def test_the_last_reports_count_most() -> None:
    """After a few requests of another kind the ratio is theirs, and one odd report is outweighed (rule B-10)."""
    for _ in range(4):
        record_usage("anthropic", MODEL, sent=10_000, usage=Usage(12_000))
    record_usage("anthropic", MODEL, sent=10_000, usage=Usage(20_000))
    assert 1.2 < token_ratio("anthropic", MODEL).value < 1.6
    for _ in range(12):
        record_usage("anthropic", MODEL, sent=10_000, usage=Usage(15_000))
    assert token_ratio("anthropic", MODEL).value == pytest.approx(1.5, abs=0.01)
    assert token_ratio("anthropic", MODEL).source == "as anthropic has reported for 17 requests"


@pytest.mark.parametrize(("reported", "ratio"), [(10, 0.6), (10_000_000, 3.0)])
def test_odd_reports_are_bounded(reported: int, ratio: float) -> None:
    """A ratio that no vocabulary can have is taken as the nearest that one can, and said (rule B-10)."""
    (warning,) = record_usage("anthropic", MODEL, sent=10_000, usage=Usage(reported))
    assert warning.startswith(f"anthropic reports {reported:,} tokens where o200k has 10,000")
    assert token_ratio("anthropic", MODEL).value == ratio
    bounded = reported_ratio("x", sent=10_000, reported=reported, requests=2)
    assert bounded.value == ratio
    assert "since no vocabulary in use goes beyond" in bounded.source


@pytest.mark.parametrize(
    ("provider", "sent", "reported"),
    [
        ("anthropic", 10_000, 0),  # nothing was reported
        ("anthropic", 150, 200),  # what stands around a message weighs too much
        ("scripted", 10_000, 12_000),
        ("gemini-cli", 10_000, 19_000),  # it adds thousands of tokens of its own
    ],
)
def test_what_says_nothing_is_not_kept(
    state: Path, provider: str, sent: int, reported: int
) -> None:
    """Reports that say nothing of the vocabulary leave no file (rule B-10)."""
    assert record_usage(provider, MODEL, sent=sent, usage=Usage(reported)) == ()
    assert not state.exists()


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", '{"version": 2, "ratios": []}', '{"version": 1, "ratios": 3}', "[" * 9000,
        '{"version": 1, "ratios": [{"provider": "anthropic", "model": "' + MODEL + '", "sent": 0, "reported": 1, '
        '"requests": 1}]}',
        '{"version": 1, "ratios": [{"provider": "anthropic", "model": "' + MODEL + '", "sent": 1e400, "reported": NaN, '
        '"requests": true}]}',
    ],
)  # fmt: skip
def test_a_damaged_file_holds_nothing(state: Path, text: str) -> None:
    """The table counts again, and the next report replaces the file (rule B-10)."""
    state.mkdir()
    (state / RATIOS_FILE).write_text(text, encoding="utf-8")
    assert token_ratio("anthropic", MODEL).value == 1.25
    assert record_usage("anthropic", MODEL, sent=10_000, usage=Usage(11_000)) == ()
    assert token_ratio("anthropic", MODEL).value == 1.1


def test_the_file_is_small_and_private(state: Path) -> None:
    """It lies in the user's state folder, for the user alone, and forgets the models of long ago (rule B-10)."""
    for number in range(205):
        record_usage("compatible", f"model-{number}", sent=1000, usage=Usage(1100))
    file = state / RATIOS_FILE
    models = [row["model"] for row in json.loads(file.read_text(encoding="utf-8"))["ratios"]]
    assert (len(models), models[0], models[-1]) == (200, "model-5", "model-204")
    assert (file.stat().st_mode & 0o777, state.stat().st_mode & 0o777) == (0o600, 0o700)


def test_an_unwritable_folder_loses_no_answer(state: Path) -> None:
    """What cannot be kept is said, not raised: the answer was paid for (rule B-10)."""
    state.write_text("a file", encoding="utf-8")
    (warning,) = record_usage("anthropic", MODEL, sent=10_000, usage=Usage(11_000))
    assert warning.startswith("how anthropic counts tokens is not kept: ")
    assert token_ratio("anthropic", MODEL).value == 1.25


def test_the_window_is_checked_by_the_providers_count() -> None:
    """What fits by o200k and not by the provider's count is refused, with both numbers (rule B-10)."""
    prompt = Prompt((Segment(Section.FILES, "## Files", Stability.STABLE),))
    plan = plan_request(HashedPrompt.of(prompt, [170_000]), policy_for("anthropic", MODEL))
    check_window(plan, MODEL, 16_000, ratio=OWN_COUNT)
    with pytest.raises(PromptTooLongError) as caught:
        check_window(plan, MODEL, 16_000, ratio=shipped_ratio("anthropic", MODEL))
    said = str(caught.value)
    assert "about 212,500 tokens (170,000 by o200k; an estimate of " in said
    assert caught.value.tokens == 228_500
