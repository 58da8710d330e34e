"""The files of a project that is asked about again and again: as long as nothing has changed they are not read anew."""

import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import NamedTuple

from aggregate.base.values import Redaction
from aggregate.project.index import Index, describe, look_at
from aggregate.prompt.ranked_files import ReadFiles, read_files
from aggregate.prompt.request import Request
from aggregate.prompt.selection import ResolvedFile, Selection, select_files


class _Remembered(NamedTuple):
    """What was read, and of what it is true.

    Attributes:
        files: What was read.
        states: A digest of what the files are known again by.
        redaction: What was a secret, and whether it was replaced.
        kept_in: Where the rest of what is known of the files lies.
    """

    files: ReadFiles
    states: bytes
    redaction: Redaction
    kept_in: Index


class OpenFiles:
    """What was read for the last question of a program that keeps running, for the next one.

    Which files there are is found out each time, and that none has changed: by device, inode, size and times, as
    rule I-4 has it. Then the next question is about what was read for the last one, and finds in memory what that has
    looked up. What had to be analysed is not remembered before it was read from the index once, so that an answer never
    depends on what was asked before. For one thread at a time.

    Args:
        now: The clock, in nanoseconds of Unix time.
    """

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        self._now = now
        self._last: _Remembered | None = None

    def read(
        self,
        request: Request,
        *,
        index: Index,
        on_start: Callable[[int], None] | None = None,
        on_done: Callable[[int], None] | None = None,
    ) -> ReadFiles:
        """Return what ``read_files`` does; the arguments and errors are its own."""
        selection = select_files(request)
        states = _states(selection, self._now())
        last, self._last = (
            self._last,
            None,
        )  # what was remembered before is let go before more is read
        files = _known(last, request, index, selection, states) if last else None
        if last is None or files is None:
            del last
            files = read_files(
                request, index=index, selection=selection, on_start=on_start, on_done=on_done
            )
            corpus = files.corpus
            if states and index.is_used and not corpus.analysed and not corpus.grouped:
                self._last = _Remembered(files, states, request.redaction, index)
            return files
        if on_start:
            on_start(0)
        files.corpus.trim()
        self._last = last._replace(files=files)
        return files


def _known(
    last: _Remembered, request: Request, index: Index, selection: Selection, states: bytes
) -> ReadFiles | None:
    """Return what would be read now, as far as what is remembered tells; ``None`` where it does not."""
    is_unchanged = (
        bool(states)
        and last.states == states
        and last.kept_in is index
        and last.redaction == request.redaction
    )
    if not is_unchanged:
        return None
    if last.files.selection == selection:
        return last.files
    otherwise = shown_otherwise(last.files, selection)
    if otherwise is None:
        return None
    return ReadFiles(selection, last.files.reader, last.files.corpus.shown_otherwise(otherwise))


def shown_otherwise(files: ReadFiles, selection: Selection) -> Mapping[str, ResolvedFile] | None:
    """Return the files that a selection shows in another way, ``None`` where it differs in more than that.

    How a file is shown decides whether it is read only where a program has written it, or where it cannot be read:
    for all others another view, as somebody sets it on a page, changes nothing of what is known of them.
    """
    before = files.selection
    if before.generated != selection.generated or len(before.files) != len(selection.files):
        return None
    otherwise = {
        new.path: new
        for old, new in zip(before.files, selection.files, strict=True)
        if new is not old and new != old
    }
    plain = {
        shown.path: shown.file
        for shown, facts in zip(files.corpus.shown, files.corpus.files, strict=True)
        if shown.path in otherwise and not facts.is_generated
    }
    in_order = zip(before.files, selection.files, strict=True)
    are_alike = all(old.path == new.path and old.file == new.file for old, new in in_order)
    is_plain = otherwise.keys() == plain.keys() and not any(
        file.problem or file.is_remark or file.path in files.reader.marks
        for file in otherwise.values()
    )
    return otherwise if are_alike and is_plain else None


def _states(selection: Selection, seen_ns: int) -> bytes:
    """Return a digest of what the files are known again by, from before they are read; ``b""`` where it proves nothing.

    It does not where one is gone, or was changed so shortly before that the next change may not show.
    """
    paths = [file.file for file in selection.files if not file.problem]
    states = [look_at(path, seen_ns=seen_ns) for path in paths]
    described = describe(states, settled=True)
    return sha256(described).digest() if described else b""
