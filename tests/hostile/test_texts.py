"""Source texts made to hang or crash what reads them."""

import resource
from time import thread_time

import pytest

from aggregate import View, ViewMode
from aggregate.base import DeadlineError, Span, ViewRequest
from aggregate.code.syntax import read_definitions, read_module, shared_parse
from aggregate.code.syntax.parsing import Deadline, macros_by_end, parse_source, query_matches
from aggregate.code.views import render_all
from aggregate.prompt.sections import turn_texts
from tests.processes import python
from tests.viewing import language_called, viewed

_TIMED = """\
import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, -1))
from aggregate.code.views import render_all
from aggregate.base.files import View, ViewMode, ViewRequest
from tests.hostile.test_texts import TEXTS
for name, (path, build) in TEXTS.items():
    print(name, flush=True)
    (view,) = render_all([ViewRequest(path, build(), ViewMode.OUTLINE)])
    assert isinstance(view, View), view
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
    "declarations without ends": ("a.cpp", lambda: repeated("f(int) AB_C ", 15_000)),
    "types": ("a.cpp", lambda: repeated("class AB C<")),
    "attributes": ("a.c", lambda: "int f(int) __a" + repeated("((")),
    "angle brackets": ("a.cpp", lambda: repeated("a<")),
    "conditions": ("a.c", lambda: repeated("#if A\n")),
    "openings of tuples in Python": ("a.py", lambda: repeated("*\n/", 12_000)),
    "openings of Ruby's texts in Python": ("a.py", lambda: repeated("*a <<~A\n\v/", 40_000)),
    "type arguments in C#": ("a.cs", lambda: repeated("a<b?, c<")),
    "type arguments in Java": ("a.java", lambda: repeated("a<b<c<")),
    "comments in type arguments in Java": ("a.java", lambda: repeated("a<é/*<*/<c//\n<")),
    "type arguments in TypeScript": ("a.ts", lambda: repeated("a<b,")),
    "backslashes in Python": ("a.py", lambda: repeated("\\\n")),
    "backslashes in Ruby": ("a.rb", lambda: repeated("\\ ")),
    "levels in YAML": ("a.yaml", lambda: repeated("- ")),
    "leading comments in C": ("a.c", lambda: repeated("//\n", 240_000)),
    "leading comments in Ruby": ("a.rb", lambda: repeated("#\n")),
    "assignments of nothing": ("a.c", lambda: repeated("a=>", 20_000)),
    "assignments of nothing in Objective-C": ("a.m", lambda: "//\n" + repeated("a=/b", 7_900)),
    "file handles in Perl": ("a.pl", lambda: repeated("<-", 7_900)),
    "operators in Nix": ("a.nix", lambda: repeated("<!--", 7_900)),
    "namespaces in each other": ("a.cpp", lambda: "namespace a{" * 6_000 + "}" * 6_000),
}


@pytest.mark.parametrize(
    "atom",
    [
        *("/*a", "AB_(", ") AB(", "class AB C<", "__attribute__(", "AB(a)\nb(c)\n", "AB_C x<"),
        *("#if A\nrequires a\n", "AB_C ", "AB_C f(,", "}AB_CATCH(", "#define A \\\n/*"),
        "#if A\nx\n#endif\n/**/",
    ],
)
def test_macros_are_found_in_linear_time(atom: str) -> None:
    """The pattern for macros reads a hostile text in a small part of a second; the square of its size takes ten."""
    language = language_called("cpp")
    source = repeated(atom, 30_000).encode()
    began = thread_time()
    macros_by_end(source, language)
    assert thread_time() - began < 3


def outlined(path: str, text: str, mode: ViewMode = ViewMode.OUTLINE) -> View:
    """Return the view of a text, which takes no more than seconds of the processor."""
    began = thread_time()
    view = viewed(path, text, mode)
    assert thread_time() - began < 5
    return view


@pytest.mark.parametrize("name", ["declarations without ends", "leading comments in C", "leading comments in Ruby", "namespaces in each other"])  # fmt: skip
def test_a_view_of_a_hostile_text_ends(name: str) -> None:
    """Neither the parser nor the search for definitions takes the square of such a text's length."""
    path, build = TEXTS[name]
    assert len(outlined(path, build()).text) < 20 * len(build())


@pytest.mark.slow
def test_a_small_text_is_given_up_too() -> None:
    """One of 30 KB that would keep the parser busy for seconds ends in time, by a sentence or by what it holds."""
    outlined("a.html", repeated("<!--", 30_000))


def test_a_failed_parse_is_reused() -> None:
    """Views of one text wait once for the parser's deadline."""
    text, language = repeated("a<", 60_000), language_called("cpp")
    with shared_parse():
        errors = []
        for read in (read_definitions, read_definitions, read_module):
            with pytest.raises(DeadlineError) as raised:
                read(text, language)
            errors.append(raised.value)
    assert errors[0] is errors[1] is errors[2]


def test_a_text_that_takes_too_long_costs_only_itself() -> None:
    """A sentence says what happened and what to do, above the text's beginning; the next text is parsed as ever."""
    view = outlined("a.cpp", repeated("a<", 60_000))
    sentence = (
        "parsing was stopped: it took far longer than is usual for a file of this size; "
        'show the file with view_mode = "full", or exclude it'
    )
    assert view.problems == (sentence,)
    assert view.text.startswith(f"NOTE: {sentence}\na<a<a<")
    assert outlined("a.cpp", "int f();\n" * 9_000) != view


@pytest.mark.parametrize(
    ("path", "text", "has_problems"),
    [
        ("a.rs", repeated("#[a(b)]\n", 60_000), True),
        ("a.yaml", repeated("---\n", 60_000), True),
        ("a.rb", "class A\nend\n" + "( a " * 6_000, False),
        ("a.pl", "{\n" * 80_000, False),
    ],
)
def test_long_runs_without_a_name_are_not_searched(
    path: str, text: str, has_problems: bool
) -> None:
    """A sentence instead of the square of their number, which a query takes; an error with names may hold definitions."""
    assert bool(outlined(path, text).problems) is has_problems


STARS = "*" * 60_000


@pytest.mark.parametrize(
    ("path", "text", "ending"),
    [
        ("a.rb", "def f(a)\n" + repeated("  # b\n") + "  1\nend\n", "def f(a)\n"),
        ("a.sh", "f() {\n a\n}\n" + "\0" * 60_000, "1-3  f()\n"),
        ("a.py", "def f(a," + "\n" * 3_000 + "b):\n    pass\n", "def f(a, b)\n"),
        ("a.js", f"/* x {STARS} y */\nvar a\n", ""),
    ],
    ids=["comments before a body", "zero bytes", "blanks in a signature", "stars in a comment"],
)
def test_what_is_long_is_read_once(path: str, text: str, ending: str) -> None:
    """No search takes the square or the cube of a run's length, also of a role's marks; zeros are blanks."""
    assert outlined(path, text, ViewMode.OUTLINE if ending else ViewMode.SUMMARY).text.endswith(
        ending
    )
    began = thread_time()
    (turn,) = turn_texts([{"role": f"a{'!' * 60_000}b", "content": "x"}])
    assert turn.endswith("b: x")
    assert thread_time() - began < 3


@pytest.mark.slow
def test_no_text_hangs_a_view() -> None:
    """The outlines of hostile texts end, each with rows or with one sentence, in a process with bounded memory."""
    python(_TIMED, timeout=600)


@pytest.mark.parametrize(
    "name",
    [
        "backslashes in Ruby",
        pytest.param("openings of Ruby's texts in Python", marks=pytest.mark.slow),
        "levels in YAML",
    ],
)
def test_what_no_deadline_interrupts_costs_itself_alone(name: str) -> None:
    """A text over which a step of the parser takes minutes or gigabytes, or crashes, is given up by a sentence."""
    path, build = TEXTS[name]
    others = [ViewRequest(f"m{i}.py", f"def f{i}(): pass\n", ViewMode.OUTLINE) for i in range(4)]
    wanted = [*others[:2], ViewRequest(path, build(), ViewMode.OUTLINE), *others[2:]]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    views = list(render_all(wanted, workers=1, patience=1.5))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
    hostile = views.pop(2)
    assert isinstance(hostile, View)
    assert hostile.text.startswith(
        "NOTE: parsing was stopped: the parser crashed, or took far too much"
    )
    assert views == [View(f"1-1  def f{i}()\n", (Span(1, 1, 1, 1),), "text") for i in range(4)]


@pytest.mark.parametrize(
    "nested", [("module A\n", "end\n"), ("a do |b|\n", "end\n"), ("begin\n", "end\n")]
)
def test_what_nests_deeply_is_searched_in_linear_time(nested: tuple[str, str]) -> None:
    """Thousands of blocks of Ruby in each other take a second, and not the square of their number."""
    opening, closing = nested
    language = language_called("ruby")
    source = (opening * 4_000 + closing * 4_000).encode()
    tree = parse_source(source, language)
    began = thread_time()
    wanted = frozenset({"definition", "name", "members"})
    list(query_matches(tree, language, wanted, Deadline(100 * len(source))))
    assert thread_time() - began < 3


def test_a_deep_tree_is_searched_whole() -> None:
    """A tree of more levels than are searched at once gives each definition, once, with what it stands in."""
    depth = 1_500
    text = "".join(f"module A{i}\n" for i in range(depth)) + "end\n" * depth
    language = language_called("ruby")
    definitions = read_module(text, language).definitions
    assert [one.path[-1] for one in definitions] == [f"A{i}" for i in range(depth)]
    assert [one.depth for one in definitions] == list(range(depth))
