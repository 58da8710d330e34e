"""JavaScript: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = r"""
#!/usr/bin/env node
/**
 * Routes and their handlers.
 */
'use strict';

import fs from 'node:fs';
import { join as joinPath } from 'node:path';
export * from './errors.js';
const util = require('util');

export const LIMIT = 10, NAME = "a { b";
const PATTERN = /\/\*[{}]function f() \{/g;
let counter = 0;

@sealed
export default class Router extends Base {
  static #count = 0;
  routes = [];

  static {
    Router.#count = 1;
    register(Router);
  }

  constructor(options = {}) {
    super(options);
    this.options = options;
  }

  get size() {
    return this.routes.length;
  }

  set size(value) {
    throw new Error(`cannot set ${value} { }`);
  }

  @logged({ level: 1 })
  static async *walk(
    root,
    { depth = 1, ...rest } = {},
  ) {
    yield* walk(root, depth - 1);
  }

  handle = async (request) => {
    await this.dispatch(request);
  };

  #secret() {}
}

export async function load(path, callback = () => { fallback(); }) {
  const text = await fs.promises.readFile(path);
  return text.toString();
}

function* ids() {
  yield counter++;
}

const double = (x) => x * 2;

export const add = (a, b) => {
  const sum = a + b;
  return sum;
};

exports.parse = function (text) {
  return JSON.parse(text);
};

Router.prototype.reset = function reset() {
  this.routes = [];
};

module.exports = {
  LIMIT,
  parse: function (text) { return text.trim().split(','); },
  format(value) {
    return `${value}`;
  },
  get now() { return Date.now() + counter; },
  'content-type': async (type) => { await set(type); },
  nested: {
    inner() { return counter + LIMIT; },
  },
};

const Button = memo(function Button({ label }) {
  return <button onClick={() => { alert(label); }}>{label} {'}'}</button>;
});

render(<App onClose={() => { window.close(); }} title="function() {" />);
app.get('/', (request, response) => {
  response.send('hello');
});
"""[1:]

SKELETON = r"""
#!/usr/bin/env node
/**
 * Routes and their handlers.
 */
'use strict';

import fs from 'node:fs';
import { join as joinPath } from 'node:path';
export * from './errors.js';
const util = require('util');

export const LIMIT = 10, NAME = "a { b";
const PATTERN = /\/\*[{}]function f() \{/g;
let counter = 0;

@sealed
export default class Router extends Base {
  static #count = 0;
  routes = [];

  static { /* ... */ }

  constructor(options = {}) { /* ... */ }

  get size() { /* ... */ }

  set size(value) { /* ... */ }

  @logged({ level: 1 })
  static async *walk(
    root,
    { depth = 1, ...rest } = {},
  ) { /* ... */ }

  handle = async (request) => { /* ... */ };

  #secret() {}
}

export async function load(path, callback = () => { /* ... */ }) { /* ... */ }

function* ids() { /* ... */ }

const double = (x) => x * 2;

export const add = (a, b) => { /* ... */ };

exports.parse = function (text) { /* ... */ };

Router.prototype.reset = function reset() { /* ... */ };

module.exports = {
  LIMIT,
  parse: function (text) { /* ... */ },
  format(value) { /* ... */ },
  get now() { /* ... */ },
  'content-type': async (type) => { /* ... */ },
  nested: {
    inner() { /* ... */ },
  },
};

const Button = memo(function Button({ label }) { /* ... */ });

render(<App onClose={() => { /* ... */ }} title="function() {" />);
app.get('/', (request, response) => { /* ... */ });
"""[1:]

OUTLINE = """\
16-52  @sealed export default class Router extends Base
26-29    constructor(options = {})
31-33    get size()
35-37    set size(value)
39-45    @logged({ level: 1 }) static async *walk(root, { depth = 1, ...rest } = {})
47-49    handle = async (request) =>
51-51    #secret()
54-57  export async function load(path, callback = () => { fallback(); })
59-61  function* ids()
63-63  const double = (x) =>
65-68  export const add = (a, b) =>
70-72  exports.parse = function (text)
74-76  Router.prototype.reset = function reset()
78-89  module.exports =
80-80    parse: function (text)
81-83    format(value)
84-84    get now()
85-85    'content-type': async (type) =>
86-88    nested
87-87      inner()
91-93  const Button = memo(function Button({ label })
"""

SUMMARY = """\
javascript, 98 lines, 1 class, 11 methods, 7 functions, 2 objects
Routes and their handlers.
imports: node:fs, node:path, ./errors.js, util
constants: LIMIT, NAME, PATTERN
@sealed export default class Router extends Base: constructor, size, walk, handle, #secret
module.exports: parse, format, now, content-type
  nested: inner
functions: load, ids, double, add, exports.parse, Router.prototype.reset, Button
"""


def test_only_bodies_are_cut() -> None:
    """The skeleton is the file without its bodies, byte for byte (M-33)."""
    assert skeleton_of("a.js", SAMPLE) == SKELETON


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.js", SAMPLE) == OUTLINE
    assert summary_of("a.js", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.js", SAMPLE)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        (
            {"Router.size": "def"},
            "get size() {\n    return this.routes.length;\n  }\n\n"
            "  set size(value) {\n    throw new Error(`cannot set ${value} { }`);\n  }",
        ),
        (
            {"walk": "sig"},
            "@logged({ level: 1 })\n  static async *walk(\n    root,\n    { depth = 1, ...rest } = {},\n  )",
        ),
        (
            {"double": "def", "add": "sig"},
            "const double = (x) => x * 2;\n\nexport const add = (a, b) =>",
        ),
        ({"module.exports.format": "def"}, "format(value) {\n    return `${value}`;\n  }"),
        ({"content-type": "sig"}, "'content-type': async (type) =>"),
        (
            {"ids": "hide", "load": "sig"},
            "export async function load(path, callback = () => { fallback(); })",
        ),
        ({"gone": "def"}, "ERROR: symbol not found: gone in a.js"),
    ],
)
def test_masks(mask: dict[str, str], text: str) -> None:
    """Picked symbols are shown whole or by signature, hidden ones not, missing ones as an error (M-35, M-X15)."""
    assert masked_of("a.js", SAMPLE, mask) == text


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
