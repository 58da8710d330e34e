"""The prompt of a run since whose last time only some files were edited: these are rendered, the rest is copied."""

import json
from collections.abc import Sequence

from aggregate.cli.remembered import Earlier, last_prompt
from aggregate.prompt import Composition, KnownRow, Request, edited_blocks, known_rows
from aggregate.sending import EditedPrompt


def pages_of(composition: Composition, steering: Sequence[str]) -> bytes:
    """Return what a later run needs to know of the files of a prompt, nothing where these depend on each other.

    ``steering`` are absolute paths of files that decide on more than on their own block.
    """
    rows = known_rows(composition, steering)
    return json.dumps([rows, composition.warnings]).encode() if rows else b""


def edited_prompt(earlier: Earlier, request: Request, *, counts: bool) -> EditedPrompt | None:
    """Return the prompt with the changed files rendered anew, ``None`` where more than their own blocks may differ."""
    run = earlier.run
    if not run.pages or run.written is None:
        return None
    told, warnings = json.loads(run.pages)
    rows = [KnownRow(*row) for row in told]
    by_file = {row.file: row for row in rows if row.file}
    if not earlier.changed.keys() <= by_file.keys():
        return None
    blocks = edited_blocks(request, [by_file[path] for path in earlier.changed])
    last = blocks and last_prompt(run)
    if not blocks or not last:
        return None
    told_rows = [row.row for row in rows]
    return EditedPrompt.of(
        last.path, run.written.prompt, blocks, rows=told_rows, warnings=warnings, counts=counts
    )
