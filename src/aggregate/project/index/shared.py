"""The index that the parts of one process share."""

import atexit
from functools import cache
from pathlib import Path

from aggregate.project.index.settings import byte_limit, index_path
from aggregate.project.index.store import Index


def user_index() -> Index:
    """Return the user's index; what is not flushed before is written when the process ends.

    Raises:
        ConfigError: A variable of the environment is malformed.
    """
    return _index_at(index_path(), byte_limit())


@cache
def _index_at(path: Path | None, limit: int) -> Index:
    index = Index(path if limit else None, limit=limit)
    atexit.register(index.flush)
    return index
