"""The section of sub-agents' results: what other workers found, folded into the next one's prompt."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aggregate.models.group import GroupStatus, MergeStrategy
from aggregate.models.prompt import Section, Segment, Stability
from aggregate.models.result import AggregatedResult, Answer, is_reference
from aggregate.text.fences import fence, heading_text
from aggregate.text.results import result_text, value_text

HEADING = "## Sub-Agent Results"
ANSWER = "Answer"
REPORT = "Compiled Report"

Results = AggregatedResult | Answer | Mapping[str, Any]
"""A result, the results of a session by name, an answer, or a compiled report."""


def flatten(results: Results | Sequence[Results]) -> Iterator[AggregatedResult | Answer | Mapping[str, Any]]:
    """Yield single results, answers and compiled reports, in order.

    A mapping of which every value is an ``AggregatedResult`` stands for these; any other is a compiled report.
    """
    if isinstance(results, AggregatedResult | Answer):
        yield results
    elif isinstance(results, Mapping):
        values = [results[name] for name in results]
        if all(isinstance(value, AggregatedResult) for value in values):
            yield from values
        else:
            yield results
    else:
        for one in results:
            yield from flatten(one)


def results_segments(results: Results | Sequence[Results]) -> tuple[Segment, ...]:
    """Return the section: a heading, and a block per result, answer or report; none where there are no results.

    A value stands in a fence that it cannot break. One that was compacted is shown by its summary and its reference.
    """
    blocks = [_block(one) for one in flatten(results)]
    if not blocks:
        return ()
    segments = (Segment(Section.RESULTS, text, Stability.SLOW, name) for name, text in blocks)
    return (Segment(Section.RESULTS, HEADING, Stability.SLOW), *segments)


def _block(one: AggregatedResult | Answer | Mapping[str, Any]) -> tuple[str, str]:
    """Return a name and the text under its heading."""
    if isinstance(one, AggregatedResult):
        parts = [_facts(one), *_value(one), *_listed("Failed", one.errors), *_listed("Warnings", one.warnings)]
        return one.variable_name, _titled(one.variable_name, parts)
    if isinstance(one, Answer):
        outcome = f"{'' if one.success else 'no usable result; '}result {one.source.index}, {one.source.kind.value}"
        parts = [f"{outcome}: {one_line(one.source.reason)}", fence(one.summary, "text")]
        return ANSWER, _titled(ANSWER, [*parts, *_listed("Warnings", one.warnings)])
    return REPORT, _titled(REPORT, [fence(value_text(dict(one)), "json")])


def _titled(name: str, parts: Sequence[str]) -> str:
    return "\n\n".join([f"### {heading_text(name)}", *parts])


def _facts(result: AggregatedResult) -> str:
    noun = "result" if result.count == 1 else "results"
    failed = f", {result.failed} failed" if result.failed else ""
    state = "" if result.status is GroupStatus.COMPLETE else f", {result.status.value}"
    return f"{result.strategy.value} of {result.count:,} {noun}{failed}{state}"


def _value(result: AggregatedResult) -> list[str]:
    """Return the value's text in a fence, with where the whole is if it was compacted; nothing where there is none."""
    value = result.value
    if is_reference(value):
        where = f"{one_line(value['_data_file'])}, {value['_size_kb']} KB. {one_line(value['_usage_hint'])}"
        return [fence(str(value["summary"]), "text"), f"The whole value is in {where}"]
    text = result_text(result)
    if not text:
        return []
    running = isinstance(value, str) or result.strategy is MergeStrategy.CONCAT
    return [fence(text, "text" if running else "json")]


def _listed(title: str, sentences: Sequence[str]) -> list[str]:
    """Return sentences in a fence: they hold what workers said, which could begin with anything."""
    return [f"{title}:\n\n" + fence("\n".join(map(one_line, sentences)), "text")] if sentences else []


def one_line(text: str) -> str:
    """Return text on one line, so that nothing in it can begin a heading, a list or a fence."""
    return heading_text(" ".join(str(text).split()))
