"""Registering, describing and calling tools (rules D-80 to D-86)."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent
from typing import Any, Literal

import pytest
from hypothesis import given, settings, strategies as st

from aggregate import ToolError, ToolRegistry
from aggregate.agents.tools import Permission, ToolContext, discover_tools, make_tool, tool
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
    *functions: Callable[..., Any], permissions: str = "read", seconds: float = 60
) -> ToolRegistry:
    made = ToolRegistry.of(functions, permissions=permissions)
    made.seconds = seconds
    return made


def test_a_tool_is_registered_as_the_documents_say() -> None:
    """``register_tool(name=, func=, description=)``; types and texts come from the function (D-80, D-81, D-82, D-83)."""
    made = ToolRegistry()
    made.register_tool(name="myCustomTool", func=my_custom_tool, description="What this tool does")
    (schema,) = made.schemas()
    texts = ("Description of parameter", "Another parameter, on two lines")
    assert schema == {
        "name": "myCustomTool",
        "description": "What this tool does",
        "parameters": [
            {"name": f"param{number}", "type": kind, "required": True, "description": text}
            for number, (kind, text) in enumerate(zip(("str", "int"), texts, strict=True), 1)
        ],
        "returns": "dict",
        "permissions": "read",
    }
    result = made.run("myCustomTool", {"param1": "a", "param2": "1"})
    assert result == {"success": True, "result": "a 2"}
    # By positions it is the same function.
    made.register("one", my_custom_tool, "One", {"param1": "first"}, "text", "write, network")
    schema = made.schemas()[1]
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
    assert (other.name, other.description) == ("named", "Named")
    assert other.permissions == {Permission.NETWORK}


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


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"permissions": "root"}, "read, write and network"),
        ({"name": "a b"}, "is not a valid tool name"),
    ],
)
def test_mistakes_of_a_host_are_told_when_the_tool_is_made(
    options: dict[str, Any], sentence: str
) -> None:
    """Unknown permissions, and names that are none, each get a sentence."""
    with pytest.raises(ToolError, match=sentence):
        make_tool(my_custom_tool, **options)


def fails() -> None:
    """Fail."""
    raise KeyError("_ref_id")


def leaves() -> None:
    """End the thread."""
    raise SystemExit(3)


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


async def later() -> dict[str, bool]:
    """Answer later."""
    return {"success": True}


class Mute:
    def __str__(self) -> str:
        raise RuntimeError("no words")


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raises_mute() -> None:
    """Raise it."""
    raise MuteError


OUTCOMES: list[tuple[Callable[..., Any], Any]] = [
    (fails, {"success": False, "error": "KeyError: '_ref_id'", "retry": True}),
    (leaves, {"success": False, "error": "SystemExit: 3", "retry": True}),
    (later, {"success": True}),
    (lambda: {"when": datetime(2025, 9, 1, tzinfo=UTC), "s": {2, 1}, "b": b"x", "o": object()},
     {"when": "2025-09-01 00:00:00+00:00", "s": [1, 2], "b": "x", "o": "<object>"}),
    (lambda: (1, 2), [1, 2]),
    (lambda: {"value": Mute(), "other": 1}, {"value": "<Mute>", "other": 1}),
    (lambda: {"a": float("nan"), "b": [float("-inf")]}, {"a": None, "b": [None]}),
    (lambda: (number for number in range(3)), [0, 1, 2]),
    (raises_mute, "MuteError: its message cannot be read"),
    (cyclic, "it returned a value that JSON cannot represent: ValueError: Circular reference detected"),
    (lambda: "x" * 50_000_000, "it returned 50.0 MB, the limit is 5 MB"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "outcome"), OUTCOMES)
def test_whatever_a_tool_does_becomes_plain_data(
    function: Callable[..., Any], outcome: object
) -> None:
    """Exceptions and what is no data become failed results at once, values what JSON knows (D-10, D-55, D-84)."""
    made = ToolRegistry(seconds=30)
    made.register("it", function, "It")
    result = made.run("it", {})
    assert (result["error"] if isinstance(outcome, str) else result) == outcome


def test_a_hanging_tool_is_given_up() -> None:
    """The call ends at its limit, though the tool goes on."""
    opened = threading.Event()
    made = ToolRegistry(seconds=0.05)
    made.register("hang", opened.wait, "Hang")
    with ends():
        result = made.run("hang", {})
    opened.set()
    assert (result["error"], result["retry"]) == ("hang did not answer within 0.05 s", True)


def typed(
    a: int = 0, b: float = 0, c: bool = False, d: list[int] | None = None, e: str = ""
) -> dict[str, Any]:
    """Take simple types."""
    return {"a": a, "b": b, "c": c, "d": d, "e": e}


def needing(a: int) -> None:
    """Need one."""


ARGUMENTS: list[tuple[dict[str, Any], dict[str, Any] | str]] = [
    ({"a": "7", "zzz": 1, "e": None}, {"a": 7}),
    ({"a": 7.0, "b": "1.5", "c": "true", "e": 5}, {"a": 7, "b": 1.5, "c": True, "e": "5"}),
    ({"a": "7.0"}, {"a": 7}),
    ({"a": "9007199254740993"}, {"a": 9007199254740993}),
    ({"d": "[1]"}, {"d": [1]}),
    ({"a": "seven"}, "a must be int, not 'seven'"),
    ({"a": 7.5}, "a must be int, not 7.5"),
    ({"a": True}, "a must be int, not True"),
    ({"a": "9" * 5000}, "a must be int, not '" + "9" * 79),
    ({"b": True}, "b must be float, not True"),
    ({"b": "nan"}, "b must be float, not 'nan'"),
    ({"c": "perhaps"}, "c must be bool, not 'perhaps'"),
    ({"d": {"a": 1}}, "d must be list, not {'a': 1}"),
    ({"d": '{"a": 1}'}, "d must be list, not '{\"a\": 1}'"),
    ({"e": ["x"]}, "e must be str, not ['x']"),
    ({"e": True}, "e must be str, not True"),
    ({"e": "\ud800"}, "e must be str, not '\\ud800'"),
]


@pytest.mark.parametrize(("given_", "outcome"), ARGUMENTS)
def test_arguments_of_models(given_: dict[str, Any], outcome: dict[str, Any] | str) -> None:
    """Undeclared ones and ``None`` are dropped, simple types cast, mistakes reported to be tried again (P4, D-82)."""
    result = registry(typed).run("typed", given_)
    if isinstance(outcome, str):
        assert (result["error"], result["retry"]) == (outcome, True)
    else:
        assert {key: result[key] for key in outcome} == outcome


@pytest.mark.parametrize("given_", [{}, {"a": None}])
def test_a_missing_argument_is_named(given_: dict[str, Any]) -> None:
    """What a tool needs is told before it runs (P4)."""
    error = registry(needing).run("needing", given_)["error"]
    assert error == "missing 1 required argument(s) of needing: 'a'"


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
    assert [each.name for each in found.discover(tmp_path, replace=True)] == ["greet"]
    assert found.get("greet").parameters[0].type == "str"
    assert found.run("greet", {"name": "Ann"}) == {"success": True, "result": "Hello Ann"}


@pytest.mark.parametrize(
    ("text", "error"), [("1/0", "ZeroDivisionError"), ("raise SystemExit(3)", "SystemExit: 3")]
)
def test_a_broken_file_of_tools_is_named(tmp_path: Path, text: str, error: str) -> None:
    """Its error is one sentence with the path, also where it would end the program."""
    (tmp_path / "bad.py").write_text(text, encoding="utf-8")
    with pytest.raises(ToolError, match=rf"bad\.py: it cannot be run: {error}"):
        discover_tools(tmp_path)
    with pytest.raises(ToolError, match="no such folder"):
        discover_tools(tmp_path / "none")
