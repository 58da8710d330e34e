"""The prompts that ``run`` writes, with their warnings and token counts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aggregate.base.task_budget import doubts
from aggregate.base.text import common_prefix, heading_text
from aggregate.cli.arguments import existing_meant
from aggregate.cli.output import (
    Bar,
    progress,
    say,
    warn,
    warn_all,
    write_json,
    write_path,
    write_pieces,
)
from aggregate.project.index import Index
from aggregate.prompt import Composition, File, stream_prompt
from aggregate.prompt.asking import ALL_FILES, Request, for_reader
from aggregate.prompt.document import END, SEPARATOR, Section, Segment, SourceMap
from aggregate.prompt.output.numbered_output import write_named, write_numbered
from aggregate.sending import log_written_prompt
from aggregate.sending.cache import SYSTEM, HashedPrompt, HashedSegment, PrefixReport

if TYPE_CHECKING:
    from aggregate.cli.replay_recording import EditedPrompt
    from aggregate.prompt import PromptTokens, SegmentCounter

_LARGEST = 8  # files to list: with the sections they fit onto a small terminal
_ALWAYS_FITS = 1_000_000  # tokens: some model takes them, so its slow list need not be loaded


def largest_folders(tokens: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the three largest folders beside each other, with tokens.

    They are direct children of the deepest folder that contains all files.
    """
    folders = {path: tuple(path.split("/")[:-1]) for path in tokens}
    ordered = sorted(folders.values())
    depth = common_prefix(ordered[0], ordered[-1]) if ordered else 0
    sums: Counter[str] = Counter()
    for path, parts in folders.items():
        sums["/".join((*parts[: depth + 1], "")) or "."] += tokens[path]
    return sorted(sums.items(), key=lambda row: (-row[1], row[0]))[:3]


def with_meant(warnings: Iterable[str], files: Iterable[File], folder: Path) -> list[str]:
    hints = {
        heading_text(file.path): existing_meant(file.path, folder)
        for file in files
        if file.is_error
    }
    return [warning + hints.get(warning.rpartition(": ")[2], "") for warning in warnings]


def write_prompt(
    request: Request,
    index: Index,
    edited: "EditedPrompt | None",
    *,
    within: Path | None,
    is_printed: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> tuple[Path | None, "Composition | EditedPrompt"]:
    """Write the prompt and its records, and report them; return its path if it is a file."""
    path = None
    counts = as_json or not quiet
    with progress("Rendering files", hidden=quiet) as bar:
        is_file = not is_printed
        written = WrittenPrompt(
            request, index, counts=counts, bar=bar, is_file=is_file, edited=edited
        )
        if is_printed:
            write_pieces(written.pieces())
        elif request.output_file:
            has_records = write_named(request.output_file, written.pieces())
            path = request.output_file if has_records else None
        else:
            folder, name = request.output_dir, request.namespace
            suffix = ".xml" if request.is_xml else ".md"
            path = write_numbered(folder, name, written.pieces(), project=within, suffix=suffix)
    if path and not as_json:
        write_path(path)
    written.record(path)
    if counts:
        warnings = written.warnings()
        if as_json:
            write_json(written.data(path, warnings))
        if not quiet:
            written.tell(warnings, is_verbose=verbose)
    return path, written.stream


class WrittenPrompt:
    """A prompt on its way to a file: its bytes, then its counts, records and warnings.

    For a prompt with an audit it also collects the file of each line (A-1). Without the index no record is written, and
    the next prompt is not compared with this one. An ``edited`` prompt has its own bytes and record.
    """

    tokens: "PromptTokens | None" = None
    prefix: PrefixReport | None = None
    _counter: "SegmentCounter | None" = None

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
        self.request, self._has_log = request, index.is_used
        self._parts: list[HashedSegment] = []
        self._source_map = SourceMap() if request.is_audited and is_file else None
        if edited is None and (counts or self._source_map is not None):
            from aggregate.prompt import SegmentCounter  # slow to load

            self._counter = SegmentCounter(index)
        self.stream: Composition | EditedPrompt = edited or stream_prompt(
            request, index=index, on_start=bar.start, on_done=bar.advance
        )

    def pieces(self) -> Iterator[bytes]:
        if isinstance(self.stream, Composition):
            yield from self._counted(self.stream)
        else:
            yield from self.stream.pieces

    def _counted(self, segments: Iterable[Segment]) -> Iterator[bytes]:
        """Yield the bytes of segments; hash and count them meanwhile."""
        last: tuple[str, bytes] | None = None
        for segment in segments:
            if last is not None:
                yield SEPARATOR.encode()
                self._count(*last, SEPARATOR)
            if self._source_map is not None:
                # Prompts without an account need none.
                from aggregate.prompt.output.source_map import add_segment

                add_segment(self._source_map, segment)
            data = segment.text.encode()
            section, source = segment.section, segment.source
            self._parts.append(HashedSegment.of(data, 0, section=section, source=source))
            yield data
            last = segment.text, data
        if last is not None:
            yield END.encode()
            self._count(*last, END)

    def _count(self, text: str, data: bytes, separator: str) -> None:
        if self._counter is not None:
            self._counter.add(text, data, separator)

    def record(self, path: Path | None) -> None:
        """Write the record and the audit of a prompt; compare it with the last prompt."""
        if not isinstance(self.stream, Composition):
            self.tokens = self.stream.tokens()
            if path:
                self.stream.record(path)
            return
        if self._counter is not None:
            keys = [(Section(part.section), part.source) for part in self._parts]
            self.tokens = self._counter.tokens(keys)
        if path and self._source_map is not None and self.tokens is not None:
            from aggregate.prompt.audit import audit_of, write_audit
            from aggregate.prompt.output.source_map import add_separator

            size = sum(part.size + len(SEPARATOR) for part in self._parts)
            size -= len(SEPARATOR) - len(END) if size else 0
            sources = self._source_map
            add_separator(sources)
            audit = audit_of(self.request, self.stream, self.tokens, size=size, source_map=sources)
            write_audit(path, audit)
        if path and self._has_log:
            parts = self._parts
            if self.tokens is not None and self.tokens.segments:
                pairs = zip(parts, self.tokens.segments, strict=True)
                parts = [replace(part, tokens=number) for part, number in pairs]
            written = HashedPrompt((HashedSegment.of("", 0, section=SYSTEM), *parts))
            self.prefix = log_written_prompt(path, written, self.request)

    def warnings(self) -> list[str]:
        stream, tokens = self.stream, self.tokens
        warnings = [*doubts(stream.missing, stream.guess)]
        warnings += with_meant(stream.warnings, stream.rows, self.request.base_dir)
        if tokens is None or tokens.document <= _ALWAYS_FITS:
            return warnings
        from aggregate.sending import exceeded_window

        if window := exceeded_window(tokens.document):
            largest = largest_folders(tokens.files)
            folders = ", ".join(f"{folder} {number:,}" for folder, number in largest)
            warnings.append(
                f"the prompt has {tokens.document:,} tokens, more than any model here takes ({window:,}): "
                f'aggregate "what you are about to do" --budget 60k selects; the largest folders are {folders}'
            )
        return warnings

    def tell(self, warnings: list[str], *, is_verbose: bool) -> None:
        assert self.tokens  # noqa: S101 - runs that print count
        warn_all(for_reader(warnings), more="--json")
        if not self.stream.rows and not self.stream.choices:
            warn(
                "no files: the folder is empty, or nothing matches [files] paths, --include or --exclude"
            )
        lines = [f"{self.tokens.document:>11,} tokens (o200k)"]
        lines += [f"{tokens:>11,} in {part.value}" for part, tokens in self.tokens.sections.items()]
        files = sorted(self.tokens.files.items(), key=lambda item: (-item[1], item[0]))
        names = {ALL_FILES: "notes on omitted files"}
        lines += [f"{number:>11,}   {names.get(path, path)}" for path, number in files[:_LARGEST]]
        if smaller := files[_LARGEST:]:
            rest = sum(number for _, number in smaller)
            lines.append(f"{rest:>11,}   in {len(smaller):,} smaller files (--json lists them)")
        say(*lines, *([self.prefix.sentence] if self.prefix and is_verbose else []))

    def data(self, path: Path | None, warnings: list[str]) -> dict[str, Any]:
        assert self.tokens  # noqa: S101 - runs that print count
        files = self.tokens.files
        levels = {choice.path: choice.level.value for choice in self.stream.choices}
        return {
            "path": str(path),
            "tokens": {
                "encoding": "o200k_base",
                "document": self.tokens.document,
                "sections": {part.value: number for part, number in self.tokens.sections.items()},
            },
            "files": [
                {
                    "path": file.path,
                    "entry": file.item.path,
                    "view_mode": file.view_mode.value,
                    "level": levels.get(file.path, file.view_mode.value),
                    "auto_aggregate": file.item.auto_aggregate,
                    "error": file.is_error,
                    "tokens": files.get(file.path, 0),
                }
                for file in self.stream.rows
            ],
            "warnings": warnings,
        }


def write_parts(
    request: Request, tokens: int, index: Index, *, within: Path | None, quiet: bool
) -> None:
    """Write a prompt in parts of at most ``tokens`` (rule T-15); print their paths."""
    from aggregate.prompt import SavedCounts, compose_prompt
    from aggregate.prompt.audit import record_audit
    from aggregate.prompt.output import cuts_of, split_prompt

    with progress("Rendering files", hidden=quiet) as bar:
        composition = compose_prompt(request, index=index, on_start=bar.start, on_done=bar.advance)
    count = SavedCounts(index)
    parts = split_prompt(composition.prompt, tokens, title=request.title, count=count)
    folder, name = request.output_dir, request.namespace
    paths = [write_numbered(folder, name, part.pieces(), project=within) for part in parts]
    for number, (part, path) in enumerate(zip(parts, paths, strict=True)):
        cut = (*composition.cut, *cuts_of(parts, paths, number, count))
        record_audit(path, request, replace(composition, cut=cut), part)
        write_path(path)
        if not quiet:
            say(f"{count(part.written):>11,} tokens (o200k) in part {number + 1} of {len(parts)}")
    if not quiet:
        warnings = with_meant(composition.warnings, composition.rows, request.base_dir)
        warn_all(for_reader(warnings))
