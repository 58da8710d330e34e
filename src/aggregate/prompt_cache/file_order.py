"""The order of the files for sending: what seldom changes first, what changed last, so that caches keep the most.

A file that changes ends the cached prefix. What stands behind it is written again, so over many turns the fewest tokens
are written if files stand in the order of how often they change for each of their tokens (Smith's rule for the weighted
sum of completion times). The order must not change where the prefix is intact: files that were sent keep their places,
some of them in older versions (``keep``), with diffs of these behind the files.

All of it follows from what is recorded: the last prompt that was sent, and how often each file has changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from aggregate.models.prompt import Prompt, Section
from aggregate.prompt_cache.breakpoints import SELDOM, default_change_weight
from aggregate.prompt_cache.fingerprint import SegmentHash, digest
from aggregate.prompt_cache.policy import CachePolicy
from aggregate.prompt_cache.retention import CachedPrompt, HashedSegment, RetainedFile, retained_files, reusable_diffs
from aggregate.sections.changed_files import changed_heading

FORGET = 0.98
"""What a change counts after one further turn with changes."""


@dataclass(frozen=True, slots=True)
class OrderedPrompt:
    """A prompt in the order for sending.

    Attributes:
        prompt: Its segments.
        links: Where each segment comes from, its hash and its tokens.
        weights: How likely each segment is the first one that the next request has to change.
        older: The files that stand there in an older version, with a diff behind the files.
        extra: How many tokens more that takes than the files as they are now.
    """

    prompt: Prompt
    links: tuple[SegmentHash, ...]
    weights: tuple[float, ...]
    older: tuple[str, ...]
    extra: int


def order_for_sending(
    prompt: Prompt,
    tokens: Sequence[int],
    rules: CachePolicy,
    *,
    earlier: CachedPrompt | None,
    changes: Mapping[str, float],
) -> OrderedPrompt:
    """Return the prompt in the order for sending.

    Args:
        prompt: The prompt in the order of the configuration.
        tokens: Tokens of each segment.
        rules: The provider's cache.
        earlier: The last prompt that was sent, if a cache may still hold it.
        changes: How often each file changes, by its path.
    """
    parts = [HashedSegment.of(one, size) for one, size in zip(prompt.segments, tokens, strict=True)]
    files = {one.path: one for one in parts if one.segment.section is Section.FILES and one.path}
    head = [one for one in parts if one.segment.section is Section.FILES and not one.path]
    rest = [one for one in parts if one.segment.section is not Section.FILES]

    def by_change(some: Iterable[HashedSegment]) -> list[HashedSegment]:
        return sorted(some, key=lambda one: _often(one, changes) / max(files[one.path].link.tokens, 1))

    kept: list[RetainedFile] = []
    if earlier and earlier.begins_with([one.link for one in head]):
        kept = retained_files(earlier, files, rules, behind=sum(one.link.tokens for one in rest))
    there = {one.path: one for one in kept}
    base = [*(one.base for one in kept), *by_change(part for path, part in files.items() if path not in there)]
    first = reusable_diffs(earlier, kept) if earlier and len(kept) == len(files) else []
    shown = {one.path: one.diff for one in kept if one.diff}
    changed = [*(shown[path] for path in first), *by_change(part for path, part in shown.items() if path not in first)]
    heading = [HashedSegment.counted(changed_heading())] if changed else []
    ordered = [*head, *base, *heading, *changed, *rest]
    weights = _weights(ordered, changes, behind=rules.read < rules.write)
    segments = tuple(one.segment for one in ordered)
    links = tuple(one.link for one in ordered)
    return OrderedPrompt(
        Prompt(segments), links, weights, tuple(shown), sum(link.tokens for link in links) - sum(tokens)
    )


def count_changes(prompt: Prompt, *, seen: Mapping[str, str], changes: Mapping[str, float]) -> dict[str, float]:
    """Return how often each file of the prompt has changed, this turn included; a new file counts as changed.

    Args:
        prompt: The prompt in the order of the configuration.
        seen: The hash of each file when it was last sent.
        changes: How often each file had changed by then.
    """
    now = file_digests(prompt)
    changed = {path for path in now if seen.get(path) != now[path]}
    fade = FORGET if changed else 1.0
    counted = {path: changes.get(path, 0.0) * fade + (path in changed) for path in now}
    return {path: round(often, 4) for path, often in counted.items() if often}


def file_digests(prompt: Prompt) -> dict[str, str]:
    """Return the hash of each file's block by its path."""
    files = (one for one in prompt.segments if one.section is Section.FILES and one.source)
    return {one.source: digest(one.text) for one in files}


def _weights(ordered: Sequence[HashedSegment], changes: Mapping[str, float], *, behind: bool) -> tuple[float, ...]:
    """Return how likely each segment is the first one that the next request has to change.

    Args:
        ordered: The prompt's parts.
        changes: How often each file changes, by its path.
        behind: Whether a file that changes stays where it stands, so that the change shows behind the files.
    """
    weights = [default_change_weight(one.segment) for one in ordered]
    older = {one.path for one in ordered if one.segment.section is Section.CHANGED}
    end = sum(one.segment.section in (Section.FILES, Section.CHANGED) for one in ordered)
    for number, one in enumerate(ordered[:end]):
        if one.segment.section is Section.CHANGED:
            weights[number] += _often(one, changes)
        elif one.path and one.path not in older:
            weights[min(end, len(ordered) - 1) if behind else number] += _often(one, changes)
    return tuple(weights)


def _often(part: HashedSegment, changes: Mapping[str, float]) -> float:
    return changes.get(part.path, 0.0) + SELDOM
