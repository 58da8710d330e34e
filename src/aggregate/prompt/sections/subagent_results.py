"""The section of sub-agents' results, cut fairly to a token limit (rules F-11 and F-12)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from aggregate.base.json_forms import free_key, message_text
from aggregate.base.text import fence, heading_text, plain_headings
from aggregate.base.values import DataReference, Value, escape_surrogates, is_reference
from aggregate.prompt.asking.results import (
    AggregatedResult,
    Answer,
    GroupStatus,
    MergeStrategy,
    Results,
    flatten_results,
    value_text,
)
from aggregate.prompt.document import Cut, Section, Segment, Stability
from aggregate.prompt.sections.fitted import Count, FittedSection, largest_size, tokens_of

_WITHOUT_BUDGET: Final = 32_000  # tokens without a budget or a known window (rule F-11)
READ_RESULT: Final = "read_result"  # the tool that reads omitted text
_BLOCKS: Final = frozenset({"Answer", "Compiled Report"})
_HEADING: Final = Segment(Section.RESULTS, "## Sub-Agent Results", Stability.SLOW)
_LEAST: Final = 200  # characters of an item's first line
_HEAD: Final = 2 / 3  # part of a cut item's characters from its beginning
_CUT: Final = "the results' share of the budget is used up"


@dataclass(frozen=True, slots=True)
class _Item:
    """One text of a result."""

    name: str
    text: str
    heading: str = ""
    language: str = "text"
    behind: str = ""  # below the fence, where no producer can write

    def segment(self, fences: str | None = None) -> Segment:
        """Return the segment of a result's text; ``fences`` replace the text if it is cut."""
        body = fence(self.text, self.language) if fences is None else fences
        parts = (self.heading, body if self.text else "", self.behind)
        text = "\n\n".join(part for part in parts if part)
        return Segment(Section.RESULTS, text, Stability.SLOW, self.name)


@dataclass(frozen=True, slots=True)
class _Block:
    """A result, an answer or a report: one text, or a heading and several texts."""

    name: str
    heading: str  # empty where the only item has it
    items: tuple[_Item, ...]


def result_texts(results: Sequence[Results]) -> Mapping[str, str]:
    """Return the uncut text of each result, by its name."""
    return {item.name: item.text for item in _items(_blocks(results))}


def results_segments(results: Results | Sequence[Results]) -> tuple[Segment, ...]:
    """Return the section of results, empty without results; the source of a segment is its producer."""
    blocks = _blocks(results)
    return _lay_out(blocks, _whole_size(_items(blocks))) if blocks else ()


def whole_results(results: Sequence[Results]) -> FittedSection:
    """Return the section of results in a prompt without a budget."""
    from aggregate.base.tokens import count

    return results_within(results, _WITHOUT_BUDGET, count)


def results_within(
    results: Sequence[Results], tokens: int, count: Count, *, is_readable: bool = False
) -> FittedSection:
    """Return the section of results in ``tokens``; at least their names stay."""
    least = fit_results(results, 0, count, is_readable=is_readable).tokens
    return fit_results(results, max(tokens - least, 0), count, is_readable=is_readable)


def fit_results(
    results: Sequence[Results], limit: int, count: Count, *, is_readable: bool = False
) -> FittedSection:
    """Return the section of results within ``limit`` tokens.

    The tokens of the results' names do not count. All results get equal numbers of characters; short ones are shown in
    full. If not even first lines fit, the last results are only named. With ``is_readable`` the reader has a tool for
    omitted text.
    """
    blocks = _blocks(results)
    if not blocks:
        return FittedSection()
    items = _items(blocks)
    whole, count = _whole_size(items), cache(count)

    def lay_out(size: int) -> tuple[Segment, ...]:
        return _lay_out(blocks, size, is_readable=is_readable)

    size = largest_size(lay_out, whole, limit, count)
    segments, needed = lay_out(size), tokens_of(lay_out(whole), count)
    cuts = []
    for number, item in enumerate(items):
        shown = [_shortened(item, _characters(items, size), is_readable=is_readable)]
        saved = tokens_of([item.segment()], count)
        saved -= tokens_of(shown, count) if number < size else 0
        if number >= size or len(item.text) > _characters(items, size):
            cuts.append(Cut("results", item.name, max(saved, 0), _CUT))
    return FittedSection(segments, tokens_of(segments, count), needed, tuple(cuts))


def _items(blocks: Sequence[_Block]) -> list[_Item]:
    return [item for block in blocks for item in block.items]


def _whole_size(items: Sequence[_Item]) -> int:
    """Return the smallest size at which no result is cut."""
    longest = max((len(item.text) for item in items), default=0)
    return len(items) + max(longest - _LEAST, 0) + 1


def _characters(items: Sequence[_Item], size: int) -> int:
    return _LEAST + max(size - len(items), 0)


def _lay_out(
    blocks: Sequence[_Block], size: int, *, is_readable: bool = False
) -> tuple[Segment, ...]:
    """Return the section in a size, from names to full texts.

    Up to the number of items, size ``n`` shows the beginnings of the first ``n`` items; each further size adds one
    character to every item.
    """
    items = _items(blocks)
    characters = _characters(items, size)
    segments = [_HEADING]
    if names := [item.name for item in items[size:]]:
        segments.append(_names_segment(names, is_readable=is_readable))
    for block in blocks:
        shown = block.items[: max(size, 0)]
        size -= len(block.items)
        if (shown or not block.items) and block.heading:
            segments.append(Segment(Section.RESULTS, block.heading, Stability.SLOW, block.name))
        segments += [_shortened(item, characters, is_readable=is_readable) for item in shown]
    return tuple(segments)


def _shortened(item: _Item, characters: int, *, is_readable: bool) -> Segment:
    if len(item.text) <= characters:
        return item.segment()
    head, tail = _ends(item.text, characters)
    omitted = len(item.text) - len(head) - len(tail)
    if omitted <= 0:
        return item.segment()
    reading = ""
    if is_readable:
        arguments = json.dumps({"reference": item.name, "start": len(head)})
        reading = f"; {READ_RESULT} {arguments} shows them"
    mark = f"{omitted:,} characters are left out here{reading}."
    fences = [fence(head, item.language), mark]
    if tail:
        fences.append(fence(tail, item.language))
    return item.segment("\n\n".join(fences))


def _ends(text: str, characters: int) -> tuple[str, str]:
    first_line = text[:_LEAST].partition("\n")[0]
    head = text[: int(characters * _HEAD)]
    line_end = head.rfind("\n") + 1
    if 2 * line_end > len(head):
        head = head[:line_end]
    head = max(head, first_line, key=len)
    size = int(characters * (1 - _HEAD))
    tail = text[-size:] if characters > _LEAST and size else ""
    line_start = tail.find("\n") + 1
    if 0 < 2 * line_start < len(tail):
        tail = tail[line_start:]
    return head, tail


def _names_segment(names: Sequence[str], *, is_readable: bool) -> Segment:
    noun = "result is" if len(names) == 1 else "results are"
    reading = (
        f" {READ_RESULT} with a name as reference and start 0 shows one." if is_readable else ""
    )
    listed = ", ".join(map(heading_text, names))
    text = f"- {len(names):,} more {noun} only named, for want of room: {listed}.{reading}"
    return Segment(Section.RESULTS, text, Stability.SLOW)


def _blocks(results: Results | Sequence[Results]) -> tuple[_Block, ...]:
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


def _block(result: Results) -> _Block:
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
    return _Block(name, heading, tuple(items))


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


def _result_items(result: AggregatedResult) -> Iterator[_Item]:
    name, value = result.variable_name, result.value
    if is_reference(value):
        yield _Item(name, value_text(value["summary"]), behind=_place(value))
    elif result.items:
        yield from (_produced(item.producer, item.text) for item in result.items)
    elif result.strategy is MergeStrategy.CONCAT and issubclass(type(value), list):
        labels = result.labels if len(result.labels) == len(value) else ("",) * len(value)
        for number, (label, output) in enumerate(zip(labels, value, strict=True), start=1):
            yield _produced(label or f"result {number}", value_text(output))
    elif value is not None:
        is_prose = issubclass(type(value), str) or result.strategy is MergeStrategy.CONCAT
        yield _Item(name, value_text(value), language="text" if is_prose else "json")
    yield from _listed(name, "Failed", result.errors)
    yield from _listed(name, "Warnings", result.warnings)


def _produced(producer: str, text: str) -> _Item:
    producer = escape_surrogates(producer)
    return _Item(producer, text, _heading("####", producer))


def _answer_items(answer: Answer) -> Iterator[_Item]:
    behind = _place(answer.whole) if answer.whole else ""
    yield _Item("Answer", value_text(answer.summary), behind=behind)
    yield from _listed("Answer", "Warnings", answer.warnings)


def _report_item(compiled: Mapping[str, Any]) -> _Item:
    references: list[DataReference] = []

    def summarised(value: Value) -> Value:
        if not is_reference(value):
            return value
        references.append(value)
        return f"{value.ref_id}: {value['summary']}"

    summaries: dict[str, Value] = {}
    for section, fields in compiled.items():
        if type(fields) is dict:
            summaries[section] = {key: summarised(value) for key, value in fields.items()}
        else:
            summaries[section] = summarised(fields)
    lines = "\n".join(
        f"- {reference.ref_id}: {one_line(reference.place)}" for reference in references
    )
    behind = f"The complete values are in\n\n{lines}" if references else ""
    return _Item("Compiled Report", value_text(summaries), language="json", behind=behind)


def _place(reference: DataReference) -> str:
    return f"The whole value is in {one_line(reference.place)}"


def _listed(name: str, title: str, sentences: Sequence[str]) -> Iterator[_Item]:
    """Yield sentences in fences, since text of workers could look like markup."""
    if sentences:
        text = "\n".join(map(one_line, sentences))
        yield _Item(f"{name} {title.lower()}", text, f"#### {title}")


def one_line(text: str) -> str:
    """Return text on one line, safe against headings, lists and fences."""
    return heading_text(" ".join(message_text(text).split()))
