"""Exact token counts of prompts.

Counts of parts add up to the count of the whole only where no token can span the cut. The vocabulary's splitting rule
never joins a line break with what follows it on the next line, unless that is white space or ``/``. Segments begin with
``#`` or ``-`` behind a line break, so each segment is counted together with the separator behind it, and the sums are
exact without counting the document again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from aggregate.base.monitor import get_monitor
from aggregate.base.values import SEPARATOR, Prompt, Section
from aggregate.project.index import Index, user_index
from aggregate.prompt.segment_counter import SegmentCounter


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """How many tokens a prompt has, by o200k.

    Attributes:
        document: Of the whole text; equal to the sum over the sections.
        segments: Of each segment, with the separator behind it.
        sections: Of each section that is there, in order.
        files: Of each file, by its path; a heading counts for its section only.
    """

    document: int
    segments: tuple[int, ...]
    sections: Mapping[Section, int]
    files: Mapping[str, int]

    @classmethod
    def of(cls, places: Iterable[tuple[Section, str]], counts: Sequence[int]) -> "PromptTokens":
        """Return the sums of segments that have ``counts``; ``places`` are their sections and their sources."""
        sections: dict[Section, int] = {}
        files: dict[str, int] = {}
        for (section, source), tokens in zip(places, counts, strict=True):
            sections[section] = sections.get(section, 0) + tokens
            if section in (Section.FILES, Section.CHANGED) and source:
                files[source] = files.get(source, 0) + tokens
        return cls(sum(counts), tuple(counts), sections, files)


@get_monitor().scope("count_prompt")
def count_prompt(prompt: Prompt, *, index: Index | None = None) -> PromptTokens:
    """Return the exact counts of a prompt, its sections and its files.

    Args:
        prompt: What to count.
        index: Keeps counts from run to run; by default the user's.

    Raises:
        TokenizerError: The bundled vocabulary is missing or damaged.
    """
    counter = SegmentCounter(index or user_index())
    last = len(prompt.segments) - 1
    for i, segment in enumerate(prompt.segments):
        data = segment.text.encode("utf-8", "surrogatepass")
        counter.add(segment.text, data, SEPARATOR if i < last else "")
    places = ((segment.section, segment.source) for segment in prompt.segments)
    return PromptTokens.of(places, counter.counts())
