"""The discussion and the results within their shares: what is shown, what is told, and what the audit says."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from aggregate import AggregatedResult, Budget, Segment, open_project, request_for
from aggregate.prompt import Request
from aggregate.prompt.layout import Omitted, discussion_segments
from aggregate.prompt.section_shares import (
    FittedSection,
    fit_history,
    fit_results,
    fit_sections,
    least_sections,
    with_more,
)
from aggregate.prompt.sections import results_segments
from tests.prompt.composing import result as merged

TURNS = ("one " * 10, "two " * 20, "three " * 30, "four " * 40)


def words(text: str) -> int:
    """Count a token for each word and each line break, as a tokenizer of which a reader can do the sums."""
    return len(text.split()) + text.count("\n")


def tokens_of(*segments: Segment) -> int:
    """Return the tokens of a section."""
    return sum(words(segment.text + "\n\n") for segment in segments)


def result(name: str, size: int) -> AggregatedResult:
    """Return a result whose value has so many words."""
    return merged(name, "word " * size)


RESULTS = (result("$small", 10), result("$large", 5_000), result("$middle", 400), result("$new", 5))


def asking(folder: Path, *, folds: bool = False, history: tuple[str, ...] = ()) -> Request:
    """Return a request with results, and with a folder to keep large ones in where they may fold."""
    request = request_for(open_project({"files": {"base_dir": str(folder), "paths": []}}))
    kept_in = folder / "values" if folds else None
    return replace(request, results=RESULTS, results_dir=kept_in, history=history)


def test_the_oldest_turns_go_first() -> None:
    """Whole turns are left out from the beginning, and a line with their number and tokens counts too (rule B-5)."""
    fitted = fit_history(TURNS, 60, words)
    assert fitted.shown == TURNS[2:]
    section = discussion_segments(TURNS)
    assert fitted.omitted == Omitted(2, tokens_of(*section[1:3]))
    shown = discussion_segments(TURNS[2:], fitted.omitted)
    assert fitted.tokens == tokens_of(*shown)
    (cut,) = fitted.cuts
    assert (cut.section, cut.what) == ("history", "turns 1 to 2")
    assert cut.tokens == tokens_of(*section[1:3])


@pytest.mark.parametrize("turns", [TURNS, TURNS[:1], ()])
def test_the_last_turn_stays(turns: tuple[str, ...]) -> None:
    """It is shown without any share, since it is a pin (rules B-4, B-5)."""
    assert fit_history(turns, 0, words).shown == turns[-1:]


@given(limit=st.integers(0, 400))
def test_a_share_of_the_discussion_is_a_maximum(limit: int) -> None:
    """The section has at most so many tokens more than with its last turn alone, and no turn more fits (rule B-5)."""
    least = fit_history(TURNS, 0, words)
    fitted = fit_history(TURNS, limit, words)
    assert fitted.tokens <= least.tokens + limit
    if fitted.omitted:
        earlier = fitted.omitted.number - 1
        note = Omitted(earlier, 0) if earlier else None
        assert tokens_of(*discussion_segments(TURNS[earlier:], note)) > least.tokens + limit


def test_results_that_fit_are_whole(tmp_path: Path) -> None:
    """Nothing is folded where there is room, and without results there is no section (rule B-5)."""
    request = asking(tmp_path, folds=True)
    fitted = fit_results(request, 10_000, words)
    assert fitted.shown == RESULTS
    assert (fitted.omitted, fitted.cuts) == (None, ())
    assert fitted.tokens == fitted.needed == tokens_of(*results_segments(RESULTS))
    assert not (tmp_path / "values").exists()
    assert fit_results(replace(request, results=()), 10_000, words) == FittedSection()


def test_large_results_fold_first(tmp_path: Path) -> None:
    """The largest is shown by a reference, the others stay as they are, and nothing is left out (rules B-5, A-4)."""
    request = asking(tmp_path, folds=True)
    fitted = fit_results(request, 700, words)
    assert [each for each in fitted.shown if each in RESULTS] == [RESULTS[0], *RESULTS[2:]]
    assert fitted.omitted is None
    assert fitted.tokens <= 700
    saved = fitted.needed - fitted.tokens
    assert fitted.cuts == (("results", "$large", saved, "shown by its summary and a reference"),)
    assert len(list((tmp_path / "values").iterdir())) == 1


def test_the_first_results_go_and_a_line_says_so(tmp_path: Path) -> None:
    """What is left out is told behind the heading, its tokens are those of the whole results (rules B-5, A-4)."""
    fitted = fit_results(asking(tmp_path), 100, words)
    assert fitted.shown == RESULTS[3:]
    whole = [tokens_of(block) for block in results_segments(RESULTS)[1:]]
    assert fitted.omitted == Omitted(3, sum(whole[:3]))
    section = results_segments(fitted.shown, fitted.omitted)
    assert section[1].text == f"- 3 more results are left out: {sum(whole[:3]):,} tokens"
    assert fitted.tokens == tokens_of(*section)
    assert [(cut.what, cut.tokens) for cut in fitted.cuts] == [
        ("$small", whole[0]),
        ("$large", whole[1]),
        ("$middle", whole[2]),
    ]


@pytest.mark.parametrize("folds", [False, True])
@pytest.mark.parametrize("limit", [0, 8, 20, 36, 56, 200, 700, 1_000, 6_000])
def test_a_share_of_the_results_is_a_maximum(tmp_path: Path, limit: int, *, folds: bool) -> None:
    """The section with its line never has more, and its cuts add up to what is missing (rules B-5, A-4)."""
    fitted = fit_results(asking(tmp_path, folds=folds), limit, words)
    section = results_segments(fitted.shown, fitted.omitted)
    assert tokens_of(*section) == fitted.tokens <= limit
    note = words(fitted.omitted.sentence("more result") + "\n\n") if fitted.omitted else 0
    heading = 0 if section else tokens_of(results_segments(RESULTS)[0])
    assert fitted.tokens - note + sum(cut.tokens for cut in fitted.cuts) + heading == fitted.needed


def test_shares_are_reserved_as_far_as_they_are_used(tmp_path: Path) -> None:
    """Files get what a section does not need, but not what a whole turn leaves of a share (rule B-5)."""
    request = asking(tmp_path, history=TURNS)
    least = least_sections(request, words)
    budget = Budget(10_000, history=0.04, results=0.5)
    others = fit_sections(request, budget, least, room=1_000, count=words)
    assert others.reserved == 40 + 500
    assert others.cuts
    assert {cut.section for cut in others.cuts} == {"history", "results"}
    everything = with_more(request, others, least, left=9_000, count=words)
    assert everything.history.tokens == everything.history.needed
    assert everything.results.tokens == everything.results.needed
    assert not everything.cuts
    some = with_more(request, others, least, left=100, count=words)
    before = others.history.tokens + others.results.tokens
    assert before < some.history.tokens + some.results.tokens <= before + 100
