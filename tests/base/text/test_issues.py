"""Texts of issues, without forms, hidden comments, bot lines and trailers (rule T-7)."""

import pytest

from aggregate.base.text import clean_issue, first_line

FORM = """\
<!-- Thanks for filing!
Please search first. -->
### Describe the bug

`retry()` waits twice.

```html
<!-- code stays -->
- [x] I am code
```

### Expected behavior

_No response_

### Checklist

- [x] I have searched the issues

### Ideas

- [ ] handle a negative delay

**Additional context**

[//]: # (dependabot-start)
"""

SHOWN = """\
### Describe the bug

`retry()` waits twice.

```html
<!-- code stays -->
- [x] I am code
```

### Ideas

- [ ] handle a negative delay"""


def test_a_form_leaves_only_what_its_user_wrote() -> None:
    """Hidden comments, ticked declarations and empty sections go; code and lists stay (rule T-7)."""
    assert clean_issue(FORM) == SHOWN


@pytest.mark.parametrize(
    "footer",
    [
        "Signed-off-by: A <a@b.c>\nCo-authored-by: B <b@b.c>",
        "Change-Id: I0123\n(cherry picked from commit 0123456)",
        "\U0001f916 Generated with [Some Tool](https://example.org)",
        "Sent from my iPhone",
        "*This issue was automatically opened by a bot.*",
        "<sub>Powered by a bot</sub>",
        "Merge pull request 12",
        "---------\n\nCo-authored-by: B <b@b.c>",
    ],
)
def test_trailers_and_footers_of_programs_go(footer: str) -> None:
    """Lines added by programs after the author's text are removed (rule T-7)."""
    assert (
        clean_issue(f"Fix the slash\n\nIt is doubled.\n\n{footer}\n")
        == "Fix the slash\n\nIt is doubled."
    )


@pytest.mark.parametrize(
    "words",
    [
        "## Fix the slash",
        "Fixes: the slash",
        "- [x] I tick",
        "<!-- open",
        "Fix this:\n\n    code\n\nSee: x y\nand more",
    ],
)
def test_words_that_are_all_there_is_stay(words: str) -> None:
    """A task is never emptied: a lone heading, trailer or box stays (rule T-7)."""
    assert clean_issue(words) == words


def test_a_long_first_line_is_cut_between_words() -> None:
    """The title ends after a whole word, without heading marks (rule T-7)."""
    assert (
        first_line("### Fix the trailing slash in routes\n\nMore.", 200)
        == "Fix the trailing slash in routes"
    )
    assert first_line("Fix the trailing slash in routes", 20) == "Fix the trailing ..."
    assert first_line("", 20) == ""
