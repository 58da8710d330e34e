"""Changes since the request's revision, in the order of the ranking (rule T-8)."""

from aggregate.base.redaction import Redaction, redact
from aggregate.project.git import FileChange, read_changes
from aggregate.prompt.asking.request import Request
from aggregate.prompt.files.selection import own_output_filter
from aggregate.prompt.fit.candidates import Candidates
from aggregate.prompt.sections.changes import NO_CHANGES, ChangedFile, Changes


def changes_for(request: Request, candidates: Candidates) -> Changes:
    """Return the changed candidates, likeliest first, deleted files, and the number of other files."""
    if not (request.finish and request.finish.changes):
        return NO_CHANGES
    ranks = candidates.ranks
    facts = candidates.corpus.files
    generated = {path for path, number in candidates.numbers.items() if facts[number].is_generated}
    base_dir = request.base_dir
    is_ours = own_output_filter(base_dir, request.output_dir, request.namespace, request.shown_from)
    changes = read_changes(str(base_dir), request.finish.changes)
    changes = [change for change in changes if not is_ours(change.path)]
    listed = [change for change in changes if change.path in ranks or change.kind == "deleted"]
    listed.sort(key=lambda change: ranks.get(change.path, len(ranks)))
    files = [
        _changed_file(change, request.redaction, is_generated=change.path in generated)
        for change in listed
    ]
    return Changes(request.finish.changes, files, len(changes) - len(listed))


def _changed_file(change: FileChange, redaction: Redaction, *, is_generated: bool) -> ChangedFile:
    """Return a changed file; generated, binary and deleted ones have no hunks."""
    lines = f"+{change.added} -{change.removed}" if change.hunks else ""
    kinds = (change.kind, "generated" if is_generated else "", lines)
    by_name = is_generated or change.kind == "deleted"
    hunks = () if by_name else tuple(_redacted(hunk, redaction) for hunk in change.hunks)
    return ChangedFile(change.path, ", ".join(filter(None, kinds)) or "changed", hunks)


def _redacted(hunk: str, redaction: Redaction) -> str:
    """Redact a hunk as a whole, without its ``+`` and ``-``, since a key may span lines."""
    if not redaction.replaces:
        return hunk
    head, *lines = hunk.split("\n")
    plain = "\n".join([head, *(line[1:] for line in lines)])
    head, *texts = redact(plain, redaction).text.split("\n")
    marked = [f"{line[:1]}{text}" for line, text in zip(lines, texts, strict=True)]
    return "\n".join([head, *marked])
