"""The last prompt carried on: nothing that was sent moves, and what has changed since is told behind the discussion.

What a cache holds then stays readable to its very end, whatever changes. Each change is told once, between the last
answer and the question, as a diff from what was told before; the file as it is now is what stands in the files with all
diffs applied in their order. Older versions and their diffs take room in every further turn, so that from time to time
the files are written anew (see ``file_order``).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from aggregate.models.prompt import Section, Segment, Stability
from aggregate.models.shown_text import ShownText
from aggregate.prompt_cache.hashed_prompt import CountTokens, HashedPrompt, HashedSegment
from aggregate.prompt_cache.retention import CachedPrompt
from aggregate.sections.changed_files import (
    changed_since_heading,
    diff_segment,
    is_told,
    told_lines,
)
from aggregate.sections.older_blocks import shown_in_older

_NO_LINES = ShownText("", ())
"""What a diff shows of a file as it is now, from which a later diff leads on: no line for certain."""


@dataclass(slots=True)
class _Told:
    """What the segments that stay tell of the files.

    Attributes:
        numbers: The numbers of the segments that stay; they are the first ones of the last prompt.
        excerpts: How many segments of the discussion are among them.
        by_file: The numbers of the segments about each file, in order.
    """

    numbers: list[int] = field(default_factory=list)
    excerpts: int = 0
    by_file: dict[str, list[int]] = field(default_factory=dict)


def continued_segments(
    earlier: CachedPrompt, prompt: HashedPrompt, count: CountTokens
) -> tuple[HashedSegment, ...] | None:
    """Return the last prompt with what is new behind it, ``None`` where it cannot be carried on.

    It cannot where something before the discussion has gone or is another one, and where the text that was sent is no
    longer to be had.

    Args:
        earlier: The last prompt that was sent.
        prompt: The prompt in the order of the configuration.
        count: Returns the tokens of a text.
    """
    history = [part for part in prompt.segments if part.section is Section.HISTORY]
    told = _told(earlier, prompt, history)
    changes = _changes(earlier, prompt, told) if told else None
    if told and changes and told.excerpts == len(history):
        # The question, the last excerpt, was sent before: what has changed since stands before it all the same.
        told = _told(earlier, prompt, history[:-1])
        changes = _changes(earlier, prompt, told) if told else None
    if told is None or changes is None:
        return None
    kept = _kept(earlier, prompt, told, history, changed={change.source for change in changes})
    if kept is None:
        return None
    new = history[told.excerpts :]
    news = [HashedSegment.counted(change, count) for change in changes]
    if news:
        news.insert(0, HashedSegment.counted(changed_since_heading(), count))
    return (*kept, *new[:-1], *news, *new[-1:])


def _told(
    earlier: CachedPrompt, prompt: HashedPrompt, history: Sequence[HashedSegment]
) -> _Told | None:
    """Return which segments of the last prompt stay: up to the first one of the discussion that is another one now."""
    files = {part.path for part in prompt.segments if part.section is Section.FILES and part.path}
    others = [
        part.hash.digest
        for part in prompt.segments
        if part.section is not Section.HISTORY
        and not (part.section is Section.FILES and part.path in files)
    ]
    told = _Told()
    for number, old in enumerate(earlier.fingerprint.segments[1:], start=1):
        if old.section == Section.HISTORY:
            if told.excerpts == len(history) or history[told.excerpts].hash.digest != old.digest:
                break
            told.excerpts += 1
        elif old.section in (Section.FILES, Section.CHANGED) and old.source:
            if old.source not in files:
                return None
            told.by_file.setdefault(old.source, []).append(number)
        elif old.section != Section.CHANGED and (not others or others.pop(0) != old.digest):
            return None
        told.numbers.append(number)
    return None if others else told


def _changes(earlier: CachedPrompt, prompt: HashedPrompt, told: _Told) -> list[Segment] | None:
    """Return what is to be told of the files, ``None`` where it is not known what was told."""
    changes: list[Segment] = []
    for part in prompt.segments:
        if part.section is not Section.FILES or not part.path:
            continue
        numbers = told.by_file.get(part.path, [])
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


def _kept(
    earlier: CachedPrompt,
    prompt: HashedPrompt,
    told: _Told,
    history: Sequence[HashedSegment],
    *,
    changed: Collection[str],
) -> list[HashedSegment] | None:
    """Return the segments that stay, ``None`` where the text of one is not to be had.

    Args:
        earlier: The last prompt that was sent.
        prompt: The prompt in the order of the configuration.
        told: Which segments stay.
        history: The discussion as it is now.
        changed: The files of which more is told behind these segments.
    """
    now = {
        part.hash.digest: part for part in prompt.segments if part.section is not Section.HISTORY
    }
    latest = {numbers[-1] for path, numbers in told.by_file.items() if path not in changed}
    files = {part.path: part.segment for part in prompt.segments if part.section is Section.FILES}
    excerpts: Iterator[HashedSegment] = iter(history)
    kept: list[HashedSegment] = []
    for number in told.numbers:
        old = earlier.fingerprint.segments[number]
        if old.section == Section.HISTORY:
            kept.append(next(excerpts))
            continue
        if old.digest in now and old.section == now[old.digest].section:
            kept.append(now[old.digest])
            continue
        text = earlier.text(number)
        if text is None:
            return None
        shown: ShownText | None = None
        if old.section == Section.FILES:
            shown = shown_in_older(text, files[old.source])
        elif old.source and number in latest:
            shown = files[old.source].shown
        elif text.partition("\n")[0].endswith(" (diff)"):
            shown = _NO_LINES
        segment = Segment(Section(old.section), text, Stability.STABLE, old.source, shown)
        kept.append(HashedSegment(segment, old))
    return kept
