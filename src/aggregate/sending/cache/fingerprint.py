"""The hashes of a prompt's segments in order: which prefix two prompts share, and what ends it."""

import hashlib
from dataclasses import dataclass

SYSTEM = "system"
"""Stands for the section of the first segment: the instructions that are sent before the prompt."""


@dataclass(frozen=True, slots=True)
class SegmentHash:
    """One segment: where it comes from, a hash of its bytes, its o200k tokens, and its size in bytes."""

    section: str
    source: str
    digest: str
    tokens: int
    size: int

    @classmethod
    def of(cls, text: str, tokens: int, *, section: str, source: str = "") -> "SegmentHash":
        """Return the hash of a ``text`` that has ``tokens``."""
        data = text.encode("utf-8", "surrogatepass")
        return cls.of_bytes(data, tokens, section=section, source=source)

    @classmethod
    def of_bytes(cls, data: bytes, tokens: int, *, section: str, source: str = "") -> "SegmentHash":
        """Return the hash of a text in UTF-8."""
        return cls(section, source, _digest(data), tokens, len(data))


@dataclass(frozen=True, slots=True)
class PromptFingerprint:
    """The hashes of a prompt's segments; number 0 is the system prompt, also where that is empty."""

    segments: tuple[SegmentHash, ...]

    @property
    def digests(self) -> tuple[str, ...]:
        """The digests in order."""
        return tuple(segment.digest for segment in self.segments)

    @property
    def tokens(self) -> int:
        """All tokens."""
        return sum(segment.tokens for segment in self.segments)


def digest(text: str) -> str:
    """Return a hash of a text, 16 hexadecimal digits: enough to tell the states of one project's files apart."""
    return _digest(text.encode("utf-8", "surrogatepass"))


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
