"""Keeps what a run has looked at, written and told, so that the next one of the same words may repeat it."""

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from hashlib import file_digest
from itertools import accumulate
from pathlib import Path
from typing import Final

from aggregate.base.disk.reading import is_inside, real_path
from aggregate.base.disk.witnesses import UNSEEN, Own, Witnesses, watch
from aggregate.base.disk.writing import cache_folder, replace_own
from aggregate.base.errors import AggregateError
from aggregate.base.redaction import redact
from aggregate.base.text import printable
from aggregate.cli.output import record
from aggregate.cli.remembered import (
    MOST_BYTES,
    PATH,
    QUOTED_PATH,
    RememberedRun,
    ThisRun,
    Told,
    Written,
    newest_run,
    place_of,
)
from aggregate.cli.written_prompt import WrittenPrompt
from aggregate.project.configuration import CONFIG_NAME, Project
from aggregate.prompt import Composition, Request, files_of_sections
from aggregate.prompt.numbered_output import audit_path, request_log_path

_MOST_ALL: Final = 100_000_000  # Bytes of all remembered runs; beyond, the oldest go


class Recording:
    """A run that is watched from its beginning on."""

    def __init__(self, this: ThisRun | None) -> None:
        """``this`` is the process's own run; without one nothing is kept."""
        self._this = this
        if this:
            self._seen = watch()
            self._told = record()

    def begin(self, request: Request) -> None:
        """Note what lies where prompts are written, before anything is read or written."""
        if self._this is None:
            return
        self._request = request
        self._own = Own(os.path.realpath(request.output_dir), request.namespace)
        self._before = self._own.names()

    def keep(self) -> None:
        """Remember the run for as long as all that it has looked at is as now, unless more than that decides on it."""
        if self._this:
            self._save(self._this, self._told, self._look_around)

    def keep_prompt(
        self, path: Path, written: WrittenPrompt, project: Project, *, tells: bool
    ) -> None:
        """Remember the run that has written a prompt to ``path``, and whether it ``tells`` of it."""
        from aggregate.cli.edited_prompt import pages_of

        this = self._this
        if this is None or not (str(path).isascii() and str(path).isprintable()):
            return
        sentence = printable(written.prefix.sentence) if written.prefix and tells else ""
        told = _marked(self._told, path, sentence, written.next_sentence if tells else "")
        files = Written(*map(_hash_of, (path, request_log_path(path), audit_path(path))))
        self._seen.paths.discard(str(path))  # only now, to tell its hash
        composition = written.stream
        if isinstance(composition, Composition):
            config = project.path or Path(CONFIG_NAME)
            steering = [os.path.abspath(config), *files_of_sections(config, self._request)]
            with suppress(OSError):
                pages = pages_of(composition, [*steering, *self._steering])
                self._save(this, told, self._look_around, files, pages)
        elif this.earlier:
            run, changed = this.earlier
            witnesses = run.witnesses.with_files(changed, now_ns=this.began_ns)
            self._save(this, told, lambda _: witnesses, files, run.pages)

    @cached_property
    def _steering(self) -> list[str]:
        from aggregate.project.witnessed import steering_paths

        request = self._request
        folders = (request.base_dir, request.shown_from, request.screenshot_dir, request.output_dir)
        return [*steering_paths(self._seen, folders)]

    def _save(
        self,
        this: ThisRun,
        told: Told,
        look: Callable[[ThisRun], Witnesses | None],
        written: Written | None = None,
        pages: bytes = b"",
    ) -> None:
        place = place_of(this.key)
        if place is None or not place.parent.is_dir() or self._seen.doubts:
            return
        # What the run itself did without, such as rules that only git has read, is no mistake of it.
        with suppress(OSError, AggregateError):
            witnesses = look(this)
            if witnesses is None:
                return
            names = "\n".join((*witnesses.files, *(text for _, text in told)))
            if redact(names, self._request.redaction).findings:
                return  # no cache holds a secret, and a name may be one
            output_dir, project = str(self._request.output_dir), self._request.written_in
            root = str(project) if project else None
            run = RememberedRun(
                this.key, witnesses, told, written, output_dir, root, this.began_ns, pages
            )
            data = run.pack()
            if len(data) <= MOST_BYTES:
                replace_own(place, data)
                _remove_old(place)

    def _look_around(self, this: ThisRun) -> Witnesses | None:
        from aggregate.project.witnessed import paths_behind, program_paths

        own = self._own
        cache = str(cache_folder())
        caches = f"{cache}/", f"{real_path(cache)}/"
        trees = [*map(real_path, self._seen.trees)]
        listed = [*trees, real_path(str(self._request.base_dir))]
        if any(is_inside(place, folder) for place in caches for folder in listed):
            return None  # what is kept there changes a folder of the project
        earlier = self._earlier(this)
        new_trees = [tree for tree in trees if not earlier or tree not in earlier.trees]
        paths = [
            path
            for path in (*self._steering, *paths_behind(self._seen, new_trees))
            if not f"{path}/".startswith((*UNSEEN, *caches)) and not path.endswith(".pyc")
            if not (path.startswith(own.folder) and own.has_record(path))
        ]
        program = [*dict.fromkeys(program_paths())]
        new = Witnesses.of(
            own,
            earlier.unknown(paths) if earlier else paths,
            followed=earlier.unknown(program) if earlier else program,
            trees=new_trees,
            before=self._before,
            began_ns=this.began_ns,
        )
        return earlier.with_others(new) if earlier and new else new

    def _earlier(self, this: ThisRun) -> Witnesses | None:
        """Return what an earlier run has looked at, where folders are as they were, with files as they are now."""
        run = this.earlier.run if this.earlier else newest_run()
        if run is None or run.witnesses.own != self._own:
            return None
        changed = this.earlier.changed if this.earlier else run.witnesses.changed()
        # Ignore files decide in which folders something could appear.
        if changed is None or any(path.endswith(".gitignore") for path in changed):
            return None
        return run.witnesses.with_files(changed, now_ns=this.began_ns)


def _hash_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""


def _marked(told: Iterable[tuple[int, str]], path: Path, sentence: str, next_sentence: str) -> Told:
    """Return what was told with marks for the path, and at its end the sentence of the next run."""
    quoted, marked_quoted = json.dumps(str(path)), f'"{QUOTED_PATH}"'
    marked = []
    for number, text in told:
        if number == 1:
            text = text.replace(quoted, marked_quoted, 1).replace(f"{path}\n", f"{PATH}\n", 1)  # noqa: PLW2901
        marked.append((number, text.removesuffix(f"{sentence}\n") if sentence else text))
    return [*marked, (2, f"{next_sentence}\n")] if next_sentence else marked


def _remove_old(newest: Path) -> None:
    """Remove the oldest remembered runs where all together are too many."""
    runs = [(each.lstat(), each) for each in newest.parent.glob("run-*")]
    runs.sort(key=lambda run: run[0].st_mtime_ns, reverse=True)
    sizes = accumulate(info.st_size for info, _ in runs)
    for size, (_, each) in zip(sizes, runs, strict=True):
        if size > _MOST_ALL and each != newest:
            each.unlink(missing_ok=True)
