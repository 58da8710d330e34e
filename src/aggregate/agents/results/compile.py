"""Compile the results of tools into one report, without loss."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from threading import Lock
from typing import Any, Final

from aggregate.base.errors import CompilerError
from aggregate.base.json_forms import failure_text, free_key, jsonable, message_text, type_name
from aggregate.base.messages import shorten
from aggregate.base.values import Value, isolated_copy, unawaited

METADATA_KEY: Final = "_tool_metadata"
# The only nested section, for the category infrastructure
INFRASTRUCTURE: Final = "analysis_metadata.infrastructure"
GENERAL: Final = "general_results"
UNPROCESSED: Final = "unprocessed_results"
REPORT: Final = "analysis_metadata"
RESERVED: Final = (REPORT, INFRASTRUCTURE, GENERAL, UNPROCESSED)
SHOWN_CHARACTERS: Final = 100  # of a wrong value in a warning

Compiled = dict[str, Value]
# Results by tool name, or pairs in execution order if a tool ran more than once
ToolResults = Mapping[str, Value] | Sequence[tuple[str, Value]]


@dataclass(frozen=True, slots=True)
class CompilationContext:
    """The request and executed tools behind a report (rule R-3)."""

    user_prompt: str
    tools_executed: list[str]  # names in execution order
    timestamp: datetime  # of the analysis; a naive time is UTC
    analysis_type: str = "ai_orchestrated"


class ResultCompiler(ABC):
    """Makes one section of a report from the results of one category of tools (R-2)."""

    @abstractmethod
    def can_compile(self, tool_name: str, metadata: dict[str, Any]) -> bool:
        """Return whether this compiler handles results with this ``_tool_metadata``."""

    @abstractmethod
    def compile(
        self, tool_name: str, result: dict[str, Any], context: CompilationContext
    ) -> dict[str, Any]:
        """Return the entries that a result adds to the section; ``result`` is a copy."""

    @property
    @abstractmethod
    def output_section(self) -> str:
        """The name of the report's section."""


# Rule R-6; any other type takes its own name and "tool"
ANALYSIS_KEYS: Final[Mapping[str, tuple[str, str]]] = {
    "exploration": ("file_structure", "exploration_tool"),
    "language_detection": ("language_analysis", "detection_tool"),
    "dependency_analysis": ("dependencies", "analysis_tool"),
    "architecture_analysis": ("architecture", "analysis_tool"),
}
# Sections of the built-in categories (rule R-5)
SECTIONS: Final[Mapping[str, str]] = {
    "infrastructure": INFRASTRUCTURE,
    "analysis": "repository_analysis",
    "codebase": "repository_analysis",
    "security": "security_analysis",
    "git_operations": "git_operations",
    "reporting": "summary",
    "performance": "performance_analysis",
}


def _section_entries(
    section: str, tool: str, result: Compiled, context: CompilationContext
) -> Compiled:
    """Return the entries that a result adds to a built-in section (R-6 to R-10, R-13)."""
    declared = _metadata_of(result).get("result_type")
    kind = declared if isinstance(declared, str) and declared else "unknown"
    time = utc_text(context.timestamp)
    if section == INFRASTRUCTURE:
        return {tool: result}
    if section == "repository_analysis":
        data, by = ANALYSIS_KEYS.get(kind, (kind, "tool"))
        return _without_loss({data: result}, [(by, tool)], tool)
    if section == "security_analysis":
        facts = [("scanner_tool", tool), ("scan_timestamp", time)]
        return _without_loss({kind: result}, facts, tool)
    if section == "git_operations":
        return {"operation": tool, "result": result, "timestamp": time}
    if section == "performance_analysis":
        return {
            f"{kind}_metrics": result,
            "performance_tool": tool,
            "analysis_timestamp": time,
            "benchmark_context": context.user_prompt,
        }
    return result


def utc_text(moment: datetime) -> str:
    """Format a time in UTC with ``Z`` (R-X5).

    A time without a time zone is taken as UTC.
    """
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.isoformat().replace("+00:00", "Z")


def _without_loss(present: Compiled, added: Iterable[tuple[str, Value]], tool: str) -> Compiled:
    """Add entries; a key that exists gets ``__<tool>`` appended, then a number (R-X3)."""
    for key, value in added:
        own_key = f"{key}__{tool}" if key in present and key != tool else key
        present[free_key(present, own_key, separator="__")] = value
    return present


class MetadataBasedResultCompiler:
    """Makes a report, with a compiler for each result (R-4).

    The compiler is chosen by the result's ``_tool_metadata``. Compilers may be registered from any thread; a report
    uses the compilers registered at its start.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._compilers: tuple[ResultCompiler, ...] = ()

    def register_compiler(self, compiler: ResultCompiler) -> None:
        """Add a compiler (R-X4).

        If several compilers handle a result, the one added last is used.

        Raises:
            CompilerError: The compiler's section has no name, or a reserved name (rule R-X11).
        """
        section = compiler.output_section
        if not str(section or "").strip():
            raise CompilerError(f"{type(compiler).__name__}: output_section must be a name")
        if section in RESERVED:
            raise CompilerError(
                f"{type(compiler).__name__}: {section} is a reserved section: choose another one"
            )
        with self._lock:
            self._compilers = (compiler, *self._compilers)

    def compile_results(
        self, tool_results: ToolResults, context: CompilationContext
    ) -> dict[str, Any]:
        """Return the report, with ``analysis_metadata``.

        Results are compiled by ascending ``priority``, results without a priority last. Of equal keys the first stays
        unchanged. A result without a compiler goes to ``general_results``, a result with a failing compiler to
        ``unprocessed_results``.
        """
        pairs = tool_results.items() if isinstance(tool_results, Mapping) else tool_results
        copies = [(message_text(tool), isolated_copy(result)) for tool, result in pairs]
        notes: dict[str, Any] = {"output_keys": {}, "errors": [], "warnings": []}
        sections: dict[str, Compiled] = {}
        compilers = self._compilers
        for tool, result in sorted(copies, key=lambda pair: _priority(pair[1])):
            section, compiled = _compile(tool, result, compilers, context, notes)
            _without_loss(sections.setdefault(section, {}), compiled, tool)
        infrastructure = sections.pop(INFRASTRUCTURE, None)
        metadata = {
            "analysis_type": context.analysis_type,
            "user_prompt": context.user_prompt,
            "tools_executed": len(copies),
            "tools_used": list(context.tools_executed) or [tool for tool, _ in copies],
            "timestamp": utc_text(context.timestamp),
        }
        optional = {"infrastructure": infrastructure, **notes}
        metadata |= {key: value for key, value in optional.items() if value}
        for name in (GENERAL, UNPROCESSED):
            if name in sections:
                sections[name] = sections.pop(name)  # to the end
        return {**sections, REPORT: metadata}


def _metadata_of(result: Value) -> dict[str, Any]:
    metadata: Value = result.get(METADATA_KEY) if issubclass(type(result), dict) else None
    return {**metadata} if issubclass(type(metadata), dict) else {}


def _priority(result: Value) -> float:
    """Return a result's priority, infinity if it is missing or not a number (rule R-X1)."""
    value = _metadata_of(result).get("priority")
    if isinstance(value, bool) or not isinstance(value, int | float) or not -inf < value < inf:
        return inf
    return value


def _compile(
    tool: str,
    result: Value,
    compilers: Sequence[ResultCompiler],
    context: CompilationContext,
    notes: dict[str, Any],
) -> tuple[str, list[tuple[str, Value]]]:
    """Return the section and entries of one result, also if its compiler fails."""
    warnings: list[str] = notes["warnings"]
    if not issubclass(type(result), dict):
        reason = unawaited(result) or f"the result is a {type_name(result)}, not an object"
        warnings.append(f"{tool}: {reason}")
        return UNPROCESSED, [(tool, result)]
    _check_promises(tool, result, notes)
    metadata = _metadata_of(result)
    # ``_tool_metadata`` of other systems, with a tool's name and parameters, has no category.
    category = metadata.get("category")
    for compiler in compilers if category else ():
        source = f"{type_name(compiler)}.can_compile"
        try:
            if not compiler.can_compile(tool, isolated_copy(metadata)):
                continue
            source = type_name(compiler)
            compiled = compiler.compile(tool, isolated_copy(result), context)
            section = compiler.output_section
            if section in RESERVED:
                raise CompilerError(f"{section} is a reserved section")
            return section, [(message_text(key), value) for key, value in compiled.items()]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a broken compiler must not lose the result
            warnings.append(f"{tool}: {source} failed: {message_text(error)}")
            if source == type_name(compiler):
                return UNPROCESSED, [(tool, result)]
    if isinstance(category, str) and category in SECTIONS:
        section = SECTIONS[category]
        return section, [*_section_entries(section, tool, result, context).items()]
    return GENERAL, [(tool, result)]


def _check_promises(tool: str, result: dict[str, Any], notes: dict[str, Any]) -> None:
    metadata = _metadata_of(result)
    priority, promised = metadata.get("priority"), metadata.get("output_keys")
    if priority is not None and _priority(result) == inf:
        text = repr(priority) if isinstance(priority, str) else message_text(priority)
        notes["warnings"].append(
            f"{tool}: priority {shorten(text, SHOWN_CHARACTERS)} is not a number"
        )
    if isinstance(promised, list):
        _without_loss(notes["output_keys"], [(tool, promised)], tool)
        present = {message_text(key) for key in result}
        missing = [name for name in map(message_text, promised) if name not in present]
        if missing:
            notes["warnings"].append(f"{tool}: missing in the result: {', '.join(missing)}")
    elif promised is not None:
        notes["warnings"].append(f"{tool}: output_keys must be a list, not a {type_name(promised)}")
    error = jsonable(result.get("error"))
    if result.get("success") is False or error:
        notes["errors"].append(f"{tool} failed: {failure_text(error or None)}")


# The compiler of the process
result_compiler: Final = MetadataBasedResultCompiler()
register_compiler: Final = result_compiler.register_compiler
compile_results: Final = result_compiler.compile_results
