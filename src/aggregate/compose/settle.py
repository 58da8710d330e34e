"""The order of the Files section for sending: what seldom changes first, so that caches keep the most.

A file that changes ends the cached prefix. What stands behind it is written again, so over many turns the fewest tokens
are written if files stand in the order of how often they change for each of their tokens (Smith's rule for the weighted
sum of completion times). The order must not change where the prefix is intact: files keep their places up to the first
one that changed since the last send, and only what is written again anyway is put in order.

All of it follows from what is recorded: the chain of the last send, and how often each file has changed.
"""

from collections.abc import Mapping, Sequence

from aggregate.clients.marks import SELDOM
from aggregate.models.chain import Chain, digest
from aggregate.models.prompt import Prompt, Section, Segment

FORGET = 0.98
"""What a change counts after one further turn with changes."""


def settle(
    prompt: Prompt, tokens: Sequence[int], *, earlier: Chain | None, changes: Mapping[str, float]
) -> tuple[Prompt, tuple[int, ...]]:
    """Return the prompt with its files in the order for sending, and the tokens of its segments in that order.

    Args:
        prompt: The prompt in the order of the configuration.
        tokens: Tokens of each segment.
        earlier: The chain of the last send.
        changes: How often each file changes, by its path.
    """
    numbered = list(enumerate(prompt.segments))
    files = [(i, one) for i, one in numbered if one.section is Section.FILES and one.source]
    if not files:
        return prompt, tuple(tokens)
    kept = _kept(files, earlier)
    tail = sorted(
        (i for i, _ in files if i not in set(kept)),
        key=lambda i: ((changes.get(prompt.segments[i].source, 0.0) + SELDOM) / max(tokens[i], 1), i),
    )
    first = files[0][0]
    order = [*range(first), *kept, *tail, *(i for i, _ in numbered[first:] if i not in {n for n, _ in files})]
    return Prompt(tuple(prompt.segments[i] for i in order)), tuple(tokens[i] for i in order)


def count_changes(prompt: Prompt, *, earlier: Chain, changes: Mapping[str, float]) -> dict[str, float]:
    """Return how often each file of the prompt has changed, this turn included; a new file counts as changed."""
    old = {link.source: link.digest for link in earlier.links if link.section == Section.FILES and link.source}
    files = [one for one in prompt.segments if one.section is Section.FILES and one.source]
    changed = {one.source for one in files if old.get(one.source) != digest(one.text)}
    fade = FORGET if changed else 1.0
    counted = {one.source: changes.get(one.source, 0.0) * fade + (one.source in changed) for one in files}
    return {path: round(often, 4) for path, often in counted.items() if often}


def _kept(files: Sequence[tuple[int, Segment]], earlier: Chain | None) -> list[int]:
    """Return the files, by number, that stand in their old places because nothing before them changed."""
    kept: list[int] = []
    present = {one.source: (i, one.text) for i, one in files}
    for link in earlier.links if earlier else ():
        if link.section != Section.FILES or not link.source:
            continue
        number, text = present.get(link.source, (-1, ""))
        if number < 0 or digest(text) != link.digest:
            break
        kept.append(number)
    return kept
