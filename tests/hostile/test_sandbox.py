"""Code that fights its sandbox (rules O-9, D-92)."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aggregate import SandboxError, execute_data_analysis
from aggregate.agents.sandbox import SOURCE_CHARACTERS, SandboxLimits, run_python, tree_usage
from aggregate.base import Stopped


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads /proc")
def test_usage_is_read_of_the_whole_tree() -> None:
    """The watcher counts what descendants use, and nothing for a process that has ended."""
    program = "x = bytearray(60_000_000)\nfor i in range(0, len(x), 4096): x[i] = 1\nprint(flush=True)\ninput()"
    command = ["/bin/sh", "-c", f'"{sys.executable}" -c "{program}"; true']
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        memory, processes = tree_usage(process.pid)
        process.communicate(b"\n")
    assert memory > 60_000_000
    assert (processes, tree_usage(process.pid)) == (2, (0, 0))


# Monty


BOMB = "x = [0]\nfor _ in range(18):\n    x = [x, x]\n"
"""Small in there, half a million lists here."""


@pytest.mark.parametrize(
    "code",
    [BOMB + "x", BOMB + "{'a': {(1, 2): x}}", BOMB + "class A:\n    pass\na = A()\na.x = x\na"],
)
def test_a_value_that_grows_when_it_is_handed_over_is_refused(code: str) -> None:
    """Shared lists are measured before they are fetched, also inside objects, which are refused anyway."""
    with pytest.raises(SandboxError):
        run_python(code, {}, limits=SandboxLimits(seconds=3, output_bytes=100_000))


def test_arguments_of_the_host_s_functions_are_short() -> None:
    """A function of the host gets no argument that grows, and short ones as before."""
    given: list[tuple[object, ...]] = []

    def load(*values: object) -> int:
        given.append(values)
        return len(values)

    functions, limits = {"load": load}, SandboxLimits(seconds=3)
    assert run_python("load('a', 2)", {}, functions=functions).value == 2
    with pytest.raises(SandboxError, match="takes only short arguments"):
        run_python(f"{BOMB}load(x[0][0][0][0][0][0])", {}, functions=functions, limits=limits)
    assert given == [("a", 2)]


@pytest.mark.parametrize(
    "value",
    ["'x' * 2000", "['x' * 100] * 20", "{n: 'é' * 100 for n in range(20)}", "(b'x' * 2000, 1)"],
)
def test_monty_s_results_have_a_size_limit(value: str) -> None:
    """``output_bytes`` holds for the result as it does for what is printed."""
    with pytest.raises(SandboxError, match="the result has more than 1000 bytes"):
        run_python(value, {}, limits=SandboxLimits(output_bytes=1000))


def test_monty_s_checks_cannot_be_rebound() -> None:
    """Code that gives built-ins other meanings, and reads all names that there are, is measured all the same."""
    code = (
        "def lie(*given, **named):\n    return 0\n"
        "len = isinstance = type = lie\nimport json\n"
        "names = locals()\n"
        "for name in names:\n    names[name] = lie\n"
        "'x' * 5000"
    )
    with pytest.raises(SandboxError, match="the result has more than 1000 bytes"):
        run_python(code, {}, limits=SandboxLimits(output_bytes=1000))


INTROSPECTION = {
    "globals": "globals()",
    "frames": "import sys\nsys._getframe().f_back",
    "code": "(lambda: 1).__code__",
    "globals of a function": "(lambda: 1).__globals__",
    "subclasses": "object.__subclasses__()",
    "tracebacks": "try:\n    1 / 0\nexcept Exception as e:\n    x = e.__traceback__.tb_frame\nx",
    "paths": "import pathlib\npathlib.Path('/etc/passwd').read_text()",
    "environment": "import os\nos.environ['PATH']",
    "programs": "import os\nos.system('id')",
    "sockets": "import socket",
    "foreign functions": "import ctypes",
    "imports": "__import__('os').environ",
}


@pytest.mark.parametrize("code", INTROSPECTION.values(), ids=INTROSPECTION.keys())
def test_monty_shows_nothing_of_the_host(code: str) -> None:
    """Neither the interpreter's inside nor files, environment and programs can be had."""
    with pytest.raises(SandboxError) as caught:
        run_python(code, {})
    assert caught.value.kind in (Stopped.RUNTIME, Stopped.SYNTAX)


# Analysis


def test_analysis_code_has_a_length() -> None:
    """Code that is too long is refused with a sentence before anything parses it."""
    failure = execute_data_analysis("result = 1 #" + "x" * SOURCE_CHARACTERS, {})
    assert (failure["error"], failure["retry"]) == ("Code has more than 65536 characters", True)


class Raises:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def __str__(self) -> str:
        raise self.error

    @property
    def __class__(self) -> type:
        raise self.error

    @__class__.setter
    def __class__(self, value: type) -> None: ...


class Unreadable(dict[str, Any]):
    def items(self) -> Any:
        raise ValueError("no items")


def test_hostile_data_becomes_plain_and_raises_nothing() -> None:
    """Analysis runs over data whose own code fails, that is too deep, or no text; the rest is there."""
    deep: list[Any] = []
    for _ in range(20_000):
        deep = [deep]
    data: dict[str, Any] = {"raises": Raises(ValueError("x")), "deep": deep}
    data |= {"items": Unreadable(a=1), "half": "a\ud800b", "a\ud800": 1, "good": [1, (2, 3)]}
    code = "data.pop('deep')\nresult = data"
    shown: dict[str, Any] = {"raises": "<Raises>", "items": "<Unreadable>", "half": "a?b"}
    shown |= {"a?": 1, "good": [1, [2, 3]]}
    assert execute_data_analysis(code, data)["result"] == shown
