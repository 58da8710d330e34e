"""Topic words of a line, and names that they cover."""

import pytest

from aggregate.ranking.task_text import looks_like_question, root_of, topic_words


@pytest.mark.parametrize(
    "family",
    [
        ("configure", "configuration", "configurable"),
        ("serialize", "serializer", "serialization", "serializing"),
        ("router", "routes", "routing"),
        ("validate", "validator", "validation", "validated"),
        ("name", "names", "naming"),
        ("create", "creation", "creating"),
        ("cookie", "cookies"),
    ],
)
def test_words_of_a_family_have_one_root(family: tuple[str, ...]) -> None:
    """Words of one family share a root (rule T-9)."""
    assert len(set(map(root_of, family))) == 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("keep cookies when they are stored", {"keep": 1.0, "cook": 1.0, "stor": 0.25}),
        ("JSON object with named fields", {"json": 1.0, "object": 1.0, "nam": 0.25, "field": 0.25}),
        ("where is the RouterGroup?", {"rout": 1.0, "group": 1.0}),
        ("with timeouts", {"timeout": 1.0}),
        ("", {}),
    ],
)
def test_a_line_is_about_what_stands_before_its_circumstances(
    line: str, expected: dict[str, float]
) -> None:
    """The topic weighs more than circumstances (rule T-9)."""
    assert topic_words(line, is_question=False) == expected


def test_what_changes_are_called_may_be_what_is_asked_about() -> None:
    """``add`` is ignored in a change but counts in a question (rule T-9)."""
    assert "add" in topic_words("basket add", is_question=True)
    assert "add" not in topic_words("router: add wildcards", is_question=False)


def test_a_question_is_about_its_first_words_most() -> None:
    """A question's first words weigh most (rule T-9)."""
    about = topic_words("how cookies of requests are stored", is_question=True)
    assert list(about) == ["cook", "request", "stor"]
    assert about["cook"] == 1.0
    assert list(about.values()) == sorted(about.values(), reverse=True)
    assert about["stor"] < topic_words("cookies stored", is_question=True)["stor"] < 1.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how are cookies stored", True),
        ("cookie storage", True),
        ("can I reuse a client?", True),
        ("Depends", True),
        ("fix cookies that are lost", False),
        ("router: match wildcards", False),
        ("cookies are lost (#12)", False),
        ("set_cookie() ignores the path of a cookie", False),
        ("do not keep cookies", False),
        ("cookies are lost\n\nThey were kept before.", False),
        ("", False),
    ],
)
def test_a_question_is_told_from_a_change(text: str, expected: bool) -> None:
    """Questions are distinguished from change requests (rule T-9)."""
    assert looks_like_question(text) is expected
