"""A tool: a function with a schema that is read from its signature and its docstring."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
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

from aggregate.base.errors import ToolError


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The agent's side of a call: a function gets it for the parameter that it annotates with this class."""

    data: Mapping[str, Any] = field(default_factory=dict)  # what earlier steps gave, by key
    cache_dir: Path = Path("state/data_cache")  # of the values behind references
    seconds: float = 10.0


EDITS: Final = ("replace_text", "write_file")  # the tools that only serve to change files
CHANGES: Final = (*EDITS, "run_command")  # the tools that need a work tree
_SECTION: Final = re.compile(
    r"^(Args|Arguments|Parameters|Returns|Raises|Yields|Examples?|Notes?|Attributes):\s*$"
)
_ARGUMENT: Final = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")


_JSON_TYPES: Final = {
    "int": "integer",
    "float": "number",
    "str": "string",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: str = "any"  # its name: ``int``, ``list``, ``int | str``; ``any`` where there is no hint
    required: bool = True
    default: Any = None  # counts only where it is not required
    description: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return ``{name, type, required}``, with ``default`` and ``description`` where there is one."""
        entry: dict[str, Any] = {"name": self.name, "type": self.type, "required": self.required}
        if not self.required and self.default is not None:
            entry["default"] = self.default
        return {**entry, "description": self.description} if self.description else entry

    @property
    def json_schema(self) -> dict[str, Any]:
        """Its JSON Schema, that of any value where its type is none that JSON has."""
        schema: dict[str, Any] = {}
        if kind := _JSON_TYPES.get(self.type):
            schema["type"] = kind
        elif literals := re.findall(r"'([^']*)'", self.type):
            schema = {"type": "string", "enum": literals}
        return schema | ({"description": self.description} if self.description else {})


def _signature(function: Callable[..., Any]) -> tuple[tuple[Parameter, ...], str | None, Any]:
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception:  # noqa: BLE001 - a hint may be any expression, and a wrong one only costs the type's name
        hints = dict(getattr(function, "__annotations__", {}))
    descriptions = _argument_texts(inspect.getdoc(function) or "")
    signature = inspect.signature(function)
    parameters, context = [], None
    for name, argument in signature.parameters.items():
        if hints.get(name) is ToolContext:
            context = name
        elif argument.kind not in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            required = argument.default is argument.empty
            default = None if required else argument.default
            description = descriptions.get(name, "")
            parameters.append(
                Parameter(name, _hint_name(hints.get(name)), required, default, description)
            )
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


def _argument_texts(doc: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    in_arguments = False
    argument_indent = 0
    name = ""
    for line in doc.splitlines():
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if _SECTION.match(text) and indent < 2:
            in_arguments = text in ("Args:", "Arguments:", "Parameters:")
            argument_indent = 0
            name = ""
        elif in_arguments and text:
            argument_indent = argument_indent or indent
            match = _ARGUMENT.fullmatch(text) if indent <= argument_indent else None
            if match:
                name = match.group(1)
                texts[name] = match.group(2)
            elif name:
                texts[name] = f"{texts[name]} {text}".strip()
    return texts


def _first_paragraph(doc: str) -> str:
    lines: list[str] = []
    for line in doc.strip().splitlines():
        if not line.strip() or _SECTION.match(line.strip()):
            break
        lines.append(line.strip())
    return " ".join(lines)


Function: TypeAlias = Callable[..., Any]
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


class Permission(StrEnum):
    """What a tool does to the world; a host grants each of them, or not."""

    READ = "read"
    WRITE = "write"
    NETWORK = "network"


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may have called.

    Calling a tool calls its function, unchecked; ``ToolRegistry.run`` checks arguments, permissions and limits.
    """

    name: str  # camelCase by custom
    func: Function
    description: str
    parameters: tuple[Parameter, ...]
    returns: str  # the name of a type
    permissions: frozenset[Permission]
    context: str | None = None  # the parameter that takes the agent's context
    idempotent: bool | None = None  # as for ``make_tool``
    is_declared: bool = True  # whether its author named its permissions

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - what the function takes and gives
        """Call the function itself."""
        return self.func(*args, **options)

    @property
    def required(self) -> tuple[Parameter, ...]:
        """The parameters that a call must give."""
        return tuple(parameter for parameter in self.parameters if parameter.required)

    @property
    def repeatable(self) -> bool:
        """Whether a call that was interrupted may be made again; what only reads may, unless it says otherwise."""
        if self.idempotent is not None:
            return self.idempotent
        return self.permissions == {Permission.READ}

    @property
    def reads(self) -> bool:
        """Whether its author declares that it reads, or that a second call does no more than the first."""
        if self.idempotent is not None:
            return self.idempotent
        return self.is_declared and self.permissions == {Permission.READ}

    @property
    def writes(self) -> bool:
        """Whether it may change anything, so that it is called alone."""
        return Permission.WRITE in self.permissions

    def schema(self) -> dict[str, Any]:
        """Return ``{name, description, parameters, returns, permissions}`` (rule D-83)."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": [parameter.as_dict() for parameter in self.parameters],
            "returns": self.returns,
            "permissions": ", ".join(sorted(self.permissions)),
        }


ParameterTexts: TypeAlias = Sequence[Parameter | Mapping[str, Any]] | Mapping[str, str]


def make_tool(
    func: Function,
    name: str | None = None,
    description: str | None = None,
    parameters: ParameterTexts | None = None,
    returns: str | None = None,
    permissions: str | Iterable[str] | None = None,
    idempotent: bool | None = None,
) -> Tool:
    """Return ``func`` as a tool; what is not given is taken from its name, docstring and type hints.

    Args:
        func: A function, coroutine function or callable object.
        name: By default the function's name.
        description: By default the docstring's first paragraph.
        parameters: By default inferred; descriptions by name, or whole entries ``{name, type, required, ...}``.
        returns: By default the name of the return hint.
        permissions: ``read`` (default), ``write``, ``network``, or several of them.
        idempotent: Whether calling it twice does no more than calling it once; by default of what only reads.

    Raises:
        ToolError: The name or a permission is none, or the function has no signature.
    """
    tool_name: str = name or str(getattr(func, "__name__", type(func).__name__))
    if not _NAME.fullmatch(tool_name):
        raise ToolError(f'"{tool_name}" cannot name a tool: take letters, digits and _, at most 64')
    try:
        inferred, context, hint = _signature(func)
    except (TypeError, ValueError) as error:
        raise ToolError(
            f"{tool_name} cannot become a tool: its signature cannot be read ({error})"
        ) from None
    return Tool(
        tool_name,
        func,
        description or _first_paragraph(inspect.getdoc(func) or "") or tool_name,
        _described(inferred, parameters),
        returns or _hint_name(hint),
        granted(permissions or Permission.READ),
        context,
        idempotent,
        permissions is not None,
    )


def granted(permissions: str | Iterable[str]) -> frozenset[Permission]:
    names = [permissions] if isinstance(permissions, str) else list(permissions)
    try:
        return frozenset(Permission(part.strip()) for name in names for part in name.split(","))
    except ValueError as error:
        raise ToolError(f"{error}: permissions are read, write and network") from None


def _described(
    inferred: tuple[Parameter, ...], texts: ParameterTexts | None
) -> tuple[Parameter, ...]:
    if texts is None:
        return inferred
    if isinstance(texts, Mapping):
        return tuple(
            replace(parameter, description=str(texts.get(parameter.name, parameter.description)))
            for parameter in inferred
        )
    try:
        return tuple(
            entry if isinstance(entry, Parameter) else Parameter(**entry) for entry in texts
        )
    except TypeError as error:
        raise ToolError(
            f"a parameter cannot be read: {error}; give name, type, required, default, description"
        ) from None


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(
    name: str | None = None,
    description: str | None = None,
    parameters: ParameterTexts | None = None,
    returns: str | None = None,
    permissions: str | Iterable[str] | None = None,
    idempotent: bool | None = None,
) -> Callable[[Function], Tool]: ...
def tool(name: Any = None, *values: Any, **options: Any) -> Any:
    """Make the decorated function a tool: ``@tool``, or ``@tool("name", permissions="network")`` (rule D-81).

    The arguments are those of ``make_tool``. The decorated name becomes the tool, which can be called as before.
    """
    if callable(name):
        return make_tool(name)
    return lambda func: make_tool(func, name, *values, **options)
