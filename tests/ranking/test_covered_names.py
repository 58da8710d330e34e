"""What a line is about, and names that its words cover."""

import pytest

from aggregate.ranking.covered_names import asks, root_of, words_about


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
    """An ending makes another word of the same, by which names are found (rule T-9)."""
    assert len(set(map(root_of, family))) == 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("how cookies are stored with requests", {"cook": 1.0, "stor": 0.25, "request": 0.25}),
        ("JSON object with named fields", {"json": 1.0, "object": 1.0, "nam": 0.25, "field": 0.25}),
        ("where is the RouterGroup?", {"rout": 1.0, "group": 1.0}),
        ("with timeouts", {"timeout": 1.0}),
        ("", {}),
    ],
)
def test_a_line_is_about_what_stands_before_its_circumstances(
    line: str, expected: dict[str, float]
) -> None:
    """What a question names first weighs more than what it says of that (rule T-9)."""
    assert words_about(line) == expected


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
    """Questions ask where something is, changes say what becomes of it (rule T-9)."""
    assert asks(text) is expected
