"""JavaScript: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, outline_of, skeleton_of


@pytest.mark.parametrize(
    "text",
    [
        "(function (window) {\n%s\n})(window);\n",
        "(function (window) {\n%s\n}(window));\n",
        "(function () {\n%s\n}).call(this);\n",
        "!function () {\n%s\n}();\n",
        "(() => {\n%s\n})();\n",
        "(async () => {\n%s\n})();\n",
        "await (async () => {\n%s\n})();\n",
        "var App = (function () {\n%s\n})();\n",
        "window.App = (function () {\n%s\n}());\n",
        "var App = (function make(context) {\n%s\n});\n",
        "define(['a'], function (a) {\n%s\n});\n",
        "$(function () {\n%s\n});\n",
        "$(document).ready(function () {\n%s\n});\n",
        "(function (root, factory) {\n%s\n})(this, function () {\n%s\n});\n",
        "(function (global, factory) {\n%s\n})(this, (function (exports) {\n%s\n}));\n",
        "register('plugin', function (editor) {\n%s\n});\n",
    ],
)
def test_a_wrapper_does_not_swallow_the_file(text: str) -> None:
    """A function around the whole file stays open and what stands in it is cut (M-33)."""
    inside = "  function area(r) {\n    return Math.PI * r * r;\n  }"
    cut = "  function area(r) { /* ... */ }"
    source, expected = text.replace("%s", inside), text.replace("%s", cut)
    assert skeleton_of("a.js", source) == expected
    assert "function area(r)" in outline_of("a.js", source)
    check_skeleton("a.js", source)


def test_groups_of_tests_stay_open_and_tests_are_cut() -> None:
    """Groups of tests stay open at any depth, tests and hooks in them are cut, and both are in the outline (M-33)."""
    source = """\
describe("list", () => {
  beforeEach(() => { reset(everything); });
  describe.each([1, 2])("of %d", (size) => {
    it("is long enough", async () => { expect(size).toBe(1); });
    it.skip(`has ${1} end`, function () { expect(size).toBe(2); });
  });
});
test("alone", () => { expect(something).toBe(1); });
"""
    assert (
        skeleton_of("a.test.js", source)
        == """\
describe("list", () => {
  beforeEach(() => { /* ... */ });
  describe.each([1, 2])("of %d", (size) => {
    it("is long enough", async () => { /* ... */ });
    it.skip(`has ${1} end`, function () { /* ... */ });
  });
});
test("alone", () => { /* ... */ });
"""
    )
    assert (
        outline_of("a.test.js", source)
        == """\
1-7  describe("list", () =>
3-6    describe.each([1, 2])("of %d", (size) =>
4-4      it("is long enough", async () =>
5-5      it.skip(`has ${1} end`, function ()
8-8  test("alone", () =>
"""
    )


@pytest.mark.parametrize("opening", ["module.exports =", "export default", "const api ="])
def test_an_exported_object_is_not_empty(opening: str) -> None:
    """A file that is one exported object keeps its keys and the signatures of its functions (M-33)."""
    source = f"{opening} {{\n  name: 'x',\n  data() {{\n    return {{ count: 0, items: [] }};\n  }},\n}};\n"
    assert (
        skeleton_of("a.js", source)
        == f"{opening} {{\n  name: 'x',\n  data() {{ /* ... */ }},\n}};\n"
    )
    assert outline_of("a.js", source) == f"1-6  {opening}\n3-5    data()\n"


def test_a_syntax_error_costs_only_its_region() -> None:
    """What stands around a syntax error is still cut and listed (M-X19)."""
    source = "function one() {\n  return first + 1;\n}\none two (;\nfunction two() {\n  return second + 2;\n}\n"
    assert (
        skeleton_of("a.js", source)
        == "function one() { /* ... */ }\none two (;\nfunction two() { /* ... */ }\n"
    )
    assert outline_of("a.js", source) == "1-3  function one()\n5-7  function two()\n"


def test_a_file_on_one_line() -> None:
    """A minified file is cut on its one line (M-33)."""
    source = "!function(){function a(b){return b+1+2+3}var c=function(){return a(4)+5}}();"
    assert (
        skeleton_of("a.min.js", source)
        == "!function(){function a(b){ /* ... */ }var c=function(){ /* ... */ }}();"
    )
    assert outline_of("a.min.js", source) == "1-1  function a(b)\n1-1  var c=function()\n"


def test_windows_line_ends_and_other_scripts_survive() -> None:
    """Line ends and characters beyond ASCII stay as they are (M-33)."""
    source = "// größe\r\nfunction größe() {\r\n  return 'ü'.length;\r\n}\r\nvar x = 'é';\r\n"
    assert (
        skeleton_of("a.js", source)
        == "// größe\r\nfunction größe() { /* ... */ }\r\nvar x = 'é';\r\n"
    )


@pytest.mark.parametrize(
    "source",
    ["{" * 3000, "f(" * 3000, "`${" * 1000, "(()=>{" * 500 + "})()" * 500, "\x00\ufeff\u2028"],
)
def test_hostile_files_cost_only_themselves(source: str) -> None:
    """Depth, open ends and odd characters end nothing and never make the skeleton longer (M-33, M-X19)."""
    assert len(skeleton_of("a.js", source)) <= len(source)
    assert outline_of("a.js", source)
