"""What ``run`` is asked for, and the prompt that it writes, with what is told of it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aggregate.base.values import Amount, Task, unknown_names
from aggregate.cli.asking import (
    open_asked_project,
    read_task,
    task_argument,
    typed_places,
    with_meant,
)
from aggregate.cli.output import Bar, say, warn, warn_all
from aggregate.project.configuration import Project
from aggregate.project.index import Index
from aggregate.prompt import Request, for_reader, request_for, stream_prompt
from aggregate.sending import PromptMeter

if TYPE_CHECKING:
    from aggregate.prompt import PromptTokens
    from aggregate.sending.cache import PrefixReport

_LARGEST = 8  # files that are listed one by one: these and the sections fit onto a small terminal

# Tokens that there surely are models for; beyond, the list of models is asked, which takes a moment to load.
_ALWAYS_FITS = 1_000_000


@dataclass
class AskedRun:
    sentence: tuple[str, ...]
    task: str | None
    budget: Amount | None
    focus: tuple[str, ...]
    symbol: tuple[str, ...]
    since: str
    explain: bool
    config: Path
    allow_outside: bool | None
    allow_secrets: bool | None
    strategy: str | None
    preset: str | None
    tier: int | None
    discussion: str
    no_history: bool
    to_stdout: bool
    copies: bool
    watches: bool
    generated: str | None
    redact: bool | None
    no_cache: bool
    verify: bool
    as_json: bool
    quiet: bool

    @cached_property
    def named_task(self) -> Task | None:
        """The task; it is read once, since standard input can be."""
        argument = task_argument(self.sentence, self.task)
        return read_task(argument, symbols=self.symbol, since=self.since)

    def open(self) -> Project:
        return open_asked_project(
            self.config,
            is_asked=self.named_task is not None or self.budget is not None,
            allow_outside=self.allow_outside,
            allow_secrets=self.allow_secrets,
            tells=not self.quiet,
        )

    def request(self, project: Project) -> Request:
        return request_for(
            project,
            strategy=self.strategy,
            preset=self.preset,
            focus_files=typed_places(self.focus, project.folder / project.config.files.base_dir),
            tier=self.tier,
            with_history=not self.no_history,
            discussion=self.discussion or None,
            generated=self.generated,
            task=self.named_task,
            budget=self.budget,
            redact=self.redact,
        )


class WrittenPrompt:
    tokens: "PromptTokens | None" = None
    prefix: "PrefixReport | None" = None

    def __init__(
        self, request: Request, index: Index, *, counts: bool, bar: Bar, is_file: bool = True
    ) -> None:
        self.request = request
        counter = None
        has_account = request.is_audited and is_file
        if counts or has_account:
            # A quiet run tells of no tokens, and starts without what counts them.
            from aggregate.prompt import SegmentCounter

            counter = SegmentCounter(index)
        self.stream = stream_prompt(request, index=index, on_start=bar.start, on_done=bar.advance)
        self.meter = PromptMeter(request, counter, has_account=has_account)
        self.pieces = self.meter.pieces(self.stream)

    def record(self, path: Path | None) -> None:
        self.tokens = self.meter.tokens()
        if path:
            self.prefix = self.meter.record(path, self.stream, self.tokens)

    def warnings(self) -> list[str]:
        stream, tokens = self.stream, self.tokens
        warnings = [
            *unknown_names(stream.missing),
            *with_meant(stream.warnings, stream.rows, self.request.base_dir),
        ]
        if tokens is None or tokens.document <= _ALWAYS_FITS:
            return warnings
        from aggregate.prompt import largest_folders
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
