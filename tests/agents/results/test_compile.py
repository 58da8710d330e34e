"""Compiling tools' results into a report (rules R-1 to R-14, R-X1 to R-X11)."""

from copy import deepcopy
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, strategies as st

from aggregate import (
    CompilationContext,
    CompilerError,
    MetadataBasedResultCompiler,
    ResultCompiler,
    compile_results as compile_globally,
    register_compiler as register_globally,
    result_compiler,
)

NOON = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
TIME = "2024-01-15T10:30:00Z"


def tool(category: str | None, result_type: str | None = None, **more: object) -> dict[str, Any]:
    metadata = {"category": category, "result_type": result_type, **more}
    return {
        "data": category,
        "_tool_metadata": {key: value for key, value in metadata.items() if value is not None},
    }


def context(*tools: str, timestamp: datetime = NOON) -> CompilationContext:
    return CompilationContext("find issues", list(tools), timestamp)


def compiled(results: Any, *compilers: ResultCompiler) -> dict[str, Any]:
    compiler = MetadataBasedResultCompiler()
    for one in compilers:
        compiler.register_compiler(one)
    return compiler.compile_results(results, context())


SECTIONS = [
    ("analysis", "exploration", "repository_analysis", lambda r: {"file_structure": r, "exploration_tool": "t"}),
    ("codebase", "language_detection", "repository_analysis",
     lambda r: {"language_analysis": r, "detection_tool": "t"}),
    ("analysis", "dependency_analysis", "repository_analysis", lambda r: {"dependencies": r, "analysis_tool": "t"}),
    ("analysis", "architecture_analysis", "repository_analysis", lambda r: {"architecture": r, "analysis_tool": "t"}),
    ("analysis", "metrics", "repository_analysis", lambda r: {"metrics": r, "tool": "t"}),
    ("analysis", None, "repository_analysis", lambda r: {"unknown": r, "tool": "t"}),
    ("security", "scan", "security_analysis", lambda r: {"scan": r, "scanner_tool": "t", "scan_timestamp": TIME}),
    ("git_operations", "pr", "git_operations", lambda r: {"operation": "t", "result": r, "timestamp": TIME}),
    ("reporting", "text", "summary", lambda r: r),
    ("performance", "benchmark", "performance_analysis", lambda r: {
        "benchmark_metrics": r, "performance_tool": "t",
        "analysis_timestamp": TIME, "benchmark_context": "find issues"}),
    (None, "scan", "general_results", lambda r: {"t": r}),
    ("weather", "scan", "general_results", lambda r: {"t": r}),
]  # fmt: skip


@pytest.mark.parametrize(("category", "result_type", "section", "shape"), SECTIONS)
def test_each_category_has_its_section(
    category: str, result_type: str, section: str, shape: Any
) -> None:
    """A result is routed by the category and shaped by the type of its metadata; it is passed through whole.

    Rules: R-1, R-5, R-6, R-7, R-8, R-9, R-10, R-12, R-13, R-X8.
    """
    result = tool(category, result_type)
    assert compiled({"t": result})[section] == shape(result)


def test_the_metadata_of_a_report() -> None:
    """The report says what was asked, what ran and when; infrastructure stands inside it (R-3, R-5, R-11, R-X7).

    Without results there is nothing else (R-X10).
    """
    clone = tool("infrastructure", "clone")
    report = MetadataBasedResultCompiler().compile_results(
        {"clone": clone}, context("clone", "cleanup")
    )
    assert report == {
        "analysis_metadata": {
            "analysis_type": "ai_orchestrated",
            "user_prompt": "find issues",
            "tools_executed": 1,
            "tools_used": ["clone", "cleanup"],
            "timestamp": TIME,
            "infrastructure": {"clone": clone},
        }
    }
    nothing = compiled({})
    assert list(nothing) == ["analysis_metadata"]
    assert nothing["analysis_metadata"]["tools_executed"] == 0


TIMES = [
    (datetime(2024, 1, 15, 10, 30), TIME),
    (datetime(2024, 1, 15, 12, 30, tzinfo=timezone(timedelta(hours=2))), TIME),
    (datetime(2024, 1, 15, 10, 30, 0, 500, tzinfo=UTC), "2024-01-15T10:30:00.000500Z"),
]


@pytest.mark.parametrize(("moment", "text"), TIMES)
def test_times_are_utc_with_a_z(moment: datetime, text: str) -> None:
    """Times are written in UTC; a naive one is taken as UTC (R-X5)."""
    report = MetadataBasedResultCompiler().compile_results({}, context(timestamp=moment))
    assert report["analysis_metadata"]["timestamp"] == text


def test_priorities_decide_who_keeps_the_plain_key() -> None:
    """Results compile by ascending priority, those without one last, ties in their order; nothing is overwritten.

    Rules: R-X1, R-X3.
    """
    scans = {
        "late": tool("security", "scan"),
        "third": tool("security", "scan", priority=2),
        "first": tool("security", "scan", priority=1),
        "fourth": tool("security", "scan", priority="high"),
    }
    report = compiled(scans)
    section = report["security_analysis"]
    assert section["scan"] == scans["first"]
    assert section["scanner_tool"] == "first"
    assert [section[f"scan__{name}"] for name in ("third", "late", "fourth")] == [
        scans[n] for n in ("third", "late", "fourth")
    ]
    assert list(section)[::3] == ["scan", "scan__third", "scan__late", "scan__fourth"]
    assert report["analysis_metadata"]["warnings"] == ["fourth: priority 'high' is not a number"]


def test_every_git_operation_and_every_run_of_a_tool_is_kept() -> None:
    """Two operations, a tool that ran three times, and two summaries are all there (R-8, R-9, R-X3)."""
    runs = [("fix", tool("git_operations", "pr", n=n)) for n in range(3)]
    section = compiled([*runs, ("open", tool("git_operations", "pr"))])["git_operations"]
    operations = [section[key] for key in section if key.startswith("operation")]
    assert operations == ["fix", "fix", "fix", "open"]
    assert [key for key in section if key.startswith("result")] == [
        "result", "result__fix", "result__fix__2", "result__open"]  # fmt: skip
    general = compiled([("x", {"n": 1}), ("x", {"n": 2}), ("x", 3)])
    assert general["general_results"] == {"x": {"n": 1}, "x__2": {"n": 2}}
    summary = compiled([("a", tool("reporting")), ("b", tool("reporting"))])["summary"]
    assert list(summary) == ["data", "_tool_metadata", "data__b", "_tool_metadata__b"]


def test_what_is_no_object_is_kept_with_a_reason() -> None:
    """A list, a text or nothing at all stands in unprocessed_results (R-X6)."""
    report = compiled({"a": [1], "b": "text", "c": None})
    assert report["unprocessed_results"] == {"a": [1], "b": "text", "c": None}
    assert report["analysis_metadata"]["warnings"] == [
        "a: the result is a list, not an object",
        "b: the result is a str, not an object",
        "c: the result is a NoneType, not an object",
    ]


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        "text",
        {},
        {"category": None},
        {"tool_name": "x", "params": {"n": 1}},
        {"category": ["security"]},
    ],
)
def test_metadata_without_a_category_means_general(metadata: object) -> None:
    """Metadata of another system, broken metadata and none at all lead to general_results (R-13)."""
    result = {"n": 1, "_tool_metadata": metadata}
    assert compiled({"t": result}, Custom())["general_results"] == {"t": result}


class Custom(ResultCompiler):
    def __init__(
        self, category: str = "weather", section: Any = "forecast", value: Any = None
    ) -> None:
        self.category, self.section, self.value = category, section, value

    def can_compile(self, tool_name: str, metadata: dict[str, Any]) -> bool:
        """Take one category; spoil the metadata, as nobody should."""
        found = bool(metadata.pop("category") == self.category)
        if self.category == "broken":
            raise LookupError("can_compile")
        return found

    def compile(
        self, tool_name: str, result: dict[str, Any], context: CompilationContext
    ) -> dict[str, Any]:
        """Give the value, or fail; spoil the result, as nobody should."""
        result.clear()
        if isinstance(self.value, BaseException):
            raise self.value
        return {"by": tool_name} if self.value is None else self.value

    @property
    def output_section(self) -> str:
        section: str = self.section
        return section


def test_a_custom_compiler_adds_a_section() -> None:
    """A registered compiler takes its category; what it does to its arguments reaches nobody else (R-2, R-4, R-X8)."""
    results = {"t": tool("weather", "rain")}
    before = deepcopy(results)
    assert compiled(results, Custom())["forecast"] == {"by": "t"}
    assert results == before


def test_the_last_registered_compiler_is_asked_first() -> None:
    """Also for a category that is built in (R-14, R-X4)."""
    older, newer = Custom("security", "older"), Custom("security", "newer")
    report = compiled({"t": tool("security", "scan")}, older, newer)
    assert list(report) == ["newer", "analysis_metadata"]


BROKEN = [
    (Custom("weather", value=KeyError("rain")), "t: Custom failed: KeyError: 'rain'"),
    (Custom("weather", value=[1]), "t: Custom failed: AttributeError: 'list' object has no attribute 'items'"),
]  # fmt: skip


@pytest.mark.parametrize(("compiler", "warning"), BROKEN)
def test_a_broken_compiler_loses_nothing(compiler: Custom, warning: str) -> None:
    """A compile() that raises or gives no object leaves the result in unprocessed_results, with the reason (R-12)."""
    result = tool("weather", "rain")
    report = compiled({"t": result}, compiler)
    assert report["unprocessed_results"] == {"t": result}
    assert report["analysis_metadata"]["warnings"] == [warning]


def test_a_raising_can_compile_is_passed_over() -> None:
    """The next compiler takes the result, and the report says what happened (R-12)."""
    report = compiled({"t": tool("security", "scan")}, Custom("broken"))
    assert "scan" in report["security_analysis"]
    assert report["analysis_metadata"]["warnings"] == [
        "t: Custom.can_compile failed: LookupError: can_compile"
    ]


@pytest.mark.parametrize(
    "section",
    [
        "analysis_metadata",
        "analysis_metadata.infrastructure",
        "general_results",
        "unprocessed_results",
        "",
        None,
    ],
)
def test_reserved_sections_are_refused(section: object) -> None:
    """A compiler cannot take over the report's own sections, nor have none; also not after registration (R-X11)."""
    with pytest.raises(CompilerError):
        compiled({}, Custom(section=section))
    late = Custom()
    compiler = MetadataBasedResultCompiler()
    compiler.register_compiler(late)
    late.section = "analysis_metadata"
    report = compiler.compile_results({"t": tool("weather")}, context())
    assert report["unprocessed_results"] == {"t": tool("weather")}


def test_promised_keys_are_recorded() -> None:
    """output_keys are listed for each tool; what was promised and is missing is a warning (R-X2)."""
    promising = tool("security", "scan", output_keys=["data", "score"])
    report = compiled({"t": promising, "u": tool("security", output_keys="x")})
    metadata = report["analysis_metadata"]
    assert metadata["output_keys"] == {"t": ["data", "score"]}
    assert metadata["warnings"] == [
        "t: missing in the result: score",
        "u: output_keys must be a list, not a str",
    ]


def test_failures_are_visible() -> None:
    """A result that reports a failure is compiled like any other and listed among the errors (R-X9)."""
    results = {"a": {**tool("security", "scan"), "error": "no network"}, "b": {"success": False}}
    report = compiled(results)
    assert report["security_analysis"]["scan"] == results["a"]
    assert report["general_results"] == {"b": results["b"]}
    assert report["analysis_metadata"]["errors"] == [
        "a failed: no network",
        "b failed: no reason given",
    ]


METADATA = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "category": st.sampled_from(
            ["analysis", "security", "git_operations", "reporting", "infrastructure", "weather"]
        ),
        "result_type": st.sampled_from(["exploration", "scan", ""]),
        "priority": st.integers(-1, 2) | st.floats() | st.text(max_size=1),
        "output_keys": st.lists(st.sampled_from(["id", "x"]), max_size=2) | st.integers(),
    },
)
RUNS = st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), METADATA), max_size=6)


@given(RUNS)
def test_every_result_is_in_the_report(runs: list[tuple[str, Any]]) -> None:
    """Whatever the metadata says and however often a tool ran, each result can be found, and the input stays (R-X3)."""
    results = [
        (tool, {"id": f"result {n}", "_tool_metadata": meta}) for n, (tool, meta) in enumerate(runs)
    ]
    before = deepcopy(results)
    text = repr(compiled(results))
    assert all(repr(result["id"]) in text for _, result in results)
    assert repr(results) == repr(before)
    assert repr(compiled(results)) == text


def test_the_global_compiler() -> None:
    """register_compiler and compile_results work on the one global instance (R-4)."""
    register_globally(Custom("test-only", "test_only"))
    report = compile_globally({"t": tool("test-only")}, context())
    assert report == result_compiler.compile_results({"t": tool("test-only")}, context())
    assert report["test_only"] == {"by": "t"}
