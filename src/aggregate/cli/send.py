"""``send``, and the steps of a turn shared with ``chat``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import click

from aggregate.base.errors import NoProviderError, ProviderError
from aggregate.base.task_budget import Task
from aggregate.cli import asking, options, output, turn_report
from aggregate.cli.attached import Attached
from aggregate.cli.options import COUNT, AskedProject, flag, option, take, together
from aggregate.project.configuration import Project
from aggregate.project.history import DEFAULT
from aggregate.prompt.asking import for_reader
from aggregate.sending import (
    Exchange,
    ModelSelection,
    compact_discussion,
    prepare_compaction,
    prepare_turn,
    send_turn,
)
from aggregate.sending.models import SCRIPTED

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
    attached: Attached = Attached()  # noqa: RUF009 - an immutable value

    @classmethod
    def of(cls, values: dict[str, Any]) -> "AskedTurn":
        return take(cls, {**values, "selection": take(ModelSelection, values)})

    def open(self) -> Project:
        hint = "" if self.quiet else asking.KEEP
        return asking.open_asked_project(self, hint=hint, is_verbose=self.verbose)

    def seeds(self, project: Project) -> Task | None:
        task = asking.read_task_argument(None, symbols=self.symbols, since=self.since)
        focus = asking.typed_places(self.focus, project.folder / project.config.files.base_dir)
        if not (task or focus):
            return None
        return replace(task or Task(), focus=focus, is_strict=True)


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
    text = asking.read_input() if message == "-" else message
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
        output.say(*turn_report.turn_notes(turn))
    if not dry_run:
        completed = deliver(turn, as_json=asked.as_json)
        files = [str(file) for file in (completed.path, completed.history) if file is not None]
        _report(completed, asked, *turn_report.cache_news(turn), ending=", ".join(files))
    elif asked.as_json:
        output.write_json(turn_report.plan_data(turn))
    else:
        output.write_rows(*turn_report.plan_lines(turn))


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
    output.say(turn_report.usage_sentence(completed), ending)


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
            aside=asked.attached.of,
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
            output.write_json(turn_report.answer_data(completed), indent=indent)
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
        output.write_json(turn_report.compaction_data(prepared))
    elif dry_run:
        output.write_rows(turn_report.compaction_sentence(prepared))
    elif not asked.quiet:
        output.say(turn_report.compaction_sentence(prepared))
    if dry_run:
        return None
    completed = compact_discussion(prepared, project)
    with output.writable_output(f"the summary is in {completed.answer}"):
        if shows_summary and asked.as_json:
            output.write_json(
                turn_report.compaction_data(prepared) | turn_report.answer_data(completed)
            )
        elif shows_summary:
            output.write_piece(completed.reply.text.rstrip("\n") + "\n")
    ending = f"all turns are saved: --discussion {prepared.kept_as} continues from them"
    _report(completed, asked, ending=ending)
    return completed
