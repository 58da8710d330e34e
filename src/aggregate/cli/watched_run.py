"""``run --watch``: composing again whenever something that counts has changed."""

import json
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import click

from aggregate.base.disk import is_inside
from aggregate.base.errors import AggregateError
from aggregate.cli.clipboard import copy_to_clipboard
from aggregate.cli.output import (
    Bar,
    is_reader_gone,
    is_terminal,
    orderly_termination,
    say,
    warn,
    warn_all,
    write_path,
    write_result,
)
from aggregate.cli.run_report import AskedRun, WrittenPrompt
from aggregate.project.configuration import CONFIG_NAME, Project, global_config_path
from aggregate.project.index import Index
from aggregate.project.watching import GitActivity, TreeWatch
from aggregate.prompt import Request, files_of_sections, for_reader, is_output, write_numbered

_INTERRUPTED = 130  # exit code of what a person has interrupted, as shells have it
# Between the beginnings of two prompts: saving all files of an editor, or a checkout, takes a moment.
_PAUSE_SECONDS = 0.2
_READER_SECONDS = 0.5  # between two looks whether somebody still reads
_NAMED_CHANGES = 3  # files that a line names; the prompt says the rest
# In place of files where it has only told that something is different.
_UNNAMED = "what the system does not name, as where a folder was replaced"


def watch_run(asked: AskedRun, index: Index) -> None:
    """Write the prompt, and the next one as soon as something that counts has changed, until interrupted.

    What cannot be composed, such as a configuration that is being edited, is told once.
    """
    project = asked.open()
    run = _WatchedRun(asked, index)
    with (
        orderly_termination(),
        TreeWatch(watched_root(asked.request(project)), skips=run.is_own) as watch,
    ):
        try:
            watch.watch_files(run.write(project, ()))
            if not asked.quiet:
                notices = [watch.notice] if watch.notice else []
                say("watching for changes; Ctrl-C ends it", *notices)
            _write_again(run, watch)
        except KeyboardInterrupt:
            if is_terminal(err=True):
                say("")  # behind the ^C that the terminal shows
            if not asked.quiet:
                say(f"aggregate: ended, {run.number} prompts written")
            click.get_current_context().exit(_INTERRUPTED)


def _write_again(run: "_WatchedRun", watch: TreeWatch) -> None:
    activity, notice, begun = GitActivity(watch), watch.notice, 0.0
    while True:
        changes = watch.wait(_READER_SECONDS)
        if is_reader_gone():
            raise BrokenPipeError
        if changes is None:
            continue
        time.sleep(max(0.0, begun + _PAUSE_SECONDS - time.monotonic()))
        changes = activity.settle(changes)
        begun = time.monotonic()
        watch.watch_files(run.write_changed(changes.paths))
        if watch.notice != notice:
            notice = watch.notice
            warn(notice)


class _WatchedRun:
    number = 0
    _digests: Sequence[str] = ()
    _warnings: Sequence[str] = ()
    _tokens = 0
    _failure = ""
    _files: Sequence[str] = ()
    _output = ("", "")

    def __init__(self, asked: AskedRun, index: Index) -> None:
        self._asked = asked
        self._index = index
        self._folder = Path.cwd()

    def is_own(self, path: str) -> bool:
        folder, name = os.path.split(path)
        output_dir, namespace = self._output
        return path == output_dir or (folder == output_dir and is_output(name, namespace))

    def write_changed(self, changes: Iterable[str]) -> Sequence[str]:
        number = self.number
        try:
            with suppress(OSError):
                os.chdir(self._folder)  # it may have been deleted and made again
            files = self.write(self._asked.open(), changes)
        except BrokenPipeError:
            raise  # nobody reads on
        except (AggregateError, OSError, click.ClickException) as error:
            sentence = (
                error.format_message() if isinstance(error, click.ClickException) else str(error)
            )
            if sentence != self._failure:
                say(f"aggregate: {sentence}; waiting for the next change")
            self._failure = sentence
            return ()
        if self._failure and self.number == number and not self._asked.quiet:
            say("that is mended; the prompt is as before")
        self._failure = ""
        return files

    def write(self, project: Project, changes: Iterable[str]) -> Sequence[str]:
        """Write the prompt if it is another one than before; return the files that count, wherever they lie."""
        request = self._asked.request(project)
        self._output = os.path.realpath(request.output_dir), request.namespace
        written = WrittenPrompt(request, self._index, counts=True, bar=Bar())
        # Held here until it is known whether it differs: what was the same would be a number for nothing.
        pieces = list(written.pieces)
        digests = written.meter.digests
        if digests != self._digests:
            path = write_numbered(
                request.output_dir, request.namespace, pieces, project=request.written_in
            )
            self._digests = digests
            self.number += 1
            written.record(path)
            self._tell(path, written, names_of_changes(changes, request, self._files))
            how = copy_to_clipboard(b"".join(pieces)) if self._asked.copies else ""
            if how and not self._asked.quiet:
                say(how)
        self._index.flush()
        config = project.path or project.folder / CONFIG_NAME
        shown = [request.base_dir / row.path for row in written.stream.rows]
        files = [os.path.abspath(path) for path in (config, global_config_path(), *shown)]
        self._files = [*files, *files_of_sections(config, request)]
        return self._files

    def _tell(self, path: Path, written: WrittenPrompt, changed: Sequence[str]) -> None:
        warnings, prefix = written.warnings(), written.prefix
        if self._asked.as_json:
            more = {"changed": changed, "prefix": prefix.kept if prefix else 0}
            write_result(json.dumps(written.data(path, warnings) | more))
        else:
            write_path(path)
        tokens = written.tokens.document if written.tokens else 0
        if not self._asked.quiet and self.number == 1:
            written.tell(warnings)
        elif not self._asked.quiet:
            warn_all(for_reader([new for new in warnings if new not in self._warnings]))
            names = ", ".join(changed[:_NAMED_CHANGES]) or _UNNAMED
            if len(changed) > _NAMED_CHANGES:
                names += f" and {len(changed) - _NAMED_CHANGES:,} more"
            kept = f"; {prefix.sentence}" if prefix else ""
            say(f"{tokens:,} tokens (o200k), {tokens - self._tokens:+,}; changed: {names}{kept}")
        self._warnings, self._tokens = warnings, tokens


def watched_root(request: Request) -> str:
    folders = [os.path.realpath(folder) for folder in (request.shown_from, request.base_dir)]
    try:
        common = os.path.commonpath(folders)
    except ValueError:  # two drives
        return folders[1]
    return common if common in folders else folders[1]


def names_of_changes(paths: Iterable[str], request: Request, known: Iterable[str]) -> list[str]:
    """Left out are folders, and what came and went between two prompts; ``known`` are files of the one before."""
    root, known = watched_root(request), set(known)
    files = [path for path in paths if not Path(path).is_dir()]
    present = [path for path in files if path in known or os.path.lexists(path)]
    names = [
        os.path.relpath(path, root).replace(os.sep, "/") if is_inside(path, root) else path
        for path in present or files
    ]
    return sorted(names, key=lambda name: ".git" in Path(name).parts)
