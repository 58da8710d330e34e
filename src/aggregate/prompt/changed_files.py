"""What has changed since the revision that a request names, in the order of the files' ranks (rule T-8)."""

from collections.abc import Sequence

from aggregate.base.redaction import Redaction, redact
from aggregate.project.git import FileChange, read_changes
from aggregate.prompt.opened_candidates import Candidate
from aggregate.prompt.request import Request
from aggregate.prompt.sections.changes import NO_CHANGES, ChangedFile, Changes
from aggregate.prompt.selection import own_output_filter
from aggregate.ranking.files import FileFacts


def changes_for(
    request: Request, candidates: Sequence[Candidate], facts: Sequence[FileFacts]
) -> Changes:
    """Return what has changed in the candidates, the likeliest first, what is deleted last; others are counted."""
    if not (request.finish and request.finish.changes):
        return NO_CHANGES
    ranks = {each.file.path: rank for rank, each in enumerate(candidates)}
    generated = {each.file.path for each in candidates if facts[each.number].is_generated}
    base_dir = request.base_dir
    is_ours = own_output_filter(base_dir, request.output_dir, request.namespace, request.shown_from)
    changes = read_changes(str(base_dir), request.finish.changes)
    found = [each for each in changes if not is_ours(each.path)]  # prompts are no change
    named = [each for each in found if each.path in ranks or each.kind == "deleted"]
    named.sort(key=lambda each: ranks.get(each.path, len(ranks)))
    files = [_told(each, request.redaction, is_generated=each.path in generated) for each in named]
    return Changes(request.finish.changes, files, len(found) - len(named))


def _told(change: FileChange, redaction: Redaction, *, is_generated: bool) -> ChangedFile:
    """Return how a file is told of; generated, binary and deleted ones by their names alone."""
    lines = f"+{change.added} -{change.removed}" if change.hunks else ""
    kinds = (change.kind, "generated" if is_generated else "", lines)
    by_name = is_generated or change.kind == "deleted"
    hunks = () if by_name else tuple(_redacted(hunk, redaction) for hunk in change.hunks)
    return ChangedFile(change.path, ", ".join(filter(None, kinds)) or "changed", hunks)


def _redacted(hunk: str, redaction: Redaction) -> str:
    """Return a hunk without secrets, which are looked for in its lines without their marks: a key may have several."""
    if not redaction.replaces:
        return hunk
    head, *lines = hunk.split("\n")
    clean, *others = redact("\n".join([head, *(line[1:] for line in lines)]), redaction).text.split(
        "\n"
    )
    return "\n".join(
        [clean, *(f"{line[:1]}{text}" for line, text in zip(lines, others, strict=True))]
    )
