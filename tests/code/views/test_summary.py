"""The digest: whatever the file, something short and true."""

import pytest
from hypothesis import example, given, strategies as st
from tests.viewing import outline_of, skeleton_of, summary_of

PATHS = [
    "a.py", "a.js", "a.md", "a.json", "a.yaml", "a.csv", "a.tsv", "a.jsonl", "a.ipynb", "a.txt", "a.ini", "a.sql",
    "Makefile", "a.bin", "a",
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "source", "digest"),
    [
        (
            "people.csv",
            'name,age\n"Ada, Countess",36\n"Two\nlines",1\nBob,2\n' + "Eve,3\n" * 20,
            "csv, 25 lines\n2 columns, 23 rows\nname: text\nage: int\n"
            '"Ada, Countess",36\nTwo\\nlines,1\nBob,2',
        ),
        (
            "people.tsv",
            "name\tage\nAda\t36\n" + "Eve\t3\n" * 20,
            "tsv, 22 lines\n2 columns, 21 rows\nname: text\nage: int\nAda\t36\nEve\t3\nEve\t3",
        ),
        (
            "setup.cfg",
            "; settings\n[metadata]\nname = a\n\n[options.extras]\nb = [c]\nlong = a value that goes on\n",
            "ini, 7 lines\n[metadata]\n[options.extras]",
        ),
        (
            "schema.sql",
            "-- people\nCREATE TABLE person (\n  id INT\n);\ncreate index by_id on person (id);\nSELECT 1;\n",
            "sql, 6 lines\nCREATE TABLE person (\ncreate index by_id on person (id);",
        ),
        (
            "Makefile",
            "CC := gcc\n.PHONY: all\nall: build/a.o\n\t$(CC) -o all build/a.o\nbuild/%.o: %.c\n\t$(CC) -c $<\n",
            "makefile, 6 lines\nall: build/a.o\nbuild/%.o: %.c",
        ),
        (
            "guide.rst",
            "=====\nGuide\n=====\n\nWords about it, and more words.\n\nFirst\n-----\n\nText of the first part.\n",
            "rst, 10 lines\nGuide\nFirst",
        ),
        (
            "notes.txt",
            "\n\nFirst line.\n\nSecond line.\nThird line.\nFourth line, which is left out of the digest.\n",
            "text, 7 lines\n15 words\nFirst line.\nSecond line.\nThird line.",
        ),
    ],
)
def test_files_without_a_grammar(path: str, source: str, digest: str) -> None:
    """Tables give columns, types and rows, other kinds their landmarks or first lines (M-32)."""
    assert summary_of(path, source) == digest
    assert skeleton_of(path, source) == outline_of(path, source) == digest


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("source", ["", "\n", " \r\n\t"])
def test_an_empty_file_says_so(path: str, source: str) -> None:
    """No digest is silently empty (M-32)."""
    assert summary_of(path, source).endswith(", empty")


@given(path=st.sampled_from(PATHS), source=st.text(max_size=400))
@example(path="a.csv", source='"' + "x" * 200_000)
@example(path="a.json", source="[" * 300)
@example(path="a.py", source="def f(" * 50)
def test_a_digest_is_shorter_than_the_file(path: str, source: str) -> None:
    """A digest is shorter than the file or the file itself, and never blank (M-32)."""
    digest = summary_of(path, source)
    assert digest == source or len(digest) < len(source) or not source.strip()
    assert digest.strip()


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.js", "function f() {}\n" * 3000),
        ("a.js", "class A" + "b" * 5000 + " { m() {} }\n"),
        ("a.js", "".join(f"class A{number} {{}}\n" for number in range(3000))),
        (
            "a.test.js",
            "".join(f"it('{'does this ' * 30}{number}', () => {{}})\n" for number in range(300)),
        ),
        ("a.md", "".join(f"# {'Heading ' * 100}\n\ntext\n\n" for _ in range(300))),
        ("a.css", ".a,\n" * 3000 + ".b { c: d }\n"),
        ("a.csv", ",".join(f"column{number}" for number in range(3000)) + "\n"),
        ("a.sql", "CREATE TABLE a (b INT);\n" * 3000),
        ("a.txt", "word " * 30_000),
    ],
)
def test_a_digest_is_bounded(path: str, source: str) -> None:
    """A digest has at most 70 lines of at most 1000 characters, however long the file (M-32)."""
    lines = summary_of(path, source).split("\n")
    assert len(lines) <= 70
    assert max(map(len, lines)) <= 1000


def test_names_that_are_left_out_are_counted() -> None:
    """A row of names ends with how many more there are, so that nobody takes it for all (M-32)."""
    source = "".join(f"def f{number}():\n    return {number} + {number}\n" for number in range(70))
    assert summary_of("a.py", source).endswith(", f58, f59, and 10 more")


def test_comments_for_tools_are_no_documentation() -> None:
    """A digest quotes what a file says of itself, not what it says to linters (M-32)."""
    source = "#!/usr/bin/env ruby\n# frozen_string_literal: true\n# Draws shapes.\n#\n# Slowly.\n\n# Not this.\nputs 1\n"
    assert summary_of("a.rb", source) == "ruby, 8 lines\nDraws shapes."


@pytest.mark.parametrize("opening", ['!!! note "Differences"', "(*this* is new)"])
def test_prose_keeps_what_programs_would_take_for_marks_of_comments(opening: str) -> None:
    """The first paragraph of a Markdown file is shown as written, also where it begins like a comment."""
    text = f"# Title\n\n{opening}\n\n" + "More of it follows here.\n\n" * 9
    assert summary_of("a.md", text).splitlines()[1] == opening
