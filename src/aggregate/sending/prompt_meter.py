"""What is measured of a prompt while it is written: its hashes, and its tokens where these are wanted."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from aggregate.base.values import SEPARATOR, Section, Segment
from aggregate.sending.cache.fingerprint import SYSTEM, PromptFingerprint, SegmentHash

if TYPE_CHECKING:
    from aggregate.prompt import SegmentCounter


class PromptMeter:
    """Measures the segments of a prompt that pass through it, and keeps none of their texts.

    Args:
        counter: Counts their tokens, ``None`` where nobody asks for these.
    """

    def __init__(self, counter: "SegmentCounter | None" = None) -> None:
        self._counter = counter
        self._hashes: list[SegmentHash] = []

    @property
    def places(self) -> list[tuple[Section, str]]:
        """The section and the source of each segment."""
        return [(Section(measured.section), measured.source) for measured in self._hashes]

    def counts(self) -> list[int]:
        """Return the tokens of each segment, with the separator behind it; none where nobody asked for these."""
        return self._counter.counts() if self._counter else []

    def pieces(self, segments: Iterable[Segment]) -> Iterator[bytes]:
        """Yield the prompt as it is written, in UTF-8, and measure its segments meanwhile."""
        last: tuple[str, bytes] | None = None
        for segment in segments:
            if last is not None:
                yield SEPARATOR.encode()
                self._count(*last, SEPARATOR)
            data = segment.text.encode()
            self._hashes.append(
                SegmentHash.of_bytes(data, 0, section=segment.section, source=segment.source)
            )
            yield data
            last = segment.text, data
        if last is not None:
            self._count(*last, "")

    def fingerprint(self, tokens: Sequence[int] = ()) -> PromptFingerprint:
        """Return the hashes of all segments that have ``tokens``, by default uncounted; there are no instructions."""
        counted = self._hashes
        if tokens:
            pairs = zip(self._hashes, tokens, strict=True)
            counted = [replace(measured, tokens=number) for measured, number in pairs]
        return PromptFingerprint((SegmentHash.of("", 0, section=SYSTEM), *counted))

    def _count(self, text: str, data: bytes, separator: str) -> None:
        if self._counter is not None:
            self._counter.add(text, data, separator)
