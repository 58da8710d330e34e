"""What a cache holds of the Files section and is sent again as it is, older versions of changed files included.

A file that changes in the middle of a prompt ends what the cache can read, and all that stands behind it is paid in
full. It is cheaper to leave the older version where it stands and to show behind the files, by a diff, what became of
it. That takes room, and a model's attention, in each further turn. So it ends once it is cheaper to write the files
anew from the first older version on, and it never takes more than a part of the prompt.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile

from aggregate.models.prompt import SEPARATOR, Section, Segment, Stability
from aggregate.prompt_cache.fingerprint import PromptFingerprint, SegmentHash
from aggregate.prompt_cache.policy import CachePolicy
from aggregate.sections.changed_files import changed_segment
from aggregate.tokens.count import count

TURNS = 10
"""In how many further turns an older version is expected to be sent."""
LARGEST = 0.1
"""Older versions with their diffs never take more tokens beyond those of the files now than this part of all."""


@dataclass(frozen=True, slots=True)
class HashedSegment:
    """A segment and its link in the chain."""

    segment: Segment
    link: SegmentHash

    @classmethod
    def of(cls, segment: Segment, tokens: int) -> "HashedSegment":
        """Return the part of a segment that has ``tokens``."""
        return cls(segment, SegmentHash.of(segment, tokens))

    @classmethod
    def counted(cls, segment: Segment) -> "HashedSegment":
        """Return the part of a segment that others follow."""
        return cls.of(segment, count(segment.text + SEPARATOR))

    @property
    def path(self) -> str:
        """The file, ``""`` for a heading."""
        return self.segment.source


@dataclass(frozen=True, slots=True)
class CachedPrompt:
    """The last prompt that was sent, whose prefix a cache may still hold.

    Attributes:
        chain: Its hashes.
        text: Returns the text of a link by its number, ``None`` where it is not to be had any more.
        marks: Behind which links a cache can be read; behind all where it is ``None``.
    """

    chain: PromptFingerprint
    text: Callable[[int], str | None]
    marks: Sequence[int] | None = None

    def begins_with(self, links: Sequence[SegmentHash]) -> bool:
        """Tell whether these are the first links behind the system prompt."""
        return self.chain.digests[1 : 1 + len(links)] == tuple(link.digest for link in links)

    def links(self, section: Section) -> list[tuple[int, SegmentHash]]:
        """Return the links of a section with their numbers, without its heading."""
        return [(n, link) for n, link in enumerate(self.chain.links) if link.section == section and link.source]

    def readable(self) -> list[int]:
        """Return how many tokens a cache holds of the first ``n`` links, for each ``n`` from 0."""
        sums = accumulate((link.tokens for link in self.chain.links), initial=0)
        if self.marks is None:
            return list(sums)
        marks = frozenset(self.marks)
        return list(accumulate((size if n in marks else 0 for n, size in enumerate(sums)), max))


@dataclass(frozen=True, slots=True)
class RetainedFile:
    """A file that stays where it stands, and the diff that is shown behind the files if it has changed since."""

    base: HashedSegment
    diff: HashedSegment | None = None

    @property
    def path(self) -> str:
        """The file."""
        return self.base.path

    def more(self, now: HashedSegment) -> int:
        """Return how many tokens more it takes than the file as it is now."""
        return self.base.link.tokens + (self.diff.link.tokens if self.diff else 0) - now.link.tokens


def retained_files(
    earlier: CachedPrompt, files: Mapping[str, HashedSegment], rules: CachePolicy, *, behind: int
) -> list[RetainedFile]:
    """Return the files that stay where they stand, so that this turn and those after it cost least.

    Args:
        earlier: The last prompt that was sent.
        files: The files as they are, by path.
        rules: The provider's cache.
        behind: Tokens of what stands behind the files.
    """
    old = earlier.links(Section.FILES)
    readable = earlier.readable()
    total = sum(part.link.tokens for part in files.values()) + behind
    best, least = 0, rules.write * total
    kept: list[RetainedFile] = []
    more = 0
    for one in _candidates(old, earlier, files):
        kept.append(one)
        more += one.more(files[one.path])
        if more > LARGEST * total:  # ends here also because diffs take time: a branch may have changed all files
            break
        whole = len(kept) == len(old) == len(files)
        same = _same_behind(earlier, kept) if whole else old[len(kept) - 1][0] + 1
        read = readable[same]
        price = rules.write * (total + more - read) + rules.read * (read + TURNS * more)
        if price <= least:
            best, least = len(kept), price
    return kept[:best]


def reusable_diffs(earlier: CachedPrompt, kept: Sequence[RetainedFile]) -> list[str]:
    """Return the files whose diffs stand where they can stay, up to one that changed again."""
    now = {one.path: one.diff.link.digest for one in kept if one.diff}
    same = takewhile(lambda entry: now.get(entry[1].source) == entry[1].digest, earlier.links(Section.CHANGED))
    return [link.source for _, link in same]


def _candidates(
    old: Sequence[tuple[int, SegmentHash]], earlier: CachedPrompt, files: Mapping[str, HashedSegment]
) -> Iterator[RetainedFile]:
    """Yield the old files, up to one that is no longer there or whose older version is not to be had."""
    for number, link in old:
        now = files.get(link.source)
        if now is None:
            return
        if now.link.digest == link.digest:
            yield RetainedFile(now)
            continue
        text = earlier.text(number)
        diff = changed_segment(text, now.segment) if text is not None else None
        if text is None or diff is None:
            return
        yield RetainedFile(
            HashedSegment(Segment(Section.FILES, text, Stability.STABLE, link.source), link),
            HashedSegment.counted(diff),
        )


def _same_behind(earlier: CachedPrompt, kept: Sequence[RetainedFile]) -> int:
    """Return how many links are the same if all old files stay."""
    shown = reusable_diffs(earlier, kept)
    if len(shown) == sum(one.diff is not None for one in kept) == len(earlier.links(Section.CHANGED)):
        return len(earlier.chain.links)
    end = earlier.links(Section.FILES)[-1][0] + 1
    return end + len(shown) + bool(shown)
