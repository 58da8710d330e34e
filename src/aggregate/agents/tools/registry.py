"""The tools that a goal, a server or a worker may use, by name, also those in a folder (rules D-80 to D-86)."""

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from aggregate.agents.tools.calls import (
    CallLimits,
    call_with_limits,
    checked_arguments,
    failure_envelope,
)
from aggregate.agents.tools.tool import (
    Function,
    ParameterTexts,
    Permission,
    Tool,
    ToolContext,
    granted,
    make_tool,
)
from aggregate.base.disk import TOOL_MODULES, open_regular
from aggregate.base.errors import ToolError


@dataclass(slots=True)
class ToolRegistry:
    """Tools by name, and what they are allowed to do.

    Attributes:
        permissions: What is granted; a tool that needs more is refused, not run. By default reading alone.
        limits: What one call may take.
    """

    permissions: frozenset[Permission] = frozenset({Permission.READ})
    limits: CallLimits = field(default_factory=CallLimits)
    _tools: dict[str, Tool] = field(default_factory=dict)
    _aliases: dict[str, str] = field(default_factory=dict)
    _abandoned: set[Future[Any]] = field(default_factory=set)

    @classmethod
    def of(
        cls,
        tools: "ToolRegistry | Iterable[Tool | Function]",
        *,
        permissions: Iterable[str] = "read",
    ) -> "ToolRegistry":
        """Return a registry of ``tools``; a registry is returned as it is, functions become tools."""
        if isinstance(tools, ToolRegistry):
            return tools
        registry = cls(granted(permissions))
        for entry in tools:
            registry.add(entry if isinstance(entry, Tool) else make_tool(entry))
        return registry

    def register(
        self,
        name: str,
        func: Function,
        description: str | None = None,
        parameters: ParameterTexts | None = None,
        returns: str | None = None,
        permissions: str | Iterable[str] = Permission.READ,
        *,
        replace: bool = False,
    ) -> Tool:
        """Add ``func`` under ``name`` and return the tool; see ``make_tool`` for what is inferred.

        Raises:
            ToolError: The name is taken and ``replace`` is false, or it is no name.
        """
        made = make_tool(func, name, description, parameters, returns, permissions)
        return self.add(made, replace=replace)

    register_tool = register

    def add(self, tool: Tool, *, replace: bool = False) -> Tool:
        """Add a finished tool."""
        if not replace and tool.name in self:
            raise ToolError(
                f"Tool already registered: {tool.name}; take another name, or replace=True"
            )
        self._aliases.pop(tool.name, None)
        self._tools[tool.name] = tool
        return tool

    def alias(self, other: str, name: str) -> None:
        """Let ``other`` stand for the tool ``name``; models are told of ``name`` only."""
        if other in self:
            raise ToolError(f"Tool already registered: {other}; an alias needs a new name")
        self._aliases[other] = self.get(name).name

    def discover(self, folder: str | Path, *, replace: bool = False) -> tuple[Tool, ...]:
        """Add every tool in the Python files of ``folder``, which run for it, and return them.

        Raises:
            ToolError: A file cannot be run, or a name is taken and ``replace`` is false.
        """
        if not Path(folder).is_dir():
            raise ToolError(f"{folder}: there is no such folder of tools")
        added: list[Tool] = []
        for path in sorted(Path(folder).glob("[!_]*.py")):
            module = _load_module(path)
            tools = [value for value in vars(module).values() if isinstance(value, Tool)]
            # A tool that a file imports from a neighbour belongs to the neighbour.
            own = [each for each in tools if each.func.__module__ == module.__name__]
            added += [self.add(each, replace=replace) for each in own]
        return tuple(added)

    def get(self, name: str) -> Tool:
        """Return a tool by its name or an alias.

        Raises:
            ToolError: There is none; it is also a ``ValueError`` (rule D-85).
        """
        tool = self._tools.get(self._aliases.get(name, name))
        if tool is None:
            raise ToolError(f"Tool not found: {name}")
        return tool

    def run(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        context: ToolContext | None = None,
        seconds: float | None = None,
    ) -> Any:  # noqa: ANN401 - what the tool returned
        """Run a tool and return its output as plain data.

        Args:
            name: The tool.
            arguments: What a model gave: undeclared ones and ``None`` are dropped, simple types are cast.
            context: For tools that ask for it.
            seconds: Wall time, where it is less than the registry's limit.

        Returns:
            The output, or ``{"success": False, "error", "retry", "hint"?}`` for a refused or failed call.

        Raises:
            ToolError: There is no such tool.
        """
        tool = self.get(name)
        lacking = tool.permissions - self.permissions
        if lacking:
            names = " and ".join(sorted(lacking))
            return failure_envelope(
                f"{tool.name} needs the permission {names}, which is not granted", retry=False
            )
        try:
            checked = checked_arguments(tool, arguments)
        except ToolError as error:
            return failure_envelope(str(error), retry=True)
        limits = self.limits
        if seconds is not None:
            limits = CallLimits(min(seconds, limits.seconds), limits.megabytes)
        if tool.context:
            checked[tool.context] = context or ToolContext(seconds=limits.seconds)
        return call_with_limits(tool.name, lambda: tool.func(**checked), limits, self._abandoned)

    def only(self, names: Iterable[str]) -> "ToolRegistry":
        """Return a registry of these tools, with the same permissions and limits."""
        chosen = ToolRegistry(self.permissions, self.limits)
        for name in dict.fromkeys(names):
            chosen.add(self.get(name), replace=True)
        return chosen

    def schemas(self) -> list[dict[str, Any]]:
        """Return what a model is told, in order of registration."""
        return [tool.schema() for tool in self]

    def spellings(self) -> dict[str, Tool]:
        """Return every name that stands for a tool, aliases too."""
        aliases = {alias: self._tools[name] for alias, name in self._aliases.items()}
        return {**self._tools, **aliases}

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order of registration, without aliases."""
        return tuple(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(tuple(self._tools.values()))

    def __contains__(self, name: object) -> bool:
        return name in self._tools or name in self._aliases

    def __len__(self) -> int:
        return len(self._tools)


def discover_tools(folder: str | Path, *, permissions: Iterable[str] = "read") -> ToolRegistry:
    """Return a registry of the tools in the Python files of ``folder`` (rule D-81)."""
    registry = ToolRegistry(granted(permissions))
    registry.discover(folder)
    return registry


def _load_module(path: Path) -> ModuleType:
    try:
        os.close(open_regular(path)[0])
    except OSError as error:
        raise ToolError(f"{path}: it cannot be run: {error.strerror or error}") from None
    full_path = str(path.resolve()).encode("utf-8", "surrogateescape")
    digest = hashlib.md5(full_path, usedforsecurity=False).hexdigest()
    name = f"{TOOL_MODULES}{digest[:12]}_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ToolError(f"{path}: it is no Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # type hints are looked up there
    try:
        spec.loader.exec_module(module)
    # The file is the user's: whatever it raises is theirs to see.
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ToolError(f"{path}: it cannot be run: {type(error).__name__}: {error}") from error
    return module
