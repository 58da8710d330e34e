"""Custom merge functions: callables, Python and JavaScript as text, good and hostile (rules O-9, O-22)."""

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from aggregate import AggregatedResult, LabelledOutput, merge_outputs
from aggregate.agents.sandbox import SandboxLimits
from tests.hostile.running import ends

LIMITS = SandboxLimits(seconds=0.4)


def merged(function: Any, *outputs: object, limits: SandboxLimits = LIMITS) -> AggregatedResult:
    return merge_outputs(
        [LabelledOutput(o) for o in outputs], "custom", custom_function=function, limits=limits
    )


GOOD = [
    (sum, 6),
    ("lambda results: sum(results)", 6),
    ("  lambda r: {'n': len(r), 'all': r}  # comment", {"n": 3, "all": [1, 2, 3]}),
    ("sum(results)", 6),
    ("[n * 2 for n in results]\n", [2, 4, 6]),
    ("max(results, key=lambda n: -n)", 1),
    ("function (results) { return results.length; }", 3),
    ("function sum(r) { return r.reduce((a, b) => a + b, 0); }", 6),
    ("(results) => results.map(n => n * 2)", [2, 4, 6]),
    ("results => ({n: results.length})", {"n": 3}),
    ("(results) => { return results[0]; } // comment", 1),
    ("async (results) => results.length", 3),
    ("async function (r) { return r[2]; }", 3),
    ("({length}) => length", 3),
    ("r => undefined", None),
    ("r => JSON.parse('{\"__proto__\": 1}')", {"__proto__": 1}),
]


@pytest.mark.parametrize(("function", "value"), GOOD)
def test_functions_in_every_form(function: Any, value: object) -> None:
    """A callable, a lambda, an expression over ``results``, a JavaScript function in each of its forms (O-9)."""
    result = merged(function, 1, 2, 3)
    assert (result.value, result.errors) == (value, ())


def raising(_results: list[Any]) -> None:
    raise KeyError("no such field")


BAD = [
    (raising, "KeyError"),
    ("lambda results: results[9]", "index"),
    ("lambda results:", "invalid syntax"),
    ("results.nothing", "attribute"),
    ("nothing", "not defined"),
    ("lambda r: print", "not plain data"),
    ("function (r) { throw new Error('no'); }", "Error: no"),
    ("function (r) {", "SyntaxError"),
    ("r => (() => 1)", "nothing that JSON can hold"),
    ("r => 10n", "BigInt"),
    ("r => new Promise(() => {})", "never settled"),
    ("r => Promise.reject(new Error('no'))", "Error: no"),
    ("r => { JSON.stringify = () => '}'; return 1 }", "not JSON"),
    ("#" * 10_000_000, "characters"),
    ("(" * 5000, ""),
]


@pytest.mark.parametrize(("function", "reason"), BAD)
def test_a_bad_function_gives_the_documented_failure(function: Any, reason: str) -> None:
    """Whatever goes wrong, the value is the documented one, the outputs are kept and the reason is listed (O-9)."""
    result = merged(function, "a", {"n": 1})
    assert result.value == {
        "error": "Custom merge function failed",
        "originalResults": ["a", {"n": 1}],
    }
    assert len(result.errors) == 1
    assert reason in result.errors[0]


HOSTILE = {
    "python loop": "[x for x in iter(int, 1)]",
    "python allocation": "'a' * 10**10",
    "js loop": "r => { for (;;) {} }",
    "js regex": "r => /(a+)+$/.test('a'.repeat(50) + 'b')",
    "js allocation": "r => { const a = []; for (;;) a.push('x'.repeat(1e6) + a.length); }",
    "js native hang": "r => new Array(1e9) + ''",
    "js recursion": "r => { const f = () => f() + 1; return f(); }",
    "js promises": "r => { const f = () => Promise.resolve().then(f); return f(); }",
    "js output": "r => 'x'.repeat(3e7)",
    "js import": "r => import('os')",
    "js escape": "r => this.constructor.constructor('return process')()",
}


@pytest.mark.parametrize("function", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_functions_end_within_their_limits(function: str) -> None:
    """Loops, bombs, floods and escapes end in time, reach nothing, and the next merge works (O-9)."""
    with ends():
        result = merged(function, "a", limits=SandboxLimits(seconds=0.15))
    assert result.value == {"error": "Custom merge function failed", "originalResults": ["a"]}
    assert merged("r => r[0]", "a").value == "a"
    assert merged("results[0]", "a").value == "a"


def test_a_hanging_function_blocks_no_other() -> None:
    """While one JavaScript worker hangs, others answer; killed workers are replaced (O-9, O-56)."""
    long = SandboxLimits(seconds=1.5)
    with ThreadPoolExecutor(2) as pool:
        hanging = pool.submit(merged, "r => new Array(1e9) + ''", "a", limits=long)
        values = [pool.submit(merged, "r => r[0]", n).result().value for n in range(6)]
        assert not hanging.done()
        assert hanging.result().errors
    assert values == [0, 1, 2, 3, 4, 5]


def test_a_function_cannot_change_the_outputs() -> None:
    """A callable gets copies; the failure value holds the outputs as they were (O-53)."""

    def spoil(results: list[Any]) -> None:
        results[0].clear()
        raise ValueError("after the damage")

    output = {"n": 1}
    assert merged(spoil, output).value["originalResults"] == [{"n": 1}]
    assert output == {"n": 1}


def test_values_that_json_cannot_hold_fail_in_javascript_alone() -> None:
    """JavaScript gets JSON, Python gets tuples and sets too; an object of a class is a failure in both (O-52)."""
    assert "as JSON" in merged("r => r", {1, 2}).errors[0]
    assert merged("len(results[0])", {1, 2}).value == 2
    assert merged("results", sys).value["error"] == "Custom merge function failed"
