"""``run --watch``: composing again whenever something that counts has changed."""

import json
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from aggregate.base.disk import is_inside
from aggregate.base.errors import AggregateError
from aggregate.cli.clipboard import copy_to_clipboard
from aggregate.cli.output import (
    is_reader_gone,
    is_terminal,
    say,
    warn,
    warn_all,
    write_path,
    write_result,
)
from aggregate.cli.run_report import RunArguments, print_report, report_data, report_warnings
from aggregate.cli.termination import orderly_termination
from aggregate.project.configuration import CONFIG_NAME, Project, global_config_path
from aggregate.project.index import Index
from aggregate.project.watching import Changes, GitActivity, TreeWatch
from aggregate.prompt import (
    PromptTokens,
    Request,
    SegmentCounter,
    files_of_sections,
    for_reader,
    is_output,
    stream_prompt,
    write_numbered,
)
from aggregate.sending import AuditRecorder, PromptMeter, log_written_prompt

if TYPE_CHECKING:
    from aggregate.prompt import Composition
    from aggregate.sending.cache import PrefixReport

INTERRUPTED: Final = 130
"""Exit code of what a person has interrupted, as shells have it."""
_PAUSE_SECONDS: Final = 0.2
"""Between the beginnings of two prompts: saving all files of an editor, or a checkout, takes a moment."""
_READER_SECONDS: Final = 0.5
"""Between two looks whether somebody still reads: nobody notices that a pipeline ends so much later."""
_NAMED_CHANGES: Final = 3
"""Files that a line names; the prompt says the rest."""
_UNNAMED: Final = "what the system does not name, as where a folder was replaced"
"""In place of files where it has only told that something is different."""


def watch_run(asked: RunArguments, index: Index) -> None:
    """Write the prompt, and the next one as soon as something that counts has changed, until interrupted.

    A prompt that would be the same is not written. What cannot be composed, such as a configuration that is being
    edited, is told once, and the next change is waited for.
    """
    project = asked.open()
    request = asked.request(project)
    run = _WatchedRun(asked, index)
    with orderly_termination(), TreeWatch(watched_root(request), skips=run.is_own) as watch:
        try:
            watch.watch_files(run.write(project, Changes(())))
            if not asked.quiet:
                say(
                    "watching for changes; Ctrl-C ends it",
                    *([watch.notice] if watch.notice else ()),
                )
            _write_again(run, watch)
        except KeyboardInterrupt:
            if is_terminal(err=True):
                say("")  # behind the ^C that the terminal shows
            if not asked.quiet:
                say(f"aggregate: ended, {run.number} prompts written")
            click.get_current_context().exit(INTERRUPTED)


def _write_again(run: "_WatchedRun", watch: TreeWatch) -> None:
    activity, notice = GitActivity(watch), watch.notice
    while True:
        changes = watch.wait(_READER_SECONDS)
        if is_reader_gone():
            raise BrokenPipeError
        if changes is None:
            continue
        time.sleep(max(0.0, run.begun + _PAUSE_SECONDS - time.monotonic()))
        watch.watch_files(run.write_changed(activity.settle(changes)))
        if watch.notice != notice:
            notice = watch.notice
            warn(notice)


class _WatchedRun:
    def __init__(self, asked: RunArguments, index: Index) -> None:
        self.number = 0
        self.begun = 0.0
        self._asked = asked
        self._index = index
        self._digests: Sequence[str] = ()
        self._is_copied = True
        self._warnings: Sequence[str] = ()
        self._tokens = 0
        self._failure = ""
        self._files: list[str] = []
        self._output = ("", "")
        self._folder = Path.cwd()

    def is_own(self, path: str) -> bool:
        """Tell whether a path is the folder that a run writes to, or a file that it writes there."""
        folder, name = os.path.split(path)
        output_dir, namespace = self._output
        return path == output_dir or (folder == output_dir and is_output(name, namespace))

    def write_changed(self, changes: Changes) -> list[str]:
        """Write the prompt as it is now, if it is another one; return the files that count."""
        self.begun, number = time.monotonic(), self.number
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
            return []
        if self._failure and self.number == number and not self._asked.quiet:
            say("that is mended; the prompt is as before")
        self._failure = ""
        return files

    def write(self, project: Project, changes: Changes) -> list[str]:
        """Write the prompt if it is another one than before; return the files that count, wherever they lie."""
        request = self._asked.request(project)
        self._output = os.path.realpath(request.output_dir), request.namespace
        recorder = AuditRecorder(request) if request.is_audited else None
        meter = PromptMeter(SegmentCounter(self._index))
        stream = stream_prompt(request, index=self._index)
        # Held here until it is known whether it differs: what was the same would be a number for nothing.
        pieces = list(meter.pieces(recorder.watch(stream) if recorder else stream))
        digests = meter.fingerprint().digests
        if digests != self._digests:
            path = write_numbered(
                request.output_dir, request.namespace, pieces, project=request.written_in
            )
            self._digests = digests
            self.number += 1
            tokens = PromptTokens.of(meter.places, meter.counts())
            if recorder:
                recorder.write(path, stream, tokens)
            prefix = log_written_prompt(path, meter.fingerprint(tokens.segments), request)
            warnings = report_warnings(stream, tokens, request.base_dir)
            changed = names_of_changes(changes.paths, request, self._files)
            self._tell(path, stream, tokens, prefix, changed, warnings)
            self._is_copied = not self._asked.copies
        if not self._is_copied:  # nor behind the change before, where nothing took it
            how = copy_to_clipboard(b"".join(pieces))
            self._is_copied = True
            if not self._asked.quiet:
                say(how)
        self._index.flush()
        config = project.path or project.folder / CONFIG_NAME
        shown = [request.base_dir / row.path for row in stream.rows]
        self._files = [os.path.abspath(path) for path in (config, global_config_path(), *shown)]
        self._files += files_of_sections(config, request)
        return self._files

    def _tell(
        self,
        path: Path,
        stream: "Composition",
        tokens: "PromptTokens",
        prefix: "PrefixReport | None",
        changed: Sequence[str],
        warnings: Sequence[str],
    ) -> None:
        if self._asked.as_json:
            data = report_data(path, stream, tokens, warnings)
            more = {"changed": list(changed), "prefix": prefix.kept if prefix else 0}
            write_result(json.dumps(data | more))
        else:
            write_path(path)
        if not self._asked.quiet and self.number == 1:
            print_report(stream, tokens, warnings)
            if prefix:
                say(prefix.sentence)
        elif not self._asked.quiet:
            warn_all(for_reader([new for new in warnings if new not in self._warnings]))
            say(_line(tokens.document, tokens.document - self._tokens, changed, prefix))
        self._warnings, self._tokens = warnings, tokens.document


def _line(tokens: int, more: int, changed: Sequence[str], prefix: "PrefixReport | None") -> str:
    names = ", ".join(changed[:_NAMED_CHANGES]) or _UNNAMED
    if len(changed) > _NAMED_CHANGES:
        names += f" and {len(changed) - _NAMED_CHANGES:,} more"
    kept = f"; {prefix.sentence}" if prefix else ""
    return f"{tokens:,} tokens (o200k), {more:+,}; changed: {names}{kept}"


def watched_root(request: Request) -> str:
    """Return the folder that holds the configuration and the files, without links."""
    folders = [os.path.realpath(folder) for folder in (request.shown_from, request.base_dir)]
    try:
        common = os.path.commonpath(folders)
    except ValueError:  # two drives
        return folders[1]
    return common if common in folders else folders[1]


def names_of_changes(paths: Iterable[str], request: Request, known: Iterable[str]) -> list[str]:
    """Return changed files as a reader knows them: relative to the project where they lie in it, git's own last.

    Left out are folders, since what has come with one is named itself, and what came and went between two prompts,
    such as a file that an editor writes before it moves it over another.

    Args:
        paths: What has changed, absolute.
        request: What was asked for.
        known: Absolute paths of the files that the prompt before depended on.
    """
    root, known = watched_root(request), set(known)
    files = [path for path in paths if not Path(path).is_dir()]
    present = [path for path in files if path in known or os.path.lexists(path)]
    names = [
        os.path.relpath(path, root).replace(os.sep, "/") if is_inside(path, root) else path
        for path in present or files
    ]
    return sorted(names, key=lambda name: ".git" in Path(name).parts)
