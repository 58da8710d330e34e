"""How long a provider's cache is to keep what is sent: what the caller, the user and the project say."""

from dataclasses import dataclass

from aggregate.project.configuration import Project, user_config
from aggregate.sending.cache.lifetimes import CacheLifetime

_DEARER = (CacheLifetime.LONG, CacheLifetime.OFF)
"""What may raise costs: an hour costs more to write, and without a cache everything is paid in full."""


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """What holds for a request.

    Attributes:
        lifetime: How long new entries are to live.
        notes: What a project has decided that may cost more.
        writes: Whether anything is written that a later request could read.
    """

    lifetime: CacheLifetime = CacheLifetime.AUTO
    notes: tuple[str, ...] = ()
    writes: bool = True


def cache_settings(project: Project, *, wanted: str = "", once: bool = False) -> CacheSettings:
    """Return what holds: the caller goes before the user's configuration, and that before the project's.

    Args:
        project: Its configuration.
        wanted: What the caller says, ``""`` for nothing.
        once: Whether no further turn can follow: an entry that is never read costs more than none.

    Raises:
        ConfigError: The user's configuration cannot be used.
    """
    own = user_config().send
    if wanted or "cache" in own.model_fields_set:
        return CacheSettings(CacheLifetime(wanted or own.cache), writes=not once)
    lifetime = CacheLifetime(project.config.send.cache)
    notes: tuple[str, ...] = ()
    if lifetime in _DEARER:
        notes = (f'cache = "{lifetime.value}" by [send] of the project',)
    return CacheSettings(lifetime, notes, not once)
