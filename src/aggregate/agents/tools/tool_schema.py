"""What a model is told of a function's parameters: from type hints and the docstring's ``Args:`` (rule D-82)."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from aggregate.agents.tools.tool_context import ToolContext

_SECTION: Final = re.compile(
    r"^(Args|Arguments|Parameters|Returns|Raises|Yields|Examples?|Notes?|Attributes):\s*$"
)
_ARGUMENT: Final = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool.

    Attributes:
        name: As the function spells it.
        type: Name of its type: ``int``, ``list``, ``int | str``; ``any`` where there is no hint.
        required: Whether a call must give it.
        default: What it is otherwise; counts only where it is not required.
        description: From the docstring, on one line.
    """

    name: str
    type: str = "any"
    required: bool = True
    default: Any = None
    description: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return ``{name, type, required}``, with ``default`` and ``description`` where there is one."""
        entry: dict[str, Any] = {"name": self.name, "type": self.type, "required": self.required}
        if not self.required and self.default is not None:
            entry["default"] = self.default
        return {**entry, "description": self.description} if self.description else entry


def parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters that a model may give; ``*args``, ``**options`` and the agent's context are none."""
    hints = _hints(function)
    descriptions = argument_texts(inspect.getdoc(function) or "")
    parameters = []
    for name, argument in inspect.signature(function).parameters.items():
        is_variadic = argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD)
        if is_variadic or hints.get(name) is ToolContext:
            continue
        required = argument.default is argument.empty
        default = None if required else argument.default
        description = descriptions.get(name, "")
        parameters.append(
            Parameter(name, hint_name(hints.get(name)), required, default, description)
        )
    return tuple(parameters)


def context_parameter(function: Callable[..., Any]) -> str | None:
    """Return the parameter that takes the agent's context: the one that is annotated with ``ToolContext``."""
    return next(
        (
            name
            for name, hint in _hints(function).items()
            if hint is ToolContext and name != "return"
        ),
        None,
    )


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the type hints; those of names that cannot be found stay as they are written."""
    try:
        return get_type_hints(function, include_extras=True)
    except Exception:  # noqa: BLE001 - a hint may be any expression, and a wrong one only costs the type's name
        return dict(getattr(function, "__annotations__", {}))


def hint_name(hint: Any) -> str:  # noqa: ANN401 - a hint may be anything
    """Return the name of a type hint, without what it holds."""
    if hint is None or hint is inspect.Parameter.empty or hint is Any:
        return "any"
    if isinstance(hint, str):
        return hint
    origin = get_origin(hint)
    if origin is Annotated:
        return hint_name(get_args(hint)[0])
    if origin is Literal:
        return " | ".join(map(repr, get_args(hint)))
    if origin in (Union, UnionType):
        return " | ".join(hint_name(member) for member in get_args(hint) if member is not NoneType)
    return getattr(origin or hint, "__name__", str(hint))


def argument_texts(doc: str) -> dict[str, str]:
    """Return the descriptions below ``Args:`` by the parameter's name; continuation lines are joined."""
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


def first_paragraph(doc: str) -> str:
    """Return what a docstring says before its first blank line or section, on one line."""
    lines: list[str] = []
    for line in doc.strip().splitlines():
        if not line.strip() or _SECTION.match(line.strip()):
            break
        lines.append(line.strip())
    return " ".join(lines)
