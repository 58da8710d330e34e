"""``--split``: write one prompt as several numbered files (rule T-15)."""

from dataclasses import replace
from pathlib import Path

from aggregate.base.disk.reading import project_root
from aggregate.cli.asking import with_meant
from aggregate.cli.output import Bar, say, warn_all, write_path
from aggregate.project.index import Index
from aggregate.prompt import Request, SavedCounts, compose_prompt, cuts_of, for_reader, split_prompt
from aggregate.prompt.audit import record_audit
from aggregate.prompt.output.numbered_output import write_numbered


def write_parts(request: Request, tokens: int, *, index: Index, bar: Bar, tells: bool) -> None:
    """Write a prompt in parts of at most ``tokens``; print their paths."""
    composition = compose_prompt(request, index=index, on_start=bar.start, on_done=bar.advance)
    count = SavedCounts(index)
    parts = split_prompt(composition.prompt, tokens, title=request.title, count=count)
    root = request.written_in or Path(project_root(Path()))
    folder, name = request.output_dir, request.namespace
    paths = [write_numbered(folder, name, part.pieces(), project=root) for part in parts]
    for number, (part, path) in enumerate(zip(parts, paths, strict=True)):
        cut = (*composition.cut, *cuts_of(parts, paths, number, count))
        record_audit(path, request, replace(composition, cut=cut), part)
        write_path(path)
        if tells:
            say(f"{count(part.written):>11,} tokens (o200k) in part {number + 1} of {len(parts)}")
    if tells:
        warnings = with_meant(composition.warnings, composition.rows, request.base_dir)
        warn_all(for_reader(warnings))
