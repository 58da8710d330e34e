"""A prompt whose segments carry their hashes and tokens, how much of its prefix is as before, and what ends that."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from aggregate.base.text import common_prefix
from aggregate.prompt.document import SEPARATOR, Image, Prompt, Section, Segment

SYSTEM = "system"  # stands for the section of the first segment: the instructions that are sent before the prompt
CountTokens = Callable[[str], int]  # returns the o200k tokens of a text


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
    """The hashes of a prompt's segments; number 0 is the system prompt, also where that is empty."""

    segments: tuple[SegmentHash, ...]

    @property
    def digests(self) -> tuple[str, ...]:
        return tuple(segment.digest for segment in self.segments)

    @property
    def tokens(self) -> int:
        return sum(segment.tokens for segment in self.segments)


@dataclass(frozen=True, slots=True)
class BlockLayout:
    digests: tuple[str, ...]  # of the segments
    ends: tuple[int, ...]  # in order; behind every segment where the cache finds any prefix
    breakpoints: tuple[int, ...]  # in order; a subset of ``ends``
    # Seconds of the entry at each breakpoint; empty where all are usual
    lifetimes: tuple[int, ...] = ()

    def lifetime(self, place: int, usual: int) -> int:
        return dict(zip(self.breakpoints, self.lifetimes, strict=False)).get(place, usual)

    def alive(self, age: float, usual: int) -> tuple[int, ...]:
        return tuple(place for place in self.breakpoints if age <= self.lifetime(place, usual))


def digest(text: str | bytes) -> str:
    """Return a hash of a text, 16 hexadecimal digits: enough to tell the states of one project's files apart."""
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
        place = {"section": segment.section, "source": segment.source}
        return cls(segment, SegmentHash.of(segment.text, tokens, **place))

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
        """``images`` stand, each with its tokens, behind the section that names them."""
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


@dataclass(frozen=True, slots=True)
class PrefixReport:
    kept: int
    before: int  # of the earlier prompt, 0 where they were not counted
    total: int
    cause: Literal["same", "appended", "changed"]
    where: str = ""  # the file or section where they part, ``""`` where nothing was changed

    @property
    def sentence(self) -> str:
        differs = f"; {self.where} differs" if self.where else ""
        return f"the first {self.kept:,} tokens are as in the last prompt, so a provider's cache may hold them{differs}"


def compare_prefixes(earlier: PromptFingerprint, later: PromptFingerprint) -> PrefixReport:
    shared = common_prefix(earlier.digests, later.digests)
    kept = sum(segment.tokens for segment in later.segments[:shared])
    # Counts of a segment depend by a token on whether something follows it.
    kept = min(kept, earlier.tokens) if earlier.tokens else kept
    if shared == len(earlier.segments):
        is_same = shared == len(later.segments)
        return PrefixReport(kept, earlier.tokens, later.tokens, "same" if is_same else "appended")
    known = {(old.section, old.source) for old in earlier.segments}
    new = later.segments[shared : shared + 1]
    # What has come in is named itself, else what was there and is changed, moved or gone.
    is_new = bool(new) and (new[0].section, new[0].source) not in known
    behind = (later if is_new else earlier).segments[shared:]
    segment = behind[0]
    if segment.section == Section.CHANGED:
        # A diff that comes, goes or is another one: the file itself has changed.
        segment = next(diff for diff in behind if diff.source)
    is_system = segment.section == SYSTEM
    heading = "the system prompt" if is_system else f"the heading of {segment.section}"
    where = segment.source or heading
    return PrefixReport(kept, earlier.tokens, later.tokens, "changed", where)
