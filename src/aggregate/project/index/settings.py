"""Where the index lies and how large it may become: the environment alone says so, nothing in a project does."""

import os
import re
from pathlib import Path
from typing import Final

from aggregate.base.disk import CACHE_VARIABLE, cache_folder
from aggregate.base.errors import ConfigError

LIMIT_VARIABLE: Final = "AGGREGATE_CACHE_LIMIT"
"""The environment variable with the most bytes that the index may have on the disk."""
DEFAULT_LIMIT: Final = "1GB"
INDEX_FOLDER: Final = "aggregate-index"
"""Below the cache folder, and for the index alone: it is moved and removed as a whole."""
INDEX_FILE: Final = "index.sqlite"
_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?)(i?)b?", re.IGNORECASE | re.ASCII)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def index_path() -> Path | None:
    """Return the path of the index; nothing is made. ``None`` where the user has no home folder.

    Raises:
        ConfigError: ``AGGREGATE_CACHE_DIR`` is a relative path.
    """
    folder = cache_folder()
    return folder / INDEX_FOLDER / INDEX_FILE if folder else None


def check_variable() -> None:
    """Make sure that the environment names a usable place, if it names one.

    Raises:
        ConfigError: ``AGGREGATE_CACHE_DIR`` is a relative path.
    """
    if os.environ.get(CACHE_VARIABLE):
        cache_folder()


def byte_limit() -> int:
    """Return the most bytes that the index may have.

    Raises:
        ConfigError: ``AGGREGATE_CACHE_LIMIT`` is no size.
    """
    text = os.environ.get(LIMIT_VARIABLE, "").strip() or DEFAULT_LIMIT
    size = _SIZE.fullmatch(text)
    if size is None:
        raise ConfigError(
            f'{LIMIT_VARIABLE} is "{text}", which is no size: write bytes, or a number with a unit such as 500MB or 2g'
        )
    number, unit, binary = size.groups()
    return int(float(number) * (1024 if binary else 1000) ** _POWERS[unit.lower()])
