"""The order of the files for sending: what seldom changes first, what changed last, so that caches keep the most.

A file that changes ends the cached prefix. What stands behind it is written again, so over many turns the fewest tokens
are written if files stand in the order of how often they change for each of their tokens (Smith's rule for the weighted
sum of completion times). The order must not change where the prefix is intact: files that were sent keep their places,
some of them in older versions (see ``retention``), with diffs of these behind the files.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from aggregate.base.text import common_prefix
from aggregate.prompt.document import Prompt, Section
from aggregate.prompt.sections import changed_heading
from aggregate.sending.cache.fingerprint import CountTokens, HashedPrompt, HashedSegment, digest
from aggregate.sending.cache.retention import (
    CachedPrompt,
    RetainedFile,
    continued_segments,
    expected_price,
    retained_files,
    reusable_diffs,
)
from aggregate.sending.models import CachePolicy

FORGET = 0.98  # a change counts half after 34 further turns with changes: the work of weeks, not of the last hour


MOST_TOLD = 0.25  # of the prompt: what is told behind the discussion costs attention; more than ``retention.LARGEST``
# What a question has added behind the discussion is written anew in each turn; where it is more than this part of a
# prompt, the files are written anew instead, before the discussion.
MOST_BEHIND = 0.3
_LEAST_BEHIND = 6_000  # tokens that may stand there in any case: small budgets leave a larger part to the question
_SELDOM = 0.02  # how often an unseen file changes: what is left of a change after 200 turns, less than any remembered


@dataclass(frozen=True, slots=True)
class OrderedPrompt:
    prompt: HashedPrompt
    replaced: int  # segments before what the next request replaces for certain, 0 where nothing is
    older: tuple[str, ...]  # files in an older version, with a diff behind the files
    extra: int  # tokens more that this takes than the files as they are now


def order_for_sending(
    prompt: HashedPrompt,
    policy: CachePolicy,
    *,
    earlier: CachedPrompt | None,
    changes: Mapping[str, float],
    count: CountTokens,
    grown: Collection[str] | None = None,
) -> OrderedPrompt:
    """``grown`` are, with a budget, the files of which all that was shown still is: no other may stay as it was."""
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
    # With a budget what a question adds stands behind its discussion, and is another thing next time.
    sections = [part.section for part in segments]
    turn = sections.index(Section.HISTORY) if Section.HISTORY in sections else len(sections)
    added = (
        number + 1
        for number in range(turn, len(sections))
        if grown is not None and sections[number] in (Section.CHANGED, Section.FILES)
    )
    return OrderedPrompt(in_order, next(added, 0), tuple(older), in_order.tokens - prompt.tokens)


def _is_cheaper(
    carried_on: Sequence[HashedSegment],
    rewritten: Sequence[HashedSegment],
    prompt: HashedPrompt,
    earlier: CachedPrompt,
    policy: CachePolicy,
) -> bool:
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
    section = [part for part in prompt.segments if part.section is Section.FILES]
    first = next((place for place, part in enumerate(section) if part.path), len(section))
    headings = section[:first]
    # What is not shown differs from turn to turn, so it stands behind all that may stay.
    remainder = [part for part in section[first:] if not part.path]
    files = {part.path: part for part in section if part.path}
    known = files | {part.path: part for part in (earlier.gone if earlier else ())}
    rest = [part for part in prompt.segments if part.section is not Section.FILES]

    def by_change(parts: Iterable[HashedSegment]) -> list[HashedSegment]:
        """Sort files or their diffs, those first that change most seldom for each token of the file as it is now."""

        def often(part: HashedSegment) -> float:
            return (changes.get(part.path, 0.0) + _SELDOM) / max(known[part.path].tokens, 1)

        return sorted(parts, key=often)

    retained: list[RetainedFile] = []
    if earlier and earlier.begins_with(headings):
        behind = sum(part.tokens for part in (*remainder, *rest))
        retained = retained_files(earlier, known, policy, behind=behind, count=count, grown=grown)
    bases = [file.base for file in retained]
    stays = {base.path for base in bases}
    written = by_change(part for path, part in files.items() if path not in stays)
    diffs = {file.base.path: file.diff for file in retained if file.diff}
    heading = HashedSegment.counted(changed_heading(or_more=grown is not None), count)
    if grown is not None and retained and earlier is not None and earlier.readable()[-1] > 0:
        # What a question adds to the files of its discussion, as it stands before the question.
        told = [replace(part.segment, section=Section.CHANGED) for part in written]
        added = [*diffs.values(), *(HashedSegment.counted(segment, count) for segment in told)]
        added = [heading, *added] if added else []
        is_first = sum(part.section is Section.HISTORY for part in rest) <= 2  # heading, question
        most = max(MOST_BEHIND * prompt.tokens, _LEAST_BEHIND)
        if not is_first and sum(part.tokens for part in added) <= most:
            return (*headings, *bases, *rest[:-1], *added, *remainder, rest[-1])
    reused = reusable_diffs(earlier, retained) if earlier and not written else []
    return (
        *headings,
        *bases,
        *written,
        *([heading] if diffs else []),
        *(diffs[path] for path in reused),
        *by_change(diff for path, diff in diffs.items() if path not in reused),
        *remainder,
        *rest,
    )


def count_changes(
    prompt: Prompt, *, seen: Mapping[str, str], changes: Mapping[str, float]
) -> dict[str, float]:
    """Return how often each file has changed, this turn included; ``seen`` has the hashes of those sent last."""
    now = file_digests(prompt)
    changed = {path for path in now if seen.get(path) != now[path]}
    fade = FORGET if changed else 1.0
    counts = {path: changes.get(path, 0.0) * fade + (path in changed) for path in now}
    return {path: round(often, 4) for path, often in counts.items() if often}


def file_digests(prompt: Prompt) -> dict[str, str]:
    return {
        segment.source: digest(segment.text)
        for segment in prompt.segments
        if segment.section is Section.FILES and segment.source
    }
