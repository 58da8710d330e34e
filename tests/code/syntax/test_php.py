"""PHP: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import check_skeleton, outline_of, skeleton_of


def test_namespaces_in_braces() -> None:
    """Several namespaces in one file nest what they hold (M-33, M-34)."""
    source = """\
<?php
namespace A {
  function f() { return first() + 1; }
}
namespace B {
  class C {
    function g() { return first() + 1; }
  }
}
"""
    assert skeleton_of("a.php", source) == source.replace(
        "{ return first() + 1; }", "{ /* ... */ }"
    )
    assert (
        outline_of("a.php", source)
        == """\
2-4  namespace A
3-3    function f()
5-9  namespace B
6-8    class C
7-7      function g()
"""
    )


def test_html_inside_of_a_function() -> None:
    """A function that steps out into HTML is cut whole, what stands around it stays (M-33)."""
    source = "<h1>Top</h1>\n<?php function row($x) { ?>\n  <tr><td><?= $x ?></td></tr>\n<?php } ?>\n<p>End</p>\n"
    assert (
        skeleton_of("a.php", source)
        == "<h1>Top</h1>\n<?php function row($x) { /* ... */ } ?>\n<p>End</p>\n"
    )
    check_skeleton("a.php", source)


def test_a_returned_function_or_class_stays_open() -> None:
    """A file that returns one function or class is not swallowed by it (M-33)."""
    source = "<?php\nreturn function ($app) {\n  $app->get('/', function () { return view('index'); });\n};\n"
    expected = "<?php\nreturn function ($app) {\n  $app->get('/', function () { /* ... */ });\n};\n"
    assert skeleton_of("routes.php", source) == expected
    source = "<?php\nreturn new class extends Migration {\n  public function up() { Schema::create('a'); }\n};\n"
    assert (
        outline_of("m.php", source)
        == "2-4  return new class extends Migration\n3-3    public function up()\n"
    )
