"""Compile the results of tools into one report: routed by their metadata, nothing overwritten, nothing left out."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from threading import Lock
from typing import Any, Final

from aggregate.base.errors import CompilerError
from aggregate.base.text import shorten
from aggregate.base.values import (
    CompilationContext,
    Value,
    behaves_as,
    entries,
    failure_text,
    free_key,
    isolated_copy,
    jsonable,
    message_text,
    type_name,
    unawaited,
)

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


GENERAL: Final = "general_results"
UNPROCESSED: Final = "unprocessed_results"
REPORT: Final = "analysis_metadata"
SHOWN_CHARACTERS: Final = 100
"""Characters of a wrong value that a warning repeats."""
RESERVED: Final = (REPORT, INFRASTRUCTURE, GENERAL, UNPROCESSED)

ToolResults = Mapping[str, Value] | Sequence[tuple[str, Value]]
"""Results by tool name, or pairs in the order of execution where a tool may have run more than once."""


@dataclass(slots=True)
class _Report:
    """A report under construction: sections, and what the metadata will say."""

    sections: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    output_keys: dict[str, list[str]] = field(default_factory=dict)

    def add(self, section: str, pairs: Iterable[tuple[str, Value]], tool: str) -> None:
        """Put entries into a section; a key that is taken gets ``__<tool>``, then a number (rule R-X3)."""
        present = self.sections.setdefault(section, {})
        for key, value in pairs:
            present[free_tool_key(present, key, tool)] = value


class MetadataBasedResultCompiler:
    """Routes each result to the compiler that takes its ``_tool_metadata`` (rule R-4).

    Compilers may be registered from any thread; a report is compiled with those that are there when it begins.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._compilers = built_in()

    def register_compiler(self, compiler: ResultCompiler) -> None:
        """Add a compiler; the last one registered is asked first (rule R-X4).

        Raises:
            CompilerError: Its section has no usable name, or the name is one that the report uses itself (rule R-X11).
        """
        section = compiler.output_section
        if not str(section or "").strip():
            raise CompilerError(f"{type(compiler).__name__}: output_section must be a name")
        if section in RESERVED:
            raise CompilerError(
                f"{type(compiler).__name__}: {section} is the report's own: choose another section"
            )
        with self._lock:
            self._compilers = (compiler, *self._compilers)

    def compile_results(
        self, tool_results: ToolResults, context: CompilationContext
    ) -> dict[str, Any]:
        """Return the report: one section for each category, and ``analysis_metadata``.

        Results are compiled by ascending ``priority`` (1 first, none last, ties in their order); on a collision the
        first keeps the plain key. What no compiler takes stands in ``general_results``, what cannot be compiled in
        ``unprocessed_results`` with the reason among the warnings. ``tool_results`` is not changed, and the report
        shares nothing with it.
        """
        pairs = (
            list(tool_results.items()) if isinstance(tool_results, Mapping) else list(tool_results)
        )
        copies = [(message_text(tool), _own_copy(result)) for tool, result in pairs]
        report, compilers = _Report(), self._compilers
        for tool, result in sorted(copies, key=_priority):
            _compile_into(report, tool, result, compilers, context)
        compiled = {
            name: section for name, section in report.sections.items() if name not in RESERVED
        }
        for name in (GENERAL, UNPROCESSED):
            if name in report.sections:
                compiled[name] = report.sections[name]
        return {**compiled, REPORT: _metadata(report, context, [tool for tool, _ in copies])}


def _own_copy(result: Value) -> Value:
    """Return a copy of a result; what only behaves as a dictionary is read once, so that it cannot change its mind."""
    copy = isolated_copy(result)
    if type(result) is not dict and issubclass(type(result), dict):
        return dict(dict.items(copy))
    return copy


def _priority(pair: tuple[str, Value]) -> float:
    """Return the declared priority; results without a usable one come last (rule R-X1)."""
    value = jsonable(_metadata_of(pair[1]).get("priority"))
    if isinstance(value, bool) or not isinstance(value, int | float) or not -inf < value < inf:
        return inf
    return value


def _metadata_of(result: Value) -> dict[str, Any]:
    metadata: Value = result.get(METADATA_KEY) if issubclass(type(result), dict) else None
    return dict(dict.items(metadata)) if issubclass(type(metadata), dict) else {}


def _compile_into(
    report: _Report,
    tool: str,
    result: Value,
    compilers: Sequence[ResultCompiler],
    context: CompilationContext,
) -> None:
    """Put one result where it belongs; whatever a compiler does, the result is kept."""
    if not issubclass(type(result), dict):
        reason = unawaited(result) or f"the result is a {type_name(result)}, not an object"
        report.add(UNPROCESSED, [(tool, result)], tool)
        report.warnings.append(f"{tool}: {reason}")
        return
    _check_promises(report, tool, result)
    compiler = _compiler_for(report, tool, result, compilers)
    if compiler is None:
        report.add(GENERAL, [(tool, result)], tool)
        return
    try:
        compiled = compiler.compile(tool, isolated_copy(result), context)
        section = compiler.output_section
        if section in RESERVED and not isinstance(compiler, CategoryCompiler):
            raise CompilerError(f"{section} is the report's own section")
        if not behaves_as(compiled, Mapping):
            raise TypeError(f"compile() gave a {type_name(compiled)}, not an object")
        compiled_entries = [(message_text(key), value) for key, value in entries(compiled)]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a broken compiler must not lose the result, nor end the program
        report.add(UNPROCESSED, [(tool, result)], tool)
        report.warnings.append(f"{tool}: {type_name(compiler)} failed: {message_text(error)}")
        return
    report.add(section, compiled_entries, tool)


def _compiler_for(
    report: _Report, tool: str, result: dict[str, Any], compilers: Sequence[ResultCompiler]
) -> ResultCompiler | None:
    """Return the first compiler that takes the result; without a category none is asked (rule R-13).

    ``_tool_metadata`` that holds a tool's name and parameters, as other systems write it, has no category.
    """
    metadata = _metadata_of(result)
    if not jsonable(metadata.get("category")):
        return None
    for compiler in compilers:
        try:
            if compiler.can_compile(tool, isolated_copy(metadata)):
                return compiler
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the next compiler may take it
            report.warnings.append(
                f"{tool}: {type_name(compiler)}.can_compile failed: {message_text(error)}"
            )
    return None


def _check_promises(report: _Report, tool: str, result: dict[str, Any]) -> None:
    metadata = _metadata_of(result)
    priority = metadata.get("priority")
    if priority is not None and _priority((tool, result)) == inf:
        text = repr(priority) if type(priority) is str else message_text(priority)
        report.warnings.append(
            f"{tool}: priority {shorten(text, SHOWN_CHARACTERS)} is not a number"
        )
    promised = jsonable(metadata.get("output_keys"))
    if isinstance(promised, list):
        report.output_keys[free_tool_key(report.output_keys, tool, tool)] = promised
        present = {message_text(key) for key in result}
        missing = [name for name in map(message_text, promised) if name not in present]
        if missing:
            report.warnings.append(f"{tool}: promised but not there: {', '.join(missing)}")
    elif promised is not None:
        report.warnings.append(f"{tool}: output_keys is a {type_name(promised)}, not a list")
    error = jsonable(result.get("error"))
    if result.get("success") is False or error:
        report.errors.append(f"{tool} failed: {failure_text(error or None)}")


def _metadata(report: _Report, context: CompilationContext, tools: list[str]) -> dict[str, Any]:
    optional = {
        "infrastructure": report.sections.get(INFRASTRUCTURE),
        "output_keys": report.output_keys,
        "errors": report.errors,
        "warnings": report.warnings,
    }
    return {
        "analysis_type": context.analysis_type,
        "user_prompt": context.user_prompt,
        "tools_executed": len(tools),
        "tools_used": list(context.tools_executed) or tools,
        "timestamp": utc_text(context.timestamp),
        **{key: value for key, value in optional.items() if value},
    }


result_compiler: Final = MetadataBasedResultCompiler()
"""The process's compiler: register compilers of your own here."""


def register_compiler(compiler: ResultCompiler) -> None:
    """Add a compiler to ``result_compiler``."""
    result_compiler.register_compiler(compiler)


def compile_results(tool_results: ToolResults, context: CompilationContext) -> dict[str, Any]:
    """Compile with ``result_compiler``."""
    return result_compiler.compile_results(tool_results, context)
