"""What goes wrong elsewhere with each language: skeleton, outline, digest and picked symbols, text in and text out."""

import json

import pytest

from aggregate import View, ViewMode
from aggregate.base import ViewRequest
from aggregate.code.syntax import language_of
from aggregate.code.views import render_all
from tests.viewing import check_skeleton, masked_of, outline_of, sample, skeleton_of, summary_of

JAVA = """\
package org.parcel;

import java.io.IOException;

@Entity
public class Label implements Runnable {
    private final String text = "a";

    @Inject
    public Label(String text) throws IOException ⟦{
        return;
    }⟧

    public void run(int times, @Named("b") String name) ⟦{
        return;
    }⟧

    enum Side { LEFT, RIGHT }
}
"""
TESTS = """\
describe("list", () => {
  beforeEach(() => ⟦{ reset(everything); }⟧);
  describe.each([1, 2])("of %d", (size) => {
    it("is long enough", async () => ⟦{ expect(size).toBe(1); }⟧);
    it.skip(`has ${1} end`, function () ⟦{ expect(size).toBe(2); }⟧);
  });
});
test("alone", () => ⟦{ expect(something).toBe(1); }⟧);
"""
TYPES = """\
export const LIMIT = 10;
export class List<T extends { id: string }> implements Iterable<T>, Sized {
    readonly items: T[] = [];
    add<K extends { key: string }>(item: T, key: K): void ⟦{
        this.items.push(item);
    }⟧
}
export default function <T extends { id: string }>(items: T[]) ⟦{
    return new List<T>();
}⟧
"""
NAMESPACES = """\
<?php
namespace A {
  function f() ⟦{ return first() + 1; }⟧
}
namespace B {
  class C {
    function g() ⟦{ return first() + 1; }⟧
  }
}
"""
ROUTES = """\
get '/' do
  erb :index
end

Rails.application.routes.draw do
  resources :a do
    ⟦get :long_name⟧
  end
end
"""
GROUP = '{ # all of it\nfirst() ⟦{\n  echo one two three\n}⟧\nfirst "$@"\n} # all of it\n'
MINIFIED = "!function(){function a(b)⟦{return b+1+2+3}⟧var c=function()⟦{return a(4)+5}⟧}();"
RETURNED = (
    "<?php\nreturn function ($app) {\n  $app->get('/', function () ⟦{ return view('i'); }⟧);\n};\n"
)


@pytest.mark.parametrize(
    ("path", "marked"),
    [
        # Strings, heredocs and expansions that hold braces or hashes end no body.
        ("a.sh", 'a() ⟦{\n  echo "}" \'}\' ${x#\\}} # }\n  cat <<E\n}\nE\n}⟧\nB="$(cat <<E\nf() { no; }\nE\n)"\n'),
        ("a.sh", GROUP),  # braces around a script are no body
        ("a.test.js", TESTS),  # groups of tests stay open at any depth, tests and hooks are cut
        ("a.js", "function one() ⟦{\n  return first + 1;\n}⟧\none two (;\nfunction two() ⟦{\n  return second + 2;\n}⟧\n"),
        ("a.min.js", MINIFIED),
        ("a.js", "// größe\r\nfunction größe() ⟦{\r\n  return 'ü'.length;\r\n}⟧\r\nvar x = 'é';\r\n"),
        ("a.php", NAMESPACES),
        ("a.php", "<h1>Top</h1>\n<?php function row($x) ⟦{ ?>\n  <tr><td><?= $x ?></td></tr>\n<?php }⟧ ?>\n<p>End</p>\n"),
        ("routes.php", RETURNED),  # a file that returns one function is not swallowed by it
        # The placeholder is a comment, so a body with anything behind it on its last line stays.
        ("a.rb", "def a; first_thing; second_thing; end\ndef b() third_thing end\nlist.each { |x| puts x }\n"),
        ("a.rb", "A = <<~X\n  def no\n  # no\n  end\nX\ndef yes\n  ⟦puts(<<~X, 1)\n    end\n  X\n  # last⟧\nend\n"),
        ("a.rb", "def one\n  ⟦first_thing(1)⟧\nend\n\nx = = 1\n\ndef two\n  ⟦second_thing(2)⟧\nend\n"),
        ("config.ru", ROUTES),  # a block at the top of the file stays open one level
        ("a.tsx", 'render(<App onClose={() => ⟦{ window.close(); }⟧} title="() => {" />);\n'),
        ("a.ts", TYPES),
        ("a.d.ts", "declare namespace A {\n  function f(x: number): void;\n  class B { m(): string; }\n}\n"),
        ("a.mli", sample("ocaml_interface").text),
        ("a.java", JAVA),
        ("a.rs", "struct A {\n    b: u8,\n}\n\nimpl A {\n    fn c(&self) -> u8 ⟦{\n        self.b\n    }⟧\n}\n"),
    ],
)  # fmt: skip
def test_only_bodies_are_cut(path: str, marked: str) -> None:
    """What stands between the marks goes, all else stays as it is, around errors too (M-33, M-X19)."""
    source = marked.replace("⟦", "").replace("⟧", "")
    language = language_of(path, source)
    assert language is not None
    head, *bodies = marked.split("⟦")
    kept = [language.placeholder + body.split("⟧")[1] for body in bodies]
    assert skeleton_of(path, source) == head + "".join(kept)
    if "= =" not in source and "two (" not in source:
        check_skeleton(path, source)


ITEMS = "- name: one\n  run: |\n    echo\n- name: two\n"
LIST = '[{"id": 1, "tags": []}, {"id": 2}]'
ROWS = (
    "array (2 items)\n1-1    object (2 keys)\n1-1      id: number\n1-1      tags: array (0 items)\n"
)


@pytest.mark.parametrize(
    ("path", "source", "outline"),
    [
        ("a.min.css", ".a{b:c}.d>e,.f{g:h}@media print{.a{b:d}}", "1-1  .a\n1-1  .d>e,.f\n1-1  @media print\n1-1    .a\n"),
        ("a.html", '<BODY><MAIN ID="a"><H1>One</H1><p>x<br></p><H2>Two</H2></MAIN></BODY>',
         '1-1  <MAIN ID="a">\n1-1    <H1>One</H1>\n1-1      <H2>Two</H2>\n'),
        ("a.test.js", TESTS.replace("⟦", "").replace("⟧", ""),
         '1-7  describe("list", () =>\n3-6    describe.each([1, 2])("of %d", (size) =>\n4-4      it("is long enough", '
         'async () =>\n5-5      it.skip(`has ${1} end`, function ()\n8-8  test("alone", () =>\n'),
        ("a.js", "function one() {\n  return 1;\n}\none two (;\nfunction two() {}\n", "1-3  function one()\n5-5  function two()\n"),
        ("a.min.js", MINIFIED.replace("⟦", "").replace("⟧", ""), "1-1  function a(b)\n1-1  var c=function()\n"),
        ("a.json", LIST, f"1-1  {ROWS}"),
        ("a.json", "[1, 2, 3]", "1-1  array (3 items)\n"),
        ("a.json", '{"id": 1}\n{"id": 2}\n', "1-1  id: number\n"),
        ("a.json", '{"a":{"b":1},"c":[1,2]}', "1-1  a: object (1 key)\n1-1  c: array (2 items)\n"),
        ("a.md", "### Three\n\n# One\n\n#### Four\n\n## Two\n\ntext\n", "1-1  ### Three\n3-9  # One\n5-5    #### Four\n7-9    ## Two\n"),
        ("a.md", "Just *prose* of some length,\nover two lines.\n\nAnd a second paragraph that is longer than the first one.\n",
         "markdown, 4 lines\nJust *prose* of some length, over two lines."),
        ("a.php", NAMESPACES.replace("⟦", "").replace("⟧", ""),
         "2-4  namespace A\n3-3    function f()\n5-9  namespace B\n6-8    class C\n7-7      function g()\n"),
        ("m.php", "<?php\nreturn new class extends Migration {\n  public function up() { Schema::create('a'); }\n};\n",
         "2-4  return new class extends Migration\n3-3    public function up()\n"),
        ("a.tsx", "export const Row = React.memo((props: Props) => {\n  return <tr>{props.children}</tr>;\n});\n",
         "1-3  export const Row = React.memo((props: Props) =>\n"),
        ("a.ts", TYPES.replace("⟦", "").replace("⟧", ""),
         "2-7    export class List<T extends { id: string }> implements Iterable<T>, Sized\n4-6      add<K extends { key: "
         "string }>(item: T, key: K): void\n8-10   export default function <T extends { id: string }>(items: T[])\n"),
        ("a.d.ts", "declare namespace A {\n  function f(x: number): void;\n  class B { m(): string; }\n}\n",
         "1-4  declare namespace A\n2-2    function f(x: number): void\n3-3    class B\n3-3      m(): string\n"),
        ("a.yml", ITEMS, "1-4  array (2 items, 4 lines)\n1-3    object (2 keys, 3 lines)\n1-1      name: string\n2-3      run: string (2 lines)\n"),
        ("a.yml", "{a: 1, b: [x]}\n", "1-1  a: number\n1-1  b: array (1 item)\n"),
        ("a.rs", "#[derive(Debug)]\npub struct A {\n    b: u8,\n}\n\nimpl A {\n    fn c(&self) -> u8 {\n        self.b\n    }\n}\n",
         "1-4  #[derive(Debug)] pub struct A\n6-10  impl A\n7-9    fn c(&self) -> u8\n"),
        ("a.cpp", "class API Label : public Base<int> {\n  void f();\n};\n", "1-3  class API Label : public Base<int>\n2-2    void f()\n"),
        ("a.cpp", "NS_BEGIN\nstruct A {\n  int b;\n};\nNS_END\n", "2-4  struct A\n"),
        ("a.cpp", "NS_BEGIN\nnamespace a {\nint f();\n}\n", "2-4  namespace a\n3-3    int f()\n"),
        ("a.cpp", "POST_API void f(int a);\n", "1-1  POST_API void f(int a)\n"),
        ("a.cpp", "class A : B {\n  Q_OBJECT\npublic:\n  A() : b(1) { c(); d(); e(); }\n};\n", "1-5  class A : B\n4-4    A() : b(1)\n"),
    ],
)  # fmt: skip
def test_outlines(path: str, source: str, outline: str) -> None:
    """A row for each definition, heading, rule or key, on one line, around macros and errors (M-32, M-34, M-X19)."""
    assert outline_of(path, source) == outline


@pytest.mark.parametrize(
    ("path", "mask", "text"),
    [
        ("a.css", {":root": "def"}, ":root {\n  --main: #fff;\n}"),  # a rule by its selectors as written
        ("a.html", {"menu": "def"}, '<nav id="menu"><a href="/">Home</a></nav>'),
        ("a.json", {"files": "def", "a.b": "def"}, '"files": ["src", "docs"]\n\n"a.b": { "c": { "d": [] } }'),
        ("a.markdown", {"Appendix": "def"}, "# Appendix\n\n    # indented code\n\n## Words\n#hashtag is text"),
        ("a.markdown", {"Appendix": "sig"}, "# Appendix"),
        ("a.toml", {"tool.ruff": "def"}, "[tool.ruff]\nline-length = 120"),
        ("a.toml", {"package": "def"}, '[[package]]\nname = "a"\n\n[[package]]\nname = "b"'),
        ("a.yaml", {"kind": "def"}, "kind: Deployment\n\nkind: Service"),  # in every document
    ],
)  # fmt: skip
def test_symbols_of_prose_and_data(path: str, mask: dict[str, str], text: str) -> None:
    """Rules, elements, keys, tables and sections are symbols by what they are called in the file (M-35)."""
    assert masked_of(path, sample(path.partition(".")[2]).text, mask) == text


LARGE = json.dumps({"a": list(range(100)), "b": {"c": "d" * 100}}, indent=1) + "\n"


def test_data_are_shown_by_their_outline_where_it_is_shorter() -> None:
    """Lists of many tables, keys or numbers are few rows, and what is left out is counted (M-32, M-33, M-34)."""
    assert skeleton_of("a.json", LARGE) == (
        "2-103    a: array (100 items, 102 lines)\n104-106  b: object (1 key, 3 lines)\n"
    )
    assert skeleton_of("a.json", '{"a": 1}') == '{"a": 1}'
    lines = summary_of("a.json", json.dumps({f"key{n}": n for n in range(5_000)})).splitlines()
    assert lines[:2] == ["json, 1 line", "key0: number"]
    assert lines[-2:] == ["key59: number", "... and 4940 more"]
    numbers = json.dumps(list(range(100_000)))
    assert summary_of("a.json", numbers) == "json, 1 line\narray (100000 items)"
    source = '[[package]]\nname = "a"\n\n[package.source]\nurl = "b"\n\n' * 50
    assert summary_of("poetry.lock", source) == (
        "toml, 300 lines\npackage: table × 50\npackage.source: table × 50"
    )
    gems = 'source "https://example.org"\n\ngem "rake", "~> 13.0"\ngroup :test do\n  gem "minitest"\nend\n'
    assert summary_of("Gemfile", gems) == "ruby, 6 lines\nimports: rake, minitest"
    rows = outline_of("a.css", "@media print { .in { b: c } }\n" * 600).splitlines()
    assert [rows[0], *rows[499:]] == [
        "1-1      @media print",
        "500-500  @media print",
        "... and 700 more",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "(function (window) {\n%s\n})(window);\n", "(function () {\n%s\n}).call(this);\n",
        "!function () {\n%s\n}();\n", "await (async () => {\n%s\n})();\n", "var App = (function () {\n%s\n})();\n",
        "window.App = (function () {\n%s\n}());\n", "define(['a'], function (a) {\n%s\n});\n",
        "$(document).ready(function () {\n%s\n});\n",
        "(function (root, factory) {\n%s\n})(this, function () {\n%s\n});\n",
        "(function (global, factory) {\n%s\n})(this, (function (exports) {\n%s\n}));\n",
        "register('plugin', function (editor) {\n%s\n});\n", "module.exports = {\n  name: 'x',\n%s,\n};\n",
        "export default {\n%s,\n};\n",
    ],
)  # fmt: skip
def test_a_wrapper_does_not_swallow_the_file(text: str) -> None:
    """A function or an object around the whole file stays open and what stands in it is cut (M-33)."""
    head = "  area(r)" if text.endswith(",\n};\n") else "  function area(r)"
    inside, cut = f"{head} {{\n    return Math.PI * r * r;\n  }}", f"{head} {{ /* ... */ }}"
    source = text.replace("%s", inside)
    assert skeleton_of("a.js", source) == text.replace("%s", cut)
    assert "area(r)" in outline_of("a.js", source)
    check_skeleton("a.js", source)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.c", "int f(int a) {\n#ifdef X\n  if (a) {\n#else\n  if (!a) {\n#endif\n    return 1;\n  }\n}\nint g(void);\n"),
        ("a.c", "#if X\nint f(int a) {\n#else\nint f(void) {\n#endif\n  return 1;\n}\nint g(void);\n"),
        ("a.cpp", "namespace a {\nclass B {\n  void f() {\n    call(;\n  }\n};\nint g(void);\n"),
        ("a.go", "package a\n\nfunc f( {\n\treturn 1\n}\n\nfunc g() int {\n\treturn 1 + 1 + 1\n}\n"),
        ("a.rs", "fn f( -> {\n    1\n}\n\nfn g() -> u8 {\n    1 + 1 + 1 + 1\n}\n"),
        ("a.java", "class A {\n  void f( {\n    x();\n  }\n\n  int g() {\n    return 1 + 1 + 1;\n  }\n}\n"),
        ("a.cs", "class A {\n  void f( {\n    x();\n  }\n\n  int g() {\n    return 1 + 1 + 1;\n  }\n}\n"),
    ],
)  # fmt: skip
def test_a_broken_place_costs_only_itself(path: str, source: str) -> None:
    """A file that does not parse still has all views, and what follows the error is in them (M-X19)."""
    check_skeleton(path, source)
    assert " g(" in skeleton_of(path, source)
    assert " g(" in outline_of(path, source)
    assert summary_of(path, source)


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("a.h", "@interface Shape : NSObject\n@end\n", "objectivec"),
        ("a.h", "// uses @interface\nclass Shape {};\n", "cpp"),
        ("a.h", "struct shape;\n", "c"),
        ("a.m", "#import <Foundation/Foundation.h>\n", "objectivec"),
        ("a.m", "% Areas.\nfunction area = area(radius)\n  area = pi * radius^2;\nend\n", None),
    ],
)
def test_files_that_share_a_suffix(path: str, text: str, name: str | None) -> None:
    """A header is Objective-C by what it declares, and MATLAB's files are none (M-33)."""
    language = language_of(path, text)
    assert (language and language.name) == name


@pytest.mark.parametrize(
    "source", ["{" * 3000, "f(" * 3000, "`${" * 1000, "(()=>{" * 500 + "})()" * 500, "\x00\ufeff\u2028"]
)  # fmt: skip
def test_hostile_programs_cost_only_themselves(source: str) -> None:
    """Depth, open ends and odd characters end nothing and never make the skeleton longer (M-33, M-X19)."""
    assert len(skeleton_of("a.js", source)) <= len(source)
    assert outline_of("a.js", source)


@pytest.mark.parametrize(
    "source",
    ["- " * 1000 + "a\n", "".join(" " * level + "a:\n" for level in range(1000)), "? " * 1000 + "a\n"],
)  # fmt: skip
def test_a_file_that_crashes_its_parser_costs_only_itself(source: str) -> None:
    """A text that the grammar cannot stand is shown by a sentence and its first lines; the process goes on (M-X19)."""
    (view,) = render_all([ViewRequest("a.yaml", source, ViewMode.OUTLINE)])
    assert isinstance(view, View)
    assert view.problems[0].startswith("parsing was stopped: the parser crashed, ")
    assert view.text.startswith(f"NOTE: {view.problems[0]}\n{source.split()[0]}")
