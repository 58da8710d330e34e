"""What ``send --compact`` and ``/compact`` have in common: a discussion is made short, and told what that costs."""

import json

from aggregate.cli.output import (
    say,
    warn,
    warn_all,
    writable_output,
    write_piece,
    write_result,
    write_rows,
)
from aggregate.cli.send_report import answer_data, usage_sentence
from aggregate.cli.turn import say_wait
from aggregate.project.configuration import Project
from aggregate.project.history import DEFAULT
from aggregate.prompt import for_reader
from aggregate.sending import (
    CompletedCompaction,
    ModelSelection,
    PreparedCompaction,
    compact_discussion,
    prepare_compaction,
)


def compact(
    project: Project,
    selection: ModelSelection,
    *,
    quiet: bool,
    dry_run: bool = False,
    shows_summary: bool = False,
    as_json: bool = False,
) -> tuple[PreparedCompaction, CompletedCompaction | None]:
    """Let the model summarise the oldest turns of a discussion, having said what that costs.

    Args:
        project: Whose discussion.
        selection: Who is asked, and in which discussion.
        quiet: Whether nothing but the summary and errors is said.
        dry_run: Whether nothing is sent.
        shows_summary: Whether the summary is printed, as the answer that was asked for.
        as_json: Whether what is printed is JSON.
    """
    prepared = prepare_compaction(project, selection, on_wait=say_wait, require_key=not dry_run)
    if not quiet:
        warn_all(for_reader(prepared.turn.warnings), more="run --json")
    if dry_run:
        plan = json.dumps(_plan_data(prepared), indent=2)
        write_result(plan) if as_json else write_rows(prepared.sentence)
        return prepared, None
    if not quiet:
        say(prepared.sentence)
    streams = shows_summary and not as_json
    with writable_output():
        compacted = compact_discussion(prepared, project, on_text=write_piece if streams else None)
    completed = compacted.completed
    with writable_output(f"the summary is in {completed.answer}"):
        if streams and not completed.reply.text.endswith("\n"):
            write_piece("\n")
        elif shows_summary and as_json:
            data = _plan_data(prepared) | answer_data(prepared.turn, completed)
            write_result(json.dumps(data, indent=2))
    if not quiet:
        for warning in completed.warnings:
            warn(warning)
        say(usage_sentence(prepared.turn, completed.reply.usage), compacted.sentence)
    return prepared, compacted


def _plan_data(prepared: PreparedCompaction) -> dict[str, object]:
    """Return what is done as JSON data."""
    price = prepared.price
    return {
        "provider": prepared.turn.client.provider,
        "model": prepared.turn.client.model,
        "discussion": prepared.name or DEFAULT,
        "turns": len(prepared.turns),
        "tokens": prepared.tokens,
        "kept_as": prepared.kept_as,
        "cost": None if price is None else float(price),
        "pays_back_after": prepared.pays_back_after,
        "warnings": list(prepared.turn.warnings),
    }
