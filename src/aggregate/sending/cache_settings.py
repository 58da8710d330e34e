"""How long a provider's cache is to keep what is sent: what the caller, the user and the project say."""

from dataclasses import dataclass

from aggregate.project.configuration import Project, user_config
from aggregate.sending.cache.lifetimes import CacheLifetime

_DEARER = (CacheLifetime.LONG, CacheLifetime.OFF)
"""What may raise costs: an hour costs more to write, and without a cache everything is paid in full."""

_KEEP_ALIVE = (
    "keep_alive in [send] of the project is not used, since it costs money: set it in your own configuration",
)


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """What holds for a request.

    Attributes:
        lifetime: How long new entries are to live.
        keep_alive: For how many minutes a process that stays open renews them, ``0`` for not at all.
        notes: What a project has decided that may cost more.
        writes: Whether anything is written that a later request could read.
    """

    lifetime: CacheLifetime = CacheLifetime.AUTO
    keep_alive: int = 0
    notes: tuple[str, ...] = ()
    writes: bool = True


def cache_settings(project: Project, *, wanted: str = "", once: bool = False) -> CacheSettings:
    """Return what holds: the caller goes before the user's configuration, and that before the project's.

    Renewing costs money while nobody asks anything, so that only the user's own configuration can switch it on.

    Args:
        project: Its configuration.
        wanted: What the caller says, ``""`` for nothing.
        once: Whether no further turn can follow: an entry that is never read costs more than none.

    Raises:
        ConfigError: The user's configuration cannot be used.
    """
    own = user_config().send
    ignored = _KEEP_ALIVE if project.config.send.keep_alive > own.keep_alive else ()
    if wanted or "cache" in own.model_fields_set:
        return CacheSettings(CacheLifetime(wanted or own.cache), own.keep_alive, ignored, not once)
    lifetime = CacheLifetime(project.config.send.cache)
    notes: tuple[str, ...] = ()
    if lifetime in _DEARER:
        notes = (f'cache = "{lifetime.value}" by [send] of the project',)
    return CacheSettings(lifetime, own.keep_alive, (*notes, *ignored), not once)
