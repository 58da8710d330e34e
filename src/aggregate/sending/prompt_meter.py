"""What is taken of a prompt while it is written: its hashes, its tokens where these are wanted, and its account."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aggregate.base.values import SEPARATOR, Section, Segment
from aggregate.sending.cache.fingerprint import SYSTEM, PrefixReport, PromptFingerprint, SegmentHash
from aggregate.sending.request_log import log_written_prompt

if TYPE_CHECKING:
    from aggregate.prompt import Composition, PromptTokens, Request, SegmentCounter


class PromptMeter:
    """Measures the segments that pass through it; with an account also where their lines come from (rule A-1)."""

    def __init__(
        self,
        request: "Request",
        counter: "SegmentCounter | None" = None,
        *,
        has_account: bool = False,
    ) -> None:
        self._request, self._counter = request, counter
        self._hashes: list[SegmentHash] = []
        self._source_map = None
        if has_account:
            from aggregate.prompt import SourceMapBuilder  # prompts without an account need none

            self._source_map = SourceMapBuilder()

    @property
    def digests(self) -> tuple[str, ...]:
        return tuple(measured.digest for measured in self._hashes)

    def tokens(self) -> "PromptTokens | None":
        if self._counter is None:
            return None
        from aggregate.prompt import PromptTokens

        places = [(Section(measured.section), measured.source) for measured in self._hashes]
        return PromptTokens.of(places, self._counter.counts())

    def pieces(self, segments: Iterable[Segment]) -> Iterator[bytes]:
        last: tuple[str, bytes] | None = None
        for segment in segments:
            if last is not None:
                yield SEPARATOR.encode()
                self._count(*last, SEPARATOR)
            if self._source_map is not None:
                self._source_map.add(segment)
            data = segment.text.encode()
            self._hashes.append(
                SegmentHash.of(data, 0, section=segment.section, source=segment.source)
            )
            yield data
            last = segment.text, data
        if last is not None:
            self._count(*last, "")

    def record(
        self, path: Path, prompt: "Composition", tokens: "PromptTokens | None"
    ) -> PrefixReport | None:
        """Record what was written to ``path``, with its account if it has one; return what it keeps of the last one."""
        if self._source_map is not None and tokens is not None:
            from aggregate.prompt import audit_of, write_audit

            size = sum(measured.size + len(SEPARATOR) for measured in self._hashes)
            size, source_map = max(size - len(SEPARATOR), 0), self._source_map.build()
            audit = audit_of(self._request, prompt, tokens, size=size, source_map=source_map)
            write_audit(path, audit)
        counted = self._hashes
        if tokens is not None and tokens.segments:
            pairs = zip(self._hashes, tokens.segments, strict=True)
            counted = [replace(measured, tokens=number) for measured, number in pairs]
        fingerprint = PromptFingerprint((SegmentHash.of("", 0, section=SYSTEM), *counted))
        return log_written_prompt(path, fingerprint, self._request)

    def _count(self, text: str, data: bytes, separator: str) -> None:
        if self._counter is not None:
            self._counter.add(text, data, separator)
