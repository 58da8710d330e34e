"""Change words of first lines."""

import pytest

from aggregate.ranking import change_words, message_words

LINES = {
    "Release 2.1.0": {"releas", "versionnumber"},
    "v3.0.0-rc.1": {"versionnumber"},
    "chore(deps): bump ruff from 0.4.1 to 0.5": {"chor", "dep", "bump", "ruff", "versionnumber"},
    "Fixed typos in the retryLoop": {"fix", "typo", "retry", "loop", "retryloop"},
    "Close 1234 and 7": {"clos"},
    "会话 retry": {"会", "话", "会话", "retry"},
    f"Embed {'aGVsbG8' * 20}": {"emb"},
    "": set(),
}


@pytest.mark.parametrize("line", LINES)
def test_words_of_a_line(line: str) -> None:
    """Change words keep verbs, unify versions, drop numbers and stop words (rule T-2)."""
    assert change_words(line) == LINES[line]


def test_a_long_line_is_read_in_part() -> None:
    """Encoded data in a first line add few words (rule T-5)."""
    assert len(change_words(" ".join(f"w{'x' * n}y" for n in range(200)))) < 30


def test_the_first_line_that_is_not_blank() -> None:
    """Leading blank lines are ignored (rule T-5)."""
    assert message_words("\n \n retry\ntwo")[1] == change_words("retry")
    assert message_words(" \n")[1] == set()
