"""Names that a task writes as several words."""

import pytest

from aggregate.ranking import rank
from aggregate.ranking.named_identifiers import joined_neighbours
from tests.fakes.corpus import FakeCorpus
from tests.ranking.asking import ask


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("the retry loop", ("retryloop",)),
        ("a loop of v-for", ()),
        ("Retry loop sleeps", ("retryloop", "loopsleeps", "retryloopsleeps")),
        ("a loop of x-text", ("xtext",)),
        ("loop with the retry", ()),
        ("", ()),
        ("x " * 500, ()),
    ],
)
def test_neighbours_are_joined(text: str, joined: tuple[str, ...]) -> None:
    """Two and three words are joined, across stop words only by a hyphen; what is short or long is none."""
    assert joined_neighbours(text) == joined


def test_a_long_task_joins_its_beginning() -> None:
    """Each pair is looked up in the whole project, so a log of 100,000 words asks no more than a short ticket."""
    assert len(joined_neighbours(" ".join(f"word{number}" for number in range(100_000)))) <= 120


def test_all_terms_of_a_task_are_looked_up_in_one_pass() -> None:
    """Joined words are asked for with the other terms: each pass reads the tables of the whole project."""
    corpus = FakeCorpus({"a.py": "def retry_loop(x):\n    y = x\n    return y\n"})
    rank(corpus, ask("Make the retry loop of the slow socket reader stop"))
    assert len(corpus.looked_up) == 1
    assert {"retryloop", "slowsocket", "socketreader"} <= corpus.looked_up[0]
