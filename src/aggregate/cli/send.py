"""``send``, and the steps and reports of a turn shared with ``chat``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import click

from aggregate.base.errors import NoProviderError, ProviderError
from aggregate.base.messages import short_list
from aggregate.base.task_budget import Task
from aggregate.cli import arguments, options, output
from aggregate.cli.options import COUNT, AskedProject, flag, option, take, together
from aggregate.project.configuration import Project
from aggregate.project.history import DEFAULT, NO_DISCUSSION
from aggregate.prompt.asking import Request, for_reader
from aggregate.sending import (
    Exchange,
    ModelSelection,
    PreparedCompaction,
    compact_discussion,
    dollars,
    prepare_compaction,
    prepare_turn,
    send_turn,
)
from aggregate.sending.models import LONG_LIFETIME, SCRIPTED, Usage

_NEARLY = 0.95  # of the forecast cache reads, which are not exact

turn_options = together(
    options.config_option,
    options.scope_options,
    option(
        "--provider",
        "NAME",
        "Ask this provider: anthropic, gemini, deepseek, minimax, openai, compatible (your own "
        "server), gateway (of others' models), or scripted; by default the persona's, else [send]'s.",
        default="",
    ),
    option(
        "--model",
        "NAME",
        "Ask this model; by default the persona's, else [send]'s, else the provider's default.",
        default="",
    ),
    option("--persona", "NAME", "Ask as this persona; by default [send]'s.", default=""),
    options.base_url_option,
    option(
        "--max-output",
        "",
        "Limit the answer to this many tokens; by default 16,000, or as configured.",
        type=COUNT,
    ),
    options.budget_option(
        "Use each message as the task, and limit the whole request to this many tokens."
    ),
    option(
        "--effort",
        "",
        "Limit the model's thinking; by default the model decides.",
        type=click.Choice(["low", "medium", "high"]),
    ),
    option(
        "--most",
        "DOLLARS",
        "Refuse requests that could cost more, without a cache and with the longest answer.",
        type=click.FloatRange(0),
    ),
    options.turn_seed_options,
    options.turn_discussion_option,
    options.turn_redact_option,
    options.json_option,
    options.quiet_option,
    options.verbose_option,
)


@dataclass(frozen=True, slots=True)
class AskedTurn(AskedProject):
    """The options of ``send`` and ``chat``."""

    selection: ModelSelection = field(default_factory=ModelSelection)
    focus: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    since: str = ""
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    @classmethod
    def of(cls, values: dict[str, Any]) -> "AskedTurn":
        return take(cls, {**values, "selection": take(ModelSelection, values)})

    def open(self) -> Project:
        hint = "" if self.quiet else arguments.KEEP
        return arguments.open_asked_project(self, hint=hint, is_verbose=self.verbose)

    def seeds(self, project: Project) -> Task | None:
        base_dir = project.folder / project.config.files.base_dir
        return arguments.read_seeds(self.focus, self.symbols, self.since, base_dir)


@click.command()
@click.argument("message", required=False)
@turn_options
@flag(
    "--compact is_compacted",
    "First let the model summarize the oldest turns, and save all of them as another discussion.",
)
@flag("--dry-run", "Show the plan and send nothing.")
def send(message: str | None, *, is_compacted: bool, dry_run: bool, **values: Any) -> None:  # noqa: ANN401 - click's
    """Send the prompt and MESSAGE; print the answer and save both.

    MESSAGE and the answer are added to the discussion. With --budget the prompt contains the files most relevant to
    MESSAGE.

    MESSAGE "-" is read from standard input. Try it without a key: --provider scripted.
    """
    asked = AskedTurn.of(values)
    if message is None and not is_compacted:
        raise click.UsageError("the message is missing: aggregate send MESSAGE")
    text = arguments.read_input() if message == "-" else message
    if text is not None:
        check_message(text)
    project = asked.open()
    if is_compacted:
        compact(project, asked, dry_run=dry_run, shows_summary=text is None)
    if text is None or (is_compacted and dry_run):
        return
    try:
        turn = prepare(project, asked, text, require_key=not dry_run)
    except NoProviderError:
        if not dry_run:
            raise
        _compare(project, asked, text)
        return
    _warn_before(turn, asked)
    if not asked.quiet:
        output.say(*turn_notes(turn))
    if not dry_run:
        completed = deliver(turn, as_json=asked.as_json)
        files = [str(file) for file in (completed.path, completed.history) if file is not None]
        _report(completed, asked, *cache_news(turn), ending=", ".join(files))
    elif asked.as_json:
        output.write_json(plan_data(turn))
    else:
        output.write_rows(*plan_lines(turn))


def _warn_before(turn: Exchange, asked: AskedTurn) -> None:
    if not asked.quiet:
        output.warn_all(for_reader(turn.warnings), more="run --json")


def _report(completed: Exchange, asked: AskedTurn, *news: str, ending: str) -> None:
    if asked.quiet:
        return
    for warning in completed.doubts:
        output.warn(warning)
    output.say(*news)
    warn_of_end(completed)
    output.say(usage_sentence(completed), ending)


def _compare(project: Project, asked: AskedTurn, text: str) -> None:
    """Print the prompt's cost with each known model, the cheapest first."""
    from aggregate.sending.clients import ChatRequest, priced_models  # half a second, for prices

    discussion = asked.selection.discussion or DEFAULT
    selection = replace(asked.selection, provider=SCRIPTED, discussion=discussion)
    tokens = prepare(project, replace(asked, selection=selection), text).plan.total
    max_output = asked.selection.max_output or ChatRequest().max_output
    rows = []
    for model in priced_models(project):
        counted_tokens = round(tokens * model.ratio)
        if model.input is not None and model.output is not None:
            price = counted_tokens * model.input / 1e6
            most = price + max_output * model.output / 1e6
            fits = model.window is None or counted_tokens + max_output <= model.window
            rows.append((price, model.name, counted_tokens, most, fits))
    if asked.as_json:
        names = ("cost", "model", "tokens", "most", "fits")
        output.write_json([dict(zip(names, row, strict=True)) for row in sorted(rows)])
        return
    for price, name, size, most, fits in sorted(rows):
        note = "" if fits else "\ttoo long for its window"
        prices = f"${price:.4f} for the input\tat most ${most:.4f}"
        output.write_rows(f"{name}\t{size:,} tokens\t{prices}{note}")
    output.say(f"{tokens:,} tokens (o200k), not sent: choose a model by --provider and --model")


def check_message(text: str) -> None:
    if not text.strip():
        raise click.UsageError("the message is empty")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise click.UsageError("the message is not UTF-8: check the terminal's encoding")


def prepare(
    project: Project,
    asked: AskedTurn,
    message: str,
    *,
    require_key: bool = True,
    replaces: Sequence[Mapping[str, Any]] = (),
    aside: Callable[[Request], Request] | None = None,
) -> Exchange:
    with output.progress("Rendering files", hidden=asked.quiet) as bar:
        return prepare_turn(
            project,
            message,
            asked.selection,
            on_wait=_say_wait,
            on_start=bar.start,
            on_done=bar.advance,
            require_key=require_key,
            task=asked.seeds(project),
            replaces=replaces,
            aside=aside,
        )


def _say_wait(seconds: float, error: ProviderError) -> None:
    output.say(f"{error}; trying again in {seconds:.1f} s")


def deliver(
    turn: Exchange,
    *,
    as_json: bool,
    indent: int | None = 2,
    write: Callable[[str], None] = output.write_piece,
) -> Exchange:
    """Send a turn and print its answer while it arrives, or its data."""
    with output.writable_output():
        completed = send_turn(turn, on_text=None if as_json else write)
    with output.writable_output(f"the answer is in {completed.answer}"):
        if as_json:
            output.write_json(answer_data(completed), indent=indent)
        elif not completed.reply.text.endswith("\n"):
            write("\n")
    return completed


def warn_of_end(completed: Exchange) -> None:
    if completed.reply.stop.value != "end":
        output.warn(f"the answer is incomplete ({completed.reply.stop.value})")


def compact(
    project: Project, asked: AskedTurn, *, dry_run: bool = False, shows_summary: bool = False
) -> Exchange | None:
    """Let the model summarize the oldest turns, after reporting the cost."""
    selection = asked.selection
    prepared = prepare_compaction(project, selection, on_wait=_say_wait, require_key=not dry_run)
    _warn_before(prepared.turn, asked)
    if dry_run and asked.as_json:
        output.write_json(compaction_data(prepared))
    elif dry_run:
        output.write_rows(compaction_sentence(prepared))
    elif not asked.quiet:
        output.say(compaction_sentence(prepared))
    if dry_run:
        return None
    completed = compact_discussion(prepared, project)
    with output.writable_output(f"the summary is in {completed.answer}"):
        if shows_summary and asked.as_json:
            output.write_json(compaction_data(prepared) | answer_data(completed))
        elif shows_summary:
            output.write_piece(completed.reply.text.rstrip("\n") + "\n")
    ending = f"all turns are saved: --discussion {prepared.kept_as} continues from them"
    _report(completed, asked, ending=ending)
    return completed


def plan_lines(turn: Exchange) -> list[str]:
    """Return the plan of a request as lines to print."""
    lines = [f"{'tokens':>10} {'segments':>9}  {'role':9}  block"]
    for block in turn.blocks:
        first, last = block["sources"][0], block["sources"][-1]
        sources = first if first == last else f"{first} … {last}"
        if images := len(block["images"]):
            sources += f", with {images:,} image{'s' * (images > 1)}"
        sizes = f"{block['tokens']:>10,} {block['segments']:>9,}"
        lines.append(f"{sizes}  {block['role']:9}  {sources}")
        if block["marked"]:
            lives = ", kept for an hour" if block["lifetime"] >= LONG_LIFETIME else ""
            up_to = f"{block['up_to']:,} tokens{lives}"
            lines.append(f"{'':>10} {'':>9}  {'':9}  ── breakpoint, {up_to} ──")
    client, usage, total = turn.client, turn.expected, turn.plan.total
    model = f"{client.provider} {client.model}".strip()
    address = f" at {client.address}" if client.address else ""
    sizes = f"{total:>10,} {len(turn.prompt.segments):>9,}"
    lines.append(f"{sizes}  {'':9}  in all, to {model}{address}")
    chosen = turn.selection.chosen.items()
    choices = (f"{choice.of(name)} ({choice.source})" for name, choice in chosen)
    lines.append(f"chosen: {', '.join(choices)}")
    if turn.budget is not None or turn.provider_tokens != total:  # rule B-10
        counted = (
            f"about {turn.provider_tokens:,} tokens by {client.provider}'s count, {total:,} by o200k "
            f"({client.ratio.value:g} per token, {client.ratio.source})"
        )
        budget = "" if turn.budget is None else f"; the budget is {turn.budget:,}"
        lines.append(f"{counted}{budget}")
    first = turn.learned.first_piece
    words = f"; first words after about {first:.1f} s" if first else ""
    lines.append(
        f"expected: {usage.cache_read:,} read from the cache, {usage.cache_write:,} written, "
        f"{usage.fresh:,} fresh; {dollars(turn.expected_price)} for the input{words}"
    )
    return [*lines, *cache_news(turn)]


def plan_data(turn: Exchange) -> dict[str, Any]:
    return {
        "provider": turn.client.provider,
        "model": turn.asked.model,
        "address": turn.client.address,
        "origins": {name: choice.source for name, choice in turn.selection.chosen.items()},
        "discussion": turn.request.discussion or DEFAULT,
        "tokens": turn.plan.total,
        "provider_tokens": turn.provider_tokens,
        "ratio": turn.client.ratio.value,
        "ratio_source": turn.client.ratio.source,
        "budget": turn.budget,
        "blocks": turn.blocks,
        "expected": _usage_data(turn.expected),
        "cost": _number(turn.expected_price),
        "first_words": round(turn.learned.first_piece, 1) or None,
        "prefix": turn.prefix.sentence if turn.prefix else None,
        "diffs": list(turn.ordered.older),
        "warnings": list(turn.warnings),
    }


def _usage_data(usage: Usage) -> dict[str, int]:
    return {"fresh": usage.fresh, "cache_write": usage.cache_write, "cache_read": usage.cache_read}


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def cache_news(turn: Exchange) -> list[str]:
    """Return sentences about files in older versions and the prefix shared with the last prompt."""
    older, extra = turn.ordered.older, turn.ordered.extra
    description = f"shown as the cache holds them, with diffs ({extra:+,} tokens)"
    diffs = [f"{description}: {short_list(older)}"] if older else []
    return [*diffs, *([turn.prefix.sentence] if turn.prefix else [])]


def turn_notes(turn: Exchange) -> Sequence[str]:
    name = turn.request.discussion
    is_first = name not in ("", NO_DISCUSSION) and len(turn.request.history) == 1
    return (*([f'the discussion "{name}" begins'] if is_first else []), *turn.looked)


def answer_data(turn: Exchange) -> dict[str, Any]:
    reply, bill = turn.reply, turn.bill
    return {
        "text": reply.text,
        "stop": reply.stop.value,
        "model": reply.model,
        "path": str(turn.path),
        "history": None if turn.history is None else str(turn.history),
        "answer": str(turn.answer),
        "warnings": [*turn.warnings, *turn.doubts],
        "usage": {**_usage_data(reply.usage), "output": reply.usage.output},
        "cost": _number(bill.price),
        "expected_cost": _number(bill.expected_price),
        "saved": _number(bill.saved),
        "prefix": turn.prefix.sentence if turn.prefix else None,
        "diffs": list(turn.ordered.older),
    }


def usage_sentence(turn: Exchange) -> str:
    usage = turn.reply.usage
    if not usage.input and not usage.output:
        return f"{turn.client.provider} reports no tokens; about {turn.plan.total:,} were sent"
    share = f"{usage.cache_share:.0%}"
    expected = turn.forecast.cache_read
    if usage.cache_read < expected * _NEARLY:
        share += f", about {expected:,} expected"
    hypothetical = " if it had been asked" if turn.client.provider == "scripted" else ""
    return (
        f"{usage.input:,} tokens in: {usage.cache_read:,} read from the cache ({share}), "
        f"{usage.cache_write:,} written, {usage.fresh:,} fresh; "
        f"{usage.output:,} out; {turn.bill.sentence}{hypothetical}"
    )


def compaction_sentence(prepared: PreparedCompaction) -> str:
    amount, client = prepared.price, prepared.turn.client
    price = "price unknown" if amount is None else f"about ${amount:.4f}"
    return (
        f"{client.provider} {client.model} summarises {len(prepared.turns):,} turns ({prepared.tokens:,} tokens), "
        f"{price}; each further turn saves about {prepared.saved_tokens:,} tokens"
    )


def compaction_data(prepared: PreparedCompaction) -> dict[str, Any]:
    return {
        "provider": prepared.turn.client.provider,
        "model": prepared.turn.client.model,
        "discussion": prepared.name or DEFAULT,
        "turns": len(prepared.turns),
        "tokens": prepared.tokens,
        "kept_as": prepared.kept_as,
        "cost": _number(prepared.price),
        "warnings": list(prepared.turn.warnings),
    }
