"""What is known to go wrong elsewhere with C, C++, Rust, Java and broken files."""

import pytest

from tests.viewing import check_skeleton, outline_of, skeleton_of, summary_of

JAVA = """\
package org.parcel;

import java.io.IOException;

@Entity
public class Label implements Runnable {
    private final String text = "a";

    @Inject
    public Label(String text) throws IOException {
        return;
    }

    public void run(int times, @Named("b") String name) {
        return;
    }

    enum Side { LEFT, RIGHT }
}
"""


def test_java_keeps_what_declares() -> None:
    """Constructors, fields, enums, annotations, package and imports stay, whole; `return` does not (M-33)."""
    assert (
        skeleton_of("a.java", JAVA)
        == """\
package org.parcel;

import java.io.IOException;

@Entity
public class Label implements Runnable {
    private final String text = "a";

    @Inject
    public Label(String text) throws IOException { /* ... */ }

    public void run(int times, @Named("b") String name) { /* ... */ }

    enum Side { LEFT, RIGHT }
}
"""
    )


def test_each_rust_item_once() -> None:
    """A struct with attributes has one row, and methods stay indented in their `impl` (M-33, M-34)."""
    source = "#[derive(Debug)]\npub struct A {\n    b: u8,\n}\n\nimpl A {\n    fn c(&self) -> u8 {\n        self.b\n    }\n}\n"
    assert outline_of("a.rs", source) == (
        "1-4  #[derive(Debug)] pub struct A\n6-10  impl A\n7-9    fn c(&self) -> u8\n"
    )
    assert skeleton_of("a.rs", source) == source.replace(
        "{\n        self.b\n    }", "{ /* ... */ }"
    )


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (
            "a.c",
            "int f(int a) {\n#ifdef X\n  if (a) {\n#else\n  if (!a) {\n#endif\n    return 1;\n  }\n}\nint g(void);\n",
        ),
        (
            "a.c",
            "#if X\nint f(int a) {\n#else\nint f(void) {\n#endif\n  return 1;\n}\nint g(void);\n",
        ),
        ("a.cpp", "namespace a {\nclass B {\n  void f() {\n    call(;\n  }\n};\nint g(void);\n"),
        (
            "a.go",
            "package a\n\nfunc f( {\n\treturn 1\n}\n\nfunc g() int {\n\treturn 1 + 1 + 1\n}\n",
        ),
        ("a.rs", "fn f( -> {\n    1\n}\n\nfn g() -> u8 {\n    1 + 1 + 1 + 1\n}\n"),
        (
            "a.java",
            "class A {\n  void f( {\n    x();\n  }\n\n  int g() {\n    return 1 + 1 + 1;\n  }\n}\n",
        ),
        (
            "a.cs",
            "class A {\n  void f( {\n    x();\n  }\n\n  int g() {\n    return 1 + 1 + 1;\n  }\n}\n",
        ),
    ],
)
def test_a_broken_place_costs_only_itself(path: str, source: str) -> None:
    """A file that does not parse still has a skeleton, outline and digest, and what follows the error is in it (M-X19)."""
    check_skeleton(path, source)
    assert " g(" in skeleton_of(path, source)
    assert " g(" in outline_of(path, source)
    assert summary_of(path, source)


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        (
            "class API Label : public Base<int> {\n  void f();\n};\n",
            "1-3  class API Label : public Base<int>\n2-2    void f()\n",
        ),
        ("NS_BEGIN\nstruct A {\n  int b;\n};\nNS_END\n", "2-4  struct A\n"),
        ("NS_BEGIN\nnamespace a {\nint f();\n}\n", "2-4  namespace a\n3-3    int f()\n"),
        ("POST_API void f(int a);\n", "1-1  POST_API void f(int a)\n"),
        (
            "class A : B {\n  Q_OBJECT\npublic:\n  A() : b(1) { c(); d(); e(); }\n};\n",
            "1-5  class A : B\n4-4    A() : b(1)\n",
        ),
    ],
)
def test_macros_do_not_hide_what_follows(source: str, rows: str) -> None:
    """Macros that a preprocessor would take away do not hide the declarations around them (M-34)."""
    assert outline_of("a.cpp", source) == rows
