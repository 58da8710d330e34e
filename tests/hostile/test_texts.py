"""Source texts made to hang or crash what reads them."""

import subprocess
import sys
from time import thread_time

import pytest

from aggregate.models.view import View, ViewMode, ViewRequest
from aggregate.syntax.languages import language_named
from aggregate.syntax.parsing import macros_by_end
from aggregate.views.rendering import render_view

_TIMED = """\
import resource
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from aggregate.models.view import View, ViewMode, ViewRequest
from aggregate.views.rendering import attempt
from tests.hostile.test_texts import TEXTS
for name, (path, build) in TEXTS.items():
    print(name, flush=True)
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
    "openings of C's comments in Python": ("a.py", unclosed_comments),
    "braces in JavaScript": ("a.js", lambda: repeated("{")),
    "macros": ("a.cpp", lambda: repeated("AB_(")),
    "runs of attributes": ("a.c", lambda: repeated(") AB(")),
    "declarations without ends": ("a.cpp", lambda: repeated("f(int) AB_C ", 30_000)),
    "types": ("a.cpp", lambda: repeated("class AB C<")),
    "attributes": ("a.c", lambda: "int f(int) __a" + repeated("((")),
    "angle brackets": ("a.cpp", lambda: repeated("a<")),
    "conditions": ("a.c", lambda: repeated("#if A\n")),
    "leading comments in C": ("a.c", lambda: repeated("//\n", 240_000)),
    "leading comments in Ruby": ("a.rb", lambda: repeated("#\n")),
    "namespaces in each other": ("a.cpp", lambda: "namespace a{" * 20_000 + "}" * 20_000),
}


@pytest.mark.parametrize(
    "atom", ["/*a", "AB_(", ") AB(", "class AB C<", "__attribute__(", "AB(a)\nb(c)\n", "#if A\nrequires a\n"]
)
def test_macros_are_found_in_linear_time(atom: str) -> None:
    """The pattern for macros reads a hostile text in a small part of a second; the square of its size takes ten."""
    language = language_named("cpp")
    assert language is not None
    source = repeated(atom, 60_000).encode()
    began = thread_time()
    macros_by_end(source, language)
    assert thread_time() - began < 3


@pytest.mark.parametrize(
    "name",
    [
        "openings of C's comments in Python",
        "declarations without ends",
        "leading comments in C",
        "leading comments in Ruby",
        "namespaces in each other",
    ],
)
def test_a_view_of_a_hostile_text_ends(name: str) -> None:
    """Neither the parser nor the search for definitions takes the square of such a text's length."""
    path, build = TEXTS[name]
    began = thread_time()
    view = render_view(ViewRequest(path, build(), ViewMode.OUTLINE))
    assert isinstance(view, View)
    assert thread_time() - began < 5
    assert len(view.text) < 20 * len(build())


@pytest.mark.slow
def test_no_text_hangs_a_view() -> None:
    """The outlines of hostile texts end, each with rows or with one sentence, within a bound on computing time."""
    ended = subprocess.run([sys.executable, "-c", _TIMED], timeout=300, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.slow
def test_a_text_that_takes_too_long_costs_only_itself() -> None:
    """The sentence says what happened and what to do; the next text of that language is parsed as ever."""
    view = render_view(ViewRequest("a.cpp", repeated("a<", 600_000), ViewMode.OUTLINE))
    assert view == (
        "this text takes far longer to parse than a program of its size, and was given up; "
        'show the file with view_mode = "full", or exclude it'
    )
    assert render_view(ViewRequest("a.cpp", "int f();\n" * 9_000, ViewMode.OUTLINE)) != view
