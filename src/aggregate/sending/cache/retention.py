"""What a cache holds of the Files section and is sent again as it is, older versions of changed files included.

A file that changes in the middle of a prompt ends what the cache can read, and all that stands behind it is paid in
full. It is cheaper to leave the older version where it stands and to show behind the files, by a diff, what became of
it. That takes room, and a model's attention, in each further turn. So it ends once it is cheaper to write the files
anew from the first older version on, and it never takes more than a part of the prompt.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile

from aggregate.base.values import Section, Segment, Stability
from aggregate.prompt.sections import changed_segment, shown_in_older
from aggregate.sending.cache.hashed_prompt import CountTokens, HashedSegment
from aggregate.sending.cache.policy import CachePolicy
from aggregate.sending.cache.prefix_diff import PromptFingerprint, SegmentHash

TURNS = 10
"""In how many further turns an older version is expected to be sent: what it takes is paid in each of them, while what
it saves is saved once."""
LARGEST = 0.1
"""Older versions with their diffs never take more tokens beyond those of the files now than this part of all: they cost
a model's attention, which no price shows."""


@dataclass(frozen=True, slots=True)
class CachedPrompt:
    """The last prompt that was sent, whose prefix a cache may still hold.

    Attributes:
        fingerprint: Its hashes.
        text: Returns the text of a segment by its number, ``None`` where it is not to be had any more.
        breakpoints: Behind how many segments a cache can be read; behind any number where it is ``None``.
        gone: What is told of its files that are no longer there; not of those that are there and no longer selected.
    """

    fingerprint: PromptFingerprint
    text: Callable[[int], str | None]
    breakpoints: Sequence[int] | None = None
    gone: Sequence[HashedSegment] = ()

    def begins_with(self, parts: Sequence[HashedSegment]) -> bool:
        """Tell whether these are the first segments behind the system prompt."""
        return self.fingerprint.digests[1 : 1 + len(parts)] == tuple(
            part.hash.digest for part in parts
        )

    def numbered(self, section: Section) -> list[tuple[int, SegmentHash]]:
        """Return the segments of a section before the discussion with their numbers, without its heading."""
        numbered = enumerate(self.fingerprint.segments[: self.body])
        return [(number, old) for number, old in numbered if old.section == section and old.source]

    @property
    def body(self) -> int:
        """How many segments stand before the discussion, the system prompt included."""
        numbered = enumerate(self.fingerprint.segments)
        end = len(self.fingerprint.segments)
        return next((n for n, old in numbered if old.section == Section.HISTORY), end)

    def readable(self) -> list[int]:
        """Return how many tokens a cache holds of the first ``n`` segments, for each ``n`` from 0."""
        sums = accumulate((segment.tokens for segment in self.fingerprint.segments), initial=0)
        if self.breakpoints is None:
            return list(sums)
        breakpoints = frozenset(self.breakpoints)
        return list(
            accumulate((size if n in breakpoints else 0 for n, size in enumerate(sums)), max)
        )


@dataclass(frozen=True, slots=True)
class RetainedFile:
    """A file that stays where it stands, and the diff that is shown behind the files if it has changed since."""

    base: HashedSegment
    diff: HashedSegment | None = None

    @property
    def path(self) -> str:
        """The file."""
        return self.base.path

    def extra_tokens(self, now: HashedSegment) -> int:
        """Return how many tokens more it takes than the file as it is now."""
        return self.base.tokens + (self.diff.tokens if self.diff else 0) - now.tokens


def retained_files(
    earlier: CachedPrompt,
    files: Mapping[str, HashedSegment],
    policy: CachePolicy,
    *,
    behind: int,
    count: CountTokens,
    grown: Collection[str] | None = None,
) -> list[RetainedFile]:
    """Return the files that stay where they stand, so that this turn and those after it cost least.

    Args:
        earlier: The last prompt that was sent.
        files: The files as they are, by path, and what is told of those that are gone.
        policy: The provider's cache.
        behind: Tokens of what stands behind the files.
        count: Returns the tokens of a text.
        grown: The files of which all that was shown is shown still, so that a diff tells only of what is new or was
            edited; ``None`` where files are shown alike each time. No other may stay in an older version.
    """
    old = earlier.numbered(Section.FILES)
    readable = earlier.readable()
    total = sum(file.tokens for file in files.values()) + behind
    best, lowest_price = 0, policy.write * total
    # With a budget nothing is reshuffled while older versions are few, though it may cost a little more (rule B-9).
    stays = grown is not None and policy.read < policy.write and readable[-1] > 0
    retained: list[RetainedFile] = []
    extra = 0
    for file in _candidates(old, earlier, files, count, grown):
        retained.append(file)
        extra += file.extra_tokens(files[file.path])
        # Ends here also because diffs take time: a branch may have changed all files.
        if extra > LARGEST * total:
            break
        if len(retained) == len(old) == len(files):
            same = _same_with_all(earlier, retained)
        else:
            same = old[len(retained) - 1][0] + 1
        read = readable[same]
        price = expected_price(policy, total=total + extra, read=read, extra=extra)
        if stays or price <= lowest_price:
            best, lowest_price = len(retained), price
    return retained[:best]


def expected_price(policy: CachePolicy, *, total: int, read: int, extra: int) -> float:
    """Return what a prompt costs in this turn and those after it, in prices of an input token.

    Now all is written that cannot be read; in the turns to come, what the prompt has beyond its files is read.

    Args:
        policy: The provider's cache.
        total: Tokens of the prompt.
        read: How many of them can be read.
        extra: How many more they are than those of the files as they are now.
    """
    return policy.write * (total - read) + policy.read * (read + TURNS * extra)


def reusable_diffs(earlier: CachedPrompt, retained: Sequence[RetainedFile]) -> list[str]:
    """Return the files whose diffs stand where they can stay, up to one that changed again."""
    digests = {file.path: file.diff.hash.digest for file in retained if file.diff}
    old = (diff for _, diff in earlier.numbered(Section.CHANGED))
    return [
        diff.source for diff in takewhile(lambda diff: digests.get(diff.source) == diff.digest, old)
    ]


def _candidates(
    old: Sequence[tuple[int, SegmentHash]],
    earlier: CachedPrompt,
    files: Mapping[str, HashedSegment],
    count: CountTokens,
    grown: Collection[str] | None,
) -> Iterator[RetainedFile]:
    """Yield the old files, up to one that is no longer selected or cannot stay in its older version."""
    gone = {part.path for part in earlier.gone}
    for number, base in old:
        now = files.get(base.source)
        if now is None:
            return
        if now.hash.digest == base.digest:
            yield RetainedFile(now)
            continue
        is_gone = base.source in gone
        if grown is not None and base.source not in grown and not is_gone:
            return
        text = earlier.text(number)
        or_whole = grown is not None or is_gone
        diff = changed_segment(text, now.segment, or_whole=or_whole) if text is not None else None
        if text is None or diff is None:
            return
        shown = shown_in_older(text, now.segment)
        segment = Segment(Section.FILES, text, Stability.STABLE, base.source, shown)
        older = HashedSegment.counted(segment, count)  # a record may have come with the project
        yield RetainedFile(older, HashedSegment.counted(diff, count))


def _same_with_all(earlier: CachedPrompt, retained: Sequence[RetainedFile]) -> int:
    """Return how many segments are the same if all old files stay."""
    reused = reusable_diffs(earlier, retained)
    needed = sum(file.diff is not None for file in retained)
    if len(reused) == needed == len(earlier.numbered(Section.CHANGED)):
        behind = enumerate(earlier.fingerprint.segments[earlier.body :], start=earlier.body)
        changes = (number for number, old in behind if old.section == Section.CHANGED)
        return next(changes, len(earlier.fingerprint.segments))
    end = earlier.numbered(Section.FILES)[-1][0] + 1
    heading = bool(reused)
    return end + heading + len(reused)
