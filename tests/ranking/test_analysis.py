"""Analyses of files, and packed tables of groups of files."""

import random
import time

import pytest
from hypothesis import given, strategies as st

from aggregate.ranking import terms_in
from aggregate.ranking.files import (
    MOST_MEMBERS,
    Analysis,
    GroupTable,
    TermTable,
    analyse,
    look_roughly,
    pack_tables,
)
from tests.ranking.test_pieces import LINES, PYTHON


def lines_of(text: str, first: int, last: int) -> str:
    """Return the lines of a text from ``first`` to ``last``."""
    return "\n".join(text.split("\n")[first - 1 : last])


def test_definitions_tell_signature_and_body() -> None:
    """Comments above and decorators belong to a definition; the body follows the signature (rule B-2)."""
    rows = [
        (
            ".".join(each.path),
            each.kind,
            each.first,
            each.signature,
            each.body,
            each.last,
            each.outer,
        )
        for each in analyse("a.py", PYTHON).definitions
    ]
    assert rows == [
        ("Shape", "class", 6, 8, 10, 19, -1),
        ("Shape.area", "function", 14, 15, 16, 19, 0),
        ("main", "function", 22, 22, 23, 23, -1),
    ]


def test_comments_before_the_first_statement_are_no_signature() -> None:
    """Text between signature and first statement belongs to the body (rule B-2)."""
    text = "def f(\n    x,  # one\n):  # two\n\n    # three\n    # four\n    return x\n"
    assert [each.body for each in analyse("a.py", text).definitions] == [4]


def test_references_belong_to_the_innermost_definition() -> None:
    """References list the first use per name, kind and definition (rule T-3)."""
    references = analyse("a.py", PYTHON + "    Shape().area()\n").references
    uses = {(each.name, each.kind, each.definition, each.line) for each in references}
    assert ("os", "import", -1, 4) in uses
    assert ("area", "call", 2, 23) in uses
    assert ("inner", "call", 1, 19) in uses
    assert len({each[:3] for each in uses}) == len(references)


@pytest.mark.parametrize(
    ("path", "text", "traits"),
    [
        ("a.py", "x = retry\n", ("python", True, 10, 1, False)),
        ("a.md", "# Retry\n", ("markdown", False, 8, 1, False)),
        ("run", "#!/bin/sh\nls\n", ("bash", True, 13, 1, False)),
        ("a.sql", "SELECT\n", ("sql", True, 7, 1, False)),
        ("a.txt", "", ("", False, 0, 0, False)),
        ("uv.lock", "", ("toml", False, 0, 0, False)),
    ],
)
def test_traits_follow_from_name_and_text(path: str, text: str, traits: tuple[object, ...]) -> None:
    """Facts of a file need no analysis (rule I-6)."""
    assert look_roughly(path, text).facts[1:] == traits


@given(LINES, st.sampled_from(["a.py", "a.md", "a.rs", "a.json", "a.txt"]))
def test_packed_it_is_the_same(lines: list[str], path: str) -> None:
    """A packed analysis is restored unchanged (rule I-2)."""
    made = analyse(path, "\n".join(lines))
    kept = Analysis.unpack(made.pack())
    for name in ("problem", "definitions", "pieces", "references"):
        assert getattr(kept, name) == getattr(made, name)
    for definition in made.definitions:
        named = kept.named[definition.path[-1]]
        assert [made.definitions[place].path[-1] for place in named] == [definition.path[-1]] * len(
            named
        )
        assert made.definitions.index(definition) in named
    assert kept.pack() == made.pack()


@given(
    st.lists(
        st.sampled_from(["getUser", "retry", "x", "\n", " ", "设置", "def f():", "a.b("]),
        max_size=300,
    )
)
def test_terms_are_found_in_the_pieces_that_hold_them(parts: list[str]) -> None:
    """Term counts equal a count of each piece's lines (rule T-4)."""
    text = " ".join(parts)
    analysis = analyse("a.py", text)
    counts = [terms_in(lines_of(text, piece.first, piece.last)) for piece in analysis.pieces]
    for term in {*terms_in(text), "absent"}:
        expected = {place: count[term] for place, count in enumerate(counts) if count[term]}
        assert analysis.pieces_with(term) == expected


def test_counts_of_a_piece_end_at_255() -> None:
    """Counts are limited to one byte."""
    assert analyse("a.txt", "retry " * 1_000).pieces_with("retry") == {0: 255}


def test_terms_are_found_in_the_last_of_many_pieces() -> None:
    """Pieces may fill more than one table of terms (rule T-4)."""
    analysis = analyse("a.py", "".join(f"def f{n}():\n    return g{n}()\n\n\n" for n in range(600)))
    assert len(analysis.pieces) > 2 * MOST_MEMBERS
    assert analysis.pieces_with("g599") == {len(analysis.pieces) - 1: 1}
    assert not analysis.pieces_with("retry")


def _random_lines() -> str:
    chance = random.Random(7)
    return "\n".join(
        "".join(chance.choices("abcdef {}()[]:;\"'\\#*/<>\t", k=60)) for _ in range(400)
    )


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", "var a=1;" * 400_000),
        ("a.min.js", "f(x);" * 300_000),
        ("a.json", '{"a":' * 50_000),
        ("a.json", "[" + "1,\n" * 30_000 + "1]"),
        ("a.yaml", "- a\n" * 20_000),
        ("a.md", "# h\n" * 4_000),
        ("a.py", "x" * 3_000_000),
        ("a.py", "(" * 100_000),
        ("a.py", _random_lines()),
        ("a.c", "/*\n" * 1_000),
        ("a.c", "int f() {}\n" * 3_000),
        ("a.c", "*/\n" * 10_000 + "int f() {}\n"),
        ("a.csv", "1234,abc\n" * 150_000),
        ("a.txt", "\n" * 200_000),
        ("a.rb", "# c\n" * 2_000 + "def a; end\n"),
        ("a.c", "a " * 50_000),
        ("a.c", ("a<b " * 1_000 + "\n") * 20),
        ("a.js", "async " * 30_000),
        ("a.js", "a." * 50_000),
        ("a.kt", "fun " + "a." * 50_000),
        ("a.rs", "pub " * 50_000 + "("),
    ],
    ids=lambda value: value[:14] if len(value) > 14 else value,
)
def test_no_text_takes_long(path: str, text: str) -> None:
    """Minified, huge, deeply nested and invalid texts take seconds and little space (rule T-5)."""
    began = time.process_time()
    analysis = analyse(path, text)
    look_roughly(path, text)
    assert analysis.pieces[-1].last == text.count("\n") + (not text.endswith("\n"))
    assert time.process_time() - began < 5
    assert len(analysis.pack()) < 2_000_000


def test_what_is_not_parsed_still_has_terms() -> None:
    """The end of a huge text is one piece without terms (rule T-5)."""
    analysis = analyse("log.txt", "retry of connection\n" * 200_000)
    held = analysis.pieces_with("connection")
    assert 0 in held
    assert len(analysis.pieces) - 1 not in held
    assert len(analysis.pieces) < 1_000


PARTS = [
    "class Shape:", "def area():", "    retry(Shape)", "import os", "x = 1", "", "getUser = 2", "# 设置",
]  # fmt: skip
DEFINING = {"Shape": "class Shape:", "area": "def area():", "x": "x = 1", "getUser": "getUser = 2"}
TEXTS = st.lists(st.sampled_from(PARTS), max_size=60).map("\n".join)
FILES = st.lists(st.one_of(st.none(), TEXTS), max_size=8)


@given(FILES)
def test_a_group_finds_what_its_files_hold(texts: list[str | None]) -> None:
    """Tables find terms and names in exactly the right files (rules T-4 and I-6)."""
    files = [None if text is None else look_roughly("a.py", text) for text in texts]
    table, words = pack_tables(files)
    names, group = GroupTable(table), TermTable(words)
    counts = [terms_in(text or "") for text in texts]
    for term in {*(term for count in counts for term in count), "absent", ""}:
        expected = {member: count[term] for member, count in enumerate(counts) if count[term]}
        assert group.texts_with(term) == expected
    for name in ("Shape", "area", "retry", "os", "x", "getUser", "getuser", "absent"):
        defining = [
            member
            for member, text in enumerate(texts)
            if text and DEFINING.get(name) in text.split("\n")
        ]
        assert list(names.files_defining(name)) == defining


def test_a_full_group_counts_to_its_last_file() -> None:
    """A group has at most 255 files, and counts end at 255 (rule I-6)."""
    files = [look_roughly("a.txt", "retry\n\n" * 20_000)] * MOST_MEMBERS
    held = TermTable(pack_tables(files)[1]).texts_with("retry")
    assert held == dict.fromkeys(range(MOST_MEMBERS), 255)


def test_keys_of_data_are_no_names() -> None:
    """Keys of data files are not definitions (rule T-2)."""
    files = [
        look_roughly("a.json", '{"area": {"b": 1}}'),
        look_roughly("a.py", "def area(): pass\n"),
    ]
    assert list(GroupTable(pack_tables(files)[0]).files_defining("area")) == [1]


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.py", "class A:\n    async def b(self):\n        c = d()\nE = 1\n", "A b E"),
        ("a.go", "func (r *T) Name(a int) {\n\treturn\n}\ntype Shape struct {\n", "Name Shape"),
        ("a.rs", "pub(crate) fn walk<T>() {}\nstruct Dir;\nmod inner;\nmacro_rules! each {\n", "walk Dir inner each"),
        ("a.kt", "fun Source.readAll(): Int {\nfun <T> List<T>.second() = 1\n", "readAll second"),
        ("a.rb", "class A\n  def self.make\n  def size?\n", "A make size"),
        ("a.java", "public class A {\n  private int size(int a) {\n    return size(a);\n", "A size"),
        ("a.c", "#define MOST 1\nstatic int\nsize(int a)\n{\n  if (a) {\n    return b(a);\n} list;\n", "MOST size list"),
        ("a.h", "int size(struct list *a);\n", "size"),
        ("a.cpp", "class EXPORTED Shape {\nint Shape::area() const {\n", "Shape area"),
        ("a.js", "app.render = function () {\nconst f = (a) => a\nclass A {\n  get(b) {\n    if (b) {\n", "render f A get"),
        ("a.ts", "export interface A {\nexport async function b() {\n  each('x', () => {\n", "A b"),
        ("a.sh", "run_all() {\n  ls\n}\nfunction other {\n", "run_all"),
    ],
)  # fmt: skip
def test_names_stand_behind_the_words_of_their_language(path: str, text: str, names: str) -> None:
    """The rough scan finds definitions, not calls or statements (rule T-4)."""
    assert look_roughly(path, text).names == set(names.split())
