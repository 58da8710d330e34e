"""Source texts made to hang or crash what reads them."""

import subprocess
import sys

import pytest

from aggregate.models.view import ViewMode, ViewRequest
from aggregate.views.attempt import attempt

_TIMED = """\
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
from aggregate.models.view import View, ViewMode, ViewRequest
from aggregate.views.attempt import attempt
from tests.hostile.test_texts import TEXTS
path, build = TEXTS[sys.argv[1]]
view = attempt(ViewRequest(path, build(), ViewMode.OUTLINE))
assert isinstance(view, View) or view.count("\\n") == 0, view
"""


def repeated(atom: str, size: int = 120_000) -> str:
    """Return ``atom`` again and again: nesting without end, or a start that a search tries again at each place."""
    return atom * (size // len(atom))


def unclosed_comments() -> str:
    """Return openings of comments of which none ends, so that a search reads to the end from each."""
    return repeated("/*a")


TEXTS = {
    "comments": ("a.c", unclosed_comments),
    "brackets in C": ("a.h", lambda: repeated("(")),
    "brackets in Python": ("a.py", lambda: repeated("(")),
    "braces in JavaScript": ("a.js", lambda: repeated("{")),
    "macros": ("a.cpp", lambda: repeated("AB_(")),
    "runs of attributes": ("a.c", lambda: repeated(") AB(")),
    "types": ("a.cpp", lambda: repeated("class AB C<")),
    "attributes": ("a.c", lambda: "int f(int) __a" + repeated("((")),
    "angle brackets": ("a.cpp", lambda: repeated("a<")),
    "conditions": ("a.c", lambda: repeated("#if A\n")),
}


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_hangs_a_view(name: str) -> None:
    """The outline of a hostile text ends, with rows or with one sentence, within ten seconds of computing time."""
    subprocess.run([sys.executable, "-c", _TIMED, name], check=True, timeout=120, capture_output=True)


def test_a_text_that_takes_too_long_costs_only_itself() -> None:
    """The sentence says what happened and what to do; the next text of that language is parsed as ever."""
    view = attempt(ViewRequest("a.cpp", repeated("a<", 600_000), ViewMode.OUTLINE))
    assert view == (
        "this text takes far longer to parse than a program of its size, and was given up; "
        'show the file with view_mode = "full", or exclude it'
    )
    assert attempt(ViewRequest("a.cpp", "int f();\n" * 9_000, ViewMode.OUTLINE)) != view
