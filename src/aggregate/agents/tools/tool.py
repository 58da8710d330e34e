"""Tools: functions for models, with schemas made from signatures (D-80 to D-83)."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from textwrap import dedent
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from pydantic import Field, TypeAdapter

from aggregate.base.errors import ToolError

EDITS: Final = ("replace_text", "write_file")  # tools for changes of files only
CHANGES: Final = (*EDITS, "run_command")  # tools for a work tree
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
# The end of a docstring's first paragraph
_BLANK_OR_SECTION: Final = re.compile(
    r"\n[ \t]*\n|^(?:Args|Arguments|Parameters|Returns|Raises|Yields|Examples?|Notes?|Attributes):[ \t]*$",
    re.MULTILINE,
)
_ARGUMENTS: Final = re.compile(
    r"^(?:Args|Arguments|Parameters):[ \t]*\n(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL
)
_ARGUMENT: Final = re.compile(
    r"^\*{0,2}(\w+)[ \t]*(?:\([^)\n]*\))?[ \t]*:(.*(?:\n[ \t].*|\n)*)", re.MULTILINE
)
Function: TypeAlias = Callable[..., Any]
# The types of cast arguments, with their names in JSON Schema
_TYPES: Final[Mapping[str, tuple[str, TypeAdapter[Any]]]] = {
    "int": ("integer", TypeAdapter(int)),
    "float": ("number", TypeAdapter(Annotated[float, Field(allow_inf_nan=False)])),
    "str": ("string", TypeAdapter(Annotated[str, Field(coerce_numbers_to_str=True)])),
    "bool": ("boolean", TypeAdapter(bool)),
    "list": ("array", TypeAdapter(list[Any])),
    "dict": ("object", TypeAdapter(dict[str, Any])),
}


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The agent's results and limits, for a tool parameter annotated with this class."""

    data: Mapping[str, Any] = field(default_factory=dict)  # results of earlier steps by key
    cache_dir: Path = Path("state/data_cache")  # where values behind references are
    seconds: float = 10.0


class Permission(StrEnum):
    """An effect of tools, which the host must grant."""

    READ = "read"
    WRITE = "write"
    NETWORK = "network"


def granted(permissions: str | Iterable[str]) -> frozenset[Permission]:
    names = [permissions] if isinstance(permissions, str) else list(permissions)
    try:
        return frozenset(Permission(part.strip()) for name in names for part in name.split(","))
    except ValueError as error:
        raise ToolError(f"{error}: permissions are read, write and network") from None


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: str = "any"  # the name of its type: int, list, int | str
    required: bool = True
    default: Any = None  # of an optional one
    description: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return ``{name, type, required}``, and ``default`` and ``description`` if present."""
        entry: dict[str, Any] = {"name": self.name, "type": self.type, "required": self.required}
        if not self.required and self.default is not None:
            entry["default"] = self.default
        return {**entry, "description": self.description} if self.description else entry

    @property
    def json_schema(self) -> dict[str, Any]:
        """The parameter's JSON Schema, which allows any value if JSON lacks the type."""
        schema: dict[str, Any] = {}
        if self.type in _TYPES:
            schema["type"] = _TYPES[self.type][0]
        elif literals := re.findall(r"'([^']*)'", self.type):
            schema = {"type": "string", "enum": literals}
        return schema | ({"description": self.description} if self.description else {})

    def cast(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """Convert a model's value to the parameter's type: ``"7"`` becomes 7.

        Raises:
            ValueError: The value cannot be converted.
        """
        if self.type not in _TYPES:
            return value
        if isinstance(value, bool) and self.type != "bool":
            raise ValueError
        adapter = _TYPES[self.type][1]
        if isinstance(value, str):
            value.encode()  # half a surrogate pair is not a text
            if self.type in ("list", "dict"):
                return adapter.validate_json(value)
        return adapter.validate_python(value)


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call.

    Calling a tool calls the function unchecked; ``ToolRegistry.run`` checks arguments, permissions and limits.
    """

    name: str  # camelCase by custom
    func: Function
    description: str
    parameters: tuple[Parameter, ...]
    returns: str  # the name of a type
    permissions: frozenset[Permission]
    context: str | None = None  # the parameter for the agent's context
    repeatable: bool = False  # whether a call may be repeated after an interruption
    reads: bool = False  # whether its author declared it as read-only or idempotent

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - what the function takes and gives
        """Call the function."""
        return self.func(*args, **options)

    @property
    def required(self) -> tuple[Parameter, ...]:
        """The parameters without a default."""
        return tuple(parameter for parameter in self.parameters if parameter.required)

    @property
    def writes(self) -> bool:
        """Whether a call may change something, so that no other call runs at the same time."""
        return Permission.WRITE in self.permissions

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the tool's arguments."""
        properties = {parameter.name: parameter.json_schema for parameter in self.parameters}
        required = [parameter.name for parameter in self.required]
        return {"type": "object", "properties": properties, "required": required}

    def schema(self) -> dict[str, Any]:
        """Return ``{name, description, parameters, returns, permissions}`` (rule D-83)."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": [parameter.as_dict() for parameter in self.parameters],
            "returns": self.returns,
            "permissions": ", ".join(sorted(self.permissions)),
        }


def make_tool(
    func: Function,
    name: str | None = None,
    description: str | None = None,
    parameters: Mapping[str, str] | None = None,
    returns: str | None = None,
    permissions: str | Iterable[str] | None = None,
    idempotent: bool | None = None,
) -> Tool:
    """Make a tool from ``func``.

    Defaults come from the function's name, docstring and type hints.

    Args:
        func: A function, coroutine function or callable object.
        name: By default the function's name.
        description: By default the docstring's first paragraph.
        parameters: Descriptions by parameter name, by default those of the docstring.
        returns: By default the name of the return hint.
        permissions: ``read`` (default), ``write``, ``network``, or several of them.
        idempotent: Whether a second call changes nothing more; by default true of tools that only read.

    Raises:
        ToolError: The name or a permission is invalid, or the function has no signature.
    """
    tool_name: str = name or str(getattr(func, "__name__", type(func).__name__))
    if not _NAME.fullmatch(tool_name):
        raise ToolError(
            f'"{tool_name}" is not a valid tool name: use letters, digits and _, at most 64'
        )
    text = inspect.getdoc(func) or ""
    block = _ARGUMENTS.search(text)
    texts = {**dict(_ARGUMENT.findall(dedent(block[1]) if block else "")), **(parameters or {})}
    try:
        inferred, context, hint = _signature(func, texts)
    except (TypeError, ValueError) as error:
        raise ToolError(
            f"{tool_name} cannot become a tool: its signature cannot be read ({error})"
        ) from None
    effects = granted(permissions or Permission.READ)
    repeatable = effects == {Permission.READ} if idempotent is None else idempotent
    return Tool(
        tool_name,
        func,
        description or " ".join(_BLANK_OR_SECTION.split(text, maxsplit=1)[0].split()) or tool_name,
        inferred,
        returns or _hint_name(hint),
        effects,
        context,
        repeatable,
        repeatable and (permissions, idempotent) != (None, None),
    )


def _signature(
    function: Function, texts: Mapping[str, str]
) -> tuple[tuple[Parameter, ...], str | None, Any]:
    """Return a function's parameters, the name of its context parameter, and its return hint."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception:  # noqa: BLE001 - a hint may be any expression, and a wrong one only costs the type's name
        hints = dict(getattr(function, "__annotations__", {}))
    signature = inspect.signature(function)
    parameters, context = [], None
    for name, argument in signature.parameters.items():
        if hints.get(name) is ToolContext:
            context = name
        elif argument.kind not in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            required = argument.default is argument.empty
            default = None if required else argument.default
            description = " ".join(texts.get(name, "").split())
            kind = _hint_name(hints.get(name))
            parameters.append(Parameter(name, kind, required, default, description))
    return tuple(parameters), context, signature.return_annotation


def _hint_name(hint: Any) -> str:  # noqa: ANN401 - a hint may be anything
    if hint is None or hint is inspect.Parameter.empty or hint is Any:
        return "any"
    if isinstance(hint, str):
        return hint
    origin = get_origin(hint)
    if origin is Annotated:
        return _hint_name(get_args(hint)[0])
    if origin is Literal:
        return " | ".join(map(repr, get_args(hint)))
    if origin in (Union, UnionType):
        return " | ".join(_hint_name(member) for member in get_args(hint) if member is not NoneType)
    return getattr(origin or hint, "__name__", str(hint))


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(
    name: str | None = None, *values: object, **options: object
) -> Callable[[Function], Tool]: ...
def tool(name: Any = None, *values: Any, **options: Any) -> Any:
    """Make the decorated function a tool (D-81).

    Use ``@tool`` or ``@tool("name", permissions="network")``, with the arguments of ``make_tool``. The tool can be
    called like the function.
    """
    if callable(name):
        return make_tool(name)
    return lambda func: make_tool(func, name, *values, **options)
