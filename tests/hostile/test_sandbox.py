"""Code that fights its sandbox, and answers that fight the host (rules O-9, D-92)."""

import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from aggregate import SandboxError, execute_data_analysis
from aggregate.agents.sandbox import SandboxLimits, run_javascript, run_python
from aggregate.agents.sandbox.commands import tree_usage
from aggregate.agents.sandbox.javascript import CONTAINERS, parse_reply
from aggregate.agents.sandbox.limits import ERROR_CHARACTERS, SOURCE_CHARACTERS
from aggregate.base.errors import Stopped


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


ANSWERS = {
    "no JSON": b"hello",
    "nothing": b"",
    "a list": b"[]",
    "half": b'{"value": ',
    "levels": b'{"value": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
    "a long number": b'{"value": ' + b"9" * 5000 + b"}",
    "containers": b'{"value": [' + b"[]," * CONTAINERS + b"[]]}",
    "bytes that are no text": b'{"value": "\xff\xfe"}',
    "a surrogate as bytes": b'{"value": "\xed\xa0\x80"}',
    "half a surrogate pair": b'{"value": "\\ud800"}',
    "half a pair in an error": b'{"error": "\\ud800"}',
    "an error of another type": b'{"error": {"a": 1}, "kind": ["x"], "exception": 7}',
    "an unknown kind": b'{"error": "x", "kind": "victory"}',
    "a byte order mark": b'\xef\xbb\xbf{"value": 1}',
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
def test_a_hostile_answer_is_an_error_of_the_sandbox(answer: bytes) -> None:
    """Whatever stands on the pipe becomes one SandboxError with a short text that can be written."""
    with pytest.raises(SandboxError) as caught:
        parse_reply(answer)
    str(caught.value).encode()
    assert 0 < len(str(caught.value)) < 300
    assert caught.value.kind in list(Stopped)


def test_an_answer_of_the_agreed_form_is_read() -> None:
    """A result passes; an error keeps its kind and the beginning of a long text."""
    assert parse_reply('{"value": "[\\"é\\", 1.5]"}'.encode()) == '["é", 1.5]'
    failure = {"error": "x" * 10_000, "kind": "memory"}
    with pytest.raises(SandboxError) as caught:
        parse_reply(json.dumps(failure).encode())
    assert caught.value.kind is Stopped.MEMORY
    assert str(caught.value) == "x" * ERROR_CHARACTERS + "... (8000 more characters)"


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
    with pytest.raises(SandboxError, match="takes short arguments"):
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


# QuickJS


JAVASCRIPT = {
    "pollution of objects": ("r => { Object.prototype.toJSON = () => 'evil'; return {a: r}; }", "evil"),
    "pollution of arrays": ("r => { Array.prototype.map = () => 'evil'; return [1, 2]; }", [1, 2]),
    "pollution by proto": ("r => JSON.parse('{\"__proto__\": {\"polluted\": 1}}')", {"__proto__": {"polluted": 1}}),
    "another stringify": ("r => { JSON.stringify = () => '[1]'; return 2; }", [1]),
    "frozen box": ("r => { Object.freeze(Object.prototype); return 3; }", 3),
    "globals": ("r => Object.getOwnPropertyNames(globalThis).filter(n => /^(std|os|require|process|fetch|print|Worker|load)$/.test(n))", []),
}  # fmt: skip


@pytest.mark.parametrize(("code", "value"), JAVASCRIPT.values(), ids=JAVASCRIPT.keys())
def test_javascript_changes_nothing_but_its_own_result(code: str, value: Any) -> None:
    """Polluted prototypes last as long as the call that pollutes them: the next one, in the same worker, is clean."""
    assert run_javascript(code, {"n": 1}) == value
    clean = run_javascript("r => [r, ({}).polluted, [1].map(n => n + 1)]", {"n": 1})
    assert clean == [{"n": 1}, None, [2]]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("r => '\\ud800'", "not JSON"),
        ("r => { JSON.stringify = () => '['.repeat(50000); return 1; }", "not JSON"),
        ("r => { JSON.stringify = () => '9'.repeat(5000); return 1; }", "not JSON"),
        (
            "r => { JSON.stringify = () => '[' + '[],'.repeat(1000001) + '[]]'; return 1; }",
            "lists and",
        ),
        ("r => { throw 'x'.repeat(100000); }", "more characters"),
        ("r => { throw {toString() { throw 1; }}; }", "."),
        ("r => { throw '\\ud800'; }", "."),
        ("r => (function f() { return f() + 1; })()", "."),
        ("r => { const a = []; a.length = 2 ** 32 - 1; return a; }", "."),
        ("x" * (SOURCE_CHARACTERS + 1), "characters"),
    ],
)
def test_hostile_javascript_is_one_error(code: str, reason: str) -> None:
    """Whatever a function returns or throws becomes one short SandboxError that can be written."""
    with pytest.raises(SandboxError, match=reason) as caught:
        run_javascript(code, 1, limits=SandboxLimits(seconds=1, memory_bytes=1 << 28))
    str(caught.value).encode()
    assert len(str(caught.value)) < ERROR_CHARACTERS + 200


# Analysis


def test_analysis_code_has_a_length() -> None:
    """Code that is too long is refused with a sentence before anything parses it."""
    failure = execute_data_analysis("result = 1 #" + "x" * SOURCE_CHARACTERS, {})
    assert (failure["error"], failure["retry"]) == ("Code has more than 65536 characters", True)


class Raises:
    def __init__(self, error: BaseException) -> None:
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
        raise SystemExit(3)


def test_hostile_data_becomes_plain_and_raises_nothing() -> None:
    """Analysis runs over data whose own code fails or leaves, that is too deep, or no text; the rest is there."""
    deep: list[Any] = []
    for _ in range(20_000):
        deep = [deep]
    data = {"raises": Raises(ValueError("x")), "leaves": Raises(SystemExit(3)), "deep": deep}
    data |= {"items": Unreadable(a=1), "half": "a\ud800b", "a\ud800": 1, "good": [1, (2, 3)]}
    code = "data.pop('deep')\nresult = data"
    shown: dict[str, Any] = {
        "raises": "<Raises>",
        "leaves": "<Raises>",
        "items": {"a": 1},
        "half": "a?b",
    }
    shown |= {"a?": 1, "good": [1, [2, 3]]}
    assert execute_data_analysis(code, data)["result"] == shown


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads /proc")
def test_the_javascript_worker_can_open_nothing() -> None:
    """A worker that a hole in QuickJS would hand over opens no file or socket and starts no process."""

    def run() -> None:
        with pytest.raises(SandboxError):
            run_javascript("r => { for (;;); }", 1, limits=SandboxLimits(seconds=1))

    endless = threading.Thread(target=run)
    endless.start()
    bounded: list[bool] = []
    while not any(bounded) and endless.is_alive():
        time.sleep(0.01)
        children = " ".join(path.read_text() for path in Path("/proc/self/task").glob("*/children"))
        started = [Path("/proc") / pid for pid in children.split()]
        workers = [one for one in started if b"javascript_worker" in (one / "cmdline").read_bytes()]
        limits = [(worker / "limits").read_text() for worker in workers]
        bounded = [
            bool(re.search(r"open files +0 ", one) and re.search(r"processes +0 ", one))
            for one in limits
        ]
    endless.join()
    assert any(bounded)
