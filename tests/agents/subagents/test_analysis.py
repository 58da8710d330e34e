"""Analysis code in the sandboxes (rules D-89 to D-93)."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from aggregate import compact_data, execute_data_analysis
from tests.hostile.running import ends

DATA = {
    "neuron_0_2": {
        "entries": [{"name": "Morning", "distance": 57944.4}, {"name": "Lunch", "distance": 9}]
    },
    "n": [3, 1],
}


def run(code: str, timeout: float = 1, **options: Any) -> dict[str, Any]:
    return execute_data_analysis(code, DATA, timeout=timeout, **options)


RESULTS = [
    ("result = len(data['neuron_0_2']['entries'])", 2),
    ("result = '\\n'.join(f\"{e['name']} - {e['distance']}m\" for e in data['neuron_0_2']['entries'])",
     "Morning - 57944.4m\nLunch - 9m"),
    ("n = data['n']\nresult = [len(n), sum(n), min(n), max(n), sorted(n), list(n)]", [2, 4, 1, 3, [1, 3], [3, 1]]),
    ("result = [dict(a=1), str(1), int('1'), float(1), bool(1)]", [{"a": 1}, "1", 1, 1.0, True]),
    ("n = data['n']\nresult = [list(enumerate(n)), list(range(2)), list(zip(n, n))]",
     [[(0, 3), (1, 1)], [0, 1], [(3, 3), (1, 1)]]),
    ("n = data['n']\nresult = [list(filter(None, n)), list(map(str, n))]", [[3, 1], ["3", "1"]]),
    ("result = [any([0]), all([]), round(1.26, 1), abs(-1)]", [False, True, 1.3, 1]),
    ("result = isinstance(1, int) and list(reversed(tuple(sorted(set([1, 2])))))", [2, 1]),
    ("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    result = str(e)", "division by zero"),
    ("class A:\n    n = 5\nresult = A.n", 5),
    ("import json, math, re\nfrom datetime import datetime\nresult = json.dumps([math.floor(1.5)])", "[1]"),
    ("result = \"open('x') and eval(y)\"", "open('x') and eval(y)"),
    ("for file in ['a']:\n    result = file", "a"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "value"), RESULTS)
def test_code_assigns_its_result(code: str, value: object) -> None:
    """The context is ``data``, the value is ``result``; the built-ins of the table are there, and more (D-89, D-91)."""
    assert run(code) == {"success": True, "result": value}


FAILURES = [
    ("result = 1 +", "Syntax error: invalid syntax (line 1)", True),
    ("result = " + "(" * 1000, "Syntax error: too many nested parentheses (line 1)", True),
    ("result = '\0'", "Syntax error: source code string cannot contain null bytes", True),
    ("x = 1", "Code must assign result to 'result' variable", True),
    ("if False:\n    result = 1", "Code must assign result to 'result' variable", True),
    ("import os\nresult = 1", "Code contains potentially dangerous pattern: import os", False),
    ("import  sys\nresult = 1", "Code contains potentially dangerous pattern: import sys", False),
    ("import json, subprocess as s\nresult = 1", "Code contains potentially dangerous pattern: import subprocess", False),
    ("from os import system\nresult = 1", "Code contains potentially dangerous pattern: import os", False),
    ("from os.path import join\nresult = 1", "Code contains potentially dangerous pattern: import os", False),
    ("from . import x\nresult = 1", "Code contains potentially dangerous pattern: import .", False),
    ("result = __import__('os')", "Code contains potentially dangerous pattern: __import__", False),
    ("result = eval('1')", "Code contains potentially dangerous pattern: eval(", False),
    ("f = exec\nresult = 1", "Code contains potentially dangerous pattern: exec(", False),
    ("result = open ('/etc/passwd')", "Code contains potentially dangerous pattern: open(", False),
    ("result = file('x')", "Code contains potentially dangerous pattern: file(", False),
    ("result = ().__class__.__mro__", "Code contains potentially dangerous pattern: .__class__", False),
    ("result = __builtins__", "Code contains potentially dangerous pattern: __builtins__", False),
    ("result = 1 / 0", "division by zero", True),
    ("raise ValueError('boom')\nresult = 1", "boom", True),
    ("import statistics\nresult = 1", "No module named 'statistics'", True),
]  # fmt: skip


@pytest.mark.parametrize(("code", "error", "retry"), FAILURES)
def test_failures_have_their_words(code: str, error: str, retry: bool) -> None:
    """Each way to fail has its text, and says whether trying again can help (D-90, D-92)."""
    result = run(code)
    assert (result["success"], result["error"], result["retry"]) == (False, error, retry)


def test_a_timeout_says_how_long() -> None:
    """Code that does not end is stopped, from whatever thread it was started (D-90, D-92)."""
    with ThreadPoolExecutor(2) as pool:
        ended = pool.map(lambda _: run("while True:\n    result = 1", timeout=0.3), range(2))
    expected = {
        "success": False,
        "error": "Code execution exceeded 0.3 second timeout",
        "retry": True,
        "hint": "Work on fewer items, or without nested loops over the same list.",
    }
    assert [*ended] == [expected] * 2


HOSTILE = {
    "allocation": "result = 'x' * 10**10",
    "growth": "x = []\nwhile True:\n    x.append('a' * 10**6 + str(len(x)))\nresult = 1",
    "number": "result = 10 ** 10 ** 10",
    "recursion": "def f():\n    return f()\nresult = f()",
    "flood": "while True:\n    print('x' * 1000)\nresult = 1",
    "object": "class A:\n    pass\nresult = A()",
}


@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_code_ends_within_its_limits(code: str) -> None:
    """Bombs, floods and escapes fail in time, and the next code runs (D-92)."""
    with ends():
        assert run(code, timeout=0.5)["success"] is False
    assert run("result = 1") == {"success": True, "result": 1}


def test_code_sees_copies() -> None:
    """Changing ``data`` inside changes nothing outside; objects arrive as texts, also ones that hold themselves.

    Rules: D-92.
    """
    assert run("data['n'].append(9)\nresult = data['n']")["result"] == [3, 1, 9]
    assert DATA["n"] == [3, 1]
    loop: dict[str, Any] = {"path": Path("x")}
    loop["self"] = loop
    seen = execute_data_analysis("result = data", loop)["result"]
    assert seen == {"path": "x", "self": "<dict that holds itself>"}


def test_what_is_printed_is_not_lost() -> None:
    """Printed text stands beside the result."""
    assert run("print('hi')\nresult = 1") == {"success": True, "result": 1, "printed": "hi\n"}


def test_references_can_be_loaded(tmp_path: Path) -> None:
    """load_data_reference gives the whole value inside; an unknown one, or a way out of the folder, is an error.

    Rules: D-47.
    """
    ref_id = compact_data({"runs": [1] * 50}, "k", cache_dir=tmp_path, threshold=1)["_ref_id"]
    code = f"result = len(load_data_reference('{ref_id}')['runs'])"
    assert run(code, cache_dir=tmp_path) == {"success": True, "result": 50}
    for unknown in ("nothing", "../secret"):
        failed = run(f"result = load_data_reference('{unknown}')", cache_dir=tmp_path)
        assert failed["error"] == f"Data reference not found: {unknown}"


def test_a_missing_field_comes_with_advice() -> None:
    """A KeyError says how to read a field that may be missing (D-93)."""
    assert run("result = [e['title'] for e in data['neuron_0_2']['entries']]") == {
        "success": False,
        "error": "'title'",
        "retry": True,
        "hint": "Use .get() for a field that may be missing.",
    }
