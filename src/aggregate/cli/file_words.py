"""Files named while a chat message is typed: completions, mentions and their tokens."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from aggregate.base.disk.reading import read_text
from aggregate.base.tokens import count
from aggregate.project.configuration import Project
from aggregate.project.files import FolderListing
from aggregate.prompt import ALL_FILES, scope_of

_MAX_COUNTED: Final = 300_000  # bytes of a file whose tokens are counted while the user types
_MAX_SUGGESTIONS: Final = 12  # files per word
_MENTION: Final = re.compile(r"(?<!\S)@(\S+)")


def find_files(project: Project, word: str) -> list[tuple[str, int | None]]:
    """Return files whose paths contain ``word``, for completion.

    Each comes with its tokens. Files whose names begin with the word come first.
    """
    base, word = project.folder / project.config.files.base_dir, word.lower()
    names = FolderListing(scope_of(project)).resolve(base, ALL_FILES).names
    matches = [name for name in names if word in name.lower()]
    matches.sort(key=lambda name: (f"/{word}" not in f"/{name.lower()}", len(name), name))
    return [(name, tokens_of_file(base / name)) for name in matches[:_MAX_SUGGESTIONS]]


def mentioned_paths(message: str) -> list[str]:
    return [match[1].rstrip(".,;:!?)") for match in _MENTION.finditer(message)]


def tokens_of_file(file: Path) -> int | None:
    """Return the tokens (o200k) of a file.

    ``None`` if the file is long or not a text.
    """
    try:
        return _count_tokens(file, file.stat().st_mtime_ns)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=1_000)
def _count_tokens(file: Path, _modified: int) -> int:
    return count(read_text(file, limit=_MAX_COUNTED))
