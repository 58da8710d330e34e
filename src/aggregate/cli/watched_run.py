"""``run --watch``: composing again whenever something that counts has changed."""

import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from aggregate.chat.prompt_meter import PromptMeter
from aggregate.chat.request_log import log_written_prompt
from aggregate.cli import lazy
from aggregate.cli.clipboard import copy_to_clipboard
from aggregate.cli.output import is_terminal, say, warn, warn_all, write_path, write_result
from aggregate.cli.run_report import print_report, report_data, report_warnings
from aggregate.cli.termination import orderly_termination
from aggregate.compose.api import stream_prompt
from aggregate.compose.asking import for_reader
from aggregate.compose.numbered_output import is_output, write_numbered
from aggregate.compose.request import Request
from aggregate.config.load import Project
from aggregate.config.user import global_config_path
from aggregate.disk.roots import is_inside
from aggregate.errors import AggregateError
from aggregate.index.store import Index
from aggregate.sources.beads.find import find_beads_files
from aggregate.sources.history_reader import find_history_file
from aggregate.sources.watching import TreeWatch

if TYPE_CHECKING:
    from aggregate.compose.assemble import ComposedPrompt
    from aggregate.prompt_cache.prefix_diff import PrefixReport
    from aggregate.tokens.count import PromptTokens

INTERRUPTED: Final = 130
"""Exit code of what a person has interrupted, as shells have it."""
_PAUSE_SECONDS: Final = 0.2
"""Between the beginnings of two prompts: saving all files of an editor, or a checkout, takes a moment."""
_NAMED_CHANGES: Final = 3
"""Files that a line names; the prompt says the rest."""


class AskedAgain:
    """What is asked for, as the configuration is now.

    Args:
        project: Returns the project, read anew.
        request: Returns what it asks for.
    """

    def __init__(
        self, project: Callable[[], Project], request: Callable[[Project], Request]
    ) -> None:
        self._project = project
        self._request = request
        self.config = Path()

    def request(self) -> Request:
        """Return what is asked for now.

        Raises:
            AggregateError: The configuration cannot be used.
        """
        project = self._project()
        self.config = project.path or project.folder / "manual_slop.toml"
        return self._request(project)

    def files(self, request: Request, stream: "ComposedPrompt | None" = None) -> list[str]:
        """Return the files that count wherever they lie: of the configuration, the discussion, beads, the prompt."""
        history = find_history_file(self.config, request.discussion)
        files = [self.config, global_config_path(), *([history] if history else ())]
        paths = [os.path.abspath(path) for path in files]
        for row in stream.rows if stream else ():
            paths.append(os.path.abspath(os.path.join(request.base_dir, row.path)))
        return [*paths, *_beads_files(request)]


def watch_run(asked: AskedAgain, index: Index, *, as_json: bool, quiet: bool, copies: bool) -> None:
    """Write the prompt, and the next one as soon as something that counts has changed, until interrupted.

    A prompt that would be the same is not written. What cannot be composed, such as a configuration that is being
    edited, is told once, and the next change is waited for.

    Raises:
        AggregateError: The first prompt cannot be composed.
    """
    request = asked.request()
    run = _WatchedRun(asked, index, as_json=as_json, quiet=quiet, copies=copies)
    with orderly_termination(), TreeWatch(_root(request), skips=run.is_own) as watch:
        try:
            watch.watch_files(run.write(request, ()))
            if not quiet:
                say(
                    "watching for changes; Ctrl-C ends it",
                    *([watch.notice] if watch.notice else ()),
                )
            _write_again(run, watch)
        except KeyboardInterrupt:
            if is_terminal(err=True):
                say("")  # behind the ^C that the terminal shows
            if not quiet:
                say(f"aggregate: ended, {run.number} prompts written")
            click.get_current_context().exit(INTERRUPTED)


def _write_again(run: "_WatchedRun", watch: TreeWatch) -> None:
    notice = watch.notice
    for changes in watch:
        time.sleep(max(0.0, run.begun + _PAUSE_SECONDS - time.monotonic()))
        # One more batch has all that came meanwhile; a file that is written all the time would bring ever more.
        more = watch.wait(0)
        paths = {*changes.paths, *(more.paths if more else ())}
        watch.watch_files(run.write_changed(sorted(paths)))
        if watch.notice != notice:
            notice = watch.notice
            warn(notice)


class _WatchedRun:
    """Writes prompts one after another and tells what became of each."""

    def __init__(
        self, asked: AskedAgain, index: Index, *, as_json: bool, quiet: bool, copies: bool
    ) -> None:
        self.number = 0
        self.begun = 0.0
        self._asked = asked
        self._index = index
        self._as_json, self._quiet, self._copies = as_json, quiet, copies
        self._digests: Sequence[str] = ()
        self._warnings: Sequence[str] = ()
        self._tokens = 0
        self._failure = ""
        self._output = ("", "")
        self._folder = Path.cwd()

    def is_own(self, path: str) -> bool:
        """Tell whether a path is the folder that a run writes to, or a file that it writes there."""
        folder, name = os.path.split(path)
        output_dir, namespace = self._output
        return path == output_dir or (folder == output_dir and is_output(name, namespace))

    def write_changed(self, changed: Sequence[str]) -> list[str]:
        """Write the prompt as it is now, if it is another one; return the files that count."""
        self.begun, number = time.monotonic(), self.number
        try:
            with suppress(OSError):
                os.chdir(self._folder)  # it may have been deleted and made again
            files = self.write(self._asked.request(), changed)
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
        if self._failure and self.number == number and not self._quiet:
            say("that is mended; the prompt is as before")
        self._failure = ""
        return files

    def write(self, request: Request, changed: Sequence[str]) -> list[str]:
        """Write the prompt of a request if it is another one than before; return the files that count."""
        self._output = os.path.realpath(request.output_dir), request.namespace
        recorder = lazy.AuditRecorder(request) if request.is_audited else None
        meter = PromptMeter(lazy.SegmentCounter(self._index))
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
            tokens = lazy.PromptTokens.of(meter.places, meter.counts())
            if recorder:
                recorder.write(path, stream, tokens)
            prefix = log_written_prompt(path, meter.fingerprint(tokens.segments), request)
            self._tell(path, stream, tokens, prefix, _names(changed, request))
            if self._copies:
                how = copy_to_clipboard(b"".join(pieces))
                if not self._quiet:
                    say(how)
        self._index.flush()
        return self._asked.files(request, stream)

    def _tell(
        self,
        path: Path,
        stream: "ComposedPrompt",
        tokens: "PromptTokens",
        prefix: "PrefixReport | None",
        changed: Sequence[str],
    ) -> None:
        """Print the path or the data, and the whole report of the first prompt, one line for each later one."""
        warnings = report_warnings(stream, tokens, self._index)
        if self._as_json:
            data = report_data(path, stream, tokens, warnings)
            more = {"changed": list(changed), "prefix": prefix.kept if prefix else 0}
            write_result(json.dumps(data | more))
        else:
            write_path(path)
        if not self._quiet and self.number == 1:
            print_report(stream, tokens, warnings)
            if prefix:
                say(prefix.sentence)
        elif not self._quiet:
            warn_all(for_reader([new for new in warnings if new not in self._warnings]))
            say(_line(tokens.document, tokens.document - self._tokens, changed, prefix))
        self._warnings, self._tokens = warnings, tokens.document


def _line(tokens: int, more: int, changed: Sequence[str], prefix: "PrefixReport | None") -> str:
    """Return what is said of a prompt that was composed again."""
    names = ", ".join(changed[:_NAMED_CHANGES]) or "what lies outside of the project"
    if len(changed) > _NAMED_CHANGES:
        names += f" and {len(changed) - _NAMED_CHANGES:,} more"
    kept = f"; {prefix.sentence}" if prefix else ""
    return f"{tokens:,} tokens (o200k), {more:+,}; changed: {names}{kept}"


def _names(changed: Sequence[str], request: Request) -> list[str]:
    """Return changed files as a reader knows them: relative to the project where they lie in it.

    Folders are left out: what has come with one is named itself.
    """
    root = _root(request)
    return [
        os.path.relpath(path, root).replace(os.sep, "/") if is_inside(path, root) else path
        for path in changed
        if not Path(path).is_dir()
    ]


def _root(request: Request) -> str:
    """Return the folder that holds the configuration and the files, without links."""
    folders = [os.path.realpath(folder) for folder in (request.shown_from, request.base_dir)]
    try:
        common = os.path.commonpath(folders)
    except ValueError:  # two drives
        return folders[1]
    return common if common in folders else folders[1]


def _beads_files(request: Request) -> list[str]:
    """Return the files that hold the beads, whose folder is often ignored."""
    if not request.beads:
        return []
    files = find_beads_files(request.base_dir, environ=os.environ)
    if files is None:
        return []
    paths = [str(path) for path in (files.jsonl, files.database, files.mock) if path]
    if files.database:
        paths.append(f"{files.database}-wal")  # where SQLite writes first
    return paths
