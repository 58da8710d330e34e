"""What ``run`` tells of a prompt: its tokens and files, and what was left out."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aggregate.base.values import unknown_names
from aggregate.cli import lazy
from aggregate.cli.output import say, warn, warn_all
from aggregate.cli.path_arguments import with_meant
from aggregate.prompt import ComposedPrompt, for_reader

if TYPE_CHECKING:
    from aggregate.prompt import PromptTokens

_LARGEST = 8
"""Files that are listed one by one: these and the sections fit onto a small terminal."""

_ALWAYS_FITS = 1_000_000
"""Tokens that there surely are models for; beyond, the list of models is asked, which takes a moment to load."""


def report_warnings(stream: ComposedPrompt, tokens: "PromptTokens", base_dir: Path) -> list[str]:
    """Return what was left out or is doubtful, what mistyped paths mean, and whether no model takes the prompt."""
    warnings = [*unknown_names(stream.missing), *with_meant(stream.warnings, stream.rows, base_dir)]
    window = None if tokens.document <= _ALWAYS_FITS else lazy.exceeded_window(tokens.document)
    if window is not None:
        folders = ", ".join(
            f"{folder} {number:,}" for folder, number in lazy.largest_folders(tokens.files)
        )
        warnings.append(
            f"the prompt has {tokens.document:,} tokens, more than any model here takes ({window:,}): "
            f'aggregate "what you are about to do" --budget 60k shows what matters; the largest folders are {folders}'
        )
    return warnings


def print_report(stream: ComposedPrompt, tokens: "PromptTokens", warnings: Sequence[str]) -> None:
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
    path: Path | None, stream: ComposedPrompt, tokens: "PromptTokens", warnings: Sequence[str]
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
