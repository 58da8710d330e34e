"""The interface of a result compiler, and the built-in ones: one row of a table for each category."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from aggregate.base.values import CompilationContext, Value, free_key

METADATA_KEY: Final = "_tool_metadata"
INFRASTRUCTURE: Final = "analysis_metadata.infrastructure"
"""The one section inside another: kept for the built-in compiler of the category ``infrastructure``."""

Compiled = dict[str, Value]


class ResultCompiler(ABC):
    """Turns the results of one category of tools into a section of the report (rule R-2)."""

    @abstractmethod
    def can_compile(self, tool_name: str, metadata: dict[str, Any]) -> bool:
        """Return whether this compiler takes the result with this ``_tool_metadata``."""

    @abstractmethod
    def compile(
        self, tool_name: str, result: dict[str, Any], context: CompilationContext
    ) -> dict[str, Any]:
        """Return what goes into the section; ``result`` is a copy of the tool's own."""

    @property
    @abstractmethod
    def output_section(self) -> str:
        """The name of the section."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a row of the table knows: the tool, its result and type, and the context."""

    name: str
    result: Compiled
    result_type: str
    context: CompilationContext

    @property
    def time(self) -> str:
        """The analysis's time."""
        return utc_text(self.context.timestamp)


class CategoryCompiler(ResultCompiler):
    """Compiles the results of some categories by one pure function."""

    def __init__(
        self, categories: tuple[str, ...], section: str, shape: Callable[[ToolOutput], Compiled]
    ) -> None:
        self._categories = categories
        self._section = section
        self._shape = shape

    def can_compile(self, tool_name: str, metadata: dict[str, Any]) -> bool:
        """Return whether the metadata's category is one of this compiler's."""
        return metadata.get("category") in self._categories

    def compile(
        self, tool_name: str, result: dict[str, Any], context: CompilationContext
    ) -> dict[str, Any]:
        """Return the section's keys for one result."""
        return self._shape(ToolOutput(tool_name, result, result_type(result), context))

    @property
    def output_section(self) -> str:
        """The name of the section."""
        return self._section


def result_type(result: Mapping[str, Any]) -> str:
    """Return the declared type of a result, ``unknown`` where it has none (rule R-13)."""
    metadata = result.get(METADATA_KEY)
    declared = metadata.get("result_type") if isinstance(metadata, Mapping) else None
    return declared if isinstance(declared, str) and declared else "unknown"


def utc_text(moment: datetime) -> str:
    """Return ``moment`` in UTC with ``Z``; a naive one is taken as UTC (rule R-X5)."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.isoformat().replace("+00:00", "Z")


ANALYSIS_KEYS: Final[Mapping[str, tuple[str, str]]] = {
    "exploration": ("file_structure", "exploration_tool"),
    "language_detection": ("language_analysis", "detection_tool"),
    "dependency_analysis": ("dependencies", "analysis_tool"),
    "architecture_analysis": ("architecture", "analysis_tool"),
}
"""Rule R-6; any other type takes its own name and ``tool``."""


def _analysis(tool: ToolOutput) -> Compiled:
    data, by = ANALYSIS_KEYS.get(tool.result_type, (tool.result_type, "tool"))
    return _beside(tool, data, {by: tool.name})


def _security(tool: ToolOutput) -> Compiled:
    return _beside(tool, tool.result_type, {"scanner_tool": tool.name, "scan_timestamp": tool.time})


def _beside(tool: ToolOutput, key: str, facts: Mapping[str, Value]) -> Compiled:
    """Return the result under ``key`` and facts beside it; a type called as a fact is keeps its key (rule R-X3)."""
    compiled: Compiled = {key: tool.result}
    for fact, value in facts.items():
        compiled[free_tool_key(compiled, fact, tool.name)] = value
    return compiled


def free_tool_key(taken: Mapping[str, Value], key: str, tool: str) -> str:
    """Return ``key``, or where it is taken ``key__<tool>``, or that with the first number that is free."""
    if key not in taken or key == tool:
        return free_key(taken, key, separator="__")
    return free_key(taken, f"{key}__{tool}", separator="__")


def _performance(tool: ToolOutput) -> Compiled:
    return {
        f"{tool.result_type}_metrics": tool.result,
        "performance_tool": tool.name,
        "analysis_timestamp": tool.time,
        "benchmark_context": tool.context.user_prompt,
    }


def built_in() -> tuple[ResultCompiler, ...]:
    """Return the compilers of the categories that are known from the start (rules R-5 to R-10)."""
    return (
        CategoryCompiler(
            ("infrastructure",), INFRASTRUCTURE, lambda tool: {tool.name: tool.result}
        ),
        CategoryCompiler(("analysis", "codebase"), "repository_analysis", _analysis),
        CategoryCompiler(("security",), "security_analysis", _security),
        CategoryCompiler(
            ("git_operations",),
            "git_operations",
            lambda tool: {"operation": tool.name, "result": tool.result, "timestamp": tool.time},
        ),
        CategoryCompiler(("reporting",), "summary", lambda tool: tool.result),
        CategoryCompiler(("performance",), "performance_analysis", _performance),
    )
