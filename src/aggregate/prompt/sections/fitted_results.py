"""Sub-agents' results within a token limit.

Short results are shown in full, the others cut to equal sizes (rule F-11).
"""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aggregate.base.text import fence, heading_text
from aggregate.prompt.asking.results import Results
from aggregate.prompt.document import SEPARATOR, Cut, Section, Segment, Stability
from aggregate.prompt.sections.fitted import Count, FittedSection, tokens_of
from aggregate.prompt.sections.subagent_results import (
    RESULTS_HEADING,
    ResultBlock,
    ResultItem,
    result_blocks,
)

WITHOUT_BUDGET: Final = 32_000  # tokens without a budget or a known window (rule F-11)
READ_RESULT: Final = "read_result"  # the tool that reads omitted text
_LEAST: Final = 200  # characters of an item's first line
_HEAD: Final = 2 / 3  # part of a cut item's characters from its beginning
_CUT: Final = "the results' share of the budget is used up"


def fit_results(
    results: Sequence[Results], limit: int, count: Count, *, is_readable: bool = False
) -> FittedSection:
    """Return the section of results within ``limit`` tokens.

    The tokens of the results' names do not count. All results get equal numbers of characters; short ones are shown in
    full. If not even first lines fit, the last results are only named. With ``is_readable`` the reader has a tool for
    omitted text.
    """
    blocks = result_blocks(results)
    if not blocks:
        return FittedSection()
    layout = _Layout(blocks, count, is_readable)
    full_section = layout.segments(layout.whole)
    needed = tokens_of(full_section, count)
    most = layout.tokens(0) + limit
    if needed <= most:
        return FittedSection(full_section, needed, needed)
    size = bisect_right(range(layout.whole), most, key=layout.tokens) - 1
    while size > 0 and layout.tokens(size) > most:  # fewer names may have more tokens than an item
        size -= 1
    segments = layout.segments(size)
    return FittedSection(segments, tokens_of(segments, count), needed, layout.cuts(size))


def results_without_budget(results: Sequence[Results], count: Count) -> tuple[Segment, ...]:
    """Return the section of results without a budget."""
    least = fit_results(results, 0, count)
    return fit_results(results, max(WITHOUT_BUDGET - least.tokens, 0), count).segments


def result_texts(results: Sequence[Results]) -> Mapping[str, str]:
    """Return the uncut text of each result, by its name."""
    return {item.name: item.text for block in result_blocks(results) for item in block.items}


@dataclass(frozen=True, slots=True)
class _Layout:
    """The section in all sizes, from names to full texts.

    Up to the number of items, size ``n`` shows the beginnings of the first ``n`` items; each further size adds one
    character to every item.
    """

    blocks: tuple[ResultBlock, ...]
    count: Count
    is_readable: bool
    items: tuple[ResultItem, ...] = field(init=False)
    _tokens: dict[tuple[int, int], int] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        items = tuple(item for block in self.blocks for item in block.items)
        object.__setattr__(self, "items", items)

    @property
    def whole(self) -> int:
        """The smallest size at which no result is cut."""
        longest = max((len(item.text) for item in self.items), default=0)
        return len(self.items) + max(longest - _LEAST, 0) + 1

    def segments(self, size: int) -> tuple[Segment, ...]:
        shown = min(size, len(self.items))
        characters = self._characters(size)
        segments = [RESULTS_HEADING]
        if names := [item.name for item in self.items[shown:]]:
            segments.append(_names_segment(names, is_readable=self.is_readable))
        number = 0
        for block in self.blocks:
            items = block.items[: max(shown - number, 0)]
            number += len(block.items)
            if items or not block.items:
                segments += [*block.segments, *(self._segment(item, characters) for item in items)]
        return tuple(segments)

    def tokens(self, size: int) -> int:
        """Return the tokens of the section at a size; those of single results are cached."""
        shown = min(size, len(self.items))
        characters = self._characters(size)
        names = [item.name for item in self.items[shown:]]
        segments = [RESULTS_HEADING]
        if names:
            segments.append(_names_segment(names, is_readable=self.is_readable))
        number = 0
        for block in self.blocks:
            if number < shown or not block.items:
                segments += block.segments
            number += len(block.items)
        return tokens_of(segments, self.count) + sum(
            self._item_tokens(index, characters) for index in range(shown)
        )

    def cuts(self, size: int) -> tuple[Cut, ...]:
        """Return which results are shortened or only named at a size, and the tokens saved."""
        number, characters = min(size, len(self.items)), self._characters(size)
        cuts = []
        for index, item in enumerate(self.items):
            full_tokens = self._item_tokens(index, len(item.text))
            tokens = self._item_tokens(index, characters) if index < number else 0
            if index >= number or len(item.text) > characters:
                cuts.append(Cut("results", item.name, max(full_tokens - tokens, 0), _CUT))
        return tuple(cuts)

    def _characters(self, size: int) -> int:
        return _LEAST + max(size - len(self.items), 0)

    def _item_tokens(self, index: int, characters: int) -> int:
        item = self.items[index]
        key = (index, min(characters, len(item.text)))
        if key not in self._tokens:
            self._tokens[key] = self.count(self._segment(item, characters).text + SEPARATOR)
        return self._tokens[key]

    def _segment(self, item: ResultItem, characters: int) -> Segment:
        if len(item.text) <= characters:
            return item.segment()
        head, tail = _ends(item.text, characters)
        omitted = len(item.text) - len(head) - len(tail)
        if omitted <= 0:
            return item.segment()
        reading = ""
        if self.is_readable:
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
    verb = "is" if len(names) == 1 else "are"
    noun = "result" if len(names) == 1 else "results"
    reading = (
        f" {READ_RESULT} with a name as reference and start 0 shows one." if is_readable else ""
    )
    listed = ", ".join(map(heading_text, names))
    text = f"- {len(names):,} more {noun} {verb} only named, for want of room: {listed}.{reading}"
    return Segment(Section.RESULTS, text, Stability.SLOW)
