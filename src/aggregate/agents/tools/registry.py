"""Registries and calls of tools (D-80 to D-86, P4).

A call converts its arguments to the declared types. It ends within its timeout with plain data or a failure, whatever
the tool does.
"""

import asyncio
import hashlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from aggregate.agents.tools.tool import Function, Permission, Tool, ToolContext, granted, make_tool
from aggregate.base.concurrency import result_within, run_in_thread
from aggregate.base.disk.programs import TOOL_MODULES
from aggregate.base.disk.reading import open_regular
from aggregate.base.errors import AggregateError, ToolError
from aggregate.base.json_forms import JsonCopy, failure_text
from aggregate.base.messages import shorten

_MEGABYTE: Final = 1_000_000
MOST_MEGABYTES: Final = 5  # of one output as JSON (rule D-10)
MOST_ITEMS: Final = 1_000_000  # of a generator, which may have no end
SECONDS: Final = 60.0  # of one call: ten hanging calls fit into the time of a goal


@dataclass(slots=True)
class ToolRegistry:
    """Tools by name, and the permissions granted to them."""

    permissions: frozenset[Permission] = frozenset({Permission.READ})
    seconds: float = SECONDS  # wall time of one call
    _tools: dict[str, Tool] = field(default_factory=dict)
    _aliases: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        tools: "ToolRegistry | Iterable[Tool | Function]",
        *,
        permissions: Iterable[str] = "read",
    ) -> "ToolRegistry":
        """Return ``tools`` if it is a registry, else a registry of these tools and functions."""
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
        parameters: Mapping[str, str] | None = None,
        returns: str | None = None,
        permissions: str | Iterable[str] | None = None,
        *,
        replace: bool = False,
    ) -> Tool:
        """Add a function as a tool.

        See ``make_tool`` for the arguments.

        Raises:
            ToolError: The name is invalid, or in use and ``replace`` is false.
        """
        tool = make_tool(func, name, description, parameters, returns, permissions)
        return self.add(tool, replace=replace)

    register_tool = register

    def add(self, tool: Tool, *, replace: bool = False) -> Tool:
        if not replace and tool.name in self:
            raise ToolError(
                f"Tool already registered: {tool.name}; take another name, or replace=True"
            )
        self._aliases.pop(tool.name, None)
        self._tools[tool.name] = tool
        return tool

    def add_methods(self, owner: object, permissions: str = "read") -> None:
        """Add an object's public methods as tools, in their order."""
        for name in vars(type(owner)):
            if not name.startswith("_") and callable(method := getattr(owner, name)):
                self.add(make_tool(method, permissions=permissions))

    def alias(self, alias: str, name: str) -> None:
        """Add an alias for a tool, hidden from models."""
        if alias in self:
            raise ToolError(f"Tool already registered: {alias}; an alias needs a new name")
        self._aliases[alias] = self.get(name).name

    def discover(self, folder: str | Path, *, replace: bool = False) -> tuple[Tool, ...]:
        """Run a folder's Python files; add and return their tools.

        Raises:
            ToolError: A file cannot be run, or a name is in use and ``replace`` is false.
        """
        if not Path(folder).is_dir():
            raise ToolError(f"no such folder of tools: {folder}")
        added: list[Tool] = []
        for path in sorted(Path(folder).glob("[!_]*.py")):
            module = _load_module(path)
            tools = [value for value in vars(module).values() if isinstance(value, Tool)]
            # An imported tool of a neighbour belongs to the neighbour.
            tools = [tool for tool in tools if tool.func.__module__ == module.__name__]
            added += [self.add(tool, replace=replace) for tool in tools]
        return tuple(added)

    def get(self, name: str) -> Tool:
        """Return a tool by name or alias, or raise a ``ToolError`` (D-85)."""
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

        A refused or failed call returns ``{"success": False, "error", "retry", "hint"?}``.

        Args:
            name: The tool's name or alias.
            arguments: A model's arguments, see ``checked_arguments``.
            context: Passed to tools with a parameter for it.
            seconds: Wall time, if less than the registry's limit.

        Raises:
            ToolError: There is no such tool.
        """
        tool = self.get(name)
        if lacking := tool.permissions - self.permissions:
            names = " and ".join(sorted(lacking))
            error = f"{tool.name} needs the permission {names}, which is not granted"
            return failure_envelope(error, retry=False)
        try:
            checked = checked_arguments(tool, arguments)
        except ToolError as error:
            return failure_envelope(str(error), retry=True)
        most = self.seconds if seconds is None else min(seconds, self.seconds)
        if tool.context:
            checked[tool.context] = context or ToolContext(seconds=most)
        return _call(tool, checked, max(most, 0.001))

    def only(self, names: Iterable[str]) -> "ToolRegistry":
        """Return a registry of the named tools, with the same permissions and limits."""
        chosen = ToolRegistry(self.permissions, self.seconds)
        for name in dict.fromkeys(names):
            chosen.add(self.get(name), replace=True)
        return chosen

    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools' schemas in order of registration."""
        return [tool.schema() for tool in self]

    def spellings(self) -> dict[str, Tool]:
        """Return the tools by name and alias."""
        aliases = {alias: self._tools[name] for alias, name in self._aliases.items()}
        return {**self._tools, **aliases}

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names in order of registration, without aliases."""
        return tuple(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(tuple(self._tools.values()))

    def __contains__(self, name: object) -> bool:
        return name in self._tools or name in self._aliases

    def __len__(self) -> int:
        return len(self._tools)


def discover_tools(folder: str | Path, *, permissions: Iterable[str] = "read") -> ToolRegistry:
    """Return a registry of the tools in a folder (D-81)."""
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
        raise ToolError(f"{path}: it is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # type hints are looked up there
    try:
        spec.loader.exec_module(module)
    # The file is the user's: whatever it raises is theirs to see.
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ToolError(f"{path}: it cannot be run: {type(error).__name__}: {error}") from error
    return module


# One call


def checked_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Convert arguments to their declared types; drop ``None`` and undeclared ones (P4)."""
    values = {name: value for name, value in arguments.items() if value is not None}
    missing = [f"'{item.name}'" for item in tool.required if item.name not in values]
    if missing:
        names = ", ".join(missing)
        raise ToolError(f"missing {len(missing)} required argument(s) of {tool.name}: {names}")
    checked: dict[str, Any] = {}
    for parameter in tool.parameters:
        if parameter.name in values:
            value = values[parameter.name]
            try:
                checked[parameter.name] = parameter.cast(value)
            except ValueError:
                reason = f"must be {parameter.type}, not {value!r:.80}"
                raise ToolError(f"{parameter.name} {reason}") from None
    return checked


def failure_envelope(error: str, *, retry: bool, hint: str | None = None) -> dict[str, Any]:
    envelope: dict[str, Any] = {"success": False, "error": error, "retry": retry}
    return {**envelope, "hint": hint} if hint else envelope


def _call(tool: Tool, arguments: Mapping[str, Any], seconds: float) -> Any:  # noqa: ANN401 - its output
    """Call a tool in a thread; after a timeout the thread continues."""
    call = run_in_thread(
        f"tool {tool.name}", lambda: _outcome(tool.name, lambda: tool.func(**arguments))
    )
    try:
        return result_within(call, seconds)
    except TimeoutError:
        error = f"{tool.name} did not answer within {seconds:g} s"
        return failure_envelope(error, retry=True, hint="Ask for less.")


def _outcome(name: str, action: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the tool returned
    """Return an action's value as plain data, or its failure."""
    try:
        value = action()
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
    except AggregateError as error:
        return failure_envelope(str(error), retry=isinstance(error, ToolError))
    except BaseException as error:  # noqa: BLE001 - whatever a tool raises, SystemExit too, becomes a failed result
        return failure_envelope(shorten(failure_text(error), 2000), retry=True)
    copying = JsonCopy(stored=True)

    def readable(part: Any) -> Any:  # noqa: ANN401 - what JSON does not know
        return list(islice(part, MOST_ITEMS)) if isinstance(part, Iterator) else copying.of(part)

    try:
        text = json.dumps(value, default=readable)
    except Exception as error:  # noqa: BLE001 - keys unknown to JSON, or a loop
        reason = shorten(failure_text(error), 200)
        sentence = f"{name} returned a value that JSON cannot represent: {reason}"
        return failure_envelope(sentence, retry=False)
    if len(text) > MOST_MEGABYTES * _MEGABYTE:
        size = f"{len(text) / _MEGABYTE:.1f} MB, the limit is {MOST_MEGABYTES} MB"
        hint = "Ask for fewer items or fields."
        return failure_envelope(f"{name} returned {size}", retry=True, hint=hint)
    return json.loads(text, parse_constant=lambda _: None)  # for NaN and infinities
