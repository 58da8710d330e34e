"""Order of a request's files, chosen to keep caches valid.

Sent files keep their positions. A changed file would end the cached prefix. There are two ways to leave its older
version in place:

- *Rewrite*: the files keep their order, and diffs follow the last file.
- *Continue*: nothing moves; each change appears once, as a diff between the last answer and the question. The current
  file is the first version with all diffs applied in order.

Diffs cost tokens and attention in each further turn. So the files are written anew once that is cheaper, or once the
diffs reach a limit. Sorting files by how seldom they change was tried: it saves nothing over 50 turns of five projects.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

from aggregate.base.files import ShownText
from aggregate.base.text import common_prefix
from aggregate.prompt.document import Section, Segment, Stability
from aggregate.sending.cache.cache_diffs import (
    CHANGED_HEADING,
    CHANGED_OR_MORE,
    CHANGED_SINCE,
    diff_segment,
    file_lines,
    is_sent,
    sent_lines,
    shown_in_older,
)
from aggregate.sending.cache.hashed_prompt import CountTokens, HashedPrompt, HashedSegment
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
_FILE_SECTIONS = (Section.FILES, Section.CHANGED)


@dataclass(frozen=True, slots=True)
class CachedPrompt:
    prompt: HashedPrompt
    # Returns a segment's text by its number, ``None`` if it is lost
    text: Callable[[int], str | None]
    # Numbers of segments after which cached prefixes end; ``None`` for any
    breakpoints: Sequence[int] | None = None
    gone: Sequence[HashedSegment] = ()  # notices about its deleted files

    def readable(self) -> list[int]:
        """Return for each ``n`` from 0 how many tokens a cache holds of the first ``n`` segments."""
        sums = accumulate((part.tokens for part in self.prompt.segments), initial=0)
        if self.breakpoints is None:
            return list(sums)
        breakpoints = frozenset(self.breakpoints)
        sizes = (size if n in breakpoints else 0 for n, size in enumerate(sums))
        return list(accumulate(sizes, max))


UNSENT: Final = CachedPrompt(HashedPrompt(()), lambda _: None, ())


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
        parts = rewritten = self.rewritten()
        # With a budget the files not shown differ from turn to turn and precede the discussion.
        if self.grown is None and self.earlier.readable()[-1]:
            continued = self.continued()
            most = (1 + MAX_CHANGES) * self.prompt.tokens
            is_short = continued is not None and sum(part.tokens for part in continued) <= most
            if continued and is_short and self._cost(continued) <= self._cost(rewritten):
                parts = continued
        in_order = replace(self.prompt, segments=(self.prompt.segments[0], *parts))
        above = {part.source for part in parts if part.section == Section.FILES}
        changed = (part.source for part in parts if part.section == Section.CHANGED)
        older = dict.fromkeys(
            path for path in changed if path and (self.grown is None or path in above)
        )
        extra = in_order.tokens - self.prompt.tokens
        return OrderedPrompt(in_order, self._replaced(parts), tuple(older), extra)

    def _replaced(self, parts: Sequence[HashedSegment]) -> int:
        """Return the position of the first file added by the question, 0 for none.

        With a budget such files follow the discussion, and differ next time.
        """
        is_in_discussion = False
        for number, part in enumerate(parts, start=1):
            is_in_discussion = is_in_discussion or part.section == Section.HISTORY
            if self.grown is not None and is_in_discussion and part.section in _FILE_SECTIONS:
                return number
        return 0

    def _current(self) -> dict[str, HashedSegment]:
        """Return the current files by path, and for deleted files the notices about that."""
        parts = (*self.prompt.parts, *self.earlier.gone)
        return {part.source: part for part in parts if _is_file(part)}

    def _cost(self, parts: Sequence[HashedSegment]) -> float:
        digests = tuple(part.digest for part in parts)
        same = 1 + common_prefix(digests, self.earlier.prompt.digests[1:])
        total = sum(part.tokens for part in parts)
        extra = total - self.prompt.tokens
        return self._price(total=total, read=self.earlier.readable()[same], extra=extra)

    def _price(self, *, total: int, read: int, extra: int) -> float:
        """Return the price of a prompt in input tokens.

        The ``extra`` tokens are also paid in the expected further turns.
        """
        return self.policy.write * (total - read) + self.policy.read * (read + TURNS * extra)

    def _older(self, old: HashedSegment, text: str, shown: ShownText | None) -> HashedSegment:
        """Return a segment as the last prompt had it.

        Its tokens are counted again, since the record of the last prompt may be a stranger's.
        """
        segment = Segment(Section(old.section), text, Stability.STABLE, old.source, shown)
        return HashedSegment.counted(segment, self.count)

    def rewritten(self) -> tuple[HashedSegment, ...]:
        """Return the prompt's segments with files in their old order.

        Diffs to the current versions follow the files, then the rest.
        """
        earlier, current, has_budget = self.earlier, self._current(), self.grown is not None
        section = [part for part in self.prompt.parts if part.section == Section.FILES]
        first = next((number for number, part in enumerate(section) if part.source), len(section))
        headings = section[:first]
        # The list of files not shown differs from turn to turn, so it follows everything that may stay.
        remainder = [part for part in section[first:] if not part.source]
        rest = [part for part in self.prompt.parts if part.section != Section.FILES]

        retained: list[RetainedFile] = []
        digests = tuple(part.digest for part in headings)
        if earlier.prompt.digests[1 : 1 + len(headings)] == digests:
            following = sum(part.tokens for part in (*remainder, *rest))
            retained = self._retained(current, following=following)
        bases = [file.base for file in retained]
        base_paths = {base.source for base in bases}
        written = [part for part in section if part.source and part.source not in base_paths]
        diffs = [file.diff for file in retained if file.diff]
        title = CHANGED_OR_MORE if has_budget else CHANGED_HEADING
        # A first question has only the heading before it.
        is_first = sum(part.section == Section.HISTORY for part in rest) <= 2
        if has_budget and retained and earlier.readable()[-1] and not is_first:
            # Files added by the question follow the discussion.
            added = list(diffs)
            for part in written:
                segment = replace(part.segment, section=Section.CHANGED)
                added.append(HashedSegment.counted(segment, self.count))
            added = [HashedSegment.counted(title, self.count), *added] if added else []
            limit = max(MAX_ADDED * self.prompt.tokens, _MIN_ADDED)
            if sum(part.tokens for part in added) <= limit:
                return (*headings, *bases, *rest[:-1], *added, *remainder, rest[-1])
        changes = [HashedSegment.counted(title, self.count), *diffs] if diffs else []
        return (*headings, *bases, *written, *changes, *remainder, *rest)

    def _retained(
        self, current: Mapping[str, HashedSegment], *, following: int
    ) -> list[RetainedFile]:
        """Return the files at the beginning that keep their positions.

        ``following`` are the tokens of everything after the files.
        """
        readable = self.earlier.readable()
        total = sum(file.tokens for file in current.values()) + following
        best, lowest_price = 0, self.policy.write * total
        # With a budget files keep their order while older versions are few, even if it costs a little more (rule B-9).
        is_fixed = (
            self.grown is not None and self.policy.read < self.policy.write and readable[-1] > 0
        )
        retained: list[RetainedFile] = []
        extra = 0
        for number, file in self._candidates(current):
            retained.append(file)
            extra += file.base.tokens + (file.diff.tokens if file.diff else 0)
            extra -= current[file.base.source].tokens
            # Also bounds the time for diffs: a branch may have changed all files.
            if extra > LARGEST * total:
                break
            price = self._price(total=total + extra, read=readable[number + 1], extra=extra)
            if is_fixed or price <= lowest_price:
                best, lowest_price = len(retained), price
        return retained[:best]

    def _candidates(
        self, current: Mapping[str, HashedSegment]
    ) -> Iterator[tuple[int, RetainedFile]]:
        """Yield the files before the last discussion, up to the first that cannot keep its position.

        Each comes with its number in the last prompt.
        """
        gone = {part.source for part in self.earlier.gone}
        for number, base in enumerate(self.earlier.prompt.segments):
            if base.section == Section.HISTORY:
                return
            if not _is_file(base):
                continue
            new = current.get(base.source)
            if new is None:
                return
            if new.digest == base.digest:
                yield number, RetainedFile(new)
                continue
            if self.grown is not None and base.source not in {*self.grown, *gone}:
                return
            text = self.earlier.text(number)
            if text is None:
                return
            # A file with a long diff is repeated whole, so that later files keep their positions.
            diff = diff_segment(file_lines(text), new.segment, longest=0)
            older = self._older(base, text, shown_in_older(text, new.segment))
            yield number, RetainedFile(older, HashedSegment.counted(diff, self.count))

    def continued(self) -> tuple[HashedSegment, ...] | None:
        """Continue the last prompt with diffs and new turns.

        Return ``None`` if something other than files has changed, or if the text of a segment is lost.
        """
        excerpts = [part for part in self.prompt.parts if part.section == Section.HISTORY]
        # Changes precede the question, even if the question was sent before.
        prefix = self._continued_prefix(excerpts[:-1])
        if prefix is None:
            return None
        numbers_by_path: dict[str, list[int]] = {}
        for number, part in enumerate(prefix):
            if part.source and part.section in _FILE_SECTIONS:
                numbers_by_path.setdefault(part.source, []).append(number)
        changes: list[Segment] = []
        for path, part in self._current().items():
            sent = numbers_by_path.get(path, [])
            texts = [prefix[number].segment.text for number in sent]
            lines = sent_lines(texts, path)
            if lines is None:
                return None
            if is_sent(texts, lines, part.segment):
                # The last segment brings an unchanged file up to date.
                last = prefix[sent[-1]]
                if last.section == Section.CHANGED:
                    segment = replace(last.segment, shown=part.segment.shown)
                    prefix[sent[-1]] = replace(last, segment=segment)
                continue
            whole = replace(part.segment, section=Section.CHANGED)
            changes.append(diff_segment(lines, part.segment) if lines else whole)
        turns = excerpts[sum(part.section == Section.HISTORY for part in prefix) :]
        section = [CHANGED_SINCE, *changes] if changes else []
        counted = (HashedSegment.counted(segment, self.count) for segment in section)
        return (*prefix, *turns[:-1], *counted, *turns[-1:])

    def _continued_prefix(self, turns: list[HashedSegment]) -> list[HashedSegment] | None:
        """Return the last prompt's segments that this prompt repeats or updates, with their texts.

        Return ``None`` if something other than files has changed, or if a text is lost.
        """
        current = self._current()
        stable = [part for part in self.prompt.parts if part.section != Section.HISTORY]
        by_digest = {part.digest: part for part in stable}
        remaining = [part.digest for part in stable if not _is_file(part)]
        prefix: list[HashedSegment] = []
        for number, old in enumerate(self.earlier.prompt.segments[1:], start=1):
            if old.section == Section.HISTORY:
                if not turns or turns[0].digest != old.digest:
                    break
                prefix.append(turns.pop(0))
                continue
            if old.section in _FILE_SECTIONS and old.source:
                if old.source not in current:
                    return None
            elif old.section != Section.CHANGED and (
                not remaining or remaining.pop(0) != old.digest
            ):
                return None
            same = by_digest.get(old.digest)
            if same is not None and old.section == same.section:
                prefix.append(same)
                continue
            text = self.earlier.text(number)
            if text is None:
                return None
            shown = None
            if old.section == Section.FILES:
                shown = shown_in_older(text, current[old.source].segment)
            elif text.partition("\n")[0].endswith(" (diff)"):
                shown = _NO_LINES
            prefix.append(self._older(old, text, shown))
        return None if remaining else prefix


def _is_file(part: HashedSegment) -> bool:
    return part.section == Section.FILES and bool(part.source)
