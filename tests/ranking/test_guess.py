"""Tasks that tell of no place, and identifiers that they misspell."""

import pytest

from aggregate.base.request import Guess
from aggregate.ranking import rank
from tests.ranking.asking import ask, project


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("it does not work", "no word of the task names a place"),
        ("fix the bug", "no word of the task names a place"),
        ("Update dependencies", "a task about dependencies names no place"),
        ("Bump pytest from 7.0 to 8.1", "a task about dependencies names no place"),
        ("Release 2.1.0", "a task about a release names no place"),
        ("2.1.0 release (#7)", "a task about a release names no place"),
        ("Enable CA1724", "a task about lint names no place"),
        ("run ruff over all of it", "a task about lint names no place"),
        ("Fix typos in the docs", "a task about documentation names no place"),
        ("how does the router match a path", ""),
        ("`find_route` breaks the docs", ""),
        ("docs: typo in session.py", ""),
        ("fix the bug\n\nsee session.py", ""),
        ('File "/x/src/session.py", line 3, in send', ""),
    ],
)
def test_a_task_that_names_no_place_is_a_guess(text: str, reason: str) -> None:
    """Chores and tasks of which no word tells of a place are known as such (rule T-9)."""
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
    """A chore whose settings are shown whole is spent on like other tasks (rule T-9)."""
    assert rank(project(), ask(text)).is_broad is is_broad


def test_a_guess_proposes_names() -> None:
    """At most five, the likeliest first, of the files that such a task is mostly about (rule T-9)."""
    guess = rank(project(), ask("it does not work")).guess
    assert guess
    assert 0 < len(guess.proposals) <= 5
    assert all(name.rpartition(" in ")[2].startswith("src/") for name in guess.proposals[:3])
    of_docs = rank(project(), ask("Fix typos in the docs")).guess
    assert of_docs
    assert of_docs.proposals[0] == "README.md"


def test_a_guess_is_said_in_one_sentence() -> None:
    """The reason and the areas in one line, for people and for the prompt (rule T-9)."""
    guess = Guess("no word of the task names a place", ("Router in src/router.py", "README.md"))
    expected = "no word of the task names a place; likely areas: Router in src/router.py, README.md"
    assert guess.sentence == expected


@pytest.mark.parametrize(
    ("text", "sentence", "best"),
    [
        ("`find_ruote` is slow", "find_ruote occurs nowhere: it is taken for find_route", "src/routes.py"),
        ("find_roote", "find_roote occurs nowhere: it is taken for find_route", "src/routes.py"),
        ("Sesion", "Sesion occurs nowhere: it is taken for Session", "src/session.py"),
    ],
)  # fmt: skip
def test_a_misspelt_identifier_is_taken_for_the_nearest(
    text: str, sentence: str, best: str
) -> None:
    """An identifier that occurs nowhere and is near one that does is matched to it and said (rule T-9)."""
    corpus = project()
    ranking = rank(corpus, ask(text))
    assert [gap.reason for gap in ranking.missing if gap.evidence == "spelling"] == [sentence]
    assert corpus.files[ranking.files[0].file].path == best


@pytest.mark.parametrize(
    "text", ["`find_route` is slow", "`wholly_other_name` is slow", "it is sloow"]
)
def test_what_occurs_or_is_far_from_all_is_left_as_it_is(text: str) -> None:
    """Only identifiers are matched, and only to near ones (rule T-9)."""
    missing = rank(project(), ask(text)).missing
    assert not [gap for gap in missing if gap.evidence == "spelling"]
