"""The prompt for the page: what folds, what a cache does with it, what stays out, and what models ask for it."""

from typing import Any, Final, NamedTuple

from aggregate.base.text import common_prefix
from aggregate.base.values import FileChoice, Section
from aggregate.panel.composing import ComposedDraft
from aggregate.sending import LoggedRequest

# Files that are told of one by one: who scrolls further looks for one by its name, in the tree.
_MOST_LEFT_OUT: Final = 300
# Segments up to which breakpoints are planned: beyond, no provider takes the prompt.
_MOST_PLANNED: Final = 20_000
_MILLION: Final = 1_000_000


class CacheMarks(NamedTuple):
    breakpoints: tuple[int, ...] = ()  # lines before which one would be set
    kept_until: int = 0  # the last line of what is as it was
    sentence: str = ""
    changed: frozenset[str] = frozenset()  # files that are not as they were


def cache_marks(composed: ComposedDraft, earlier: LoggedRequest | None) -> CacheMarks:
    """Return what the cache of the model that ``send`` asks would do with a prompt, and what it still holds of it."""
    # The providers take a while to load: the page has the files meanwhile.
    from aggregate.sending.cache import HashedPrompt, compare_prefixes, plan_request
    from aggregate.sending.clients import cache_policy, usual_recipient

    segments = composed.tokens.segments
    if len(segments) > _MOST_PLANNED:
        return CacheMarks()
    hashed = HashedPrompt.of(composed.composition.prompt, segments)
    lines = composed.lines
    policy = cache_policy(*usual_recipient(composed.project))
    # Places count the instructions as the first segment.
    places = plan_request(hashed, policy).layout.breakpoints
    breakpoints = tuple(lines.last_line(place - 2) + 1 for place in places if place >= 2)
    if earlier is None:
        return CacheMarks(breakpoints)
    now, then = hashed.fingerprint, earlier.fingerprint
    shared = common_prefix(then.digests, now.digests)
    before = {each.source: each.digest for each in then.segments if each.section == Section.FILES}
    changed = frozenset(
        each.source
        for each in now.segments
        if each.section == Section.FILES
        and each.source
        and before.get(each.source, each.digest) != each.digest
    )
    kept_until = lines.last_line(shared - 2) if shared >= 2 else 0
    return CacheMarks(breakpoints, kept_until, compare_prefixes(then, now).sentence, changed)


def prompt_data(
    composed: ComposedDraft | None, marks: CacheMarks, revision: int, error: str
) -> dict[str, Any]:
    """Return the prompt as the page takes it, without its text; all is empty where there is none."""
    out: list[FileChoice] = []
    if composed is not None and composed.request.budget is not None:
        last = len(composed.choices) + 1
        out = [choice for choice in composed.choices.values() if choice.level.is_hidden]
        out.sort(key=lambda choice: choice.rank or last)
    return {
        "revision": revision,
        "tokens": composed.tokens.document if composed else 0,
        "bytes": composed.lines.size if composed else 0,
        "lines": composed.lines.count if composed else 0,
        "sections": composed.lines.sections() if composed else [],
        "breakpoints": list(marks.breakpoints),
        "kept_until": marks.kept_until,
        "kept_sentence": marks.sentence,
        "not_entered": [_not_entered(choice) for choice in out[:_MOST_LEFT_OUT]],
        "not_entered_count": len(out),
        "error": error,
    }


def _not_entered(choice: FileChoice) -> dict[str, Any]:
    reasons = "; ".join(f"{reason.kind}: {reason.matched}" for reason in choice.reasons[:2])
    room = f"a tenth more of the budget would show it: {choice.next.value}" if choice.next else ""
    return {
        "path": choice.path,
        "level": choice.level.value,  # by its name alone, or left out
        "score": choice.score,
        "why": "; ".join(part for part in (reasons, room) if part) or "nothing speaks for it",
    }


def beside_prompt(model: dict[str, Any], size: dict[str, int] | None) -> dict[str, Any]:
    """Return a model with the tokens of a prompt by its own count, and what they cost as input."""
    own = None if size is None else round(size["tokens"] * model["ratio"])
    is_priced = own is not None and model["input"] is not None
    price = round((own or 0) * (model["input"] or 0) / _MILLION, 6) if is_priced else None
    return {**model, "tokens": own, "cost": price}
