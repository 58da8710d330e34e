"""Registering, describing and calling tools (rules D-80 to D-86)."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent
from typing import Any, Literal

import pytest
from hypothesis import given, settings, strategies as st

from aggregate.agents.tools import (
    CallLimits,
    Permission,
    ToolContext,
    ToolRegistry,
    discover_tools,
    make_tool,
    tool,
)
from aggregate.base.errors import ToolError
from tests.hostile.running import ends


def my_custom_tool(param1: str, param2: int) -> dict[str, Any]:
    """Description visible to LLM.

    Args:
        param1: Description of parameter
        param2: Another parameter,
            on two lines

    Returns:
        dict with 'success' and result data
    """
    return {"success": True, "result": f"{param1} {param2 + 1}"}


def registry(
    *functions: Callable[..., Any], permissions: str = "read", **limits: float
) -> ToolRegistry:
    """Return a registry of functions."""
    made = ToolRegistry.of(functions, permissions=permissions)
    made.limits = CallLimits(**limits)
    return made


def test_a_tool_is_registered_as_the_documents_say() -> None:
    """``register_tool(name=, func=, description=)``; types and texts come from the function (D-80, D-81, D-82, D-83)."""
    made = ToolRegistry()
    made.register_tool(name="myCustomTool", func=my_custom_tool, description="What this tool does")
    assert made.schemas() == [
        {
            "name": "myCustomTool",
            "description": "What this tool does",
            "parameters": [
                {
                    "name": "param1",
                    "type": "str",
                    "required": True,
                    "description": "Description of parameter",
                },
                {
                    "name": "param2",
                    "type": "int",
                    "required": True,
                    "description": "Another parameter, on two lines",
                },
            ],
            "returns": "dict",
            "permissions": "read",
        }
    ]
    assert made.run("myCustomTool", {"param1": "a", "param2": "1"}) == {
        "success": True,
        "result": "a 2",
    }


def test_the_spelling_with_positions_works_too() -> None:
    """``register(name, func, description, parameters, returns, permissions)`` is the same function (D-81)."""
    made = ToolRegistry()
    made.register("one", my_custom_tool, "One", {"param1": "first"}, "text", "write, network")
    (schema,) = made.schemas()
    assert (schema["parameters"][0]["description"], schema["returns"]) == ("first", "text")
    assert schema["permissions"] == "network, write"


def test_the_decorator_in_both_forms() -> None:
    """``@tool`` and ``@tool(name, description, permissions=)`` make tools that can still be called (D-81)."""

    @tool
    def plain(a: int) -> int:
        """Do it."""
        return a

    @tool("named", "Named", permissions="network")
    def other() -> str:
        return "x"

    assert (plain.name, plain.description, plain(3)) == ("plain", "Do it.", 3)
    assert (other.name, other.description, other.permissions) == (
        "named",
        "Named",
        frozenset({Permission.NETWORK}),
    )


def odd(
    a: "int",
    b: "NoSuchType",  # type: ignore[name-defined]  # noqa: F821 - that it does not exist is the point
    c: int | None = None,
    d: list[int] | None = None,
    e: Literal["x", "y"] = "x",
    *args: int,
    f: Any = 1,
    **kw: str,
) -> None:
    """Take odd hints."""


def test_odd_signatures() -> None:
    """``*args`` and ``**kw`` are no parameters, hints as texts do not crash, unions lose ``None`` (D-82)."""
    rows = [(one.name, one.type, one.required) for one in make_tool(odd).parameters]
    assert rows == [
        ("a", "int", True),
        ("b", "NoSuchType", True),
        ("c", "int", False),
        ("d", "list", False),
        ("e", "'x' | 'y'", False),
        ("f", "any", False),
    ]


def test_a_name_is_taken_once() -> None:
    """A second registration is an error unless it says that it replaces; aliases count as names (D-85)."""
    made = registry(my_custom_tool)
    with pytest.raises(ToolError, match="Tool already registered: my_custom_tool"):
        made.register("my_custom_tool", my_custom_tool)
    made.register("my_custom_tool", my_custom_tool, "new", replace=True)
    assert made.get("my_custom_tool").description == "new"
    made.alias("myTool", "my_custom_tool")
    with pytest.raises(ToolError):
        made.register("myTool", my_custom_tool)
    assert made.get("myTool") is made.get("my_custom_tool")
    assert made.names == ("my_custom_tool",)


def test_an_unknown_tool() -> None:
    """It is a ``ValueError`` with the documented text (D-85)."""
    with pytest.raises(ValueError, match=r"^Tool not found: nothing$"):
        ToolRegistry().get("nothing")


@pytest.mark.parametrize("permissions", ["write", "network", "network, write"])
def test_permissions_are_enforced(permissions: str) -> None:
    """What is not granted is not run, and cannot be tried again (D-85)."""
    calls: list[int] = []
    made = ToolRegistry()
    made.register("act", lambda: calls.append(1), "Act", permissions=permissions)
    result = made.run("act", {})
    assert (result["success"], result["retry"], calls) == (False, False, [])
    assert "needs the permission" in result["error"]
    made.permissions = frozenset(Permission)
    assert made.run("act", {}) is None
    assert calls == [1]


def test_unknown_permissions_and_names_are_mistakes() -> None:
    """They are reported when the tool is made."""
    with pytest.raises(ToolError, match="read, write and network"):
        make_tool(my_custom_tool, permissions="root")
    with pytest.raises(ToolError, match="cannot name a tool"):
        make_tool(my_custom_tool, name="a b")


def fails() -> None:
    """Fail."""
    raise KeyError("_ref_id")


def leaves() -> None:
    """End the thread."""
    raise SystemExit(3)


def cyclic() -> list[Any]:
    """Return a list that holds itself."""
    value: list[Any] = []
    value.append(value)
    return value


async def later() -> dict[str, bool]:
    """Answer later."""
    return {"success": True}


OUTCOMES: list[tuple[Callable[..., Any], Any]] = [
    (fails, {"success": False, "error": "KeyError: '_ref_id'", "retry": True}),
    (leaves, {"success": False, "error": "SystemExit: 3", "retry": True}),
    (later, {"success": True}),
    (lambda: {"when": datetime(2025, 9, 1, tzinfo=UTC), "s": {2, 1}, "b": b"x", "o": object()},
     {"when": "2025-09-01 00:00:00+00:00", "s": [1, 2], "b": "x", "o": "<object>"}),
    (lambda: (1, 2), [1, 2]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "outcome"), OUTCOMES)
def test_whatever_a_tool_does_becomes_plain_data(
    function: Callable[..., Any], outcome: object
) -> None:
    """Exceptions become failed results that may be tried again; values become what JSON knows (D-55, D-84)."""
    made = ToolRegistry()
    made.register("one", function, "One")
    assert made.run("one", {}) == outcome


def test_hostile_outputs_are_refused() -> None:
    """An output of 50 MB, or one that holds itself, is a failed result with the reason (D-10)."""
    made = registry(cyclic)
    made.register("huge", lambda: "x" * 50_000_000, "Huge")
    assert made.run("huge", {})["error"] == "huge returned 50.0 MB, the most is 5 MB"
    assert made.run("cyclic", {})["error"].startswith("cyclic returned what JSON cannot hold")


def test_a_hanging_tool_is_given_up() -> None:
    """The call ends at its limit, though the tool goes on."""
    opened = threading.Event()
    made = ToolRegistry(limits=CallLimits(seconds=0.05))
    made.register("hang", opened.wait, "Hang")
    with ends():
        result = made.run("hang", {})
    opened.set()
    assert result == {
        "success": False,
        "error": "hang did not answer within 0.05 s",
        "retry": True,
        "hint": "Ask for less.",
    }


def test_calls_at_once_are_no_hanging_calls() -> None:
    """Any number of calls may run at once; only those that were given up count, until they end."""
    made = ToolRegistry(limits=CallLimits(seconds=5))
    made.register("short", lambda: time.sleep(0.05), "Short")
    made.register("ok", lambda: "done", "Ok")
    with ThreadPoolExecutor(24) as pool:
        assert list(pool.map(lambda _: made.run("short", {}), range(24))) == [None] * 24
    opened = threading.Event()
    made.register("stuck", lambda: opened.wait(5), "Stuck")
    for _ in range(16):
        assert "did not answer" in made.run("stuck", {}, seconds=0.002)["error"]
    refused = made.run("ok", {})
    assert (refused["error"], refused["retry"]) == (
        "ok was not called: 16 earlier calls still hang",
        False,
    )
    opened.set()
    ended = time.monotonic() + 5
    while made.run("ok", {}) != "done" and time.monotonic() < ended:
        time.sleep(0.005)
    assert made.run("ok", {}) == "done"


def typed(
    a: int, b: float = 0, c: bool = False, d: list[int] | None = None, e: str = ""
) -> dict[str, Any]:
    """Take simple types."""
    return {"a": a, "b": b, "c": c, "d": d, "e": e}


ARGUMENTS: list[tuple[dict[str, Any], dict[str, Any] | str]] = [
    ({"a": "7", "zzz": 1, "e": None}, {"a": 7}),
    ({"a": 7.0, "b": "1.5", "c": "true", "e": 5}, {"a": 7, "b": 1.5, "c": True, "e": "5"}),
    ({}, "missing 1 required argument(s) of typed: 'a'"),
    ({"a": None}, "missing 1 required argument(s) of typed: 'a'"),
    ({"a": "seven"}, "a must be int, not 'seven'"),
    ({"a": 7.5}, "a must be int, not 7.5"),
    ({"a": True}, "a must be int, not True"),
    ({"a": "9" * 5000}, "a must be int, not '" + "9" * 79),
    ({"a": 1, "c": "perhaps"}, "c must be bool, not 'perhaps'"),
]


@pytest.mark.parametrize(("given_", "outcome"), ARGUMENTS)
def test_arguments_of_models(given_: dict[str, Any], outcome: dict[str, Any] | str) -> None:
    """Undeclared ones and ``None`` are dropped, simple types cast, mistakes reported to be tried again (P4, D-82)."""
    result = registry(typed).run("typed", given_)
    if isinstance(outcome, str):
        assert (result["error"], result["retry"]) == (outcome, True)
    else:
        assert {key: result[key] for key in outcome} == outcome


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=3),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    )
)
def test_no_arguments_crash_a_call(arguments: dict[str, Any]) -> None:
    """Whatever JSON a model writes, a call gives a result."""
    assert isinstance(registry(typed).run("typed", arguments), dict)


def test_the_context_is_passed_by_type() -> None:
    """A parameter of the type ``ToolContext`` is filled by the engine, and models do not see it."""

    def keys(context: ToolContext) -> list[str]:
        return list(context.data)

    made = registry(keys)
    assert made.schemas()[0]["parameters"] == []
    assert made.run("keys", {"context": "forged"}, context=ToolContext({"neuron_0_1": 3})) == [
        "neuron_0_1"
    ]


def test_tools_are_discovered_in_a_folder(tmp_path: Path) -> None:
    """Every ``@tool`` in the folder's files is taken, other functions and files beginning with ``_`` are not (D-81)."""
    text = """
        from __future__ import annotations
        from aggregate.agents.tools import tool
        @tool
        def greet(name: str) -> dict:
            '''Greet somebody.

            Args:
                name: Who.
            '''
            return {"success": True, "result": "Hello " + name}
        def helper(): ...
    """
    (tmp_path / "b.py").write_text(dedent(text), encoding="utf-8")
    (tmp_path / "_private.py").write_text("1/0", encoding="utf-8")
    found = discover_tools(tmp_path)
    assert found.names == ("greet",)
    assert found.get("greet").parameters[0].type == "str"
    assert found.run("greet", {"name": "Ann"}) == {"success": True, "result": "Hello Ann"}


def test_a_broken_file_of_tools_is_named(tmp_path: Path) -> None:
    """Its error is one sentence with the path."""
    (tmp_path / "bad.py").write_text("1/0", encoding="utf-8")
    with pytest.raises(ToolError, match=r"bad\.py: it cannot be run: ZeroDivisionError"):
        discover_tools(tmp_path)
    with pytest.raises(ToolError, match="no such folder"):
        discover_tools(tmp_path / "none")


class Mute:
    """Cannot say what it is."""

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError("no words")


class MuteError(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError("no words")


def raises_mute() -> None:
    """Raise it."""
    raise MuteError


NO_DATA: list[tuple[Callable[[], Any], Any]] = [
    (lambda: {"value": Mute(), "other": 1}, {"value": "<Mute>", "other": 1}),
    (
        lambda: ["x" * 1_000_000] * 100_000,
        "it returned what JSON cannot hold: it holds the same parts too often",
    ),
    (raises_mute, "MuteError: its message cannot be read"),
    (lambda: {"a": float("nan"), "b": [float("-inf")]}, {"a": None, "b": [None]}),
    (lambda: (number for number in range(3)), [0, 1, 2]),
]


@pytest.mark.parametrize(("function", "expected"), NO_DATA)
def test_what_a_tool_gives_is_data_at_once(function: Callable[[], Any], expected: Any) -> None:
    """What has no words ends at once, not at the limit of time, and is named; NaN is null; a generator a list."""
    made = ToolRegistry(limits=CallLimits(seconds=30))
    made.register("it", function)
    result = made.run("it", {})
    assert (result["error"] if isinstance(expected, str) else result) == expected


def shaped(
    text: str = "", whole: int = 0, real: float = 0.0, names: dict[str, Any] | None = None
) -> list[Any]:
    """Return what arrived."""
    return [text, whole, real, names]


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ({"text": 7}, ["7", 0, 0.0, None]),
        ({"whole": "7.0"}, ["", 7, 0.0, None]),
        ({"whole": "9007199254740993"}, ["", 9007199254740993, 0.0, None]),
        ({"names": '{"a": 1}'}, ["", 0, 0.0, {"a": 1}]),
        ({"text": ["x"]}, "text must be str, not ['x']"),
        ({"text": True}, "text must be str, not True"),
        ({"text": "\ud800"}, "text must be str, not '\\ud800'"),
        ({"real": True}, "real must be float, not True"),
        ({"real": "nan"}, "real must be float, not 'nan'"),
        ({"names": [1]}, "names must be dict, not [1]"),
        ({"names": "[1]"}, "names must be dict, not '[1]'"),
    ],
)
def test_arguments_have_their_types(given_: dict[str, Any], expected: Any) -> None:
    """What a simple type cannot mean is refused before the tool runs: no function meets a list as its path (P4)."""
    result = registry(shaped).run("shaped", given_)
    assert (result["error"] if isinstance(expected, str) else result) == expected


def test_parameters_of_a_host_are_checked() -> None:
    """An entry with a misspelt field is a sentence for the host."""
    with pytest.raises(ToolError, match=r"a parameter cannot be read: .*'kind'.*; give name, type"):
        make_tool(my_custom_tool, parameters=[{"name": "a", "kind": "int"}])


def test_a_file_of_tools_that_exits_is_a_mistake(tmp_path: Path) -> None:
    """It does not end the program."""
    (tmp_path / "bad.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(ToolError, match=r"bad\.py: it cannot be run: SystemExit: 3"):
        discover_tools(tmp_path)
