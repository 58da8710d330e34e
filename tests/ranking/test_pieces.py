"""Pieces cover all lines; kinds of lines in any language."""

from textwrap import dedent

import pytest
from hypothesis import given, strategies as st

from aggregate.ranking.files import analyse
from aggregate.ranking.files.pieces import MOST_LINES, line_kinds

PYTHON = '''\
#!/usr/bin/env python3
"""What it does."""

import os

# Tells how many
# there may be.
@decorated
class Shape:
    """A shape."""

    sides = 4

    # Says how large it is.
    def area(self) -> int:
        def inner() -> int:
            return 2

        return inner()


def main() -> None:
    print(Shape().area())
'''


def shown(path: str, text: str) -> list[str]:
    """Return the pieces as ``first-last definition``."""
    analysis = analyse(path, text)
    names = [".".join(definition.path) for definition in analysis.definitions]
    return [
        f"{piece.first}-{piece.last} {names[piece.definition] if piece.definition >= 0 else ''}".strip()
        for piece in analysis.pieces
    ]


def test_a_line_belongs_to_its_innermost_definition() -> None:
    """Comments, decorators and nested functions go with their definition, blank lines with the text above (B-2)."""
    assert shown("a.py", PYTHON) == ["1-5", "6-13 Shape", "14-21 Shape.area", "22-23 main"]


def test_a_licence_and_imports_are_pieces_of_their_own() -> None:
    """Imports are separate from constants, so that a prompt can omit them (rules B-2, B-6)."""
    licence = "/*\n * Copyright 2020 A.\n */\n"
    imports = 'package a\n\nimport (\n\t"os"\n)\n\n'
    constants = "// Of a day.\nconst (\n\thours = 24\n)\n"
    assert shown("a.go", licence + imports + constants) == ["1-3", "4-9", "10-13"]
    assert shown("a.py", "import os\n\nX = 1\nY = 2\n") == ["1-4"]
    pieces = analyse("a.go", licence + imports + constants).pieces
    assert [(p.comments, p.preamble) for p in pieces] == [(28, 28), (0, 27), (13, 0)]


@pytest.mark.parametrize("middle", ["} else {", "} catch (e) {", ") {", "&& b) {"])
def test_a_piece_begins_with_a_statement(middle: str) -> None:
    """A long function is not cut inside a statement (rule B-6)."""
    lines = ["f() {", "  if (a) {", *["    b();"] * 8, "  c();", *["    b();"] * 5, f"  {middle}"]
    lines += [*["    d();"] * 24, "  }", "}"]
    pieces = shown("a.js", "function " + "\n".join(lines) + "\n")
    assert pieces[0].split()[0] == "1-10"


def test_the_end_of_a_function_is_no_piece() -> None:
    """A short rest of a long function is not cut off (rule B-6)."""
    body = "".join(f"    a{number}()\n" for number in range(26))
    assert shown("a.py", f"def f():\n{body}    return 1\n") == ["1-28 f"]
    assert len(shown("a.py", f"def f():\n{body}{body}    return 1\n")) > 1


def test_sections_of_prose_are_pieces() -> None:
    """A heading begins a piece, and small sections stay apart (rule B-2)."""
    text = "intro\n\n# One\n\ntext\n\n## Two\n\nmore\n\n# Three\n"
    assert shown("a.md", text) == ["1-2", "3-6 One", "7-10 One.Two", "11-11 Three"]


def test_data_stay_together() -> None:
    """Short data are not cut into keys (rule B-2)."""
    text = '{\n  "name": "x",\n  "scripts": {\n    "a": 1,\n    "b": 2,\n    "c": 3\n  }\n}\n'
    assert shown("package.json", text) == ["1-8"]
    table = "[a]\nx = 1\ny = 2\nz = 3\n\n" + "[b]\n" + "k = 1\n" * 30
    assert shown("a.toml", table)[0] == "1-5 a"


def test_a_long_run_is_cut_behind_a_blank_line() -> None:
    """A piece ends at a blank line, else before the least indented line."""
    lines = [f"word{number}" for number in range(40)]
    lines[18] = ""
    assert shown("a.txt", "\n".join(lines)) == ["1-19", "20-40"]
    nested = ["  x"] * 40
    nested[20] = "y"
    assert shown("a.txt", "\n".join(nested))[0] == "1-20"


def test_comments_above_are_found_in_other_languages() -> None:
    """Block comments and attributes belong to the next definition; directives do not."""
    text = dedent(
        """\
        #include <x.h>
        /* Says
           what it does. */
        int one(void)
        {
            return 1;
        }
        """
    )
    assert shown("a.c", text) == ["1-1", "2-7 one"]
    rust = "use a;\n\n/// Says.\n#[inline]\nfn one() -> i32 {\n    // in\n    1\n}\n"
    assert shown("a.rs", rust) == ["1-2", "3-8 one"]


LINES = st.lists(
    st.sampled_from(
        [
            "", "", "def f():", "    def g(self):", "class A:", "    x = 1", "        return x", "# c", "@d", '"""',
            "# H", "## I", "}", "{",
        ]
    ),
    max_size=90,
)  # fmt: skip


@given(
    LINES,
    st.sampled_from(
        ["a.py", "a.md", "a.txt", "a.js", "a.yaml", "a.c", "a.rs", "a.vue", "a.ipynb", ""]
    ),
    st.booleans(),
)
def test_pieces_are_all_lines_once_and_in_order(lines: list[str], path: str, ends: bool) -> None:
    """Pieces cover each line once and are bounded, for any text (rule L-1)."""
    text = "\n".join(lines) + ("\n" if ends else "")
    analysis = analyse(path, text)
    covered = [line for piece in analysis.pieces for line in range(piece.first, piece.last + 1)]
    count = text.count("\n") + (0 if text.endswith("\n") or not text else 1)
    assert covered == list(range(1, count + 1))
    assert all(piece.last - piece.first < MOST_LINES for piece in analysis.pieces)
    assert sum(piece.characters for piece in analysis.pieces) in (len(text), len(text) + 1)
    for definition in analysis.definitions:
        assert 1 <= definition.first <= definition.signature <= definition.last <= count
        assert definition.signature < definition.body <= definition.last + 1
        assert definition.outer < 0 or (
            analysis.definitions[definition.outer].first <= definition.first
            and definition.last <= analysis.definitions[definition.outer].last
        )


@pytest.mark.parametrize(
    "text", ["\r", "a\rb\r\nc", "\x0c\n\x0b\u2028\n", "\ufeff", "\0\0\n\0", "\n\n\n", "\ud800\n"]
)
def test_only_line_feeds_end_lines(text: str) -> None:
    """Other line separators do not split lines, as in the source map (rule L-1)."""
    count = len(text.removesuffix("\n").split("\n"))
    assert analyse("a.py", text).pieces[-1].last == count


def test_what_only_closes_belongs_to_what_stands_before_it() -> None:
    """A closing brace or ``end`` is not a piece of its own (rule B-2)."""
    rust = "impl A {\n    fn a() {\n        b();\n    }\n}\n\nimpl B {\n    fn c() {}\n}\n"
    assert shown("a.rs", rust) == ["1-1 A", "2-6 A.a", "7-7 B", "8-9 B.c"]
    ruby = "class A\n  def a\n    b\n  end\nend\n\ndef c\n  d\nend\n"
    assert shown("a.rb", ruby) == ["1-1 A", "2-6 A.a", "7-9 c"]


def test_a_docstring_is_not_cut_where_its_end_is_near() -> None:
    """A long function is cut after its docstring, not inside (rule B-6)."""
    signature = (
        "def get(\n" + "".join(f"    a{number}: int,\n" for number in range(8)) + ") -> int:\n"
    )
    docstring = '    """Send it.\n\n    Note that.\n\n    More.\n    """\n'
    body = (
        "    return send(\n" + "".join(f"        a{number},\n" for number in range(13)) + "    )\n"
    )
    assert shown("a.py", signature + docstring + body) == ["1-16 get", "17-31 get"]


def test_an_underline_belongs_to_its_heading() -> None:
    """A heading includes its underline (rule B-2)."""
    analysis = analyse("a.md", "One\n===\n\ntext\n\nTwo\n---\n\n## Three\n\ntext\n")
    assert [(d.signature, d.body) for d in analysis.definitions] == [(1, 3), (6, 8), (9, 10)]


def test_a_block_of_code_in_prose_is_not_cut_where_its_end_is_near() -> None:
    """A long section is cut between its blocks of code (rule B-6)."""
    words = "# One\n\n" + "word\n" * 10 + "\n"
    block = "```js\n" + "a()\n" * 5 + "\nb()\n\n" + "c()\n```\n"
    assert shown("a.md", words + block + "more\n" * 12) == ["1-24 One", "25-36 One"]


LETTERS = ".bciL"
"""Code, blank, comment, import, licence."""


def kinds(text: str, language: str) -> str:
    """Return a letter for each line."""
    lines = dedent(text).rstrip("\n").split("\n")
    return "".join(LETTERS[kind] for kind in line_kinds(lines, language))


@pytest.mark.parametrize(
    ("language", "text", "letters"),
    [
        ("python", "#!/usr/bin/env python\nimport os\nfrom a import (\n    b,\n)\n\nx = 1\n", "ciiiib."),
        ("python", 'def f():\n    """Do.\n\n    More.\n    """\n    return 1  # one\n', ".cccc."),
        ("python", 'x = """\n# no comment\n"""\ny = 2\n', "...."),
        ("python", 'from_ = 1\nimport_all = 2\nx = r"""a"""\n', "..."),
        ("go", 'package a\n\nimport (\n\t"os"\n)\n\n// F does.\nfunc F() {\n', "ibiiibc."),
        ("c", '#include <a.h>\n#define A 1\n/* one\n * two */\nint x; /* no */\n', "i.cc."),
        ("cpp", "namespace a {\nnamespace b = c;\nusing std::move;\n", "..i"),
        ("rust", "use a::{\n    b,\n};\nmod c;\nmod d {\n#[test]\n", "iiii.."),
        ("javascript", "import {\n  a,\n} from 'a'\nexport * from 'b'\nimport('c')\n", "iiii."),
        ("javascript", "const a = require('a')\nconst b = {\n", "i."),
        ("php", "<?php\n# one\n#[Two]\nnamespace A\\B;\nuse C\\D;\n", ".c.ii"),
        ("ruby", "=begin\none\n=end\nrequire 'a'\nrequire_relative \"b\"\n", "cccii"),
        ("lua", "-- one\nlocal a = 1\n", "c."),
        ("", "// one\nx\n", "c."),
    ],
)  # fmt: skip
def test_a_line_is_told_by_its_beginning(language: str, text: str, letters: str) -> None:
    """Comments and imports may have several lines; strings contain none (rule B-2)."""
    assert kinds(text, language) == letters


def test_a_licence_is_a_comment_at_the_head_that_speaks_of_it() -> None:
    """Only a legal comment at the top is a licence (rule B-2)."""
    licence = "/*\n * Copyright 2020 A. All rights reserved.\n */\n"
    assert kinds(f"{licence}package a\n", "go") == "LLLi"
    assert kinds(f"<?php\n\n{licence}", "php") == ".bLLL"
    assert kinds("// Package a does things.\npackage a\n", "go") == "ci"
    assert kinds(f"int a;\nint b;\nint c;\nint d;\n{licence}", "c") == "....ccc"


def test_a_bracket_that_nothing_closes_ends() -> None:
    """An unclosed import ends after some hundred lines (rule B-2)."""
    letters = kinds("import (\n" + "x\n" * 1_000, "go")
    assert letters.count("i") < 300
