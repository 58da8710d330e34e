"""The last prompt carried on: nothing that was sent moves, and what has changed since is told behind the discussion.

What a cache holds then stays readable to its very end, whatever changes. Each change is told once, between the last
answer and the question, as a diff from what was told before; the file as it is now is what stands in the files with all
diffs applied in their order. Older versions and their diffs take room in every further turn, so that from time to time
the files are written anew (see ``file_order``).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from aggregate.base.values import Section, Segment, ShownText, Stability
from aggregate.prompt.sections import (
    changed_since_heading,
    diff_segment,
    is_told,
    shown_in_older,
    told_lines,
)
from aggregate.sending.cache.hashed_prompt import CountTokens, HashedPrompt, HashedSegment
from aggregate.sending.cache.prefix_diff import SegmentHash
from aggregate.sending.cache.retention import CachedPrompt

_NO_LINES = ShownText("", ())
"""What a diff shows of a file as it is now, from which a later diff leads on: no line for certain."""


@dataclass(slots=True)
class _SharedPrefix:
    """The first segments of the last prompt, which stay, and what they tell of the files.

    Attributes:
        numbers: The numbers of the segments that stay; they are the first ones of the last prompt.
        excerpts: How many segments of the discussion are among them.
        by_file: The numbers of the segments about each file, in order.
    """

    numbers: list[int] = field(default_factory=list)
    excerpts: int = 0
    by_file: dict[str, list[int]] = field(default_factory=dict)

    def latest(self, changed: Collection[str]) -> set[int]:
        """Return the numbers of the segments behind which nothing tells more of their files; of ``changed`` more is."""
        return {numbers[-1] for path, numbers in self.by_file.items() if path not in changed}


@dataclass(frozen=True, slots=True)
class _PromptNow:
    """What is to be told now.

    Attributes:
        history: The discussion as it is now.
        files: The files as they are now, by path.
        changed: The files of which more is told behind the segments that stay.
        count: Returns the tokens of a text.
    """

    history: Sequence[HashedSegment]
    files: Mapping[str, Segment]
    changed: Collection[str]
    count: CountTokens


def continued_segments(
    earlier: CachedPrompt, prompt: HashedPrompt, count: CountTokens
) -> tuple[HashedSegment, ...] | None:
    """Return the last prompt with what is new behind it, ``None`` where it cannot be carried on.

    It cannot where something before the discussion, but for a file that is no longer there, has gone or is another one,
    and where the text that was sent is no longer to be had.

    Args:
        earlier: The last prompt that was sent.
        prompt: The prompt in the order of the configuration.
        count: Returns the tokens of a text.
    """
    history = [part for part in prompt.segments if part.section is Section.HISTORY]
    prefix = _shared_prefix(earlier, prompt, history)
    changes = _untold_changes(earlier, prompt, prefix) if prefix else None
    if prefix and changes and prefix.excerpts == len(history):
        # The question, the last excerpt, was sent before: what has changed since stands before it all the same.
        prefix = _shared_prefix(earlier, prompt, history[:-1])
        changes = _untold_changes(earlier, prompt, prefix) if prefix else None
    if prefix is None or changes is None:
        return None
    parts = (*prompt.segments, *earlier.gone)
    files = {part.path: part.segment for part in parts if part.section is Section.FILES}
    now = _PromptNow(history, files, {change.source for change in changes}, count)
    staying = _prefix_segments(earlier, prompt, prefix, now)
    if staying is None:
        return None
    new = history[prefix.excerpts :]
    news = [HashedSegment.counted(change, count) for change in changes]
    if news:
        news.insert(0, HashedSegment.counted(changed_since_heading(), count))
    return (*staying, *new[:-1], *news, *new[-1:])


def _shared_prefix(
    earlier: CachedPrompt, prompt: HashedPrompt, history: Sequence[HashedSegment]
) -> _SharedPrefix | None:
    """Return which segments of the last prompt stay: up to the first one of the discussion that is another one now."""
    parts = (*prompt.segments, *earlier.gone)
    files = {part.path for part in parts if part.section is Section.FILES and part.path}
    others = [
        part.hash.digest
        for part in prompt.segments
        if part.section is not Section.HISTORY
        and not (part.section is Section.FILES and part.path in files)
    ]
    prefix = _SharedPrefix()
    for number, old in enumerate(earlier.fingerprint.segments[1:], start=1):
        if old.section == Section.HISTORY:
            if (
                prefix.excerpts == len(history)
                or history[prefix.excerpts].hash.digest != old.digest
            ):
                break
            prefix.excerpts += 1
        elif old.section in (Section.FILES, Section.CHANGED) and old.source:
            if old.source not in files:
                return None
            prefix.by_file.setdefault(old.source, []).append(number)
        elif old.section != Section.CHANGED and (not others or others.pop(0) != old.digest):
            return None
        prefix.numbers.append(number)
    return None if others else prefix


def _untold_changes(
    earlier: CachedPrompt, prompt: HashedPrompt, prefix: _SharedPrefix
) -> list[Segment] | None:
    """Return what is to be told of the files, ``None`` where it is not known what was told."""
    changes: list[Segment] = []
    for part in (*prompt.segments, *earlier.gone):
        if part.section is not Section.FILES or not part.path:
            continue
        numbers = prefix.by_file.get(part.path, [])
        if [earlier.fingerprint.segments[number].digest for number in numbers] == [
            part.hash.digest
        ]:
            continue
        texts = [earlier.text(number) for number in numbers]
        known = [text for text in texts if text is not None]
        lines = told_lines(known, part.path)
        if len(known) < len(texts) or lines is None:
            return None
        if is_told(known, lines, part.segment):
            continue
        diff = diff_segment(lines, part.segment) if lines else None
        changes.append(diff or replace(part.segment, section=Section.CHANGED))
    return changes


def _prefix_segments(
    earlier: CachedPrompt, prompt: HashedPrompt, prefix: _SharedPrefix, now: _PromptNow
) -> list[HashedSegment] | None:
    """Return the segments that stay, ``None`` where the text of one is not to be had."""
    by_digest = {
        part.hash.digest: part for part in prompt.segments if part.section is not Section.HISTORY
    }
    latest = prefix.latest(now.changed)
    excerpts = iter(now.history)
    segments: list[HashedSegment] = []
    for number in prefix.numbers:
        old = earlier.fingerprint.segments[number]
        same = by_digest.get(old.digest)
        if old.section == Section.HISTORY:
            segments.append(next(excerpts))
        elif same is not None and old.section == same.section:
            segments.append(same)
        else:
            text = earlier.text(number)
            if text is None:
                return None
            shown = _shown(old, text, now, is_latest=number in latest)
            older = Segment(Section(old.section), text, Stability.STABLE, old.source, shown)
            # Not what its record says: that may have come with the project.
            segments.append(HashedSegment.counted(older, now.count))
    return segments


def _shown(old: SegmentHash, text: str, now: _PromptNow, *, is_latest: bool) -> ShownText | None:
    """Return which lines of a file a segment shows that was sent before.

    Args:
        old: The segment.
        text: Its text.
        now: The files as they are now.
        is_latest: Whether nothing behind it tells more of its file.
    """
    if old.section == Section.FILES:
        return shown_in_older(text, now.files[old.source])
    if old.source and is_latest:
        return now.files[old.source].shown
    return _NO_LINES if text.partition("\n")[0].endswith(" (diff)") else None
