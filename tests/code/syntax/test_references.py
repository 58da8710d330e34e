"""What a text refers to: one program for each language, and what no program is."""

from collections.abc import Callable
from pathlib import Path
from time import thread_time

import pytest

from aggregate.code.syntax import (
    LANGUAGES,
    SyntaxReference,
    query_of,
    read_definitions,
    read_references,
    shared_parse,
)
from tests.viewing import language_called

PROGRAMS = {
    path.stem: path.read_text(encoding="utf-8").split("=====[ references ]=====\n")
    for path in sorted((Path(__file__).parent / "references").glob("*.txt"))
}
"""By language: a program, and a line for each name that it uses."""


def table(references: tuple[SyntaxReference, ...]) -> str:
    """Return references as lines: where, what, which, and of what."""
    return "".join(
        f"{each.line} {each.kind} {each.name}{each.scope and ' of '}{each.scope}\n"
        for each in references
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_names_that_a_program_uses_are_told_with_what_stands_before_them(name: str) -> None:
    """Each kind of reference is found in each language, in order, once for each place (rule I-1).

    The byte and the line of a reference are those of its name in the text, also in embedded programs. No query of
    references has a capture of views, so that none of theirs has one of references.
    """
    text, expected = PROGRAMS[name]
    assert table(read_references(text, language_called(name))) == expected
    text = "\n" + text
    source = text.encode()
    for each in read_references(text, language_called(name)):
        assert source[: each.start].count(b"\n") + 1 == each.line
        before, _, _ = source[each.start :].partition(each.name.encode())
        assert before == b"" or before.endswith((b"/", b"::", b".", b"<"))
        assert len(before) < 30
    captures = captures_of(name, "reference", "embedded")  # which is compiled by now
    if any(capture.startswith("embedded") for capture in captures):
        captures = captures_of(name, "reference")
    assert [each for each in captures if not each.startswith(("_", "reference."))] == []


@pytest.mark.parametrize("name", [row.name for row in LANGUAGES if row.is_installed])
def test_texts_in_every_language_are_read(name: str) -> None:
    """A language without patterns has no references, and an empty or broken text is none that fails (rule T-5)."""
    assert read_references("", language_called(name)) == ()
    for text in ("\x00", "(((", "}{ \ud800 'x", "import", "<script>", "é\n" * 10):
        read_references(text, language_called(name))


def captures_of(name: str, *wanted: str) -> set[str]:
    """Return the captures of the patterns that are compiled where something is wanted."""
    query, _, _ = query_of(language_called(name), frozenset(wanted))
    return {query.capture_name(place) for place in range(query.capture_count)}


@pytest.mark.parametrize("name", ["python", "go", "rust", "java", "c", "bash"])
def test_views_do_not_compile_the_patterns_of_references(name: str) -> None:
    """The query of a view has no pattern that only references need, and theirs goes into no scope (rule I-1)."""
    of_views = captures_of(name, "definition")
    assert "name" in of_views
    assert not any(capture.startswith("reference.") for capture in of_views)
    _, is_scoped, _ = query_of(language_called(name), frozenset({"reference"}))
    assert not is_scoped


@pytest.mark.parametrize("name", ["python", "go", "java"])
def test_one_parse_serves_definitions_and_references(name: str) -> None:
    """Reading references changes nothing of the definitions, and a shared parse nothing of either (rule T-4)."""
    text, row = PROGRAMS[name][0], language_called(name)
    with shared_parse():
        shared, references = read_definitions(text, row), read_references(text, row)
    assert read_references(text, row) == references
    assert read_definitions(text, row).definitions == shared.definitions


def test_long_names_and_scopes_are_left_out() -> None:
    """A name of more than 200 bytes is none, and a scope of more than 60 is no path of names."""
    python = language_called("python")
    assert read_references("a" * 201 + "()\n", python) == ()
    (call,) = read_references("a" * 200 + "()\n", python)
    assert (call.name, call.kind) == ("a" * 200, "call")
    long, short = read_references(f"{'b' * 61}.c()\n{'b' * 60}.c()\n", python)
    assert (long.scope, short.scope) == ("", "b" * 60)


def test_errors_cost_only_what_stands_in_them() -> None:
    """Names around a syntax error are found (rule T-5)."""
    text = "import a\ndef f(:\n  b()\n\nc()\n"
    names = [each.name for each in read_references(text, language_called("python"))]
    assert names[0] == "a"
    assert names[-1] == "c"


HOSTILE: dict[str, tuple[str, Callable[[int], str]]] = {
    "names of one import": ("javascript", lambda size: "import {" + "a, " * size + "} from 'x'"),
    "names taken apart": ("javascript", lambda size: "const {" + "a, " * size + "} = require('x')"),
    "lists in lists": ("rust", lambda size: "use " + "a::{" * size + "b" + "}" * size + ";"),
    "parts of a path": ("rust", lambda size: "use " + "a::" * size + "b;"),
    "what a macro is given": ("rust", lambda size: "m!(" + "a(b) " * size + ");"),
    "chain of calls": ("python", lambda size: "a" + ".b()" * size),
    "calls in calls": ("python", lambda size: "a.f(" * size + "b" + ")" * size),
    "chain of scopes": ("cpp", lambda size: "void f() { " + "a::" * size + "b(); }"),
    "bases": ("csharp", lambda size: "class A : " + "B, " * size + "C {}"),
    "names of one namespace": ("php", lambda size: "<?php use A\\{" + "b, " * size + "c};"),
    "elements in elements": ("tsx", lambda size: "x = " + "<A>" * size + "</A>" * size),
    "embedded types": ("go", lambda size: "package p\ntype S struct {" + "A;" * size + "}"),
    "program on one line": ("java", lambda size: "class A { {" + "a.b(c);" * size + "} }"),
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_time_grows_with_the_size_alone(shape: str) -> None:
    """Four times the text takes some four times as long, not sixteen times (rule T-5)."""
    name, build = HOSTILE[shape]
    read_references(build(10), language_called(name))

    def seconds(size: int) -> float:
        began = thread_time()
        read_references(build(size), language_called(name))
        return thread_time() - began

    most = 10 * max(0.02, seconds(1_000))
    assert seconds(4_000) < most or seconds(4_000) < most
