"""Prompts in numbered files of the output folder, written atomically."""

import glob
import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from aggregate.base.disk.reading import is_file
from aggregate.base.disk.witnesses import IGNORE_ALL
from aggregate.base.disk.writing import (
    TEMPORARY_SUFFIX,
    confined,
    create_private,
    replace_own,
    write_to_free,
)
from aggregate.base.errors import OutputError
from aggregate.base.monitor import timed

_LEFTOVER_SECONDS = 3600  # age of a temporary file left by a killed run


def is_prompt(name: str, output_dir: Path, namespace: str) -> bool:
    """Return whether ``name`` is the number or the path of a prompt in the output folder."""
    if re.fullmatch(r"[0-9]+", name):
        return True
    path = Path(name)
    if any(is_file(record(path)) for record in (audit_path, request_log_path) if path.name):
        return True
    written = (prompt for _, prompt in numbered_files(output_dir, namespace))
    return os.path.realpath(path) in map(os.path.realpath, written)


def find_next_increment(output_dir: Path, namespace: str) -> int:
    """Return the number for the next prompt.

    It is one more than the highest number in the output folder (rule M-1).
    """
    return max((number for number, _ in numbered_files(output_dir, namespace)), default=0) + 1


def numbered_files(output_dir: Path, namespace: str) -> list[tuple[int, Path]]:
    pattern = re.compile(rf"{re.escape(namespace)}_([0-9]+)\.(?:md|xml)")
    try:
        entries = list(os.scandir(output_dir))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(
        (int(match[1]), Path(entry.path))
        for entry in entries
        if (match := pattern.fullmatch(entry.name)) and not entry.is_dir()
    )


@timed("write_numbered")
def write_numbered(
    output_dir: Path,
    namespace: str,
    text: str | Iterable[bytes],
    *,
    project: Path | None = None,
    suffix: str = ".md",
) -> Path:
    """Write a prompt to the next numbered file.

    The file is ``<namespace>_<NNN>.md`` or ``.xml``; the content is text, or pieces of UTF-8. No two runs share a
    number, no file is overwritten, and a kill leaves no torn output. There is no fsync: a power failure may lose the
    newest prompt. The file and its new folders are private to the user.

    Raises:
        OutputError: The file cannot be written, is outside of ``project``, or the namespace is not a file name.
    """
    # On Windows a colon names a drive or a stream.
    if not namespace or re.search(r"[/\\\0:]", namespace):
        raise OutputError(
            f"the namespace {namespace!r} is not a file name: set [output] namespace to a plain word"
        )
    pieces = (text.encode(),) if isinstance(text, str) else text
    is_new = not os.path.lexists(output_dir)
    try:
        paths = (path.with_suffix(suffix) for path in _free_paths(output_dir, namespace))
        path = write_to_free(output_dir, namespace, paths, pieces, within=project)
    except OSError as error:
        raise OutputError(f"cannot write to {output_dir}: {error.strerror or error}") from error
    if is_new:
        ignoring = path.parent / ".gitignore"  # an existing one stays
        with suppress(OSError), os.fdopen(create_private(ignoring), "wb") as file:
            file.write(IGNORE_ALL)
    _forget_records(path)
    return path


def write_named(path: Path, pieces: Iterable[bytes]) -> bool:
    """Write a prompt to the file named by the user.

    Return whether records may be written beside the file. A regular file is replaced atomically. A pipe or device is
    written to, and has no records.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file() and not target.is_dir():
            with target.open("wb") as stream:
                stream.writelines(pieces)
            return False
        replace_own(target, pieces)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    _forget_records(path)
    return True


def _forget_records(path: Path) -> None:
    # Older records describe another prompt.
    for record in (request_log_path(path), audit_path(path)):
        with suppress(OSError):  # such as a folder in the way
            record.unlink(missing_ok=True)


def _free_paths(output_dir: Path, namespace: str) -> Iterator[Path]:
    """Yield the paths of the next numbered prompts.

    Numbers of replies without a prompt are skipped.
    """
    for number in count(find_next_increment(output_dir, namespace)):
        path = output_dir / f"{namespace}_{number:03d}.md"
        if not any(map(os.path.lexists, (path, path.with_suffix(".xml"), reply_path(path)))):
            yield path


def prune_outputs(
    output_dir: Path, namespace: str, *, keep: int, project: Path | None = None
) -> list[Path]:
    """Delete all prompts except the ``keep`` newest.

    Their records are deleted too. Return the deleted paths. Temporary files of killed runs are deleted after an hour.
    """
    confined(output_dir, project)
    files = [path for _, path in numbered_files(output_dir, namespace)]
    leftovers = sorted(output_dir.glob(f".{glob.escape(namespace)}-*{TEMPORARY_SUFFIX}"))
    oldest = time.time() - _LEFTOVER_SECONDS
    old = files[: max(len(files) - keep, 0)]
    old += [path for path in leftovers if path.lstat().st_mtime < oldest]
    for path in old:
        try:
            for file in (path, request_log_path(path), reply_path(path), audit_path(path)):
                file.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"cannot delete {path}: {error.strerror or error}") from error
    return old


def request_log_path(prompt: Path) -> Path:
    return prompt.with_name(f".{prompt.stem}.chain.json")


def audit_path(prompt: Path) -> Path:
    """Return the path of a prompt's audit, ``.<name>.audit.json`` beside it (rule A-1)."""
    return prompt.with_name(f".{prompt.stem}.audit.json")


def reply_path(prompt: Path) -> Path:
    return prompt.with_name(f"{prompt.stem}.reply.md")
