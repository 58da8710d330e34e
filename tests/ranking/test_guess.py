"""Guesses, and misspelt identifiers."""

import pytest

from aggregate.base import Guess
from aggregate.ranking import rank
from tests.ranking.asking import ask, project


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("it does not work", "nothing in the task points at specific code"),
        ("fix the bug", "nothing in the task points at specific code"),
        ("Update dependencies", "a task about dependencies points at no specific code"),
        ("Bump pytest from 7.0 to 8.1", "a task about dependencies points at no specific code"),
        ("Release 2.1.0", "a task about a release points at no specific code"),
        ("2.1.0 release (#7)", "a task about a release points at no specific code"),
        ("Enable CA1724", "a task about lint points at no specific code"),
        ("run ruff over all of it", "a task about lint points at no specific code"),
        ("Fix typos in the docs", "a task about documentation points at no specific code"),
        ("how does the router match a path", ""),
        ("`find_route` breaks the docs", ""),
        ("docs: typo in session.py", ""),
        ("fix the bug\n\nsee session.py", ""),
        ('File "/x/src/session.py", line 3, in send', ""),
    ],
)
def test_a_task_that_names_no_place_is_a_guess(text: str, reason: str) -> None:
    """Chores and vague tasks are recognized as guesses (rule T-9)."""
    guess = rank(project(), ask(text)).guess
    assert (guess.reason if guess else "") == reason


@pytest.mark.parametrize(
    ("text", "is_broad"),
    [
        ("it does not work", True),
        ("Fix typos in the docs", True),
        ("Update dependencies", False),
        ("Enable CA1724", False),
        ("how does the router match a path", False),
    ],
)
def test_names_of_many_files_are_for_guesses_that_no_settings_answer(
    text: str, is_broad: bool
) -> None:
    """A chore that changes settings does not spread over many files (rule T-9)."""
    assert rank(project(), ask(text)).is_broad is is_broad


def test_a_guess_proposes_names() -> None:
    """A guess proposes at most five areas, the likeliest first (rule T-9)."""
    guess = rank(project(), ask("it does not work")).guess
    assert guess
    assert 0 < len(guess.proposals) <= 5
    assert all(name.rpartition(" in ")[2].startswith("src/") for name in guess.proposals[:3])
    of_docs = rank(project(), ask("Fix typos in the docs")).guess
    assert of_docs
    assert of_docs.proposals[0] == "README.md"


def test_a_guess_is_said_in_one_sentence() -> None:
    """Reason and areas are printed in one line (rule T-9)."""
    guess = Guess(
        "nothing in the task points at specific code", ("Router in src/router.py", "README.md")
    )
    expected = "nothing in the task points at specific code; likely areas: Router in src/router.py, README.md"
    assert guess.sentence == expected


@pytest.mark.parametrize(
    ("text", "sentence", "best"),
    [
        ("`find_ruote` is slow", "find_ruote occurs nowhere, using find_route instead", "src/routes.py"),
        ("find_roote", "find_roote occurs nowhere, using find_route instead", "src/routes.py"),
        ("Sesion", "Sesion occurs nowhere, using Session instead", "src/session.py"),
    ],
)  # fmt: skip
def test_a_misspelt_identifier_is_taken_for_the_nearest(
    text: str, sentence: str, best: str
) -> None:
    """An unknown identifier is replaced by a similar one and reported (rule T-9)."""
    corpus = project()
    ranking = rank(corpus, ask(text))
    assert [gap.reason for gap in ranking.missing if gap.evidence == "spelling"] == [sentence]
    assert corpus.files[ranking.files[0].file].path == best


@pytest.mark.parametrize(
    "text", ["`find_route` is slow", "`wholly_other_name` is slow", "it is sloow"]
)
def test_what_occurs_or_is_far_from_all_is_left_as_it_is(text: str) -> None:
    """Only identifiers are corrected, and only to similar ones (rule T-9)."""
    missing = rank(project(), ask(text)).missing
    assert not [gap for gap in missing if gap.evidence == "spelling"]
