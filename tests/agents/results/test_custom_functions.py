"""Custom merge functions: callables and Python as text, good and hostile (rules O-9, O-22)."""

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
]


@pytest.mark.parametrize(("function", "value"), GOOD)
def test_functions_in_every_form(function: Any, value: object) -> None:
    """A callable, a lambda, an expression over ``results`` (O-9)."""
    result = merged(function, 1, 2, 3)
    assert (result.value, result.errors) == (value, ())


def raising(_results: list[Any]) -> None:
    raise KeyError("no such field")


def leaving(_results: list[Any]) -> None:
    sys.exit("enough")


BAD = [
    (raising, "KeyError"),
    (leaving, "SystemExit: enough"),
    ("lambda results: results[9]", "index"),
    ("lambda results:", "invalid syntax"),
    ("results.nothing", "attribute"),
    ("nothing", "not defined"),
    ("lambda r: print", "not plain data"),
    ("function (r) { return r; }", "invalid syntax"),
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
    "python recursion": "(lambda f: f(f))(lambda f: f(f))",
    "python output": "['x' * 1000] * 30000",
    "python import": "__import__('os').environ",
}


@pytest.mark.parametrize("function", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_functions_end_within_their_limits(function: str) -> None:
    """Loops, bombs, floods and escapes end in time, reach nothing, and the next merge works (O-9)."""
    with ends():
        result = merged(function, "a", limits=SandboxLimits(seconds=0.15))
    assert result.value == {"error": "Custom merge function failed", "originalResults": ["a"]}
    assert merged("results[0]", "a").value == "a"


def test_a_hanging_function_blocks_no_other() -> None:
    """While one worker hangs, others answer; killed workers are replaced (O-9, O-56)."""
    long = SandboxLimits(seconds=1.5)
    with ThreadPoolExecutor(2) as pool:
        hanging = pool.submit(merged, "any(x for x in iter(int, 1))", "a", limits=long)
        values = [pool.submit(merged, "results[0]", n).result().value for n in range(6)]
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


def test_values_that_json_cannot_hold() -> None:
    """Tuples and sets are handed in as they are; an object of a class is a failure (O-52)."""
    assert merged("len(results[0])", {1, 2}).value == 2
    assert merged("results", sys).value["error"] == "Custom merge function failed"
