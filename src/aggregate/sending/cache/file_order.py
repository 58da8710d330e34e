"""Order of a request's files, chosen to keep caches valid.

Sent files keep their positions. A changed file would end the cached prefix. There are two ways to leave its older
version in place:

- *Rewrite*: the files keep their order, and diffs follow the last file.
- *Continue*: nothing moves; each change appears once, as a diff between the last answer and the question. The current
  file is the first version with all diffs applied in order.

Diffs cost tokens and attention in each further turn. So the files are written anew once that is cheaper, or once the
diffs reach a limit. Sorting files by how seldom they change was tried: it saves nothing over 50 turns of five projects.
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
    is_sent,
    sent_lines,
    shown_in_older,
)
from aggregate.sending.cache.fingerprint import (
    CountTokens,
    HashedPrompt,
    HashedSegment,
    PromptFingerprint,
    SegmentHash,
)
from aggregate.sending.models import CachePolicy

TURNS = 10  # expected further turns; each one sends an older version again
# Most that older versions and their diffs may add, as a fraction of the prompt: they cost attention too
LARGEST = 0.1
MAX_CHANGES = 0.25  # the same for a continued prompt
# Files added by a question are sent after the discussion, and written again in each turn. Above this fraction of the
# prompt the files before the discussion are rewritten instead.
MAX_ADDED = 0.3
_MIN_ADDED = 6_000  # always allowed tokens: with a small budget questions add a larger fraction
_NO_LINES = ShownText("", ())  # current lines certainly shown by a diff
_Numbered = tuple[int, SegmentHash]


@dataclass(frozen=True, slots=True)
class CachedPrompt:
    fingerprint: PromptFingerprint
    # Returns a segment's text by its number, ``None`` if it is lost
    text: Callable[[int], str | None]
    # Numbers of segments after which cached prefixes end; ``None`` for any
    breakpoints: Sequence[int] | None = None
    gone: Sequence[HashedSegment] = ()  # notices about its deleted files

    def begins_with(self, parts: Sequence[HashedSegment]) -> bool:
        digests = tuple(part.hash.digest for part in parts)
        return self.fingerprint.digests[1 : 1 + len(parts)] == digests

    def numbered(self, section: Section) -> list[_Numbered]:
        """Return a section's segments with their numbers in the prompt.

        The heading is left out, and so are files after the discussion.
        """
        numbered = enumerate(self.fingerprint.segments[: self.body])
        return [(number, old) for number, old in numbered if old.section == section and old.source]

    @property
    def body(self) -> int:
        numbered = enumerate(self.fingerprint.segments)
        end = len(self.fingerprint.segments)
        return next((n for n, old in numbered if old.section == Section.HISTORY), end)

    def readable(self) -> list[int]:
        """Return for each ``n`` from 0 how many tokens a cache holds of the first ``n`` segments."""
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
    replaced: int  # segments before the part certainly replaced by the next request, 0 for none
    older: tuple[str, ...]  # files in an older version, with a diff
    extra: int  # tokens beyond those of the current files


@dataclass(frozen=True, slots=True)
class FileOrder:
    """Orders a prompt's files to reuse the last request's cache.

    Attributes:
        count: Returns the o200k tokens of a text.
        grown: With a budget, the files that still show everything they showed before. Only these may keep an older
            version.
    """

    prompt: HashedPrompt
    policy: CachePolicy
    earlier: CachedPrompt
    count: CountTokens
    grown: Collection[str] | None = None

    def ordered(self) -> OrderedPrompt:
        segments = rewritten = self.rewritten()
        # With a budget the files not shown differ from turn to turn and precede the discussion.
        if self.grown is None and self.earlier.readable()[-1]:
            continued = self.continued()
            if continued and self._is_cheaper(continued, rewritten):
                segments = continued
        in_order = replace(self.prompt, segments=segments)
        above = {part.path for part in segments if part.section is Section.FILES}
        changed = (part.path for part in segments if part.section is Section.CHANGED and part.path)
        older = dict.fromkeys(path for path in changed if self.grown is None or path in above)
        # With a budget the files added by a question follow its discussion, and differ next time.
        sections = [part.section for part in segments]
        turn = sections.index(Section.HISTORY) if Section.HISTORY in sections else len(sections)
        added = (
            number + 1
            for number in range(turn, len(sections))
            if self.grown is not None and sections[number] in (Section.CHANGED, Section.FILES)
        )
        extra = in_order.tokens - self.prompt.tokens
        return OrderedPrompt(in_order, next(added, 0), tuple(older), extra)

    def _current(self) -> dict[str, HashedSegment]:
        """Return the current files by path, and for deleted files the notices about that."""
        parts = (*self.prompt.segments, *self.earlier.gone)
        return {part.path: part for part in parts if part.section is Section.FILES and part.path}

    def _is_cheaper(
        self, continued: Sequence[HashedSegment], rewritten: Sequence[HashedSegment]
    ) -> bool:
        readable, costs = self.earlier.readable(), []
        for segments in (continued, rewritten):
            digests = tuple(part.hash.digest for part in segments)
            same = 1 + common_prefix(digests, self.earlier.fingerprint.digests[1:])
            total = sum(part.tokens for part in segments)
            extra = total - self.prompt.tokens
            if segments is continued and extra > MAX_CHANGES * self.prompt.tokens:
                return False
            costs.append(self._price(total=total, read=readable[same], extra=extra))
        return costs[0] <= costs[1]

    def _price(self, *, total: int, read: int, extra: int) -> float:
        """Return the price of a prompt in input tokens.

        The ``extra`` tokens are also paid in the expected further turns.
        """
        return self.policy.write * (total - read) + self.policy.read * (read + TURNS * extra)

    def _older(self, number: int, text: str, shown: ShownText | None) -> HashedSegment:
        """Return a segment as the last prompt had it.

        Its tokens are counted again, since the record of the last prompt may be a stranger's.
        """
        old = self.earlier.fingerprint.segments[number]
        segment = Segment(Section(old.section), text, Stability.STABLE, old.source, shown)
        return HashedSegment.counted(segment, self.count)

    def rewritten(self) -> tuple[HashedSegment, ...]:
        """Return the prompt's segments with files in their old order.

        Diffs to the current versions follow the files, then the rest.
        """
        earlier, current = self.earlier, self._current()
        section = [part for part in self.prompt.segments if part.section is Section.FILES]
        first = next((number for number, part in enumerate(section) if part.path), len(section))
        headings = section[:first]
        # The list of files not shown differs from turn to turn, so it follows everything that may stay.
        remainder = [part for part in section[first:] if not part.path]
        rest = [part for part in self.prompt.segments if part.section is not Section.FILES]

        retained: list[RetainedFile] = []
        if earlier.begins_with(headings):
            following = sum(part.tokens for part in (*remainder, *rest))
            retained = self._retained(current, following=following)
        bases = [file.base for file in retained]
        base_paths = {base.path for base in bases}
        written = [part for part in section if part.path and part.path not in base_paths]
        diffs = {file.base.path: file.diff for file in retained if file.diff}
        heading = HashedSegment.counted(changed_heading(or_more=self.grown is not None), self.count)
        if self.grown is not None and retained and earlier.readable()[-1]:
            # Files added by the question follow the discussion.
            added = [*diffs.values()]
            for part in written:
                segment = replace(part.segment, section=Section.CHANGED)
                added.append(HashedSegment.counted(segment, self.count))
            added = [heading, *added] if added else []
            # A first question has only the heading before it.
            is_first = sum(part.section is Section.HISTORY for part in rest) <= 2
            limit = max(MAX_ADDED * self.prompt.tokens, _MIN_ADDED)
            if not is_first and sum(part.tokens for part in added) <= limit:
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

    def _retained(
        self, current: Mapping[str, HashedSegment], *, following: int
    ) -> list[RetainedFile]:
        """Return the files at the beginning that keep their positions.

        ``following`` are the tokens of everything after the files.
        """
        old, readable = self.earlier.numbered(Section.FILES), self.earlier.readable()
        total = sum(file.tokens for file in current.values()) + following
        best, lowest_price = 0, self.policy.write * total
        # With a budget files keep their order while older versions are few, even if it costs a little more (rule B-9).
        is_fixed = (
            self.grown is not None and self.policy.read < self.policy.write and readable[-1] > 0
        )
        retained: list[RetainedFile] = []
        extra = 0
        for file in self._candidates(old, current):
            retained.append(file)
            extra += file.base.tokens + (file.diff.tokens if file.diff else 0)
            extra -= current[file.base.path].tokens
            # Also bounds the time for diffs: a branch may have changed all files.
            if extra > LARGEST * total:
                break
            same = old[len(retained) - 1][0] + 1
            price = self._price(total=total + extra, read=readable[same], extra=extra)
            if is_fixed or price <= lowest_price:
                best, lowest_price = len(retained), price
        return retained[:best]

    def _candidates(
        self, old: Sequence[_Numbered], current: Mapping[str, HashedSegment]
    ) -> Iterator[RetainedFile]:
        """Yield the files of the last prompt, up to the first that cannot keep its position."""
        gone = {part.path for part in self.earlier.gone}
        for number, base in old:
            new = current.get(base.source)
            if new is None:
                return
            if new.hash.digest == base.digest:
                yield RetainedFile(new)
                continue
            if self.grown is not None and base.source not in {*self.grown, *gone}:
                return
            text = self.earlier.text(number)
            # A file with a long diff is repeated whole, so that later files keep their positions.
            diff = changed_segment(text, new.segment, or_whole=True) if text is not None else None
            if text is None or diff is None:
                return
            older = self._older(number, text, shown_in_older(text, new.segment))
            yield RetainedFile(older, HashedSegment.counted(diff, self.count))

    def continued(self) -> tuple[HashedSegment, ...] | None:
        """Continue the last prompt with diffs and new turns.

        Return ``None`` if something other than files has changed.
        """
        history = [part for part in self.prompt.segments if part.section is Section.HISTORY]
        current = self._current()
        # Changes precede the question, even if the question was sent before.
        prefix = self._shared_prefix(history[:-1], current)
        changes = None if prefix is None else self._new_changes(prefix, current)
        if prefix is None or changes is None:
            return None
        same = self._prefix_segments(
            prefix, history, current, {change.source for change in changes}
        )
        if same is None:
            return None
        turns = history[sum(old.section == Section.HISTORY for _, old in prefix) :]
        section = [changed_since_heading(), *changes] if changes else []
        counted = (HashedSegment.counted(segment, self.count) for segment in section)
        return (*same, *turns[:-1], *counted, *turns[-1:])

    def _shared_prefix(
        self, history: Sequence[HashedSegment], current: Collection[str]
    ) -> list[_Numbered] | None:
        remaining = [
            part.hash.digest
            for part in self.prompt.segments
            if part.section is not Section.HISTORY
            and not (part.section is Section.FILES and part.path)
        ]
        excerpts = [part.hash.digest for part in history]
        prefix = []
        for number, old in enumerate(self.earlier.fingerprint.segments[1:], start=1):
            if old.section == Section.HISTORY:
                if not excerpts or excerpts.pop(0) != old.digest:
                    break
            elif old.section in (Section.FILES, Section.CHANGED) and old.source:
                if old.source not in current:
                    return None
            elif old.section != Section.CHANGED and (
                not remaining or remaining.pop(0) != old.digest
            ):
                return None
            prefix.append((number, old))
        return None if remaining else prefix

    def _new_changes(
        self, prefix: Sequence[_Numbered], current: Mapping[str, HashedSegment]
    ) -> list[Segment] | None:
        """Return the changes of files since ``prefix`` was sent.

        ``None`` if the text of a segment is lost.
        """
        by_file = _numbers_by_file(prefix)
        changes: list[Segment] = []
        for path, part in current.items():
            numbers = by_file.get(path, [])
            digests = [self.earlier.fingerprint.segments[number].digest for number in numbers]
            if digests == [part.hash.digest]:
                continue
            texts = [self.earlier.text(number) for number in numbers]
            sent = [text for text in texts if text is not None]
            lines = sent_lines(sent, path)
            if len(sent) < len(texts) or lines is None:
                return None
            if is_sent(sent, lines, part.segment):
                continue
            diff = diff_segment(lines, part.segment) if lines else None
            changes.append(diff or replace(part.segment, section=Section.CHANGED))
        return changes

    def _prefix_segments(
        self,
        prefix: Sequence[_Numbered],
        history: Iterable[HashedSegment],
        current: Mapping[str, HashedSegment],
        changed: Collection[str],
    ) -> list[HashedSegment] | None:
        """Return the segments of ``prefix`` with their texts, ``None`` if a text is lost."""
        stable = (part for part in self.prompt.segments if part.section is not Section.HISTORY)
        by_digest = {part.hash.digest: part for part in stable}
        # Segments that bring an unchanged file up to date.
        by_file = _numbers_by_file(prefix)
        latest = {numbers[-1] for path, numbers in by_file.items() if path not in changed}
        excerpts = iter(history)
        segments: list[HashedSegment] = []
        for number, old in prefix:
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
                shown = shown_in_older(text, current[old.source].segment)
            elif old.source and number in latest:
                shown = current[old.source].segment.shown
            elif text.partition("\n")[0].endswith(" (diff)"):
                shown = _NO_LINES
            segments.append(self._older(number, text, shown))
        return segments


def _numbers_by_file(prefix: Sequence[_Numbered]) -> dict[str, list[int]]:
    by_file: dict[str, list[int]] = {}
    for number, old in prefix:
        if old.source and old.section in (Section.FILES, Section.CHANGED):
            by_file.setdefault(old.source, []).append(number)
    return by_file
