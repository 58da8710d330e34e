"""The section of sub-agents' results in the next worker's prompt."""

from collections.abc import Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, replace
from typing import Any, Final

from aggregate.base.json_forms import free_key, message_text
from aggregate.base.text import fence, heading_text, plain_headings
from aggregate.base.values import DataReference, Value, escape_surrogates, is_reference, unawaited
from aggregate.prompt.asking.results import (
    AggregatedResult,
    Answer,
    GroupStatus,
    MergeStrategy,
    Results,
    value_text,
)
from aggregate.prompt.document import Section, Segment, Stability

_BLOCKS: Final = frozenset({"Answer", "Compiled Report"})
RESULTS_HEADING: Final = Segment(Section.RESULTS, "## Sub-Agent Results", Stability.SLOW)


def flatten_results(results: object) -> Iterator[Results]:
    """Yield single results, answers and compiled reports, in order.

    A mapping with only ``AggregatedResult`` values yields these; any other is a compiled report. Any other value
    becomes an unnamed result, so that every input gives a prompt.
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


@dataclass(frozen=True, slots=True)
class ResultItem:
    """One text of a result."""

    name: str
    text: str
    heading: str
    language: str = "text"
    behind: str = ""  # below the fence, where no producer can write

    def segment(self, fences: str | None = None) -> Segment:
        """Return the segment of a result's text; ``fences`` replace the text if it is cut."""
        body = fence(self.text, self.language) if fences is None else fences
        parts = (self.heading, body if self.text else "", self.behind)
        text = "\n\n".join(part for part in parts if part)
        return Segment(Section.RESULTS, text, Stability.SLOW, self.name)


@dataclass(frozen=True, slots=True)
class ResultBlock:
    """A result, an answer or a report: one text, or a heading and several texts."""

    name: str
    heading: str  # empty where the only item has it
    items: tuple[ResultItem, ...]

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The heading as a segment, if there is one; the texts are segments of their own."""
        if not self.heading:
            return ()
        return (Segment(Section.RESULTS, self.heading, Stability.SLOW, self.name),)


def results_segments(results: Results | Sequence[Results]) -> tuple[Segment, ...]:
    """Return the section of results, empty without results; the source of a segment is its producer."""
    blocks = result_blocks(results)
    if not blocks:
        return ()
    segments = [RESULTS_HEADING]
    for block in blocks:
        segments += [*block.segments, *(item.segment() for item in block.items)]
    return tuple(segments)


def result_blocks(results: Results | Sequence[Results]) -> tuple[ResultBlock, ...]:
    """Return the results as blocks with uniquely named texts."""
    names: dict[str, None] = {}
    numbers: dict[str, int] = {}
    blocks = []
    for block in map(_block, flatten_results(results)):
        items = []
        for item in block.items:
            name = free_key(names, item.name, numbers)
            names[name] = None
            items.append(replace(item, name=name))
        blocks.append(replace(block, items=tuple(items)))
    return tuple(blocks)


def _block(result: Results) -> ResultBlock:
    if isinstance(result, AggregatedResult):
        name, status, items = result.variable_name, _status(result), [*_result_items(result)]
    elif isinstance(result, Answer):
        usable = "" if result.success else "no usable result; "
        source = result.source
        status = f"{usable}result {source.index}, {source.kind.value}: {one_line(source.reason)}"
        name, items = "Answer", [*_answer_items(result)]
    else:
        name, status, items = "Compiled Report", "", [_report_item(result)]
    heading = "\n\n".join(filter(None, (_heading("###", name), status)))
    if items and not items[0].heading:
        items[0], heading = replace(items[0], heading=heading), ""
    return ResultBlock(name, heading, tuple(items))


def _heading(marks: str, name: str) -> str:
    """Return the heading of a result, changed if it looks like the heading of another section."""
    heading = f"{marks} {heading_text(name)}"
    is_ours = name not in _BLOCKS and plain_headings(heading) != heading
    return f"{marks} Result {heading_text(name)}" if is_ours else heading


def _status(result: AggregatedResult) -> str:
    noun = "result" if result.count == 1 else "results"
    failed = f", {result.failed} failed" if result.failed else ""
    state = "" if result.status is GroupStatus.COMPLETE else f", {result.status.value}"
    spread = f", from {len(result.items):,} tickets" if result.items else ""
    return f"{result.strategy.value} of {result.count:,} {noun}{spread}{failed}{state}"


def _result_items(result: AggregatedResult) -> Iterator[ResultItem]:
    name, value = result.variable_name, result.value
    if is_reference(value):
        yield ResultItem(name, value_text(value["summary"]), "", behind=_place("value", value))
    elif result.items:
        yield from (_produced(item.producer, item.text) for item in result.items)
    elif result.strategy is MergeStrategy.CONCAT and issubclass(type(value), list):
        labels = result.labels if len(result.labels) == len(value) else ("",) * len(value)
        for number, (label, output) in enumerate(zip(labels, value, strict=True), start=1):
            yield _produced(label or f"result {number}", value_text(output))
    elif value is not None:
        is_prose = issubclass(type(value), str) or result.strategy is MergeStrategy.CONCAT
        yield ResultItem(name, value_text(value), "", "text" if is_prose else "json")
    yield from _listed(name, "Failed", result.errors)
    yield from _listed(name, "Warnings", result.warnings)
    if result.notes:
        yield _notes(name, result.notes)


def _produced(producer: str, text: str) -> ResultItem:
    producer = escape_surrogates(producer)
    return ResultItem(producer, text, _heading("####", producer))


def _answer_items(answer: Answer) -> Iterator[ResultItem]:
    source = _place("value", answer.whole) if answer.whole else ""
    yield ResultItem("Answer", value_text(answer.summary), "", behind=source)
    yield from _listed("Answer", "Warnings", answer.warnings)
    if answer.notes:
        yield _notes("Answer", answer.notes)


def _report_item(compiled: Mapping[str, Any]) -> ResultItem:
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
    lines = "\n".join(
        f"- {reference.ref_id}: {one_line(reference.place)}" for reference in references
    )
    behind = f"The complete values are in\n\n{lines}" if references else ""
    return ResultItem("Compiled Report", value_text(summaries), "", "json", behind)


def _notes(name: str, reference: DataReference) -> ResultItem:
    return ResultItem(f"{name} notes", "", "#### Notes", behind=_place("list", reference))


def _place(noun: str, reference: DataReference) -> str:
    return f"The whole {noun} is in {one_line(reference.place)}"


def _listed(name: str, title: str, sentences: Sequence[str]) -> Iterator[ResultItem]:
    """Yield sentences in fences, since text of workers could look like markup."""
    if sentences:
        text = "\n".join(map(one_line, sentences))
        yield ResultItem(f"{name} {title.lower()}", text, f"#### {title}")


def one_line(text: str) -> str:
    """Return text on one line, safe against headings, lists and fences."""
    return heading_text(" ".join(message_text(text).split()))
