"""A prompt's fingerprint, how much of its prefix is the same as before, and what ends that."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from aggregate.base.text import common_prefix
from aggregate.base.values import Section

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


class DivergenceCause(StrEnum):
    """What happened where two prompts part."""

    SAME = "same"
    APPENDED = "appended"
    CUT = "cut"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class PrefixReport:
    """What two prompts share.

    Attributes:
        kept: o200k tokens of the shared prefix.
        before: Tokens of the earlier prompt, ``0`` where they were not counted.
        total: Tokens of the later prompt.
        cause: What happened where they part.
        where: The file or section at that place, ``""`` where nothing was changed.
    """

    kept: int
    before: int
    total: int
    cause: DivergenceCause
    where: str = ""

    @property
    def sentence(self) -> str:
        """The report in one line."""
        whole = f" of {self.before:,}" if self.before else ""
        share = f"{self.kept:,}{whole} tokens of the prefix are kept"
        return (
            f"{share} ({self.cause.value}: {self.where})"
            if self.where
            else f"{share} ({self.cause.value})"
        )


def compare_prefixes(earlier: PromptFingerprint, later: PromptFingerprint) -> PrefixReport:
    """Return what the later prompt keeps of the earlier one."""
    shared = common_prefix(earlier.digests, later.digests)
    kept = sum(segment.tokens for segment in later.segments[:shared])
    # Counts of a segment depend by a token on whether something follows it.
    kept = min(kept, earlier.tokens) if earlier.tokens else kept
    cause, segment = _divergence(earlier, later, shared)
    return PrefixReport(
        kept, earlier.tokens, later.tokens, cause, _name(segment) if segment else ""
    )


def _divergence(
    earlier: PromptFingerprint, later: PromptFingerprint, shared: int
) -> tuple[DivergenceCause, SegmentHash | None]:
    """Return what happened behind the ``shared`` segments, and to which one."""
    if shared == len(earlier.segments):
        if shared == len(later.segments):
            return DivergenceCause.SAME, None
        return DivergenceCause.APPENDED, None
    cause, segment = _divergence_at(earlier, later, shared)
    if segment.section != Section.CHANGED:
        return cause, segment
    # A diff that comes, goes or is another one: the file itself has changed.
    with_diff = later if cause is DivergenceCause.ADDED else earlier
    return DivergenceCause.CHANGED, next(
        diff for diff in with_diff.segments[shared:] if diff.source
    )


def _divergence_at(
    earlier: PromptFingerprint, later: PromptFingerprint, place: int
) -> tuple[DivergenceCause, SegmentHash]:
    """Return what became of the earlier prompt's segment at a place, or which new one stands there."""
    old = earlier.segments[place]
    if place == len(later.segments):
        return DivergenceCause.CUT, old
    new = later.segments[place]
    if _key(old) == _key(new):
        return DivergenceCause.CHANGED, old
    elsewhere = next((segment for segment in later.segments if _key(segment) == _key(old)), None)
    if elsewhere is None:
        return DivergenceCause.REMOVED, old
    if _key(new) not in map(_key, earlier.segments):
        return DivergenceCause.ADDED, new
    return (
        DivergenceCause.MOVED if elsewhere.digest == old.digest else DivergenceCause.CHANGED
    ), old


def _key(segment: SegmentHash) -> tuple[str, str]:
    return segment.section, segment.source


def _name(segment: SegmentHash) -> str:
    if segment.source:
        return segment.source
    return "the system prompt" if segment.section == SYSTEM else f"the heading of {segment.section}"
