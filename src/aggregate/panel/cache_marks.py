"""What a provider's cache would do with the prompt: where it would be written, and what it still holds."""

from typing import NamedTuple

from aggregate.base.text import common_prefix
from aggregate.base.values import Section
from aggregate.panel.composing import ComposedDraft
from aggregate.panel.prompt_data import CacheMarks
from aggregate.project.configuration import Project, user_config
from aggregate.sending import LoggedRequest
from aggregate.sending.cache import HashedPrompt, compare_prefixes, plan_request
from aggregate.sending.clients import PROVIDERS, cache_policy, provider_of_model

_MOST_PLANNED = 20_000
"""Segments up to which breakpoints are planned: beyond, no provider takes the prompt."""


class Recipient(NamedTuple):
    """Whose cache the page draws."""

    provider: str
    model: str


def usual_recipient(project: Project) -> Recipient:
    """Return whose cache is drawn: of the model that ``send`` asks, as far as configurations say so."""
    for table in (project.config.send, user_config().send):
        if table.provider or table.model:
            provider = table.provider or provider_of_model(table.model)
            usual = PROVIDERS[provider].model if provider in PROVIDERS else ""
            return Recipient(provider, table.model or usual)
    return Recipient("anthropic", PROVIDERS["anthropic"].model)


def cache_marks(
    composed: ComposedDraft, earlier: LoggedRequest | None, recipient: Recipient
) -> CacheMarks:
    """Return what the cache of a recipient would do with a prompt."""
    if len(composed.tokens.segments) > _MOST_PLANNED:
        return CacheMarks()
    hashed = HashedPrompt.of(composed.composition.prompt, composed.tokens.segments)
    lines = composed.lines
    policy = cache_policy(recipient.provider, recipient.model)
    places = plan_request(hashed, policy).layout.breakpoints
    # Places count the instructions as the first segment.
    breakpoints = tuple(lines.last_line(place - 2) + 1 for place in places if place >= 2)
    if earlier is None:
        return CacheMarks(breakpoints)
    now = hashed.fingerprint
    shared = common_prefix(earlier.fingerprint.digests, now.digests)
    before = {
        segment.source: segment.digest
        for segment in earlier.fingerprint.segments
        if segment.section == Section.FILES and segment.source
    }
    changed = frozenset(
        segment.source
        for segment in now.segments
        if segment.section == Section.FILES
        and before.get(segment.source, segment.digest) != segment.digest
    )
    return CacheMarks(
        breakpoints,
        lines.last_line(shared - 2) if shared >= 2 else 0,
        compare_prefixes(earlier.fingerprint, now).sentence,
        changed,
    )
