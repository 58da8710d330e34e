"""The prompt that ``run`` writes, what is told of it, and with ``--watch`` the next one whenever something changes."""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregate.base.disk.reading import is_inside
from aggregate.base.errors import AggregateError
from aggregate.base.request import doubts
from aggregate.base.text import common_prefix
from aggregate.cli.asking import with_meant
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
from aggregate.project.configuration import CONFIG_NAME, Project, global_config_path
from aggregate.project.index import Index
from aggregate.prompt import Request, files_of_sections, for_reader, stream_prompt
from aggregate.prompt.numbered_output import is_output, write_numbered
from aggregate.sending import PromptMeter

if TYPE_CHECKING:
    from aggregate.project.watching import GitActivity, TreeWatch
    from aggregate.prompt import Composition, PromptTokens
    from aggregate.sending import EditedPrompt
    from aggregate.sending.cache import PrefixReport

_LARGEST = 8  # files that are listed one by one: these and the sections fit onto a small terminal

# Tokens that there surely are models for; beyond, the list of models is asked, which takes a moment to load.
_ALWAYS_FITS = 1_000_000
_INTERRUPTED = 130  # exit code of what a person has interrupted, as shells have it
# Between the beginnings of two prompts: saving all files of an editor, or a checkout, takes a moment.
_PAUSE_SECONDS = 0.2
_READER_SECONDS = 0.5  # between two looks whether somebody still reads
_NAMED_CHANGES = 3  # files that a line names; the prompt says the rest
# In place of files where it has only told that something is different.
_UNNAMED = "what the system does not name, as where a folder was replaced"


def largest_folders(tokens: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the three folders with the most tokens, largest first, each as a path ending with ``/``.

    They lie side by side, below the folders that hold everything.
    """
    folders = {path: tuple(path.split("/")[:-1]) for path in tokens}
    ordered = sorted(folders.values())
    depth = common_prefix(ordered[0], ordered[-1]) if ordered else 0
    sums: Counter[str] = Counter()
    for path, parts in folders.items():
        sums["/".join((*parts[: depth + 1], "")) or "."] += tokens[path]
    return sorted(sums.items(), key=lambda row: (-row[1], row[0]))[:3]


class WrittenPrompt:
    tokens: "PromptTokens | None" = None
    prefix: "PrefixReport | None" = None

    def __init__(
        self,
        request: Request,
        index: Index,
        *,
        counts: bool,
        bar: Bar,
        is_file: bool = True,
        edited: "EditedPrompt | None" = None,
    ) -> None:
        self.request = request
        self.stream: Composition | EditedPrompt
        self.meter: PromptMeter | EditedPrompt
        self.pieces: Iterable[bytes]
        self._record: Callable[[Path, PromptTokens | None], PrefixReport | None]
        if edited:
            self.stream = self.meter = edited
            self.pieces, self._record = edited.pieces, edited.record
            return
        counter = None
        has_account = request.is_audited and is_file
        if counts or has_account:
            # A quiet run tells of no tokens, and starts without what counts them.
            from aggregate.prompt import SegmentCounter

            counter = SegmentCounter(index)
        stream = stream_prompt(request, index=index, on_start=bar.start, on_done=bar.advance)
        meter = PromptMeter(request, counter, has_account=has_account)
        self.stream, self.meter, self.pieces = stream, meter, meter.pieces(stream)
        self._record = lambda path, tokens: meter.record(path, stream, tokens)

    def record(self, path: Path | None) -> None:
        self.tokens = self.meter.tokens()
        if path:
            self.prefix = self._record(path, self.tokens)

    def warnings(self) -> list[str]:
        stream, tokens = self.stream, self.tokens
        warnings = [
            *doubts(stream.missing, stream.guess),
            *with_meant(stream.warnings, stream.rows, self.request.base_dir),
        ]
        if tokens is None or tokens.document <= _ALWAYS_FITS:
            return warnings
        from aggregate.sending.clients import exceeded_window

        if window := exceeded_window(tokens.document):
            largest = largest_folders(tokens.files)
            folders = ", ".join(f"{folder} {number:,}" for folder, number in largest)
            warnings.append(
                f"the prompt has {tokens.document:,} tokens, more than any model here takes ({window:,}): "
                f'aggregate "what you are about to do" --budget 60k shows what matters; the largest folders are '
                f"{folders}"
            )
        return warnings

    def tell(self, warnings: list[str]) -> None:
        assert self.tokens  # noqa: S101 - counted by whoever tells of it
        warn_all(for_reader(warnings), more="--json")
        if not self.stream.rows and self.stream.choices:
            warn("none of the files fits into the budget: allow more tokens")
        elif not self.stream.rows:
            warn(
                "no files: there are none here, or none that [files] paths in the configuration names"
            )
        lines = [f"{self.tokens.document:>11,} tokens (o200k)"]
        lines += [f"{tokens:>11,} in {part.value}" for part, tokens in self.tokens.sections.items()]
        files = sorted(self.tokens.files.items(), key=lambda item: (-item[1], item[0]))
        lines += [f"{number:>11,}   {path}" for path, number in files[:_LARGEST]]
        if others := files[_LARGEST:]:
            rest = sum(number for _, number in others)
            lines.append(f"{rest:>11,}   in {len(others):,} smaller files (--json lists them)")
        say(*lines, *([self.prefix.sentence] if self.prefix else []))

    @property
    def next_sentence(self) -> str:
        """What is told of the prefix where the next prompt is the same."""
        from aggregate.sending.cache import PrefixReport  # loaded by what measured the prompt

        return PrefixReport.of_same(self.tokens.document if self.tokens else 0).sentence

    def data(self, path: Path | None, warnings: list[str]) -> dict[str, Any]:
        assert self.tokens  # noqa: S101 - counted by whoever tells of it
        files = self.tokens.files
        return {
            "path": str(path),
            "tokens": {
                "encoding": "o200k_base",
                "document": self.tokens.document,
                "sections": {part.value: number for part, number in self.tokens.sections.items()},
            },
            "files": [
                {
                    "path": row.path,
                    "entry": row.entry,
                    "view_mode": row.view_mode.value,
                    "auto_aggregate": row.auto_aggregate,
                    "error": row.error,
                    "tokens": files.get(row.path, 0),
                }
                for row in self.stream.rows
            ],
            "warnings": warnings,
        }


def copy_prompt(data: bytes, *, quiet: bool) -> None:
    from aggregate.cli.clipboard import copy_to_clipboard  # seldom asked for

    how = copy_to_clipboard(data)
    if not quiet:
        say(how)


def watch_run(run: "WatchedRun") -> None:
    """Write the prompt, and the next one as soon as something that counts has changed, until interrupted.

    What cannot be composed, such as a configuration that is being edited, is told once.
    """
    from aggregate.project.watching import GitActivity, TreeWatch  # they take 20 ms to load

    project = run.open()
    with (
        orderly_termination(),
        TreeWatch(watched_root(run.request(project)), skips=run.is_own) as watch,
    ):
        try:
            watch.watch_files(run.write(project, ()))
            if not run.quiet:
                say("watching for changes; Ctrl-C ends it")
            _write_again(run, watch, GitActivity(watch))
        except KeyboardInterrupt:
            if is_terminal(err=True):
                say("")  # behind the ^C that the terminal shows
            if not run.quiet:
                say(f"aggregate: ended, {run.number} prompts written")
            click.get_current_context().exit(_INTERRUPTED)


def _write_again(run: "WatchedRun", watch: "TreeWatch", activity: "GitActivity") -> None:
    begun = 0.0
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


class WatchedRun:
    number = 0
    _digests: Sequence[str] = ()
    _warnings: Sequence[str] = ()
    _tokens = 0
    _failure = ""
    _files: Sequence[str] = ()
    _output = ("", "")

    def __init__(
        self,
        open_project: Callable[[], Project],
        request_of: Callable[[Project], Request],
        index: Index,
        *,
        copies: bool,
        as_json: bool,
        quiet: bool,
    ) -> None:
        self.open, self.request, self._index = open_project, request_of, index
        self._copies, self._as_json, self.quiet = copies, as_json, quiet
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
            files = self.write(self.open(), changes)
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
        if self._failure and self.number == number and not self.quiet:
            say("that is mended; the prompt is as before")
        self._failure = ""
        return files

    def write(self, project: Project, changes: Iterable[str]) -> Sequence[str]:
        """Write the prompt if it is another one than before; return the files that count, wherever they lie."""
        request = self.request(project)
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
            if self._copies:
                copy_prompt(b"".join(pieces), quiet=self.quiet)
        self._index.flush()
        config = project.path or project.folder / CONFIG_NAME
        shown = [request.base_dir / row.path for row in written.stream.rows]
        files = [os.path.abspath(path) for path in (config, global_config_path(), *shown)]
        self._files = [*files, *files_of_sections(config, request)]
        return self._files

    def _tell(self, path: Path, written: WrittenPrompt, changed: Sequence[str]) -> None:
        warnings, prefix = written.warnings(), written.prefix
        if self._as_json:
            more = {"changed": changed, "prefix": prefix.kept if prefix else 0}
            write_result(json.dumps(written.data(path, warnings) | more))
        else:
            write_path(path)
        tokens = written.tokens.document if written.tokens else 0
        if not self.quiet and self.number == 1:
            written.tell(warnings)
        elif not self.quiet:
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
