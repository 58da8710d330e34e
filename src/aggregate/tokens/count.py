"""Exact token counts of texts and of prompts.

Counts of parts add up to the count of the whole only where no token can span the cut. The vocabulary's splitting rule
never joins a line break with what follows it on the next line, unless that is white space or ``/``. Segments begin with
``#`` or ``-`` behind a line break, so each segment is counted together with the separator behind it, and the sums are
exact without counting the document again.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aggregate.models.prompt import SEPARATOR, Prompt, Section
from aggregate.monitor import get_monitor
from aggregate.tokens.vocabulary import encoding

_BATCH_CHARACTERS = 4_000_000
"""Of the texts that are counted at once, which bounds the memory of their lists of tokens."""
# Threads cost more than they save on less: 6 ms against 2 ms for 40,000 characters.
_ALONE_CHARACTERS = 200_000


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


def count(text: str) -> int:
    """Return the number of o200k tokens of ``text``; special tokens in it count as the plain text that they are."""
    return len(encoding().encode_ordinary(text))


def count_all(texts: Sequence[str]) -> list[int]:
    """Return the number of tokens of each text, counted on all cores and in bounded memory."""
    counts: list[int] = []
    batch: list[str] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= _BATCH_CHARACTERS:
            counts += _count_batch(batch)
            batch, size = [], 0
    return counts + _count_batch(batch)


@get_monitor().scope("count_prompt")
def count_prompt(prompt: Prompt) -> PromptTokens:
    """Return the exact counts of a prompt, its sections and its files."""
    last = len(prompt.segments) - 1
    texts = [
        segment.text + (SEPARATOR if i < last else "") for i, segment in enumerate(prompt.segments)
    ]
    counts = count_all(texts)
    sections: dict[Section, int] = {}
    files: dict[str, int] = {}
    for segment, tokens in zip(prompt.segments, counts, strict=True):
        sections[segment.section] = sections.get(segment.section, 0) + tokens
        if segment.section in (Section.FILES, Section.CHANGED) and segment.source:
            files[segment.source] = files.get(segment.source, 0) + tokens
    return PromptTokens(sum(counts), tuple(counts), sections, files)


def _count_batch(texts: list[str]) -> list[int]:
    if sum(map(len, texts)) < _ALONE_CHARACTERS:
        return [count(text) for text in texts]
    return [
        len(tokens)
        for tokens in encoding().encode_ordinary_batch(texts, num_threads=os.cpu_count() or 1)
    ]
