"""The order of the files for sending: what seldom changes first, what changed last, so that caches keep the most.

A file that changes ends the cached prefix. What stands behind it is written again, so over many turns the fewest tokens
are written if files stand in the order of how often they change for each of their tokens (Smith's rule for the weighted
sum of completion times). The order must not change where the prefix is intact: files that were sent keep their places,
some of them in older versions (see ``retention``), with diffs of these behind the files.

All of it follows from what is recorded: the last prompt that was sent, and how often each file has changed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from aggregate.base.text import common_prefix
from aggregate.base.values import Prompt, Section, Segment
from aggregate.prompt.sections import changed_heading
from aggregate.sending.cache.continuation import continued_segments
from aggregate.sending.cache.hashed_prompt import CountTokens, HashedPrompt, HashedSegment
from aggregate.sending.cache.policy import CachePolicy
from aggregate.sending.cache.prefix_diff import digest
from aggregate.sending.cache.retention import (
    CachedPrompt,
    RetainedFile,
    expected_price,
    retained_files,
    reusable_diffs,
)

FORGET = 0.98
"""What a change counts after one further turn with changes: half after 34 of them, so that the order follows the work
of weeks and not that of the last hour."""


MOST_TOLD = 0.25
"""Changes that are told behind the discussion never take more than this part of the prompt beyond what it has now: they
cost a model's attention. It is more than ``retention.LARGEST``, so that what is written anew lasts for many turns."""
MOST_BEHIND = 0.3
"""What a question has added behind the discussion is written anew in each turn; where it is more than this part of a
prompt, the files are written anew instead, before the discussion."""
_LEAST_BEHIND = 6_000
"""Tokens that may stand there in any case: small budgets leave a larger part to the question."""
_SELDOM = 0.02
"""How often a file changes that was never seen to; one that changed just now has 1. About what is left of a change
after 200 further turns with changes, so that any change that is remembered counts more."""


@dataclass(frozen=True, slots=True)
class OrderedPrompt:
    """A prompt in the order for sending.

    Attributes:
        prompt: Its segments.
        replaced: How many segments, the system prompt included, stand before what the next request replaces for
            certain, ``0`` where nothing is.
        older: The files that stand there in an older version, with a diff behind the files.
        extra: How many tokens more that takes than the files as they are now.
    """

    prompt: HashedPrompt
    replaced: int
    older: tuple[str, ...]
    extra: int


def order_for_sending(
    prompt: HashedPrompt,
    policy: CachePolicy,
    *,
    earlier: CachedPrompt | None,
    changes: Mapping[str, float],
    count: CountTokens,
    grown: Collection[str] | None = None,
) -> OrderedPrompt:
    """Return the prompt in the order for sending.

    Args:
        prompt: The prompt in the order of the configuration.
        policy: The provider's cache.
        earlier: The last prompt that was sent, if a cache may still hold it.
        changes: How often each file changes, by its path.
        count: Returns the tokens of a text.
        grown: With a budget, by which more or less of a file may be shown than before: the files of which all that was
            shown is shown still. No other may stand there in an older version.
    """
    rewritten = _rewritten(prompt, policy, earlier, changes, count, grown)
    segments = rewritten
    # With a budget what is not shown differs from turn to turn, and stands before the discussion.
    if earlier and grown is None and earlier.readable()[-1]:
        carried_on = continued_segments(earlier, prompt, count)
        if carried_on and _is_cheaper(carried_on, rewritten, prompt, earlier, policy):
            segments = carried_on
    in_order = replace(prompt, segments=segments)
    above = {part.path for part in segments if part.section is Section.FILES}
    older = dict.fromkeys(
        part.path
        for part in segments
        if part.section is Section.CHANGED and part.path and (grown is None or part.path in above)
    )
    replaced = _added_place(segments) if grown is not None else 0
    return OrderedPrompt(in_order, replaced, tuple(older), in_order.tokens - prompt.tokens)


def _is_cheaper(
    carried_on: Sequence[HashedSegment],
    rewritten: Sequence[HashedSegment],
    prompt: HashedPrompt,
    earlier: CachedPrompt,
    policy: CachePolicy,
) -> bool:
    """Tell whether to carry the last prompt on, and not to write files or changes anew."""
    extra = sum(part.tokens for part in carried_on) - prompt.tokens
    if extra > MOST_TOLD * prompt.tokens:
        return False
    readable = earlier.readable()
    costs = []
    for segments in (carried_on, rewritten):
        digests = tuple(part.hash.digest for part in segments)
        same = 1 + common_prefix(digests, earlier.fingerprint.digests[1:])
        total = sum(part.tokens for part in segments)
        costs.append(
            expected_price(policy, total=total, read=readable[same], extra=total - prompt.tokens)
        )
    return costs[0] <= costs[1]


def _rewritten(
    prompt: HashedPrompt,
    policy: CachePolicy,
    earlier: CachedPrompt | None,
    changes: Mapping[str, float],
    count: CountTokens,
    grown: Collection[str] | None,
) -> tuple[HashedSegment, ...]:
    """Return the prompt with its discussion last, and the files written anew from where that is cheapest."""
    headings, remainder = _headings_and_remainder(prompt.segments)
    files = {
        part.path: part for part in prompt.segments if part.section is Section.FILES and part.path
    }
    known = files | {part.path: part for part in (earlier.gone if earlier else ())}
    rest = [part for part in prompt.segments if part.section is not Section.FILES]

    retained: list[RetainedFile] = []
    if earlier and earlier.begins_with(headings):
        behind = sum(part.tokens for part in (*remainder, *rest))
        retained = retained_files(earlier, known, policy, behind=behind, count=count, grown=grown)
    retained_paths = {file.path for file in retained}
    written = [part for path, part in files.items() if path not in retained_paths]
    diffs = {file.path: file.diff for file in retained if file.diff}
    reused = reusable_diffs(earlier, retained) if earlier and not written else []
    new_diffs = [diff for path, diff in diffs.items() if path not in reused]
    changed = changed_heading(or_more=grown is not None)
    added = _added(list(diffs.values()), _by_change(written, files, changes), changed, count)
    is_readable = earlier is not None and earlier.readable()[-1] > 0
    if grown is not None and retained and is_readable and _may_stand_behind(added, rest, prompt):
        bases = (file.base for file in retained)
        return (*headings, *bases, *rest[:-1], *added, *remainder, rest[-1])
    return (
        *headings,
        *(file.base for file in retained),
        *_by_change(written, files, changes),
        *([HashedSegment.counted(changed, count)] if diffs else []),
        *(diffs[path] for path in reused),
        *_by_change(new_diffs, known, changes),
        *remainder,
        *rest,
    )


def _added_place(segments: Sequence[HashedSegment]) -> int:
    """Return how many segments, the system prompt included, stand before what a question adds behind its discussion."""
    is_behind = False
    for number, part in enumerate(segments):
        if is_behind and part.section in (Section.CHANGED, Section.FILES):
            return number + 1
        is_behind = is_behind or part.section is Section.HISTORY
    return 0


def _added(
    diffs: Sequence[HashedSegment],
    written: Sequence[HashedSegment],
    heading: Segment,
    count: CountTokens,
) -> list[HashedSegment]:
    """Return what a question adds to the files of its discussion, as it stands before the question."""
    blocks = [
        HashedSegment.counted(replace(part.segment, section=Section.CHANGED), count)
        for part in written
    ]
    return [HashedSegment.counted(heading, count), *diffs, *blocks] if diffs or blocks else []


def _may_stand_behind(
    added: Sequence[HashedSegment], rest: Sequence[HashedSegment], prompt: HashedPrompt
) -> bool:
    """Tell whether there is a discussion, and what a question adds may stand behind it."""
    turns = [part for part in rest if part.section is Section.HISTORY]
    tokens = sum(part.tokens for part in added)
    is_first = len(turns) <= 2  # the section's heading and the question
    return not is_first and tokens <= max(MOST_BEHIND * prompt.tokens, _LEAST_BEHIND)


def count_changes(
    prompt: Prompt, *, seen: Mapping[str, str], changes: Mapping[str, float]
) -> dict[str, float]:
    """Return how often each file of the prompt has changed, this turn included; a new file counts as changed.

    Args:
        prompt: The prompt in the order of the configuration.
        seen: The hash of each file when it was last sent.
        changes: How often each file had changed by then.
    """
    now = file_digests(prompt)
    changed = {path for path in now if seen.get(path) != now[path]}
    fade = FORGET if changed else 1.0
    counts = {path: changes.get(path, 0.0) * fade + (path in changed) for path in now}
    return {path: round(often, 4) for path, often in counts.items() if often}


def file_digests(prompt: Prompt) -> dict[str, str]:
    """Return the hash of each file's block by its path."""
    files = (
        segment
        for segment in prompt.segments
        if segment.section is Section.FILES and segment.source
    )
    return {file.source: digest(file.text) for file in files}


def _headings_and_remainder(
    parts: Sequence[HashedSegment],
) -> tuple[list[HashedSegment], list[HashedSegment]]:
    """Return what of the Files section is no file: its headings, and what stands behind its files.

    The latter names what is not shown, which differs from turn to turn, so that it stands behind all that may stay.
    """
    section = [part for part in parts if part.section is Section.FILES]
    first = next((place for place, part in enumerate(section) if part.path), len(section))
    return section[:first], [part for part in section[first:] if not part.path]


def _by_change(
    parts: Iterable[HashedSegment], files: Mapping[str, HashedSegment], changes: Mapping[str, float]
) -> list[HashedSegment]:
    """Return files or their diffs, those first that change most seldom for each token of the file as it is now."""
    return sorted(parts, key=lambda part: _often(part, changes) / max(files[part.path].tokens, 1))


def _often(part: HashedSegment, changes: Mapping[str, float]) -> float:
    return changes.get(part.path, 0.0) + _SELDOM
