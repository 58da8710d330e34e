"""Picked symbols below the headers of what they stand in."""

import time
from collections.abc import Mapping

import pytest
from tests.viewing import viewed

from aggregate import View, ViewMode

PYTHON = '''\
import x
@deco
class A(B):
    """About A."""
    x = 1
    def f(self):
        return 1
    class C:
        def g(self): pass
    def h(self): pass
def top(): pass
'''


def view_of(path: str, text: str, mask: Mapping[str, str]) -> View:
    """Return the masked view."""
    return viewed(path, text, ViewMode.MASKED, mask=mask)


def test_members_share_the_header_of_their_container() -> None:
    """Members stand below their class, nested ones deeper, each class shown once, the mask's order kept (M-35)."""
    view = view_of(
        "a.py", PYTHON, {"A.f": "def", "top": "sig", "A.C.g": "def", "h": "sig", "nope": "def"}
    )
    assert view.text == (
        "@deco\nclass A(B):\n    ...\n    def f(self):\n        return 1\n    class C:\n        def g(self): pass\n"
        "    def h(self):\n\ndef top():\n\nERROR: symbol not found: nope in a.py"
    )
    source = PYTHON.split("\n")
    lines = view.text.split("\n")
    shown = {number for number in range(1, len(lines) + 1) if view.source_line(number)}
    assert {
        lines[number - 1].strip() for number in range(1, len(lines) + 1) if number not in shown
    } == {"", "...", lines[-1]}
    for number in shown:
        assert source[(view.source_line(number) or 0) - 1].startswith(lines[number - 1])


@pytest.mark.parametrize(
    ("path", "text", "symbol", "expected"),
    [
        ("a.ts", "namespace N {\n  export class A {\n    f(): void { x(); }\n  }\n}\n", "f",
         "namespace N {\n  export class A {\n    f(): void { x(); }\n  }\n}"),
        ("a.cpp", "struct A : B\n{\n  int a;\n  int f() { return a; }\n};\n", "A::f",
         "struct A : B\n{\n  /* ... */\n  int f() { return a; }\n};"),
        ("a.rs", "impl A for B {\n    fn f(&self) {}\n    const X: u8 = 1;\n}\n", "f",
         "impl A for B {\n    fn f(&self) {}\n    /* ... */\n}"),
        ("a.rb", "module M\n  class A\n    X = 1\n    def f; 1; end\n  end\nend\n", "f",
         "module M\n  class A\n    # ...\n    def f; 1; end\n  end\nend"),
        ("a.java", "class A {\n  int x;\n  void f() {}\n}\n", "A.f", "class A {\n  /* ... */\n  void f() {}\n}"),
        ("a.go", "package p\ntype A interface {\n\tF()\n\tG()\n}\n", "G",
         "type A interface {\n\t/* ... */\n\tG()\n}"),
        ("a.php", "<?php class A { function f() { } }\n", "f", "class A {\nfunction f() { }\n}"),
        ("a.md", "# A\ntext\n## B\nb\n", "B", "# A\n...\n## B\nb"),
    ],
)  # fmt: skip
def test_in_every_language(path: str, text: str, symbol: str, expected: str) -> None:
    """A member stands in what holds it, with a mark for what is left out and the line that closes it, as in the file."""
    assert view_of(path, text, {symbol: "def"}).text == expected


def test_a_container_alone_is_as_before() -> None:
    """A class that is picked itself stands once, whole or by its header."""
    assert (
        view_of("a.py", PYTHON, {"A.C": "sig"}).text
        == "@deco\nclass A(B):\n    ...\n    class C:\n    ..."
    )
    assert view_of("a.py", PYTHON, {"A": "sig"}).text == "@deco\nclass A(B):"


MEMBERS = "class A {\n  int x;\n  void f() {}\n  void g() {}\n\n  void h() {}\n  // note\n  void i() {}\n} ;\n"


@pytest.mark.parametrize(
    ("picked", "lines"),
    [
        ("fg", [1, None, 3, 4, None, 9]),  # the last mark stands for h and i
        ("fgh", [1, None, 3, 4, None, 6, None, 9]),  # a blank line, as in the file, before h
        ("hi", [1, None, 6, None, 8, 9]),
        ("gf", [1, None, 4, None, 3, None, 9]),
        ("fi", [1, None, 3, None, 8, 9]),
    ],
)
def test_marks_stand_where_lines_are_left_out(picked: str, lines: list[int | None]) -> None:
    """Between two members that stand apart there is a mark; each other line is the file's that the map names."""
    view = view_of("a.cpp", MEMBERS, dict.fromkeys(picked, "def"))
    source, text = MEMBERS.split("\n"), view.text.split("\n")
    assert [view.source_line(number) for number in range(1, len(text) + 1)] == lines
    for number, line in zip(lines, text, strict=True):
        assert line == source[number - 1].rstrip() if number else line in ("  /* ... */", "")
    blank = text.count("")
    assert blank == (picked == "fgh")


def test_deep_nesting_closes_every_level() -> None:
    """Containers a thousand deep open and close one by one, in one view."""
    depth = 1000
    text = "namespace n {\n" * depth + "void f();\n" + "}\n" * depth
    assert view_of("a.cpp", text, {"f": "def"}).text == text.rstrip()


def test_a_long_mask_is_looked_up_and_not_searched() -> None:
    """Thousands of symbols of a file with as many take time in proportion, not in the square."""
    names = [f"f{number}" for number in range(4000)]
    text = "class A:\n" + "".join(f"    def {name}(self): pass\n" for name in names)
    started = time.process_time()
    assert view_of("a.py", text, dict.fromkeys(names, "def")).text == text.rstrip()
    assert time.process_time() - started < 5
