"""Picked symbols below the headers of what they stand in."""

from collections.abc import Mapping

import pytest

from aggregate.models.view import View, ViewMode, ViewRequest
from aggregate.views.masked import masked

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
    return masked(ViewRequest(path, text, ViewMode.MASKED, mask=mask))


def test_members_share_the_header_of_their_container() -> None:
    """Members stand below their class, nested ones deeper, each class shown once, the mask's order kept (M-35)."""
    view = view_of("a.py", PYTHON, {"A.f": "def", "top": "sig", "A.C.g": "def", "h": "sig", "nope": "def"})
    assert view.text == (
        "@deco\nclass A(B):\n    ...\n    def f(self):\n        return 1\n\n    class C:\n        def g(self): pass\n\n"
        "    def h(self):\n\ndef top():\n\nERROR: symbol not found: nope in a.py"
    )
    source = PYTHON.split("\n")
    lines = view.text.split("\n")
    shown = {number for number in range(1, len(lines) + 1) if view.source_line(number)}
    assert {lines[number - 1].strip() for number in range(1, len(lines) + 1) if number not in shown} == {
        "",
        "...",
        lines[-1],
    }
    for number in shown:
        assert source[(view.source_line(number) or 0) - 1].startswith(lines[number - 1])


@pytest.mark.parametrize(
    ("path", "text", "symbol", "expected"),
    [
        ("a.ts", "namespace N {\n  export class A {\n    f(): void { x(); }\n  }\n}\n", "f",
         "namespace N\n  export class A\n    f(): void { x(); }"),
        ("a.cpp", "struct A : B\n{\n  int a;\n  int f() { return a; }\n};\n", "A::f",
         "struct A : B\n  ...\n  int f() { return a; }"),
        ("a.rs", "impl A for B {\n    fn f(&self) {}\n}\n", "f", "impl A for B\n    fn f(&self) {}"),
        ("a.rb", "module M\n  class A\n    def f; 1; end\n  end\nend\n", "f", "module M\n  class A\n    def f; 1; end"),
        ("a.java", "class A {\n  int x;\n  void f() {}\n}\n", "A.f", "class A\n  ...\n  void f() {}"),
        ("a.md", "# A\ntext\n## B\nb\n", "B", "# A\n...\n## B\nb"),
    ],
)  # fmt: skip
def test_in_every_language(path: str, text: str, symbol: str, expected: str) -> None:
    """What holds a member is named above it, whatever the language."""
    assert view_of(path, text, {symbol: "def"}).text == expected


def test_a_container_alone_is_as_before() -> None:
    """A class that is picked itself stands once, whole or by its header."""
    assert view_of("a.py", PYTHON, {"A.C": "sig"}).text == "@deco\nclass A(B):\n    ...\n    class C:"
    assert view_of("a.py", PYTHON, {"A": "sig"}).text == "@deco\nclass A(B):"
