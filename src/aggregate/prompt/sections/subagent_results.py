"""The section of sub-agents' results: what other workers found, shown in the next one's prompt."""

from collections.abc import Iterator, Mapping, Sequence, ValuesView
from dataclasses import replace
from typing import Any

from aggregate.base.json_forms import message_text
from aggregate.base.text import fence, heading_text
from aggregate.base.values import DataReference, Value, is_reference, unawaited
from aggregate.prompt.document import Section, Segment, Stability
from aggregate.prompt.results import (
    AggregatedResult,
    Answer,
    GroupStatus,
    MergeStrategy,
    Results,
    result_text,
    value_text,
)
from aggregate.prompt.turns import Omitted


def flatten_results(results: object) -> Iterator[Results]:
    """Yield single results, answers and compiled reports, in order.

    A mapping of which every value is an ``AggregatedResult`` stands for these; any other is a compiled report. What is
    none of them is a result without a name, so that nothing a caller has collected keeps a prompt from being made.
    """
    for item in results if isinstance(results, list | tuple | ValuesView) else [results]:
        if isinstance(item, AggregatedResult | Answer):
            yield item
        elif not isinstance(item, Mapping):
            yield _unnamed(item)
        elif all(isinstance(value, AggregatedResult) for value in item.values()):
            yield from item.values()
        else:
            yield item


def _unnamed(value: Value) -> AggregatedResult:
    done = AggregatedResult("Result", MergeStrategy.FIRST, count=1, status=GroupStatus.COMPLETE)
    reason = unawaited(value)
    return replace(done, errors=(reason,), failed=1) if reason else replace(done, value=value)


def results_segments(
    results: Results | Sequence[Results], omitted: Omitted | None = None
) -> tuple[Segment, ...]:
    """Return the section: a heading, and a block per result, answer or report; none where there are no results.

    Where the whole of a compacted value is stands outside its fence, where nothing that a producer returned can stand.
    """
    blocks = [_block(result) for result in flatten_results(results)]
    if not blocks and omitted is None:
        return ()
    notes = [("", "## Sub-Agent Results")]
    if omitted:
        notes.append(("", omitted.sentence("more result")))
    return tuple(
        Segment(Section.RESULTS, text, Stability.SLOW, name) for name, text in (*notes, *blocks)
    )


def _block(result: Results) -> tuple[str, str]:
    if isinstance(result, AggregatedResult):
        name, parts = result.variable_name, _result_parts(result)
    elif isinstance(result, Answer):
        name, parts = "Answer", _answer_parts(result)
    else:
        name, parts = "Compiled Report", _report_parts(result)
    return name, "\n\n".join([f"### {heading_text(name)}", *parts])


def _result_parts(result: AggregatedResult) -> Iterator[str]:
    noun = "result" if result.count == 1 else "results"
    failed = f", {result.failed} failed" if result.failed else ""
    state = "" if result.status is GroupStatus.COMPLETE else f", {result.status.value}"
    yield f"{result.strategy.value} of {result.count:,} {noun}{failed}{state}"
    value = result.value
    if is_reference(value):
        yield fence(value_text(value["summary"]), "text")
        yield from _whole("The whole value is", value)
    elif text := result_text(result):
        is_prose = issubclass(type(value), str) or result.strategy is MergeStrategy.CONCAT
        yield fence(text, "text" if is_prose else "json")
    yield from _listed("Failed", result.errors)
    yield from _listed("Warnings", result.warnings)
    yield from _whole("All of these sentences are", result.notes)


def _answer_parts(answer: Answer) -> Iterator[str]:
    usable = "" if answer.success else "no usable result; "
    source = answer.source
    yield f"{usable}result {source.index}, {source.kind.value}: {one_line(source.reason)}"
    yield fence(value_text(answer.summary), "text")
    yield from _whole("The whole value is", answer.whole)
    yield from _listed("Warnings", answer.warnings)
    yield from _whole("All of these warnings are", answer.notes)


def _report_parts(compiled: Mapping[str, Any]) -> Iterator[str]:
    references: list[DataReference] = []

    def summarised(value: Value) -> Value:
        if not is_reference(value):
            return value
        references.append(value)
        return f"{value.ref_id}: {value['summary']}"

    summaries = {
        section: {key: summarised(value) for key, value in fields.items()}
        if type(fields) is dict
        else summarised(fields)
        for section, fields in compiled.items()
    }
    yield fence(value_text(summaries), "json")
    if references:
        yield "The whole values are in"
        yield "\n".join(f"- {each.ref_id}: {one_line(each.place)}" for each in references)


def _whole(beginning: str, reference: DataReference | None) -> Iterator[str]:
    if reference:
        yield f"{beginning} in {one_line(reference.place)}"


def _listed(title: str, sentences: Sequence[str]) -> Iterator[str]:
    """Yield sentences in a fence: they hold what workers said, which could begin with anything."""
    if sentences:
        yield fence("\n".join(map(one_line, sentences)), "text", before=f"{title}:\n\n")


def one_line(text: str) -> str:
    """Return text on one line, so that nothing in it can begin a heading, a list or a fence."""
    return heading_text(" ".join(message_text(text).split()))
