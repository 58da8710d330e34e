"""``send``, and what ``chat`` shares with it: a turn is prepared, sent, and its answer printed as it comes."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from functools import wraps
from pathlib import Path
from typing import Any

import click

from aggregate.base.errors import NoProviderError, ProviderError
from aggregate.base.request import Task
from aggregate.cli.asking import (
    KEEP,
    budget_option,
    open_asked_project,
    read_input,
    read_task,
    seed_options,
    typed_places,
)
from aggregate.cli.options import (
    base_url_option,
    config_option,
    discussion_option,
    json_option,
    quiet_option,
    redact_option,
    scope_options,
    verbose_option,
)
from aggregate.cli.output import (
    progress,
    say,
    warn,
    warn_all,
    writable_output,
    write_piece,
    write_result,
    write_rows,
)
from aggregate.project.configuration import Project
from aggregate.project.history import DEFAULT
from aggregate.prompt import for_reader
from aggregate.sending import (
    Exchange,
    ModelSelection,
    compact_discussion,
    prepare_compaction,
    prepare_turn,
    send_turn,
)
from aggregate.sending.models import SCRIPTED

# Of what was expected to be read: a forecast of tokens is not exact to the last.
_NEARLY = 0.95
_OPTIONS = (
    config_option,
    scope_options,
    click.option(
        "--provider",
        metavar="NAME",
        default="",
        help="Ask this provider: anthropic, gemini, deepseek, minimax, openai, compatible (your own "
        "server), gateway (of others' models), or scripted; by default the persona's, else "
        "that of [send].",
    ),
    click.option(
        "--model",
        metavar="NAME",
        default="",
        help="Ask this model, by the provider's name of it; by default the persona's, else that of [send], "
        "else the provider's usual one.",
    ),
    click.option(
        "--persona",
        metavar="NAME",
        default="",
        help="Ask as this persona of the configuration; by default as that of [send], if any.",
    ),
    base_url_option,
    click.option(
        "--max-output",
        type=click.IntRange(1),
        help="Let the model write at most this many tokens; by default 16,000, or as the configuration says.",
    ),
    budget_option(
        "Take each message as the task, and send what it needs in at most this many tokens of the whole request."
    ),
    click.option(
        "--effort",
        type=click.Choice(["low", "medium", "high"]),
        help="Say how long the model may think before it answers; by default it decides itself.",
    ),
    click.option(
        "--most",
        type=click.FloatRange(0),
        metavar="DOLLARS",
        help="Send nothing that could cost more, with nothing read from a cache and the longest answer.",
    ),
    seed_options,
    discussion_option("Ask"),
    redact_option(sending=True),
    json_option,
    quiet_option,
    verbose_option,
)


@dataclass(frozen=True, slots=True)
class AskedTurn:
    config: Path
    selection: ModelSelection
    allow_outside: bool | None = None
    allow_secrets: bool | None = None
    focus: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    since: str = ""
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    def open(self) -> Project:
        return open_asked_project(
            self.config,
            allow_outside=self.allow_outside,
            allow_secrets=self.allow_secrets,
            hint="" if self.quiet else KEEP,
            is_verbose=self.verbose,
        )

    def seeds(self, project: Project) -> Task | None:
        task = read_task(None, symbols=self.symbols, since=self.since)
        places = typed_places(self.focus, project.folder / project.config.files.base_dir)
        if not (task or places):
            return None
        return replace(task or Task(), focus=places, is_strict=True)


def turn_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say who is asked, and what is shown; they come as one argument, ``asked``."""

    @wraps(command)
    def with_asked(**options: Any) -> None:  # noqa: ANN401 - as click passes them
        taken = {name: options.pop(name) for name in _names(ModelSelection) & options.keys()}
        taken = {"selection": ModelSelection(**taken), "symbols": options.pop("symbol")}
        taken |= {name: options.pop(name) for name in _names(AskedTurn) & options.keys()}
        command(asked=AskedTurn(**taken), **options)

    for option in reversed(_OPTIONS):
        with_asked = option(with_asked)
    return with_asked


def _names(of: type) -> set[str]:
    return {field.name for field in fields(of)}


@click.command()
@click.argument("message", required=False)
@turn_options
@click.option(
    "--compact",
    "is_compacted",
    is_flag=True,
    help="First let the model put a summary in the place of the discussion's oldest turns, which are kept as another "
    "discussion; without MESSAGE do no more.",
)
@click.option("--dry-run", is_flag=True, help="Show the plan and send nothing.")
def send(message: str | None, asked: AskedTurn, *, is_compacted: bool, dry_run: bool) -> None:
    """Send the prompt and MESSAGE, print the answer, and keep both.

    MESSAGE stands at the prompt's end; both turns are added to the discussion. With --budget the prompt shows what
    matters most for MESSAGE, within this many tokens of the whole request.

    MESSAGE "-" is read from standard input. Try it without a key: --provider scripted.
    """
    if message is None and not is_compacted:
        raise click.UsageError("say something: aggregate send MESSAGE")
    text = read_input() if message == "-" else message
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
    if not asked.quiet:
        warn_all(for_reader(turn.warnings), more="run --json")
        say(*turn.notes)
    if not dry_run:
        completed = deliver(turn, project, as_json=asked.as_json)
        if not asked.quiet:
            for warning in completed.doubts:
                warn(warning)
            say(*turn.news)
            warn_of_end(completed)
            files = (completed.path, completed.history)
            say(
                _usage_sentence(completed),
                ", ".join(str(file) for file in files if file is not None),
            )
    elif asked.as_json:
        write_result(json.dumps(turn.data, indent=2))
    else:
        write_rows(*turn.lines)


def _compare(project: Project, asked: AskedTurn, text: str) -> None:
    """Print what the prompt costs with each known model, the cheapest first."""
    from aggregate.sending.clients import ChatRequest, priced_models  # half a second, for prices

    discussion = asked.selection.discussion or DEFAULT
    selection = replace(asked.selection, provider=SCRIPTED, discussion=discussion)
    tokens = prepare(project, replace(asked, selection=selection), text).plan.total
    output = asked.selection.max_output or ChatRequest().max_output
    rows = []
    for model in priced_models(project):
        counted_tokens = round(tokens * model.ratio)
        if model.input is not None and model.output is not None:
            price = counted_tokens * model.input / 1e6
            most = price + output * model.output / 1e6
            fits = model.window is None or counted_tokens + output <= model.window
            rows.append((price, model.name, counted_tokens, most, fits))
    if asked.as_json:
        names = ("cost", "model", "tokens", "most", "fits")
        write_result(
            json.dumps([dict(zip(names, row, strict=True)) for row in sorted(rows)], indent=2)
        )
        return
    for price, name, size, most, fits in sorted(rows):
        note = "" if fits else "\ttoo long for its window"
        write_rows(
            f"{name}\t{size:,} tokens\t${price:.4f} for the input\tat most ${most:.4f}{note}"
        )
    say(
        f"{tokens:,} tokens (o200k), nobody is asked: name one of these with --provider and --model"
    )


def check_message(text: str) -> None:
    if not text.strip():
        raise click.UsageError("the message is empty: say something")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise click.UsageError("the message is not UTF-8: check the terminal's encoding")


def prepare(
    project: Project,
    asked: AskedTurn,
    message: str,
    *,
    require_key: bool = True,
    replaces: Sequence[Mapping[str, Any]] = (),
) -> Exchange:
    with progress("Rendering files", hidden=asked.quiet) as bar:
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
        )


def _say_wait(seconds: float, error: ProviderError) -> None:
    say(f"{error}; trying again in {seconds:.1f} s")


def deliver(
    turn: Exchange,
    project: Project,
    *,
    as_json: bool,
    indent: int | None = 2,
    write: Callable[[str], None] = write_piece,
) -> Exchange:
    with writable_output():
        completed = send_turn(turn, on_text=None if as_json else write)
    with writable_output(f"the answer is in {completed.answer}"):
        if as_json:
            write_result(json.dumps(_answer_data(completed), indent=indent))
        elif not completed.reply.text.endswith("\n"):
            write("\n")
    return completed


def _answer_data(turn: Exchange) -> dict[str, Any]:
    reply, usage, bill = turn.reply, turn.reply.usage, turn.bill
    return {
        "text": reply.text,
        "stop": reply.stop.value,
        "model": reply.model,
        "path": str(turn.path),
        "history": None if turn.history is None else str(turn.history),
        "answer": str(turn.answer),
        "warnings": [*turn.warnings, *turn.doubts],
        "usage": {
            "fresh": usage.fresh,
            "cache_write": usage.cache_write,
            "cache_read": usage.cache_read,
            "output": usage.output,
        },
        "cost": _number(bill.price),
        "expected_cost": _number(bill.expected_price),
        "saved": _number(bill.saved),
        "prefix": turn.prefix.sentence if turn.prefix else None,
        "diffs": list(turn.ordered.older),
    }


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def warn_of_end(completed: Exchange) -> None:
    if completed.reply.stop.value != "end":
        warn(f"the answer is not complete ({completed.reply.stop.value})")


def _usage_sentence(turn: Exchange) -> str:
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


def compact(
    project: Project, asked: AskedTurn, *, dry_run: bool = False, shows_summary: bool = False
) -> Exchange | None:
    """Let the model summarise the oldest turns, having said what that costs; ``shows_summary`` prints it."""
    prepared = prepare_compaction(
        project, asked.selection, on_wait=_say_wait, require_key=not dry_run
    )
    if not asked.quiet:
        warn_all(for_reader(prepared.turn.warnings), more="run --json")
    if dry_run:
        plan = json.dumps(prepared.data, indent=2)
        write_result(plan) if asked.as_json else write_rows(prepared.sentence)
        return None
    if not asked.quiet:
        say(prepared.sentence)
    completed = compact_discussion(prepared, project)
    with writable_output(f"the summary is in {completed.answer}"):
        if shows_summary and asked.as_json:
            data = prepared.data | _answer_data(completed)
            write_result(json.dumps(data, indent=2))
        elif shows_summary:
            write_piece(completed.reply.text.rstrip("\n") + "\n")
    if not asked.quiet:
        for warning in completed.doubts:
            warn(warning)
        kept = f"all turns are kept: --discussion {prepared.kept_as} goes on from them"
        say(_usage_sentence(completed), kept)
    return completed
