"""Keeps what a run has looked at, written and told, so that the next one of the same words may repeat it."""

import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from hashlib import file_digest
from itertools import accumulate
from pathlib import Path
from typing import Final

from aggregate.base.disk.witnesses import UNSEEN, Own, Witnesses, watch
from aggregate.base.disk.writing import replace_own
from aggregate.cli.output import record
from aggregate.cli.remembered import (
    MOST_BYTES,
    PATH,
    QUOTED_PATH,
    RememberedRun,
    Written,
    began_ns,
    key_of,
    place_of,
)
from aggregate.project.witnessed import TooManyFoldersError, paths_behind, program_paths
from aggregate.prompt import Request
from aggregate.prompt.numbered_output import audit_path, request_log_path

_MOST_ALL: Final = 100_000_000  # Bytes of all remembered runs; beyond, the oldest go


class Recording:
    """A run that is watched from its beginning on."""

    def __init__(self) -> None:
        self._key = key_of(sys.argv[1:])
        self._seen = watch()
        self._told = record()

    def begin(self, request: Request) -> None:
        """Note what lies where prompts are written, before anything is read or written."""
        self._request = request
        self._own = Own(os.path.realpath(request.output_dir), request.namespace)
        self._before = self._own.names()

    def keep(
        self, path: Path | None = None, *, sentence: str = "", next_sentence: str = ""
    ) -> None:
        """Remember the run for as long as all that it has looked at is as now, unless more than that decides on it.

        Args:
            path: The prompt that it has written.
            sentence: What it told last, of the prompt before.
            next_sentence: What the next run is to tell instead.
        """
        place = place_of(self._key)
        if place is None or self._seen.doubts or not (path is None or str(path).isascii()):
            return
        with suppress(OSError, TooManyFoldersError):
            witnesses = self._witnesses(place.parent.parent)
            if witnesses is None:
                return
            request, written = self._request, _written(path) if path else None
            output_dir, project = str(request.output_dir), request.written_in
            told = (
                self._told if path is None else _marked(self._told, path, sentence, next_sentence)
            )
            run = RememberedRun(
                self._key,
                witnesses,
                told,
                written,
                output_dir,
                str(project) if project else None,
                began_ns,
            )
            _save(place, run.pack())

    def _witnesses(self, cache: Path) -> Witnesses | None:
        request, own = self._request, self._own
        folders = (request.base_dir, request.shown_from, request.screenshot_dir, request.output_dir)
        place = os.path.join(os.path.realpath(cache), "")
        paths = [
            path
            for path in paths_behind(self._seen, folders)
            if not path.startswith((*UNSEEN, place)) and not path.endswith(".pyc")
            if not own.passes_over(*os.path.split(path))
        ]
        if any(place.startswith(os.path.join(folder, "")) for folder in self._seen.trees):
            return None  # what is kept there changes a folder of the project
        program = [*dict.fromkeys(program_paths())]
        return Witnesses.of(own, paths, followed=program, before=self._before, began_ns=began_ns)


def _written(path: Path) -> Written:
    return Written(*(_hash_of(each) for each in (path, request_log_path(path), audit_path(path))))


def _hash_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""


def _marked(
    told: Iterable[tuple[int, str]], path: Path, sentence: str, next_sentence: str
) -> list[tuple[int, str]]:
    """Return what was told with marks for the path, and at its end the sentence of the next run."""
    quoted = json.dumps(str(path))
    marked = [
        (number, text.replace(quoted, f'"{QUOTED_PATH}"', 1).replace(f"{path}\n", f"{PATH}\n", 1))
        if number == 1
        else (number, text.removesuffix(f"{sentence}\n") if sentence else text)
        for number, text in told
    ]
    return [*marked, (2, f"{next_sentence}\n")] if next_sentence else marked


def _save(place: Path, data: bytes) -> None:
    """Write a remembered run beside the index, and remove the oldest ones where all together are too many."""
    if len(data) > MOST_BYTES or not place.parent.is_dir():
        return
    replace_own(place, data)
    runs = [(each.lstat(), each) for each in place.parent.glob("run-*")]
    runs.sort(key=lambda run: run[0].st_mtime_ns, reverse=True)
    for size, (_, each) in zip(accumulate(info.st_size for info, _ in runs), runs, strict=True):
        if size > _MOST_ALL and each != place:
            each.unlink(missing_ok=True)
