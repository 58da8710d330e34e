"""The hashes of a prompt's segments in order: which prefix two prompts share, and what ends it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from aggregate.models.prompt import Prompt, Segment
from aggregate.text.lines import common_prefix

SYSTEM = "system"
"""Stands for the section of the first link: the instructions that are sent before the prompt."""


@dataclass(frozen=True, slots=True)
class SegmentHash:
    """One segment: where it comes from, a hash of its bytes, its o200k tokens, and its size in bytes."""

    section: str
    source: str
    digest: str
    tokens: int
    size: int

    @classmethod
    def of(cls, segment: Segment, tokens: int) -> "SegmentHash":
        """Return the link of a segment that has ``tokens``."""
        return cls._of(segment.section, segment.source, segment.text, tokens)

    @classmethod
    def of_system(cls, text: str, tokens: int) -> "SegmentHash":
        """Return the first link of a chain."""
        return cls._of(SYSTEM, "", text, tokens)

    @classmethod
    def _of(cls, section: str, source: str, text: str, tokens: int) -> "SegmentHash":
        data = text.encode("utf-8", "surrogatepass")
        return cls(section, source, _digest(data), tokens, len(data))


@dataclass(frozen=True, slots=True)
class PromptFingerprint:
    """The links of a prompt; the first one is the system prompt, also where that is empty."""

    links: tuple[SegmentHash, ...]

    @classmethod
    def of(
        cls, prompt: Prompt, tokens: Sequence[int], *, system: str = "", system_tokens: int = 0
    ) -> "PromptFingerprint":
        """Return the chain of a prompt whose segments have ``tokens``."""
        links = (SegmentHash.of(segment, number) for segment, number in zip(prompt.segments, tokens, strict=True))
        return cls((SegmentHash.of_system(system, system_tokens), *links))

    @property
    def digests(self) -> tuple[str, ...]:
        """The hashes in order."""
        return tuple(link.digest for link in self.links)

    @property
    def tokens(self) -> int:
        """All tokens."""
        return sum(link.tokens for link in self.links)

    def common(self, other: "PromptFingerprint") -> int:
        """Return how many links both begin with."""
        return common_prefix(self.digests, other.digests)


def digest(text: str) -> str:
    """Return a hash of a text, 16 hexadecimal digits: enough to tell the states of one project's files apart."""
    return _digest(text.encode("utf-8", "surrogatepass"))


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
