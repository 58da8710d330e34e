"""Hashes and tokens of a prompt's segments, and the prefix that two prompts share."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from aggregate.base.text import common_prefix
from aggregate.prompt.document import SEPARATOR, Image, Prompt, Section, Segment

SYSTEM = "system"  # section of the first segment: the system prompt
CountTokens = Callable[[str], int]  # o200k tokens of a text


@dataclass(frozen=True, slots=True)
class SegmentHash:
    section: str
    source: str
    digest: str
    tokens: int
    size: int

    @classmethod
    def of(cls, text: str | bytes, tokens: int, *, section: str, source: str = "") -> "SegmentHash":
        data = _bytes(text)
        return cls(section, source, digest(data), tokens, len(data))


@dataclass(frozen=True, slots=True)
class PromptFingerprint:
    """The hashes of a prompt's segments.

    The first is the hash of the system prompt, which may be empty.
    """

    segments: tuple[SegmentHash, ...]

    @property
    def digests(self) -> tuple[str, ...]:
        return tuple(segment.digest for segment in self.segments)

    @property
    def tokens(self) -> int:
        return sum(segment.tokens for segment in self.segments)


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """The blocks of a request by their positions.

    A position is the number of segments before it.
    """

    digests: tuple[str, ...]  # of the segments
    ends: tuple[
        int, ...
    ]  # of blocks, ascending; after every segment if the cache matches any prefix
    breakpoints: tuple[int, ...]  # ascending; a subset of ``ends``
    # Lifetime in seconds of the entry at each breakpoint; empty if all have the default lifetime
    lifetimes: tuple[int, ...] = ()

    def lifetime(self, position: int, default: int) -> int:
        return dict(zip(self.breakpoints, self.lifetimes, strict=False)).get(position, default)

    def alive(self, age: float, default: int) -> tuple[int, ...]:
        return tuple(end for end in self.breakpoints if age <= self.lifetime(end, default))


def digest(text: str | bytes) -> str:
    """Return a 64-bit hash, enough to distinguish the versions of one project's files."""
    return hashlib.blake2b(_bytes(text), digest_size=8).hexdigest()


def _bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


@dataclass(frozen=True, slots=True)
class HashedSegment:
    segment: Segment
    hash: SegmentHash
    images: tuple[Image, ...] = ()
    image_tokens: tuple[int, ...] = ()

    @classmethod
    def of(cls, segment: Segment, tokens: int) -> "HashedSegment":
        hashed = SegmentHash.of(
            segment.text, tokens, section=segment.section, source=segment.source
        )
        return cls(segment, hashed)

    @classmethod
    def counted(cls, segment: Segment, count: CountTokens) -> "HashedSegment":
        return cls.of(segment, count(segment.text + SEPARATOR))

    @property
    def section(self) -> Section:
        return self.segment.section

    @property
    def path(self) -> str:
        return self.segment.source

    @property
    def tokens(self) -> int:
        return self.hash.tokens


@dataclass(frozen=True, slots=True)
class HashedPrompt:
    segments: tuple[HashedSegment, ...]
    system: str = ""
    system_tokens: int = 0

    @classmethod
    def of(
        cls,
        prompt: Prompt,
        tokens: Sequence[int],
        *,
        system: str = "",
        system_tokens: int = 0,
        images: Mapping[Image, int] | None = None,
    ) -> "HashedPrompt":
        """Return a prompt with hashes; ``images``, with their tokens, follow the section that lists them."""
        segments = []
        for segment, size in zip(prompt.segments, tokens, strict=True):
            part = HashedSegment.of(segment, size)
            if images and segment.section is Section.SCREENSHOTS:
                digests = (part.hash.digest, *(image.digest for image in images))
                total = size + sum(images.values())
                hashed = replace(part.hash, digest=digest("\n".join(digests)), tokens=total)
                part = HashedSegment(segment, hashed, tuple(images), tuple(images.values()))
            segments.append(part)
        return cls(tuple(segments), system, system_tokens)

    @property
    def image_tokens(self) -> int:
        return sum(sum(part.image_tokens) for part in self.segments)

    @property
    def prompt(self) -> Prompt:
        return Prompt(tuple(part.segment for part in self.segments))

    @property
    def tokens(self) -> int:
        return sum(part.tokens for part in self.segments)

    @property
    def fingerprint(self) -> PromptFingerprint:
        system = SegmentHash.of(self.system, self.system_tokens, section=SYSTEM)
        return PromptFingerprint((system, *(part.hash for part in self.segments)))


class PrefixReport(NamedTuple):
    shared: int  # tokens
    where: str = ""  # first different file or section, ``""`` for none

    @property
    def sentence(self) -> str:
        differs = f"; {self.where} differs" if self.where else ""
        if not self.shared:
            return f"it has no beginning in common with the last prompt{differs}"
        same = f"the first {self.shared:,} tokens are as in the last prompt"
        return f"{same}, so a provider's cache may hold them{differs}"


def compare_prefixes(earlier: PromptFingerprint, later: PromptFingerprint) -> PrefixReport:
    shared = common_prefix(earlier.digests, later.digests)
    tokens = sum(segment.tokens for segment in later.segments[:shared])
    # A segment may count a token more if another one follows.
    tokens = min(tokens, earlier.tokens) if earlier.tokens else tokens
    if shared == len(earlier.segments):
        return PrefixReport(tokens)
    old_sources = {(old.section, old.source) for old in earlier.segments}
    new = later.segments[shared : shared + 1]
    # Name an inserted segment itself, else the changed, moved or removed old one.
    is_new = bool(new) and (new[0].section, new[0].source) not in old_sources
    rest = (later if is_new else earlier).segments[shared:]
    segment = rest[0]
    if segment.section == Section.CHANGED:
        # Name the changed file instead of the heading above its diff.
        segment = next(diff for diff in rest if diff.source)
    is_system = segment.section == SYSTEM
    heading = "the system prompt" if is_system else f"the heading of {segment.section}"
    where = segment.source or heading
    return PrefixReport(tokens, where)
