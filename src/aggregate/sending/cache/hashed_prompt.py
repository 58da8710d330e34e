"""A prompt whose segments carry their hashes and tokens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from aggregate.base.values import SEPARATOR, Image, Prompt, Section, Segment
from aggregate.sending.cache.prefix_diff import SYSTEM, PromptFingerprint, SegmentHash, digest

CountTokens = Callable[[str], int]
"""Returns the o200k tokens of a text."""


@dataclass(frozen=True, slots=True)
class HashedSegment:
    """A segment of a prompt, with its hash and its tokens, and those of the images that stand behind it."""

    segment: Segment
    hash: SegmentHash
    images: tuple[Image, ...] = ()
    image_tokens: tuple[int, ...] = ()

    @classmethod
    def of(cls, segment: Segment, tokens: int) -> "HashedSegment":
        """Return a segment that has ``tokens``, with the separator behind it."""
        return cls(
            segment,
            SegmentHash.of(segment.text, tokens, section=segment.section, source=segment.source),
        )

    @classmethod
    def counted(cls, segment: Segment, count: CountTokens) -> "HashedSegment":
        """Return a segment that others follow."""
        return cls.of(segment, count(segment.text + SEPARATOR))

    def with_images(self, images: Mapping[Image, int]) -> "HashedSegment":
        """Return the segment with images behind it, each with its tokens."""
        if not images:
            return self
        digests = digest("\n".join((self.hash.digest, *(image.digest for image in images))))
        total = self.hash.tokens + sum(images.values())
        with_images = replace(self.hash, digest=digests, tokens=total)
        return HashedSegment(self.segment, with_images, tuple(images), tuple(images.values()))

    @property
    def section(self) -> Section:
        """The section it belongs to."""
        return self.segment.section

    @property
    def path(self) -> str:
        """The file, ``""`` for a heading."""
        return self.segment.source

    @property
    def tokens(self) -> int:
        """Its o200k tokens."""
        return self.hash.tokens


@dataclass(frozen=True, slots=True)
class HashedPrompt:
    """A prompt and the instructions that are sent before it.

    Attributes:
        segments: Its segments, in order.
        system: The instructions, ``""`` for none.
        system_tokens: Their o200k tokens.
    """

    segments: tuple[HashedSegment, ...]
    system: str = ""
    system_tokens: int = 0

    @classmethod
    def of(
        cls, prompt: Prompt, tokens: Sequence[int], *, system: str = "", system_tokens: int = 0
    ) -> "HashedPrompt":
        """Return a prompt whose segments have ``tokens``."""
        pairs = zip(prompt.segments, tokens, strict=True)
        return cls(
            tuple(HashedSegment.of(segment, size) for segment, size in pairs), system, system_tokens
        )

    def with_images(self, images: Mapping[Image, int]) -> "HashedPrompt":
        """Return the prompt with images behind the section that names them; without that section there are none."""
        segments = tuple(
            part.with_images(images) if part.section is Section.SCREENSHOTS else part
            for part in self.segments
        )
        return replace(self, segments=segments)

    @property
    def image_tokens(self) -> int:
        """The tokens of all images."""
        return sum(sum(part.image_tokens) for part in self.segments)

    @property
    def prompt(self) -> Prompt:
        """The segments alone."""
        return Prompt(tuple(part.segment for part in self.segments))

    @property
    def tokens(self) -> int:
        """The tokens of all segments, without the instructions."""
        return sum(part.tokens for part in self.segments)

    @property
    def fingerprint(self) -> PromptFingerprint:
        """The hashes alone, those of the instructions first."""
        system = SegmentHash.of(self.system, self.system_tokens, section=SYSTEM)
        return PromptFingerprint((system, *(part.hash for part in self.segments)))
