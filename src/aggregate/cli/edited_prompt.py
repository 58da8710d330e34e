"""Make a prompt from the last one: render only edited files."""

import json
from collections.abc import Sequence

from aggregate.cli.remembered import Earlier, last_prompt
from aggregate.prompt import Composition, Request, edited_blocks, known_files, known_rows
from aggregate.sending import EditedPrompt


def pages_of(composition: Composition, steering: Sequence[str]) -> bytes:
    """Pack the blocks of a prompt for reuse.

    Empty if a file's block depends on other files. ``steering`` has the absolute paths of files that affect more than
    their own block.
    """
    rows = known_rows(composition, steering)
    return json.dumps([rows, composition.warnings]).encode() if rows else b""


def edited_prompt(earlier: Earlier, request: Request, *, counts: bool) -> EditedPrompt | None:
    """Render the changed files into the earlier prompt; ``None`` if other blocks may change too."""
    run = earlier.run
    if not run.pages or run.written is None:
        return None
    values, warnings = json.loads(run.pages)
    files = known_files(request, values)
    by_file = {file.file: file for file in files if file.file}
    if not earlier.changed.keys() <= by_file.keys():
        return None
    blocks = edited_blocks(request, [by_file[path] for path in earlier.changed])
    last = blocks and last_prompt(run)
    if not blocks or not last:
        return None
    return EditedPrompt.of(
        last.path, run.written.prompt, blocks, rows=files, warnings=warnings, counts=counts
    )
