"""Kinds of lines: comments, imports and a licence, told from code in any language."""

from textwrap import dedent

import pytest

from aggregate.ranking.files.pieces import line_kinds

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
    """Comments and imports of many lines go on to their end, and strings hold none (rule B-2)."""
    assert kinds(text, language) == letters


def test_a_licence_is_a_comment_at_the_head_that_speaks_of_it() -> None:
    """A comment about the file is no licence, nor is one further down (rule B-2)."""
    licence = "/*\n * Copyright 2020 A. All rights reserved.\n */\n"
    assert kinds(f"{licence}package a\n", "go") == "LLLi"
    assert kinds(f"<?php\n\n{licence}", "php") == ".bLLL"
    assert kinds("// Package a does things.\npackage a\n", "go") == "ci"
    assert kinds(f"int a;\nint b;\nint c;\nint d;\n{licence}", "c") == "....ccc"


def test_a_bracket_that_nothing_closes_ends() -> None:
    """What looks like an import without an end takes some hundred lines, not the file (rule B-2)."""
    letters = kinds("import (\n" + "x\n" * 1_000, "go")
    assert letters.count("i") < 300
