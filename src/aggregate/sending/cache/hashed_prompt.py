"""A prompt as hashed segments, its division into blocks, and the prefix that two prompts share."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from aggregate.base.text import common_prefix
from aggregate.prompt.document import SEPARATOR, Image, Prompt, Section, Segment, Stability

SYSTEM = "system"  # section of the first segment: the system prompt
CountTokens = Callable[[str], int]  # o200k tokens of a text
_UNKNOWN: Final = Segment(Section.FILES, "", Stability.STABLE)


@dataclass(frozen=True, slots=True)
class HashedSegment:
    section: str
    source: str  # path of the file, or as in ``Segment``
    digest: str
    tokens: int
    size: int  # bytes
    segment: Segment = field(default=_UNKNOWN, compare=False)  # without a text in a record
    images: Mapping[Image, int] = field(default_factory=dict, compare=False)  # with their tokens

    @classmethod
    def of(
        cls,
        text: str | bytes,
        tokens: int,
        *,
        section: str,
        source: str = "",
        segment: Segment = _UNKNOWN,
    ) -> "HashedSegment":
        data = _bytes(text)
        return cls(section, source, digest(data), tokens, len(data), segment)

    @classmethod
    def counted(cls, segment: Segment, count: CountTokens) -> "HashedSegment":
        return _hashed(segment, count(segment.text + SEPARATOR))


def _hashed(segment: Segment, tokens: int) -> HashedSegment:
    section, source = segment.section, segment.source
    return HashedSegment.of(segment.text, tokens, section=section, source=source, segment=segment)


def digest(text: str | bytes) -> str:
    """Return a 64-bit hash, enough to distinguish the versions of one project's files."""
    return hashlib.blake2b(_bytes(text), digest_size=8).hexdigest()


def _bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


@dataclass(frozen=True, slots=True)
class HashedPrompt:
    """The hashed segments of a prompt.

    The first is the system prompt, which may be empty.
    """

    segments: tuple[HashedSegment, ...]
    system: str = field(default="", compare=False)  # text of the first segment

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
        segments = [HashedSegment.of(system, system_tokens, section=SYSTEM)]
        for segment, size in zip(prompt.segments, tokens, strict=True):
            part = _hashed(segment, size)
            if images and segment.section is Section.SCREENSHOTS:
                digests = "\n".join((part.digest, *(image.digest for image in images)))
                total = size + sum(images.values())
                part = replace(part, digest=digest(digests), tokens=total, images=images)
            segments.append(part)
        return cls(tuple(segments), system)

    @property
    def parts(self) -> tuple[HashedSegment, ...]:
        """The segments after the system prompt."""
        return self.segments[1:]

    @property
    def digests(self) -> tuple[str, ...]:
        return tuple(part.digest for part in self.segments)

    @property
    def prompt(self) -> Prompt:
        return Prompt(tuple(part.segment for part in self.parts))

    @property
    def tokens(self) -> int:
        """Tokens without the system prompt."""
        return sum(part.tokens for part in self.parts)


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """The blocks of a request by their positions.

    A position is the number of segments before it.
    """

    digests: tuple[str, ...]  # of the segments
    # Ends of blocks, ascending; after every segment if the cache matches any prefix
    ends: tuple[int, ...]
    breakpoints: tuple[int, ...]  # ascending; a subset of ``ends``
    # Lifetime in seconds of the entry at each breakpoint; empty if all have the default lifetime
    lifetimes: tuple[int, ...] = ()

    def lifetime(self, position: int, default: int) -> int:
        return dict(zip(self.breakpoints, self.lifetimes, strict=False)).get(position, default)

    def alive(self, age: float, default: int) -> tuple[int, ...]:
        return tuple(end for end in self.breakpoints if age <= self.lifetime(end, default))


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


def compare_prefixes(earlier: HashedPrompt, later: HashedPrompt) -> PrefixReport:
    shared = common_prefix(earlier.digests, later.digests)
    tokens = sum(part.tokens for part in later.segments[:shared])
    # A segment may count a token more if another one follows.
    total = sum(part.tokens for part in earlier.segments)
    tokens = min(tokens, total) if total else tokens
    if shared == len(earlier.segments):
        return PrefixReport(tokens)
    old_sources = {(old.section, old.source) for old in earlier.segments}
    new = later.segments[shared : shared + 1]
    # Name an inserted segment itself, else the changed, moved or removed old one.
    is_new = bool(new) and (new[0].section, new[0].source) not in old_sources
    rest = (later if is_new else earlier).segments[shared:]
    part = rest[0]
    if part.section == Section.CHANGED:
        # Name the changed file instead of the heading above its diff.
        part = next(diff for diff in rest if diff.source)
    heading = "the system prompt" if part.section == SYSTEM else f"the heading of {part.section}"
    return PrefixReport(tokens, part.source or heading)
