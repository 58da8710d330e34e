"""Results of workers in the next prompt: whole where they fit, else in fair parts, each with its producer."""

import re

import pytest
from hypothesis import given, strategies as st

from aggregate import AggregatedResult, merge_outputs
from aggregate.agents.results import LabelledOutput
from aggregate.prompt.sections import FittedSection, fit_results, result_texts, results_segments
from tests.prompt.composing import result as merged


def words(text: str) -> int:
    """Count a token for each word and each line break, so that a reader can do the sums."""
    return len(text.split()) + text.count("\n")


def reviews(*sizes: int, width: int = 8) -> AggregatedResult:
    """Return reviews of so many lines of ``width`` words."""
    outputs = [
        LabelledOutput("\n".join(f"{name} " * width for _ in range(size)), f"review-{name}")
        for name, size in enumerate(sizes, start=1)
    ]
    return merge_outputs(outputs)


def markdown_of(fitted: FittedSection) -> str:
    return "\n\n".join(segment.text for segment in fitted.segments)


def test_results_that_fit_are_whole() -> None:
    """Every review stands in full under a heading with its producer; no results are no section (F-11, F-12)."""
    results = (reviews(3, 5, 2),)
    fitted = fit_results(results, 10_000, words)
    assert (fitted.segments, fitted.cuts) == (results_segments(results), ())
    assert [one.source for one in fitted.segments[2:]] == ["review-1", "review-2", "review-3"]
    assert "#### review-2\n\n```text\n2 2" in markdown_of(fitted)
    assert fit_results((), 10_000, words) == FittedSection()


def test_short_results_stay_whole_beside_long_ones() -> None:
    """Long ones share what short ones leave, as head and tail cut at line ends, with the number left out (F-11)."""
    results = (reviews(4, 100, 100),)
    fitted = fit_results(results, 700, words)
    texts = result_texts(results)
    markdown = markdown_of(fitted)
    assert texts["review-1"] in markdown
    assert [cut.what for cut in fitted.cuts] == ["review-2", "review-3"]
    parts = [part for part in markdown.split("#### ") if part.startswith(("review-2", "review-3"))]
    sizes = []
    for part in parts:
        head, tail = re.findall(r"```text\n(.*?)\n```", part, re.DOTALL)
        left = re.search(r"([\d,]+) characters are left out here\.", part)
        assert left is not None
        whole = texts[part.split("\n")[0]]
        assert whole.startswith(head + "\n")
        assert whole.endswith("\n" + tail)
        # A line break at each end belongs to what is shown.
        assert len(head) + 1 + len(tail) + int(left[1].replace(",", "")) == len(whole)
        sizes.append(len(head) + len(tail))
    assert max(sizes) - min(sizes) <= 2 * len(texts["review-2"]) / 100


def test_a_reader_with_tools_is_pointed_to_the_rest() -> None:
    """The mark names the call that reads on; a reader without tools is told of none (F-12)."""
    results = (reviews(100),)
    call = 'read_result {"reference": "review-1", "start": '
    assert call in markdown_of(fit_results(results, 300, words, is_readable=True))
    assert "read_result" not in markdown_of(fit_results(results, 300, words))


@pytest.mark.parametrize("names", [("a", "a"), ("a", "")])
def test_items_have_names_of_their_own(names: tuple[str, str]) -> None:
    """Producers of the same name and without one can be told apart (F-12)."""
    results = (merge_outputs([LabelledOutput("x", name) for name in names]),) * 2
    assert len(result_texts(results)) == 4


SIZES = st.lists(st.integers(1, 60), min_size=1, max_size=8)


@given(SIZES, st.integers(0, 2_000), st.integers(0, 200))
def test_no_result_disappears(sizes: list[int], limit: int, more: int) -> None:
    """The limit holds, each item is named, and more tokens never show less of any (F-11, B-6)."""
    results = (reviews(*sizes), merged("$other", "word " * 20))
    least = fit_results(results, 0, words)
    fitted = fit_results(results, limit, words)
    assert fitted.tokens == sum(words(one.text + "\n\n") for one in fitted.segments)
    assert fitted.tokens <= least.tokens + limit
    markdown = markdown_of(fitted)
    assert all(name in markdown for name in result_texts(results))
    if not fitted.cuts:
        assert fitted.segments == results_segments(results)
    larger = {cut.what for cut in fit_results(results, limit + more, words).cuts}
    assert larger <= {cut.what for cut in fitted.cuts}


def test_two_hundred_results_are_all_named() -> None:
    """Where not even beginnings fit, the last ones are listed by name, and the first show their first line (F-11)."""
    results = (reviews(*[40] * 200),)
    fitted = fit_results(results, 2_000, words)
    markdown = markdown_of(fitted)
    named = re.search(r"- (\d+) more results are only named, for want of room: (.*)\.", markdown)
    assert named is not None
    shown = re.findall(r"#### (review-\d+)\n\n```text\n", markdown)
    assert len(shown) == 200 - int(named[1])
    assert [*shown, *named[2].split(", ")] == [f"review-{number}" for number in range(1, 201)]
