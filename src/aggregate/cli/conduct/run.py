"""``conduct run``: run a track's tickets, or show what a run would do."""

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Unpack

import click

from aggregate.agents.tracks import PreviewStep, WorkerContexts, open_track, preview
from aggregate.base.request import FileChoice
from aggregate.cli.conduct.options import RunSettings, open_run_project, open_terms, run_options
from aggregate.cli.output import counted, warn_all, write_rows
from aggregate.cli.program import require_dbos


@click.command()
@run_options
@click.option(
    "--dry-run", is_flag=True, help="Show order, sizes, costs and what is lowered; run nothing."
)
def run(track: str, dry_run: bool, **settings: Unpack[RunSettings]) -> None:
    """Run the tickets of TRACK, or go on with its unfinished run; print the report's path.

    The exit code is 1 if a ticket failed or a variable could not be merged.
    """
    if not dry_run:
        require_dbos()
        # It needs DBOS, without which a dry run works.
        from aggregate.cli.conduct.runs import start_track

        start_track(track, settings)
        return
    project = open_run_project(settings)
    opened = open_track(project.folder, track)
    tickets = opened.tickets()
    terms = open_terms(settings, project.folder).with_checks(project, tickets)
    contexts = WorkerContexts(project, track=opened, terms=terms)
    steps = preview(tickets, contexts, max_cost=settings["max_cost"])
    write_rows(*_preview_lines(steps))
    warn_all(contexts.warnings)


# Files that are named of those that are shown with less, the most relevant first; the audit has all.
_NAMED = 4


def _preview_lines(steps: Sequence[PreviewStep]) -> Iterator[str]:
    """Yield the lines of a run's preview: each ticket with its size, its price and what was lowered, then the sums."""
    named: dict[tuple[FileChoice, ...], str] = {}
    for step in steps:
        first = named.setdefault(step.lowered, step.ticket.id)
        yield from _ticket_lines(step, like="" if first == step.ticket.id else first)
    tokens = sum(step.tokens for step in steps)
    yield f"{counted(len(steps), 'ticket')}, {tokens:,} tokens before results are folded in"
    asked = [step for step in steps if step.recipient.model]
    if not asked:
        return
    read = sum(step.usage.cache_read for step in asked)
    total = sum(step.usage.input for step in asked)
    yield (
        f"{total:,} tokens of input by the models' own counts, {read:,} of them read from a cache; "
        f"{_dollars([step.cost for step in asked])} before answers and the steps of tools"
    )


def _ticket_lines(step: PreviewStep, *, like: str) -> Iterator[str]:
    waits = f" <- {', '.join(step.waits_for)}" if step.waits_for else ""
    into = f" -> {step.ticket.collect_into}" if step.ticket.collect_into else ""
    budget = f" of {step.budget:,}" if step.budget else ""
    yield f"{step.wave:>3}  {step.ticket.id}{waits}{into}  {step.tokens:,}{budget} tokens"
    if step.recipient.model:
        yield f"       asks {step.recipient}: {_dollars([step.cost])}, {step.usage.cache_share:.0%} from a cache"
    if step.ticket.tools:
        yield f"       tools: {', '.join(step.ticket.tools)}"
    yield from (f"       {path}" for path in step.ticket.focus_files)
    if step.lowered:
        yield f"       lowered: {f'as for {like}' if like else _lowered(step.lowered)}"
    if step.hidden:
        yield f"       not shown: {counted(len(step.hidden), 'file')}"


def _lowered(choices: Sequence[FileChoice]) -> str:
    counts = Counter(f"{choice.most} to {choice.level}" for choice in choices)
    kinds = ", ".join(f"{number:,} from {kind}" for kind, number in sorted(counts.items()))
    by_rank = sorted(choices, key=lambda choice: (choice.rank is None, choice.rank or 0))
    named = ", ".join(choice.path for choice in by_rank[:_NAMED])
    more = ", …" if len(choices) > _NAMED else ""
    return f"{kinds} ({named}{more})"


def _dollars(costs: Sequence[Decimal | None]) -> str:
    known = [cost for cost in costs if cost is not None]
    if not known:
        return "no price is known"
    missing = len(costs) - len(known)
    rest = f", without {missing:,} whose price is not known" if missing else ""
    return f"${sum(known):.4f}{rest}"
