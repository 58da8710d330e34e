"""What is taken of a prompt while it is written: its hashes, its tokens where these are wanted, and its account."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aggregate.base.values import SEPARATOR, Section, Segment
from aggregate.sending.cache.fingerprint import SYSTEM, PromptFingerprint, SegmentHash

if TYPE_CHECKING:
    from aggregate.prompt import Composition, PromptTokens, Request, SegmentCounter


class PromptMeter:
    """Measures the segments of a prompt that pass through it, and keeps none of their texts."""

    def __init__(self, counter: "SegmentCounter | None" = None) -> None:
        self._counter = counter
        self._hashes: list[SegmentHash] = []

    @property
    def places(self) -> list[tuple[Section, str]]:
        return [(Section(measured.section), measured.source) for measured in self._hashes]

    def counts(self) -> list[int]:
        return self._counter.counts() if self._counter else []

    def pieces(self, segments: Iterable[Segment]) -> Iterator[bytes]:
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
        counted = self._hashes
        if tokens:
            pairs = zip(self._hashes, tokens, strict=True)
            counted = [replace(measured, tokens=number) for measured, number in pairs]
        return PromptFingerprint((SegmentHash.of("", 0, section=SYSTEM), *counted))

    def _count(self, text: str, data: bytes, separator: str) -> None:
        if self._counter is not None:
            self._counter.add(text, data, separator)


class AuditRecorder:
    """Notes where the lines of a prompt come from while its segments pass (rule A-1), and keeps none of their texts."""

    def __init__(self, request: "Request") -> None:
        from aggregate.prompt import SourceMapBuilder  # prompts without an account need none

        self._request = request
        self._builder = SourceMapBuilder()
        self._size = -len(SEPARATOR)

    def watch(self, segments: Iterable[Segment]) -> Iterator[Segment]:
        for segment in segments:
            self._size += len(segment.text.encode()) + len(SEPARATOR)
            self._builder.add(segment)
            yield segment

    def write(self, path: Path, prompt: "Composition", tokens: "PromptTokens") -> None:
        from aggregate.prompt import audit_of, write_audit

        size, source_map = max(self._size, 0), self._builder.build()
        write_audit(path, audit_of(self._request, prompt, tokens, size=size, source_map=source_map))
