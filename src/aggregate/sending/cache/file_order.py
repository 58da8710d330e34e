"""The order of the files for sending: those that were sent keep their places, so that caches keep the most.

A file that changes ends the cached prefix. There are two ways to leave the older version of one where it stands. With
the prompt rewritten, a diff behind the files shows what became of it. With the prompt carried on, nothing that was sent
moves: each change is told once, between the last answer and the question, as a diff from what was told before; the file
as it is now is what stands in the files with all diffs applied in their order. Both take room, and a model's attention,
in each further turn: it ends once writing the files anew is cheaper, and has its limit. To put what seldom changes
first was tried: over 50 turns of five projects it saves nothing, since diffs leave everything where it is.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

from aggregate.base.files import ShownText
from aggregate.base.text import common_prefix
from aggregate.prompt.document import Section, Segment, Stability
from aggregate.prompt.sections import (
    changed_heading,
    changed_segment,
    changed_since_heading,
    diff_segment,
    is_told,
    shown_in_older,
    told_lines,
)
from aggregate.sending.cache.fingerprint import (
    CountTokens,
    HashedPrompt,
    HashedSegment,
    PromptFingerprint,
    SegmentHash,
)
from aggregate.sending.models import CachePolicy

TURNS = 10  # in how many further turns an older version is expected to be sent, and paid
LARGEST = 0.1  # of all: what older versions with their diffs take at most; they cost attention, which no price shows
# Of the prompt: what is told behind the discussion costs attention; more than ``LARGEST``
MOST_TOLD = 0.25
# What a question has added behind the discussion is written anew in each turn; where it is more than this part of a
# prompt, the files are written anew instead, before the discussion.
MOST_BEHIND = 0.3
_LEAST_BEHIND = 6_000  # tokens that may stand there in any case: small budgets leave a larger part to the question
_NO_LINES = ShownText("", ())  # what a diff shows for certain of a file as it is now
_Numbered = tuple[int, SegmentHash]


@dataclass(frozen=True, slots=True)
class CachedPrompt:
    fingerprint: PromptFingerprint
    # Of a segment by its number, ``None`` where it is not to be had any more
    text: Callable[[int], str | None]
    # behind how many segments it can be read; any where it is ``None``
    breakpoints: Sequence[int] | None = None
    gone: Sequence[HashedSegment] = ()  # what is told of its files that are no longer there

    def begins_with(self, parts: Sequence[HashedSegment]) -> bool:
        digests = tuple(part.hash.digest for part in parts)
        return self.fingerprint.digests[1 : 1 + len(parts)] == digests

    def numbered(self, section: Section) -> list[_Numbered]:
        """Return the segments of a section before the discussion with their numbers, without its heading."""
        numbered = enumerate(self.fingerprint.segments[: self.body])
        return [(number, old) for number, old in numbered if old.section == section and old.source]

    @property
    def body(self) -> int:
        numbered = enumerate(self.fingerprint.segments)
        end = len(self.fingerprint.segments)
        return next((n for n, old in numbered if old.section == Section.HISTORY), end)

    def readable(self) -> list[int]:
        """Return how many tokens a cache holds of the first ``n`` segments, for each ``n`` from 0."""
        sums = accumulate((segment.tokens for segment in self.fingerprint.segments), initial=0)
        if self.breakpoints is None:
            return list(sums)
        breakpoints = frozenset(self.breakpoints)
        sizes = (size if n in breakpoints else 0 for n, size in enumerate(sums))
        return list(accumulate(sizes, max))


UNSENT: Final = CachedPrompt(PromptFingerprint(()), lambda _: None, ())


@dataclass(frozen=True, slots=True)
class RetainedFile:
    base: HashedSegment
    diff: HashedSegment | None = None


@dataclass(frozen=True, slots=True)
class OrderedPrompt:
    prompt: HashedPrompt
    replaced: int  # segments before what the next request replaces for certain, 0 where nothing is
    older: tuple[str, ...]  # files in an older version, with a diff behind the files
    extra: int  # tokens more that this takes than the files as they are now


@dataclass(frozen=True, slots=True)
class FileOrder:
    """Puts a prompt in order behind the one that was sent last, so that this turn and those after it cost least.

    ``count`` returns the o200k tokens of a text. ``grown`` are, with a budget, the files of which all that was shown
    still is: no other may stay as it was.
    """

    prompt: HashedPrompt
    policy: CachePolicy
    earlier: CachedPrompt
    count: CountTokens
    grown: Collection[str] | None = None

    def ordered(self) -> OrderedPrompt:
        segments = rewritten = self.rewritten()
        # With a budget what is not shown differs from turn to turn, and stands before the discussion.
        if self.grown is None and self.earlier.readable()[-1]:
            carried_on = self.continued()
            if carried_on and self._is_cheaper(carried_on, rewritten):
                segments = carried_on
        in_order = replace(self.prompt, segments=segments)
        above = {part.path for part in segments if part.section is Section.FILES}
        changed = (part.path for part in segments if part.section is Section.CHANGED and part.path)
        older = dict.fromkeys(path for path in changed if self.grown is None or path in above)
        # With a budget what a question adds stands behind its discussion, and is another thing next time.
        sections = [part.section for part in segments]
        turn = sections.index(Section.HISTORY) if Section.HISTORY in sections else len(sections)
        added = (
            number + 1
            for number in range(turn, len(sections))
            if self.grown is not None and sections[number] in (Section.CHANGED, Section.FILES)
        )
        extra = in_order.tokens - self.prompt.tokens
        return OrderedPrompt(in_order, next(added, 0), tuple(older), extra)

    def _known(self) -> dict[str, HashedSegment]:
        """Return the files as they are now by their paths, and what is told of those that are gone."""
        parts = (*self.prompt.segments, *self.earlier.gone)
        return {part.path: part for part in parts if part.section is Section.FILES and part.path}

    def _is_cheaper(self, one: Sequence[HashedSegment], other: Sequence[HashedSegment]) -> bool:
        readable, costs = self.earlier.readable(), []
        for segments in (one, other):
            digests = tuple(part.hash.digest for part in segments)
            same = 1 + common_prefix(digests, self.earlier.fingerprint.digests[1:])
            total = sum(part.tokens for part in segments)
            extra = total - self.prompt.tokens
            if segments is one and extra > MOST_TOLD * self.prompt.tokens:
                return False
            costs.append(self._price(total=total, read=readable[same], extra=extra))
        return costs[0] <= costs[1]

    def _price(self, *, total: int, read: int, extra: int) -> float:
        """Return what a prompt costs in this turn and those that read the ``extra`` tokens too, in input tokens."""
        return self.policy.write * (total - read) + self.policy.read * (read + TURNS * extra)

    def _older(self, number: int, text: str, shown: ShownText | None) -> HashedSegment:
        """Return a segment of the last prompt, with the tokens that it has, whatever a stranger's record says."""
        old = self.earlier.fingerprint.segments[number]
        segment = Segment(Section(old.section), text, Stability.STABLE, old.source, shown)
        return HashedSegment.counted(segment, self.count)

    def rewritten(self) -> tuple[HashedSegment, ...]:
        """Return the files in their order, then diffs of those that stand in an older version, then all else."""
        earlier, known = self.earlier, self._known()
        section = [part for part in self.prompt.segments if part.section is Section.FILES]
        first = next((place for place, part in enumerate(section) if part.path), len(section))
        headings = section[:first]
        # What is not shown differs from turn to turn, so it stands behind all that may stay.
        remainder = [part for part in section[first:] if not part.path]
        rest = [part for part in self.prompt.segments if part.section is not Section.FILES]

        retained: list[RetainedFile] = []
        if earlier.begins_with(headings):
            behind = sum(part.tokens for part in (*remainder, *rest))
            retained = self._retained(known, behind=behind)
        bases = [file.base for file in retained]
        stays = {base.path for base in bases}
        written = [part for part in section if part.path and part.path not in stays]
        diffs = {file.base.path: file.diff for file in retained if file.diff}
        heading = HashedSegment.counted(changed_heading(or_more=self.grown is not None), self.count)
        if self.grown is not None and retained and earlier.readable()[-1]:
            # What a question adds to the files of its discussion, as it stands before the question.
            told = [replace(part.segment, section=Section.CHANGED) for part in written]
            added = [*diffs.values(), *(HashedSegment.counted(each, self.count) for each in told)]
            added = [heading, *added] if added else []
            # Its heading and the question
            is_first = sum(part.section is Section.HISTORY for part in rest) <= 2
            most = max(MOST_BEHIND * self.prompt.tokens, _LEAST_BEHIND)
            if not is_first and sum(part.tokens for part in added) <= most:
                return (*headings, *bases, *rest[:-1], *added, *remainder, rest[-1])
        return (
            *headings,
            *bases,
            *written,
            *([heading] if diffs else []),
            *diffs.values(),
            *remainder,
            *rest,
        )

    def _retained(self, known: Mapping[str, HashedSegment], *, behind: int) -> list[RetainedFile]:
        """Return the files that stay where they stand, with ``behind`` tokens behind all files."""
        old, readable = self.earlier.numbered(Section.FILES), self.earlier.readable()
        total = sum(file.tokens for file in known.values()) + behind
        best, lowest_price = 0, self.policy.write * total
        # With a budget nothing is reshuffled while older versions are few, though it may cost a little more (rule B-9).
        stays = self.grown is not None and self.policy.read < self.policy.write and readable[-1] > 0
        retained: list[RetainedFile] = []
        extra = 0
        for file in self._candidates(old, known):
            retained.append(file)
            extra += file.base.tokens + (file.diff.tokens if file.diff else 0)
            extra -= known[file.base.path].tokens
            # Ends here also because diffs take time: a branch may have changed all files.
            if extra > LARGEST * total:
                break
            same = old[len(retained) - 1][0] + 1
            price = self._price(total=total + extra, read=readable[same], extra=extra)
            if stays or price <= lowest_price:
                best, lowest_price = len(retained), price
        return retained[:best]

    def _candidates(
        self, old: Sequence[_Numbered], known: Mapping[str, HashedSegment]
    ) -> Iterator[RetainedFile]:
        """Yield the old files, up to one that is no longer selected or cannot stay in its older version.

        With a budget only those that have grown may: a diff tells of what is new or edited.
        """
        gone = {part.path for part in self.earlier.gone}
        for number, base in old:
            now = known.get(base.source)
            if now is None:
                return
            if now.hash.digest == base.digest:
                yield RetainedFile(now)
                continue
            if self.grown is not None and base.source not in {*self.grown, *gone}:
                return
            text = self.earlier.text(number)
            # A file that is another one now is told as a whole: what stands behind it stays where it is.
            diff = changed_segment(text, now.segment, or_whole=True) if text is not None else None
            if text is None or diff is None:
                return
            older = self._older(number, text, shown_in_older(text, now.segment))
            yield RetainedFile(older, HashedSegment.counted(diff, self.count))

    def continued(self) -> tuple[HashedSegment, ...] | None:
        """Return the last prompt with what is new behind it, ``None`` where else than in files it has changed."""
        history = [part for part in self.prompt.segments if part.section is Section.HISTORY]
        known = self._known()
        # Before the question, the last one, stands what has changed, also where the question was sent before.
        staying = self._shared_prefix(history[:-1], known)
        changes = None if staying is None else self._untold_changes(staying, known)
        if staying is None or changes is None:
            return None
        same = self._carried(staying, history, known, {change.source for change in changes})
        if same is None:
            return None
        new = history[sum(old.section == Section.HISTORY for _, old in staying) :]
        told = [changed_since_heading(), *changes] if changes else []
        news = (HashedSegment.counted(segment, self.count) for segment in told)
        return (*same, *new[:-1], *news, *new[-1:])

    def _shared_prefix(
        self, history: Sequence[HashedSegment], known: Collection[str]
    ) -> list[_Numbered] | None:
        others = [
            part.hash.digest
            for part in self.prompt.segments
            if part.section is not Section.HISTORY
            and not (part.section is Section.FILES and part.path)
        ]
        excerpts = [part.hash.digest for part in history]
        staying = []
        for number, old in enumerate(self.earlier.fingerprint.segments[1:], start=1):
            if old.section == Section.HISTORY:
                if not excerpts or excerpts.pop(0) != old.digest:
                    break
            elif old.section in (Section.FILES, Section.CHANGED) and old.source:
                if old.source not in known:
                    return None
            elif old.section != Section.CHANGED and (not others or others.pop(0) != old.digest):
                return None
            staying.append((number, old))
        return None if others else staying

    def _untold_changes(
        self, staying: Sequence[_Numbered], known: Mapping[str, HashedSegment]
    ) -> list[Segment] | None:
        by_file = _numbers_by_file(staying)
        changes: list[Segment] = []
        for path, part in known.items():
            numbers = by_file.get(path, [])
            digests = [self.earlier.fingerprint.segments[number].digest for number in numbers]
            if digests == [part.hash.digest]:
                continue
            texts = [self.earlier.text(number) for number in numbers]
            told = [text for text in texts if text is not None]
            lines = told_lines(told, path)
            if len(told) < len(texts) or lines is None:
                return None
            if is_told(told, lines, part.segment):
                continue
            diff = diff_segment(lines, part.segment) if lines else None
            changes.append(diff or replace(part.segment, section=Section.CHANGED))
        return changes

    def _carried(
        self,
        staying: Sequence[_Numbered],
        history: Iterable[HashedSegment],
        known: Mapping[str, HashedSegment],
        changed: Collection[str],
    ) -> list[HashedSegment] | None:
        stable = (part for part in self.prompt.segments if part.section is not Section.HISTORY)
        by_digest = {part.hash.digest: part for part in stable}
        # Behind the last ones nothing tells more of their files; of those that have changed more is told.
        by_file = _numbers_by_file(staying)
        latest = {numbers[-1] for path, numbers in by_file.items() if path not in changed}
        excerpts = iter(history)
        segments: list[HashedSegment] = []
        for number, old in staying:
            same = by_digest.get(old.digest)
            if old.section == Section.HISTORY:
                segments.append(next(excerpts))
                continue
            if same is not None and old.section == same.section:
                segments.append(same)
                continue
            text = self.earlier.text(number)
            if text is None:
                return None
            shown = None
            if old.section == Section.FILES:
                shown = shown_in_older(text, known[old.source].segment)
            elif old.source and number in latest:
                shown = known[old.source].segment.shown
            elif text.partition("\n")[0].endswith(" (diff)"):
                shown = _NO_LINES
            segments.append(self._older(number, text, shown))
        return segments


def _numbers_by_file(staying: Sequence[_Numbered]) -> dict[str, list[int]]:
    by_file: dict[str, list[int]] = {}
    for number, old in staying:
        if old.source and old.section in (Section.FILES, Section.CHANGED):
            by_file.setdefault(old.source, []).append(number)
    return by_file
