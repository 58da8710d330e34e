"""Explicit caches of Gemini's around a turn: decided before it, made or extended with it, deleted behind it.

Nothing here ends a turn: where Google refuses, the request goes on without, and the user is told.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from aggregate.base.errors import ClientError, OutputError
from aggregate.base.values import Usage
from aggregate.sending.cache.request_plan import RequestPlan
from aggregate.sending.clients.client import Client
from aggregate.sending.clients.gemini_api import GeminiApi, cached_prefix
from aggregate.sending.clients.gemini_cache_store import change_caches, read_caches
from aggregate.sending.clients.gemini_caches import (
    LIFETIME,
    Action,
    CacheDecision,
    ExplicitCache,
    Prices,
    decide,
)
from aggregate.sending.clients.pricing import cost
from aggregate.sending.clients.providers import open_client
from aggregate.sending.last_request import LastRequest

GEMINI = "gemini"
_SAMPLE = 1_000_000
"""Tokens whose price is looked up, as price lists give it."""


def decide_cache(
    client: Client, plan: RequestPlan, last: LastRequest, output_dir: Path
) -> CacheDecision | None:
    """Return what is done with an explicit cache before a request, ``None`` for other providers."""
    transport = client.transport
    if client.provider != GEMINI or not isinstance(transport, GeminiApi):
        return None
    known = read_caches(output_dir)
    base_url = transport.base_url or ""
    digest, tokens = cached_prefix(plan)
    wanted = CacheDecision(Action.NONE, client.model, digest, tokens)
    # Few have reason to load the price list, which takes half a second.
    may_pay = last.may_be_cached and known.hits.share is not None
    return decide(
        wanted,
        [cache for cache in known.caches if cache.base_url == base_url],
        known.hits,
        now=time.time(),
        pause=last.age if last.may_be_cached else None,
        prices=_prices(client.model, plan) if may_pay else None,
        minimum=plan.policy.minimum,
    )


def open_cache(
    decision: CacheDecision | None, client: Client, plan: RequestPlan, output_dir: Path
) -> tuple[str, tuple[str, ...]]:
    """Make or extend the cache that was decided on; return its name, ``""`` for none, and warnings."""
    transport = client.transport
    if decision is None or not isinstance(transport, GeminiApi):
        return "", ()
    cache = decision.cache
    expires = time.time() + LIFETIME
    try:
        if decision.action is Action.CREATE:
            name = transport.create_cache(plan, client.model, seconds=LIFETIME)
            cache = ExplicitCache(
                name,
                client.model,
                decision.digest,
                decision.tokens,
                expires,
                transport.base_url or "",
            )
        elif decision.action is Action.EXTEND and cache is not None:
            transport.extend_cache(cache.name, seconds=LIFETIME)
            cache = replace(cache, expires=expires)
    except ClientError as error:
        used = "" if decision.action is Action.CREATE or cache is None else cache.name
        return used, (f"no explicit cache is bought: {error}",)
    if cache is None:
        return "", ()
    warnings = delete_caches(decision.stale, transport, output_dir)
    if decision.action is not Action.USE:
        warnings += _remember(output_dir, cache)
    return cache.name, warnings


def delete_caches(
    caches: Sequence[ExplicitCache], transport: GeminiApi, output_dir: Path
) -> tuple[str, ...]:
    """Delete caches and forget them; return a warning for each that could not be deleted, with when it ends."""
    warnings = []
    for cache in caches:
        try:
            transport.delete_cache(cache.name)
        except ClientError as error:
            warnings.append(_not_deleted(cache, error))
    warnings += forget_caches(caches, output_dir)
    return tuple(warnings)


def prune_caches(output_dir: Path, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Delete all explicit caches of a project; return a warning where one stays until it ends."""
    caches = [cache for cache in read_caches(output_dir).caches if cache.expires > time.time()]
    if not caches:
        return ()
    warnings: tuple[str, ...] = ()
    for cache in caches:
        try:
            client = open_client(GEMINI, base_url=cache.base_url, environ=environ)
        except ClientError as error:
            warnings += (_not_deleted(cache, error),)
            continue
        if isinstance(client.transport, GeminiApi):
            warnings += delete_caches([cache], client.transport, output_dir)
    return warnings


def forget_caches(caches: Iterable[ExplicitCache], output_dir: Path) -> tuple[str, ...]:
    """Forget caches that are gone."""
    gone = list(caches)
    if not gone:
        return ()
    try:
        change_caches(output_dir, lambda known: known.without(gone))
    except (OSError, OutputError) as error:
        return (f"explicit caches are not forgotten: {error}",)
    return ()


def record_hits(client: Client, *, expected: int, read: int, output_dir: Path) -> None:
    """Note what Google's own cache has read of a request without an explicit one; a failure loses only that."""
    if client.provider != GEMINI or expected <= 0:
        return
    try:
        change_caches(
            output_dir,
            lambda known: type(known)(known.caches, known.hits.after(expected, read)),
        )
    except (OSError, OutputError):
        return


def _not_deleted(cache: ExplicitCache, error: ClientError) -> str:
    minutes = max(cache.expires - time.time(), 0) / 60
    return (
        f"the explicit cache {cache.name} is not deleted and ends in {minutes:.0f} minutes: {error}"
    )


def _remember(output_dir: Path, cache: ExplicitCache) -> tuple[str, ...]:
    try:
        change_caches(output_dir, lambda known: known.with_cache(cache))
    except (OSError, OutputError) as error:
        return (f"the explicit cache {cache.name} is not remembered: {error}",)
    return ()


def _prices(model: str, plan: RequestPlan) -> Prices | None:
    price = cost(Usage(fresh=_SAMPLE), model, provider=GEMINI)
    return Prices(float(price) / _SAMPLE, plan.policy.read) if price is not None else None
