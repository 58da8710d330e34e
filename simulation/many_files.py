"""A large project made of real ones: their sources again and again, in nested folders, with other names in each."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from zlib import crc32

SUFFIXES = (".py", ".js", ".ts", ".go", ".rs", ".java", ".c", ".h")
"""Of six languages."""
_WORD = re.compile(rb"\b[A-Za-z_]\w{6,}\b")
_RENAMED = 5
"""One of so many longer words is another one in each copy, so that no two copies hold the same words."""
_LARGEST = 60_000
"""Bytes of a file that is taken: what is longer is mostly generated, and would be copied a hundred times."""


def make_many(clones: Sequence[Path], target: Path, number: int) -> None:
    """Write ``number`` files below ``target``, in folders as the projects have them.

    Args:
        clones: Repositories, bare ones too; the sources of their last commits are taken.
        target: A folder that is not there yet.
        number: How many files.
    """
    sources = [source for clone in clones for source in _sources(clone)]
    for place in range(number):
        copy, source = divmod(place, len(sources))
        path, text = sources[source]
        file = target / f"part_{copy:03d}" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_renamed(text, copy))


def _sources(clone: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the path, below the project's name, and the text of each source of the last commit."""
    name = clone.parent.name.rpartition("+")[2] if clone.name == "repo" else clone.name
    listed = _git(clone, "ls-tree", "-r", "-z", "HEAD").split(b"\0")
    for line in listed:
        described, _, path = line.decode(errors="surrogateescape").partition("\t")
        if not path.endswith(SUFFIXES) or not described.startswith("100"):
            continue
        text = _git(clone, "cat-file", "blob", described.split()[2])
        if len(text) <= _LARGEST:
            yield f"{name}/{path}", text


def _renamed(text: bytes, copy: int) -> bytes:
    """Return a text in which some words are others, the same ones in all files of a copy."""
    if not copy:
        return text
    suffix = f"{copy}".encode()
    return _WORD.sub(
        lambda word: word[0] + suffix if crc32(word[0], copy) % _RENAMED == 0 else word[0], text
    )


def _git(clone: Path, *arguments: str) -> bytes:
    done = subprocess.run(["git", "-C", str(clone), *arguments], check=True, capture_output=True)
    return done.stdout
