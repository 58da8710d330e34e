"""What ``run`` is asked for, and what it tells of a prompt: its tokens and files, and what was left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aggregate.base.values import Amount, Task, unknown_names
from aggregate.cli.asking import read_task, task_argument, typed_places
from aggregate.cli.opened_project import KEEP, open_asked_project, with_meant
from aggregate.cli.output import say, warn, warn_all
from aggregate.project.configuration import Project
from aggregate.prompt import Composition, Request, for_reader, request_for

if TYPE_CHECKING:
    from aggregate.prompt import PromptTokens

_LARGEST = 8
"""Files that are listed one by one: these and the sections fit onto a small terminal."""

_ALWAYS_FITS = 1_000_000
"""Tokens that there surely are models for; beyond, the list of models is asked, which takes a moment to load."""


@dataclass
class RunArguments:
    """What the options of ``run`` say, each under its name."""

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
    _is_told: bool = False

    @cached_property
    def task_named(self) -> Task | None:
        """The task; it is read once, since standard input can be."""
        argument = task_argument(self.sentence, self.task)
        return read_task(argument, symbols=self.symbol, since=self.since)

    def open(self) -> Project:
        """Open the project as it is now; say once where that is a folder without a configuration."""
        project, bare = open_asked_project(
            self.config,
            is_asked=self.task_named is not None or self.budget is not None,
            allow_outside=self.allow_outside,
            allow_secrets=self.allow_secrets,
        )
        if bare and not self.quiet and not self._is_told:
            say(KEEP)
        self._is_told = True
        return project

    def request(self, project: Project) -> Request:
        """Return what is asked of a project."""
        return request_for(
            project,
            strategy=self.strategy,
            preset=self.preset,
            focus_files=typed_places(self.focus, project.folder / project.config.files.base_dir),
            tier=self.tier,
            with_history=not self.no_history,
            discussion=self.discussion or None,
            generated=self.generated,
            task=self.task_named,
            budget=self.budget,
            redact=self.redact,
        )


def report_warnings(stream: Composition, tokens: "PromptTokens", base_dir: Path) -> list[str]:
    """Return what was left out or is doubtful, what mistyped paths mean, and whether no model takes the prompt."""
    warnings = [*unknown_names(stream.missing), *with_meant(stream.warnings, stream.rows, base_dir)]
    if tokens.document <= _ALWAYS_FITS:
        return warnings
    from aggregate.prompt import largest_folders
    from aggregate.sending.clients import exceeded_window

    if window := exceeded_window(tokens.document):
        largest = largest_folders(tokens.files)
        folders = ", ".join(f"{folder} {number:,}" for folder, number in largest)
        warnings.append(
            f"the prompt has {tokens.document:,} tokens, more than any model here takes ({window:,}): "
            f'aggregate "what you are about to do" --budget 60k shows what matters; the largest folders are {folders}'
        )
    return warnings


def print_report(stream: Composition, tokens: "PromptTokens", warnings: Sequence[str]) -> None:
    """Print to standard error the warnings, and the tokens of the document, its sections and largest files."""
    warn_all(for_reader(warnings), more="--json")
    if not stream.rows and stream.choices:
        warn("none of the files fits into the budget: allow more tokens")
    elif not stream.rows:
        warn("no files: there are none here, or none that [files] paths in the configuration names")
    lines = [f"{tokens.document:>11,} tokens (o200k)"]
    lines += [f"{number:>11,} in {section.value}" for section, number in tokens.sections.items()]
    largest = sorted(tokens.files.items(), key=lambda item: (-item[1], item[0]))
    lines += [f"{number:>11,}   {path}" for path, number in largest[:_LARGEST]]
    if len(largest) > _LARGEST:
        rest = sum(number for _, number in largest[_LARGEST:])
        lines.append(
            f"{rest:>11,}   in {len(largest) - _LARGEST:,} smaller files (--json lists them)"
        )
    say(*lines)


def report_data(
    path: Path | None, stream: Composition, tokens: "PromptTokens", warnings: Sequence[str]
) -> dict[str, Any]:
    """Return the report as JSON data."""
    return {
        "path": str(path),
        "tokens": {
            "encoding": "o200k_base",
            "document": tokens.document,
            "sections": {section.value: number for section, number in tokens.sections.items()},
        },
        "files": [
            {
                "path": row.path,
                "entry": row.entry,
                "view_mode": row.view_mode.value,
                "auto_aggregate": row.auto_aggregate,
                "error": row.error,
                "tokens": tokens.files.get(row.path, 0),
            }
            for row in stream.rows
        ],
        "warnings": list(warnings),
    }
