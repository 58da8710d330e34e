"""Programs with lines missing, doubled and out of order: nothing breaks beyond the broken place."""

import pytest
from hypothesis import given, strategies as st

from tests.viewing import Sample, check_skeleton, outline_of, sample, skeleton_of, summary_of

SAMPLES = [
    *(sample(name) for name in ("bash", "javascript", "typescript")),
    *(pytest.param(sample(name), marks=pytest.mark.slow) for name in ("php", "ruby", "tsx")),
]


@pytest.mark.parametrize("shown", SAMPLES, ids=lambda shown: shown.path)
@given(data=st.data())
def test_any_lines_of_a_program(shown: Sample, data: st.DataObject) -> None:
    """Whatever lines a file is made of, its skeleton maps to them and is no longer than they are (M-33, M-X19)."""
    lines = shown.text.splitlines(keepends=True)
    start = data.draw(st.integers(0, len(lines) - 1))
    taken = data.draw(st.lists(st.sampled_from(lines[start:]), max_size=12))
    source = "".join(lines[start : start + data.draw(st.integers(1, 40))] + taken)
    check_skeleton(shown.path, source)
    assert outline_of(shown.path, source)
    assert summary_of(shown.path, source).strip()


FUNCTIONS = {
    "a.c": "int NAME(int a) {",
    "a.cpp": "int NAME(int a) {",
    "a.cs": "class A {\n  int NAME(int a) {",
    "a.dart": "int NAME(int a) {",
    "a.go": "func NAME(a int) int {",
    "a.java": "class A {\n  int NAME(int a) {",
    "a.js": "function NAME(a) {",
    "a.kt": "class A {\n  fun NAME(a: Int): Int {",
    "a.m": "@implementation A\n- (int)NAME {",
    "a.php": "<?php\nfunction NAME($a) {",
    "a.rs": "fn NAME(a: u32) -> u32 {",
    "a.scala": "object A {\n  def NAME(a: Int): Int = {",
    "a.sh": "NAME() {",
    "a.swift": "func NAME(a: Int) -> Int {",
    "a.ts": "class A {\n  NAME(a: number): number {",
}
"""How a function begins, with what it stands in above."""
NAMES = ("before", "damaged", "after", "last")
DAMAGES = {
    "doubled head": lambda head, body, end: [head, head, *body, end],
    "block without end": lambda head, body, end: [head, f"{end[:-1]}    {{", *body, end],
    "end without block": lambda head, body, end: [head, *body, f"{end[:-1]}    }}", end],
    "no end": lambda head, body, end: [head, *body],
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("path", FUNCTIONS)
def test_a_lost_brace_costs_its_own_function(path: str, damage: str) -> None:
    """What stands around a damaged function is listed, and stands in the skeleton (M-33, M-X19)."""
    *around, written = FUNCTIONS[path].split("\n")
    indent = written[: len(written) - len(written.lstrip())]
    body = [f"{indent}    go(1);", f"{indent}    stop(2);"]
    lines = list(around)
    for name in NAMES:
        head, end = written.replace("NAME", name), f"{indent}}}"
        damaged = DAMAGES[damage](head, body, end)
        lines += [*(damaged if name == "damaged" else [head, *body, end]), "", f"{indent}// {name}"]
    closing = {"{": ["}"], "A": ["@end"]}.get(around[0][-1], []) if around else []
    text = "\n".join([*lines, *closing]) + "\n"
    if path.endswith(".sh"):
        text = text.replace("//", "#")
    outline, skeleton = outline_of(path, text), skeleton_of(path, text)
    for name in ("before", "after", "last"):
        assert name in outline, outline
        assert written.replace("NAME", name) in skeleton.replace("{ /* ... */ }", "{"), skeleton
        assert f" {name}\n" in skeleton, skeleton


SPLIT = """\
#ifdef USE_A
int first(int a) {
#else
int second(int a) {
#endif
    if (a) {
#ifdef USE_B
        go(a);
    }
#else
    }
#endif
    return a;
}

int third(int a) {
#ifdef USE_C
    while (a) {
#else
    for (;;) {
#endif
        go(a);
    }
    return a;
}

int last(int a) { go(a); return a; }
"""


@pytest.mark.parametrize("path", ["a.c", "a.cpp", "a.m"])
def test_braces_split_over_conditions(path: str) -> None:
    """Each head over one body is listed, and no cut takes one half of a condition (M-33, M-X19)."""
    text = f"@class A;\n{SPLIT}" if path == "a.m" else SPLIT
    outline, skeleton = outline_of(path, text), skeleton_of(path, text)
    assert [row.split("(")[0].split()[-1] for row in outline.splitlines()] == [
        *("first", "second", "third", "last")
    ]
    assert skeleton.count("#if") == skeleton.count("#endif")
    assert "int last(int a) { /* ... */ }" in skeleton
