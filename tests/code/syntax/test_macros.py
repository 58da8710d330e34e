"""Declarations of C and C++ among macros, conditions and old forms: none is lost."""

import re

import pytest

from tests.viewing import masked_of, outline_of, skeleton_of, summary_of


@pytest.mark.parametrize("suffix", ["c", "cpp"])
@pytest.mark.parametrize(
    "declaration",
    [
        "int foo(int) MYATTR;", "extern int foo (int) __THROW __nonnull ((1));",
        "extern int foo (int a,\n                int b)\n     __THROW __attribute__ ((__format__ (printf, 1, 2)));",
        "extern int foo (int, ...) /* since 2 */ __wur;",
        "extern lib_ret foo(const char *a)\n\t\tlib_nothrow lib_attr_pure;", "int foo(int) __dead2;",
        "EXPORT int foo(void);", "LIB_API value_t foo(void);",
        "static LIB_INLINE value_t\nfoo (int a)\n{\n    return a + 1 + 2 + 3 + 4;\n}", "int CALL foo(int);",
        "LIB_API value_t CALL foo(int);", "char * CALL foo(int);", "int foo OF((int a, char *b));",
        "PARSER_API(void *)\nfoo(int);", "STACK_OF(Item) *foo(int a);",
        "int foo(int a) __THROW { return 12345678901234; }", "LIB_API(int) __foo(int);",
        "/* since 2 */ LIB_API(int) foo(int);", "DEPRECATED(3) LIB_API(int) foo(int);",
        "LIB_API(void) LIB_NO_RETURN foo(int);", "int\n_L_foo(int a) NOTHROW;",
        "inline int\n__attribute__((__always_inline__))\n__foo(int a)\n{ return a; }",
        "DECLARE_DUP(Item)\nDECLARE_CODES_only(Item, Item)\nDECLARE_FREE(Item)\n\n#ifndef B\nint foo(int);\n#endif",
        "typedef int *(foo)(int a);", "typedef const char *(CALL_P foo)(int a);", "typedef int (CALL *foo)(int a);",
        "int (*foo(int a))(int);", "char *(*foo(int a))(int);", "int first(int), *foo(int);", "typedef long foo;",
        "typedef struct item { int x; } item, *foo;", "typedef void *(*foo) (int n);",
        "typedef const item * RESTRICT foo;",
        "void foo(a, b)\nint a; char *b;\n{\n    return a + b + 100000000000;\n}",
        'extern "C" {\nT *foo(int (*call)(T *c));\n}', 'extern "C" {\nT **foo(void (*call)(T *c), T *t);\n}',
        "typedef struct T T;\nextern void PR_CALLBACK foo(T *t);", "LibPublic T *\nfoo (void);",
        "__owur T *foo(const T *t);", "T ***foo(int a);", "const T * const * _PURE\nfoo (void);",
        "int foo(const char *f, ...) _lib_printf_(1, 2);", "extern LIB_SPEC T *LIBCALL foo\n    (int a);",
        "extern int LIB_FORMAT((printf, 4, 0)) LIB_NONNULL((1,4))\nfoo (T *t);",
    ],
)  # fmt: skip
def test_no_declaration_is_lost(declaration: str, suffix: str) -> None:
    """A declaration that macros surround is listed, under its own name and no other's (M-34)."""
    assert "foo" in outline_of(f"a.{suffix}", f"{declaration}\nint last(void);\n")
    digest = summary_of(f"a.{suffix}", f"{declaration}\n\n\n\nint last(void);\n" + "\n" * 400)
    assert "foo" in digest.split("\n", 1)[1]
    name = re.search(r"\w*foo\b", declaration)
    assert name
    assert "ERROR" not in masked_of(f"a.{suffix}", declaration, {name[0]: "def"})


def test_the_macros_stay_in_what_is_shown() -> None:
    """The parser does not see the macros; the reader does, and each row has the lines of the file."""
    text = "extern int f (int)\n     __THROW\n     __nonnull ((1));\nLIB_API(int)\ng(void);\n"
    assert (
        outline_of("a.h", text)
        == "1-3  extern int f (int) __THROW __nonnull ((1))\n4-5  LIB_API(int) g(void)\n"
    )
    assert skeleton_of("a.h", text) == text


OLD = "char *f(a)\nint a;\n{\n    return a + 100000000000;\n}\nint z(void);\n"


@pytest.mark.parametrize("suffix", ["cpp", "hpp"])
def test_bodies_of_old_definitions_go(suffix: str) -> None:
    """A definition with the types of its parameters behind their names loses its body in C++ too (M-33)."""
    assert skeleton_of(f"a.{suffix}", OLD) == "char *f(a)\nint a;\n{ /* ... */ }\nint z(void);\n"
    assert outline_of(f"a.{suffix}", OLD) == "1-5  char *f(a) int a\n6-6  int z(void)\n"


@pytest.mark.parametrize("suffix", ["c", "cpp"])
def test_no_condition_loses_its_end(suffix: str) -> None:
    """Heads that share a body keep the ``#endif`` between them and it."""
    heads = "#if A\nint f(int a)\n#else\nint f(long a)\n#endif\n"
    body = "{\n    return a + 1 + 2 + 3 + 4 + 5;\n}\n"
    assert skeleton_of(f"a.{suffix}", heads + body) == heads + "{ /* ... */ }\n"
    opened = heads.replace(")", ") {") + body[2:]
    assert skeleton_of(f"a.{suffix}", opened) == opened


@pytest.mark.parametrize("suffix", ["c", "cpp"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("if (a > 1) {\n    go(a);", "if (a > 2) {"),
        ("while (a) {", "for (;;) {"),
        ("if (a) { go(a); } else {", "if (b) {"),
    ],
)
def test_halves_of_a_statement_cost_nothing_behind_it(one: str, other: str, suffix: str) -> None:
    """Two heads of a statement over one body keep what follows in rows and skeleton (M-33, M-X19)."""
    text = f"int f(int a) {{\n#if A\n  {one}\n#else\n  {other}\n#endif\n    stop(a);\n  }}\n  return a;\n}}\n"
    behind = "int g(int a) { int b = a; return b + 1; }\n"
    assert skeleton_of(f"a.{suffix}", text + behind) == (
        "int f(int a) { /* ... */ }\nint g(int a) { /* ... */ }\n"
    )
    rows = outline_of(f"a.{suffix}", text + behind).splitlines()
    assert [row.split()[-1] for row in rows] == ["a)", "a)"]


def test_a_class_with_conditions_is_listed() -> None:
    """Conditions around a base class or a specifier do not cost the class or its members."""
    text = (
        "class A\n#if B\n : public C\n#endif\n{\n public:\n#if B\n  constexpr\n#endif\n  ~A();\n  int f();\n};\n"
        "int z();\n"
    )
    assert outline_of("a.cpp", text) == (
        "1-12   class A : public C\n8-10     constexpr ~A()\n11-11    int f()\n13-13  int z()\n"
    )


@pytest.mark.parametrize(
    "declaration",
    [
        "template<class T>\n  inline _LIB17_CONSTEXPR Type<T>\n  foo(T a) { return a; }",
        "struct A { explicit _LIB17_CONSTEXPR\n  foo(int a) _LIB_NOEXCEPT\n  : b(a) { } };",
        "struct A { LIB_CONSTEXPR foo(int a) : b(a) {} };",
        "struct A { _LIB_NODISCARD _LIB_CONSTEXPR pointer\n  foo() const\n  _LIB_NOEXCEPT_IF(noexcept(T(a)))\n  { return a; } };",
        "struct A { LIB_API ~A(); int foo(); };",
        "struct A { LIB_DEPRECATED operator foo() const; };",
        "struct A { [[nodiscard]] friend constexpr T<A>\n  foo(A a) { return a; } };",
        "struct A { LIB_PRIVATE_UNLESS_TESTED:\n  int foo(); };",
        "class _LIB17_DEPRECATED foo\n  : public B<int> { };",
        "void foo(auto&) = delete;",
        "extern template class A<int>;\nint foo();",
        "template<class T>\n#if C\n  requires A<T> && (sizeof(T) == 1)\n#endif\nint foo(T a) { return 1; }",
        "struct foo\n#if C\n : B\n#else\n : D\n#endif\n{ int x; };",
        "int foo()\n#if C\n{ return 1; }\n#else\n{ return 2; }\n#endif",
        "struct A { int g() { LIB_TRY { g(); } LIB_CATCH (E&) { g(); } return 1; }\n  int foo(); };",
        "struct A { int g() { if (a)\n#if C\n return 1;\n#else\n return 2;\n#endif\n else return b.operator->(); }\n  int foo(); };",
        "#define A(x) \\\n  x /* one */ \\\n  + { x\nint foo();",
        'LIB_API code LIB_DEPRECATED(7.5, "use g()")\nfoo(int a);',
    ],
)
def test_no_declaration_of_cpp_is_lost(declaration: str) -> None:
    """What no grammar of C++ reads hides neither the declaration that it stands in nor the next one."""
    assert "foo" in outline_of("a.cpp", f"{declaration}\nint last(void);\n")
    digest = summary_of("a.cpp", f"{declaration}\n\n\n\nint last(void);\n" + "\n" * 400).split(
        "\n", 1
    )[1]
    names = re.split(r"[,:\s]+", digest)
    assert "foo" in names
    assert "last" in names


def test_a_union_of_a_macro_does_not_hide_a_header() -> None:
    """A header goes on behind ``typedef union { MEMBERS } arg;``, in which the macro stands for members."""
    text = "#ifndef H\n#define H\ntypedef union { __ALL_TYPES\n  } __ARG __attribute__ ((__union__));\nint f(int) __THROW;\n#endif\n"
    assert outline_of("a.h", text) == ("3-4  typedef union __ARG\n5-5  int f(int) __THROW\n")


def test_each_head_of_a_body_keeps_its_name() -> None:
    """A body with one head per branch of a condition is listed under the names of all."""
    text = "#if A\nint wide(int a)\n#else\nint narrow(int a)\n#endif\n{\n  return a;\n}\n"
    assert "wide" in outline_of("a.c", text)
    assert "narrow" in outline_of("a.c", text)


def test_names_of_types_in_capitals_stay_types() -> None:
    """A type in capitals is no macro: neither the type nor the name behind it changes its part."""
    text = "MY_TYPE f(int);\nMY_TYPE *g(void);\nMY_TYPE A::h(int);\nMY_TYPE const k(int);\n"
    assert outline_of("a.cpp", text) == (
        "1-1  MY_TYPE f(int)\n2-2  MY_TYPE *g(void)\n3-3  MY_TYPE A::h(int)\n4-4  MY_TYPE const k(int)\n"
    )
