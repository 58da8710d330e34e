"""The explicit caches that were made for a project, and how Google's own cache has done, from one send to the next.

The file lies in the user's own state folder: one in the project may have come with it, and could name other caches of
the user's to be read or deleted.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final

from aggregate.base.disk import (
    exclusive_access,
    private_folder,
    read_text,
    replace_own,
    state_folder,
)
from aggregate.sending.clients.gemini_caches import ExplicitCache, ImplicitHits

_FILE: Final = "gemini_caches.json"
_VERSION: Final = 1
_MOST: Final = 50
"""Caches of one project that are remembered: there is one for each model, and they end within minutes."""


@dataclass(frozen=True, slots=True)
class KnownCaches:
    """What is remembered for a project."""

    caches: tuple[ExplicitCache, ...] = ()
    hits: ImplicitHits = field(default_factory=ImplicitHits)

    def with_cache(self, cache: ExplicitCache) -> "KnownCaches":
        """Return them with a cache that was made or extended."""
        return replace(self, caches=(*self.without([cache]).caches, cache))

    def without(self, caches: Iterable[ExplicitCache]) -> "KnownCaches":
        """Return them without caches that are gone."""
        names = {cache.name for cache in caches}
        return replace(self, caches=tuple(one for one in self.caches if one.name not in names))


def read_caches(output_dir: Path) -> KnownCaches:
    """Return what is remembered of the project whose prompts lie in ``output_dir``; nothing where that is damaged."""
    try:
        data = json.loads(read_text(state_folder(output_dir) / _FILE))
        if data["version"] != _VERSION:
            return KnownCaches()
        caches = tuple(
            ExplicitCache(
                str(row["name"]),
                str(row["model"]),
                str(row["digest"]),
                int(row["tokens"]),
                float(row["expires"]),
                str(row["base_url"]),
            )
            for row in data["caches"][-_MOST:]
        )
        return KnownCaches(caches, ImplicitHits(float(data["expected"]), float(data["read"])))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return KnownCaches()


def change_caches(output_dir: Path, change: Callable[[KnownCaches], KnownCaches]) -> None:
    """Change what is remembered, in one step.

    Raises:
        OutputError: It cannot be written.
        OSError: The folder cannot be made or locked.
    """
    path = state_folder(output_dir) / _FILE
    private_folder(path.parent)
    with exclusive_access(path):
        known = change(read_caches(output_dir))
        data = {
            "version": _VERSION,
            "caches": [asdict(cache) for cache in known.caches[-_MOST:]],
            "expected": known.hits.expected,
            "read": known.hits.read,
        }
        replace_own(path, json.dumps(data, indent=1) + "\n")
