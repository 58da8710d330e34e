"""Locations in output of programs; ``messages/`` is real output with renamed folders."""

from pathlib import Path

import pytest

from aggregate.ranking.code_locations import MOST_LOCATIONS, locations_in

MESSAGES = Path(__file__).with_name("messages")
SHOP = "/home/ada/shop"

PRINTED: dict[str, list[tuple[str, int, str]]] = {
    "python": [
        (f"{SHOP}/shop/cart.py", 7, "sum_of"),
        (f"{SHOP}/shop/cart.py", 3, "total"),
        (f"{SHOP}/run.py", 5, "main"),
        (f"{SHOP}/run.py", 7, "main"),
        (f"{SHOP}/run.py", 8, ""),
    ],
    "pytest": [
        ("shop/cart.py", 7, "sum_of"),
        ("shop/cart.py", 3, "total"),
        ("test_cart.py", 4, ""),
        ("test_cart.py", 0, "TestCart.test_total"),
    ],
    "java": [
        ("com/acme/Cart.java", 4, "Cart.total"),
        ("com/acme/Cart.java", 6, "Cart.main"),
        ("com/acme/Cart.java", 7, "Cart.main"),
    ],
    "javac": [("com/acme/Cart.java", 4, "")],
    "node": [
        (f"{SHOP}/n.js", 1, "Cart.total"),
        (f"{SHOP}/n.js", 2, "run"),
        (f"{SHOP}/n.js", 3, ""),
        ("Node.js", 0, ""),
    ],
    "go_panic": [
        (f"{SHOP}/gom/cart/cart.go", 5, "Cart.Total"),
        (f"{SHOP}/gom/main.go", 7, "run"),
        (f"{SHOP}/gom/main.go", 5, "main"),
    ],
    "go_build": [("main.go", 7, "")],
    "rustc": [("e.rs", 1, "")],
    "gcc": [("a.c", 4, "")],
    "linker": [("l.c", 0, "")],
    "sanitizer": [(f"{SHOP}/s.c", 2, "read_it"), (f"{SHOP}/s.c", 3, "main")],
    "mypy": [("t.py", 1, "")],
    "ruff": [("u.py", 1, "")],
}


@pytest.mark.parametrize("program", PRINTED)
def test_messages_as_programs_print_them(program: str) -> None:
    """The innermost frame of a real message comes first (rule T-2)."""
    text = (MESSAGES / f"{program}.txt").read_text(encoding="utf-8")
    assert [tuple(place) for place in locations_in(text)] == PRINTED[program]


def test_a_backtrace_of_rust_names_the_functions_of_the_project() -> None:
    """A panic's location precedes frames of the standard library (rule T-2)."""
    text = (MESSAGES / "rust_panic.txt").read_text(encoding="utf-8")
    own = [place for place in locations_in(text) if not place.path.startswith("/rustc/")]
    assert own == [("m.rs", 2, "Cart.total"), ("m.rs", 3, "main")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('  File "C:\\Users\\A B\\b.py", line 9, in run', ("C:/Users/A B/b.py", 9, "run")),
        ('  File "a.py", line 2, in <module>', ("a.py", 2, "")),
        ("\tat a.b.C$Inner.m(C.java:12)", ("a/b/C.java", 12, "Inner.m")),
        ("\tat app//a.b.C.<init>(C.java:3)", ("a/b/C.java", 3, "C")),
        ("\tat a.Main.lambda$go$0(Main.java:5)", ("a/Main.java", 5, "go")),
        ("\tat a.b.MainKt.main(Main.kt:7)", ("a/b/Main.kt", 7, "MainKt.main")),
        ("    at f (/x/y.js:1:2)", ("/x/y.js", 1, "f")),
        ("    at async Foo.bar [as baz] (file:///x/y.mjs:10:5)", ("/x/y.mjs", 10, "Foo.bar")),
        ("    at file:///C:/x/y.mjs:10:5", ("C:/x/y.mjs", 10, "")),
        ("    at g (http://localhost:3000/src/q.js?t=12:10:5)", ("src/q.js", 10, "g")),
        ("    at webpack-internal:///./src/w.tsx:3:4", ("src/w.tsx", 3, "")),
        ("render@https://example.org/static/app.js:7:9", ("static/app.js", 7, "render")),
        ("thread 'main' panicked at src/main.rs:4:5:", ("src/main.rs", 4, "")),
        ("thread 'main' panicked at 'x', src/main.rs:4:5", ("src/main.rs", 4, "")),
        (" --> src\\x.rs:1:2", ("src/x.rs", 1, "")),
        ("a.c:1:2: error: expected ';'", ("a.c", 1, "")),
        ("C:\\p\\a.cpp(12): error C2065: 'x'", ("C:/p/a.cpp", 12, "")),
        ("src/a.ts(1,2): error TS2304: Cannot find name 'x'.", ("src/a.ts", 1, "")),
        ("src/a.ts:1:2 - error TS2304", ("src/a.ts", 1, "")),
        ("   at N.K.Go(String a) in C:\\x\\Y.cs:line 12", ("C:/x/Y.cs", 12, "K.Go")),
        ("x.rb:12:in `each'", ("x.rb", 12, "each")),
        ("lib/x.rb:12:in 'Foo#bar'", ("lib/x.rb", 12, "Foo.bar")),
        ("lib/x.rb:12:in 'block in Foo#bar'", ("lib/x.rb", 12, "Foo.bar")),
        ("PHP Fatal error:  oops in /x/y.php on line 12", ("/x/y.php", 12, "")),
        ("#0 /x/y.php(12): App\\Kit->go()", ("/x/y.php", 12, "Kit.go")),
        ("#1 0x00401136 in total (c=0x0) at src/a.c:12", ("src/a.c", 12, "total")),
        ("    #0 0x4f in ns::Cart::total(int) /x/a.cc:3:5", ("/x/a.cc", 3, "Cart.total")),
        (
            "#1  Cart.total (package:shop/src/cart.dart:12:5)",
            ("lib/src/cart.dart", 12, "Cart.total"),
        ),
        ("ERROR:src/x.py:12 broken", ("src/x.py", 12, "")),
        ("** (KeyError) lib/shop/cart.ex:12: Shop.Cart.total/1", ("lib/shop/cart.ex", 12, "")),
        ("/x/Cart.swift:12:5: error: cannot find 'x' in scope", ("/x/Cart.swift", 12, "")),
        ("e: file:///x/Cart.kt:12:5 Unresolved reference: y", ("/x/Cart.kt", 12, "")),
        ("src/Cart.hs:12:5: error: Variable not in scope: y", ("src/Cart.hs", 12, "")),
        ("lua: cart.lua:12: attempt to index a nil value", ("cart.lua", 12, "")),
        ("died at lib/X.pm line 12.", ("lib/X.pm", 12, "")),
        ("FAILED tests/test_x.py::TestA::test_y[1] - E", ("tests/test_x.py", 0, "TestA.test_y")),
        ("x.py:12: AssertionError", ("x.py", 12, "")),
        ("a/b.py:3:1: F401 [*] unused", ("a/b.py", 3, "")),
        ("https://github.com/o/r/blob/main/src/x.py#L10-L20", ("src/x.py", 10, "")),
        ("https://gitlab.com/g/s/r/-/blob/v1/src/x.rs#L10", ("src/x.rs", 10, "")),
        ("https://github.com/o/r/blob/main/docs/a.md", ("docs/a.md", 0, "")),
        ("see path/to/file.py, please", ("path/to/file.py", 0, "")),
        ("see ./file.py.", ("file.py", 0, "")),
        ("in `file.py:12`:", ("file.py", 12, "")),
        ("app/[id]/page.tsx:12", ("app/[id]/page.tsx", 12, "")),
        ("\x1b[31ma/b.py\x1b[0m", ("a/b.py", 0, "")),
        ("> a/b.go:4: quoted", ("a/b.go", 4, "")),
    ],
)
def test_each_way_to_name_a_place(line: str, expected: tuple[str, int, str]) -> None:
    """A message, link or mention has one location (rule T-2)."""
    assert [tuple(place) for place in locations_in(line)] == [expected]


@pytest.mark.parametrize(
    "line",
    [
        "    at node:internal/main/run_main_module:28:49",
        '  File "<stdin>", line 1, in <module>',
        "\tat java.base/java.util.ArrayList.get(ArrayList.java:1)",
        "either and/or e.g. both, i.e. 3.5 or v1.2.3 at 10:30",
        "see https://docs.python.org/3/library/os.html for `os.path`",
        "Session.send and pkg.module and std::vec",
    ],
)
def test_what_is_no_place_of_a_project(line: str) -> None:
    """Frames of runtimes, numbers, pages and dotted names are not locations (rule T-2)."""
    assert locations_in(line) == ()


def test_a_go_function_stands_above_its_place() -> None:
    """A two-line frame has its function on the line before (rule T-2)."""
    frames = "main.(*T).Method(0x1)\n\t/x/y.go:12 +0x1d\ncreated by main.go1\n\t/x/z.go:3 +0x1\n"
    assert locations_in(frames) == (("/x/y.go", 12, "T.Method"), ("/x/z.go", 3, "go1"))


def test_a_recursion_is_told_once_and_places_are_bounded() -> None:
    """Equal frames count once, and their number is limited (rule T-5)."""
    assert len(locations_in('  File "a.py", line 3, in f\n' * 1000)) == 1
    assert len(locations_in("".join(f"a{n}.py:{n}\n" for n in range(1, 1000)))) == MOST_LOCATIONS
