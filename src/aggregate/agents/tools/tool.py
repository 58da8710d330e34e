"""A tool: a function with what a model must know to call it (rules D-80 to D-84)."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, TypeAlias, overload

from aggregate.agents.tools.tool_schema import (
    Parameter,
    context_parameter,
    first_paragraph,
    hint_name,
    parameters_of,
)
from aggregate.base.errors import ToolError

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

    Attributes:
        name: What the model calls it by; camelCase by custom.
        func: The function.
        description: What it does, in one sentence.
        parameters: What it takes.
        returns: Name of the type that it returns.
        permissions: What must be granted to run it.
        context: The parameter that takes the agent's context, or ``None``.
        idempotent: Whether calling it twice does no more than calling it once; ``None`` where nobody has said.
    """

    name: str
    func: Function
    description: str
    parameters: tuple[Parameter, ...]
    returns: str
    permissions: frozenset[Permission]
    context: str | None = None
    idempotent: bool | None = None

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
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: ParameterTexts | None = None,
    returns: str | None = None,
    permissions: str | Iterable[str] = Permission.READ,
    idempotent: bool | None = None,
) -> Tool:
    """Return ``func`` as a tool; what is not given is taken from its name, docstring and type hints.

    Args:
        func: A function, coroutine function or callable object.
        name: By default the function's name.
        description: By default the docstring's first paragraph.
        parameters: By default inferred; descriptions by name, or whole entries ``{name, type, required, ...}``.
        returns: By default the name of the return hint.
        permissions: ``read``, ``write``, ``network``, or several of them.
        idempotent: Whether calling it twice does no more than calling it once; by default of what only reads.

    Raises:
        ToolError: The name or a permission is none, or the function has no signature.
    """
    tool_name: str = name or str(getattr(func, "__name__", type(func).__name__))
    if not _NAME.fullmatch(tool_name):
        raise ToolError(f'"{tool_name}" cannot name a tool: take letters, digits and _, at most 64')
    try:
        inferred = parameters_of(func)
        context = context_parameter(func)
        hint = inspect.signature(func).return_annotation
    except (TypeError, ValueError) as error:
        raise ToolError(
            f"{tool_name} cannot become a tool: its signature cannot be read ({error})"
        ) from None
    return Tool(
        tool_name,
        func,
        description or first_paragraph(inspect.getdoc(func) or "") or tool_name,
        _described(inferred, parameters),
        returns or hint_name(hint),
        granted(permissions),
        context,
        idempotent,
    )


def granted(permissions: str | Iterable[str]) -> frozenset[Permission]:
    """Return permissions by their names.

    Raises:
        ToolError: A name is none of them.
    """
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
    permissions: str | Iterable[str] = Permission.READ,
    idempotent: bool | None = None,
) -> Callable[[Function], Tool]: ...
def tool(
    name: str | Function | None = None,
    description: str | None = None,
    parameters: ParameterTexts | None = None,
    returns: str | None = None,
    permissions: str | Iterable[str] = Permission.READ,
    idempotent: bool | None = None,
) -> Tool | Callable[[Function], Tool]:
    """Make the decorated function a tool: ``@tool``, or ``@tool("name", permissions="network")`` (rule D-81).

    The arguments are those of ``make_tool``. The decorated name becomes the tool, which can be called as before.
    """
    if callable(name):
        return make_tool(name)

    return partial(
        make_tool,
        name=name,
        description=description,
        parameters=parameters,
        returns=returns,
        permissions=permissions,
        idempotent=idempotent,
    )
