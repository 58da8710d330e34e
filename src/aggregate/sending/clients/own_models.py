"""What the user's own configuration says of models: prices, windows and caches that the shipped tables lack.

A project's file says nothing here: a wrong price would hide what is paid, and a wrong window or cache would cost more.
"""

from dataclasses import replace
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Final

from aggregate.base.values import Usage
from aggregate.project.configuration import ModelTable, global_config_path, load_config
from aggregate.sending.cache.policy import AS_OF, COMPATIBLE, SCRIPTED, CachePolicy, policy_for

_OLD_DAYS: Final = 90
"""Providers change prices and rules of caches about once in a quarter."""
_MILLION: Final = 1_000_000


def own_model(name: str) -> ModelTable | None:
    """Return what the user says of a model, by its whole name in any case; ``None`` for nothing.

    Raises:
        ConfigError: The user's configuration cannot be used.
    """
    path = global_config_path()
    try:
        info = path.stat()
    except OSError:
        return None
    return _tables(path, info.st_mtime_ns, info.st_size).get(name.lower())


def cache_policy(provider: str, model: str) -> CachePolicy:
    """Return the cache of a provider's model: as the shipped table has it, but for what the user says of it."""
    policy = policy_for(provider, model)
    table = own_model(model)
    if table is None:
        return policy
    if table.minimum is not None:
        policy = replace(policy, minimum=table.minimum)
    if table.lifetime is not None:
        policy = replace(policy, seconds=table.lifetime)
    if table.input and table.cache_read is not None:
        policy = replace(policy, read=table.cache_read / table.input)
    if table.input and table.cache_write is not None:
        policy = replace(policy, write=table.cache_write / table.input)
    return policy


def own_cost(usage: Usage, model: str, *, provider: str) -> float | None:
    """Return what ``usage`` costs in US dollars by the user's prices, ``None`` where the user names none."""
    table = own_model(model)
    if table is None or table.input is None or table.output is None:
        return None
    policy = cache_policy(provider, model)
    read = table.input * policy.read if table.cache_read is None else table.cache_read
    write = table.input * policy.write if table.cache_write is None else table.cache_write
    total = (
        usage.fresh * table.input
        + usage.cache_read * read
        + usage.cache_write * write
        + usage.output * table.output
    )
    return total / _MILLION


def age_note(provider: str, model: str, today: date) -> str:
    """Return a sentence where the shipped tables may be out of date for a model, ``""`` where they are not.

    Args:
        provider: Who is asked; a server of one's own, or none, is in no table.
        model: Which model; one of which the user says all that matters needs no table.
        today: The date.

    Raises:
        ConfigError: The user's configuration cannot be used.
    """
    days = (today - date.fromisoformat(AS_OF)).days
    table = own_model(model)
    if days <= _OLD_DAYS or provider in (COMPATIBLE, SCRIPTED):
        return ""
    if table is not None and table.input is not None and table.window is not None:
        return ""
    return (
        f"prices, windows and rules of caches are those of {AS_OF}, {days:,} days ago: update the program, or write "
        f'what has changed to [models."{model}"] in {global_config_path()}'
    )


@lru_cache(maxsize=1)
def _tables(path: Path, _modified: int, _size: int) -> dict[str, ModelTable]:
    """Return the tables of a file, which is read again when it has changed: each request asks several times."""
    return {name.lower(): table for name, table in load_config(path).config.models.items()}
