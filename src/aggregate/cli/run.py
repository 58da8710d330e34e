"""``run``: compose the prompt and write it to a numbered file."""

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregate.base.disk.reading import project_root
from aggregate.base.disk.witnesses import doubt
from aggregate.base.request import AUTO, Amount, Finish, Task
from aggregate.cli.asking import (
    KEEP,
    OVERVIEW,
    SHOWN,
    budget_option,
    is_named,
    looked_at,
    open_asked_project,
    read_attached,
    read_task,
    seed_options,
    task_option,
    typed_places,
)
from aggregate.cli.options import (
    cache_options,
    config_option,
    discussion_option,
    generated_option,
    json_option,
    quiet_option,
    redact_option,
    scope_options,
)
from aggregate.cli.output import (
    progress,
    say,
    warn,
    warn_all,
    write_path,
    write_pieces,
    write_result,
)
from aggregate.cli.program import HELP_ALL, BriefCommand, is_sentence
from aggregate.cli.recording import Recording
from aggregate.cli.remembered import Earlier
from aggregate.cli.written_prompt import WrittenPrompt
from aggregate.project.configuration import Project
from aggregate.project.index import Index, open_index
from aggregate.prompt import (
    Request,
    check_focus,
    compose_prompt,
    for_reader,
    read_instructions,
    request_for,
    select_files,
)
from aggregate.prompt.numbered_output import write_numbered

if TYPE_CHECKING:
    from aggregate.sending import EditedPrompt


def _task_argument(words: tuple[str, ...], task: str | None) -> str | None:
    if not words:
        return task
    sentence = " ".join(words)[:SHOWN]
    if task is not None:
        raise click.UsageError(f"the task is named twice: leave out --task or {sentence!r}")
    if len(words) > 1 or not is_sentence(words[0]):
        raise click.UsageError(
            f'got unexpected extra argument {words[0][:SHOWN]!r}: to make it the task, write --task "{sentence}"'
        )
    return words[0]


@dataclass
class AskedRun:
    sentence: tuple[str, ...]
    task: str | None
    budget: Amount | None
    focus: tuple[str, ...]
    symbol: tuple[str, ...]
    since: str
    pick: str
    explain: bool
    config: Path
    allow_outside: bool | None
    allow_secrets: bool | None
    strategy: str | None
    preset: str | None
    tier: int | None
    discussion: str
    no_history: bool
    to_stdout: bool
    copies: bool
    generated: str | None
    redact: bool | None
    no_cache: bool
    verify: bool
    as_json: bool
    quiet: bool
    bare: bool
    diff: str
    instructions: str | None
    attach: tuple[str, ...]
    line_numbers: bool
    remote: str | None

    @cached_property
    def named_task(self) -> Task | None:
        """The task; it is read once, since standard input can be."""
        argument = _task_argument(self.sentence, self.task)
        return read_task(argument, symbols=self.symbol, since=self.since)

    @cached_property
    def finish(self) -> Finish:
        """What is said beside the files; a command is run once."""
        if self.diff:
            doubt("a revision was asked for")  # any reference may be one
        return Finish(
            has_frame=not self.bare,
            changes=self.diff,
            instructions=(read_instructions(self.instructions),) if self.instructions else (),
            attached=tuple(read_attached(each, tells=not self.quiet) for each in self.attach),
            line_numbers=self.line_numbers,
        )

    def open(self) -> Project:
        if self.remote is not None:
            from aggregate.cli.remote import open_remote  # seldom asked for

            return open_remote(self.remote, allow_secrets=self.allow_secrets, tells=not self.quiet)
        return open_asked_project(
            self.config,
            allow_outside=self.allow_outside,
            allow_secrets=self.allow_secrets,
            tells="" if self.quiet else OVERVIEW if self.named_task is None else KEEP,
        )

    def request(self, project: Project) -> Request:
        is_asked = self.named_task is not None or self.budget is not None
        is_overview = project.is_bare and not (is_asked or self.preset)
        request = request_for(
            project,
            strategy=self.strategy,
            preset=self.preset,
            focus_files=typed_places(self.focus, project.folder / project.config.files.base_dir),
            tier=self.tier,
            with_history=not self.no_history,
            discussion=self.discussion or None,
            generated=self.generated,
            task=self.named_task,
            budget=AUTO if is_overview else self.budget,
            redact=self.redact,
            finish=self.finish,
        )
        if request.task:
            request = replace(request, task=replace(request.task, is_strict=True))
        elif request.tier is None and request.focus_files:
            check_focus(request, select_files(request))
        if self.remote is None:
            return request
        # The prompt is the user's own: it is written where they are.
        return replace(request, output_dir=Path(project.config.output.output_dir))


@click.command(cls=BriefCommand, params=[HELP_ALL])
@click.argument("sentence", metavar="[TASK]", nargs=-1, required=False)
@task_option
@budget_option(f"Show what matters most in at most this many tokens, such as 32000, 32k or {AUTO}.")
@partial(
    seed_options,
    focus="; with neither task nor budget, and with --tier 3: show this file in full in a Tier 3 context",
)
@click.option(
    "--diff",
    metavar="[REV]",
    is_flag=False,
    flag_value="HEAD",
    default="",
    help="With a task and a budget, show what has changed since this git revision, by default what is not committed.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Print what would be shown of each file and why, and write no prompt.",
)
@config_option
@click.option(
    "--preset",
    metavar="NAME",
    help="Take files and screenshots from this context preset; by default from the one that is active, if any.",
)
@click.option(
    "--remote",
    metavar="OWNER/NAME[@REF]|URL",
    help="Fetch this repository, of GitHub or at an address, and take its files.",
)
@click.option(
    "--stdout", "to_stdout", is_flag=True, help="Print the prompt instead of writing a file."
)
@click.option("--copy", "copies", is_flag=True, help="Put the prompt onto the clipboard too.")
@click.option(
    "--pick",
    metavar="PROVIDER[:MODEL]",
    default="",
    help="First ask this model which of the likeliest files matter; it sees their names and signatures.",
)
@click.option("--instructions", metavar="FILE|TEXT", help="Add these instructions.")
@click.option(
    "--attach",
    metavar="COMMAND|-",
    multiple=True,
    help="Add what this command prints, run in your shell, or standard input. Repeatable.",
)
@click.option("--line-numbers", is_flag=True, help="Show the number of each line of a file.")
@click.option(
    "--bare",
    is_flag=True,
    help="Say neither project nor task in the prompt, as one for a task with a budget does.",
)
@scope_options
@click.option(
    "--strategy",
    type=click.Choice(["auto", "summarize", "full"]),
    help="Render files in this way; by default as the configuration says, else auto.",
)
@click.option(
    "--tier", type=click.IntRange(1, 3), help="Make a context for this tier; only 3 differs."
)
@discussion_option("Show what was said", "one that is configured")
@click.option("--no-history", is_flag=True, help="Leave the discussion out.")
@generated_option
@redact_option(sending=False)
@cache_options
@json_option
@quiet_option
@click.pass_context
def run(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - as click passes them
    """Compose the prompt and write it to a numbered file; print its path.

    A TASK says which files matter, and with a budget these are shown as far as they fit:

      aggregate run "fix the timeout in the retry loop" --budget 32k

    A folder without a configuration stands for all files in it that git would take.
    """
    asked = AskedRun(**options)
    ways = {
        "--stdout": asked.to_stdout,
        "--explain": asked.explain,
        "--json": asked.as_json,
        "--copy": asked.copies,
    }
    for pair in combinations([name for name, is_chosen in ways.items() if is_chosen], 2):
        if "--stdout" in pair or ("--explain" in pair and "--json" not in pair):
            raise click.UsageError(f"{' and '.join(pair)} exclude each other: take one of them")
    if asked.remote is not None and (asked.allow_outside or is_named("config")):
        raise click.UsageError(
            "--remote takes the files of a repository as they are fetched: leave out --config and --allow-outside"
        )
    recording = Recording(context.obj)
    asked.named_task  # noqa: B018 - a mistake in it is told before one in the configuration
    index = open_index(use=not asked.no_cache, verify=asked.verify)
    project = asked.open()
    request = asked.request(project)
    if asked.diff and not (request.task and request.budget):
        raise click.UsageError(
            "--diff is for a task within a budget: say what you are about to do, and add --budget"
        )
    recording.begin(request)
    with index:  # an interrupted run keeps what it has found out
        request = looked_at(request, asked.pick, index=index, quiet=asked.quiet)
        if asked.explain:
            _explain(asked, request, index)
            return
        path, written = _compose(asked, request, index, context)
    if path and asked.copies:
        from aggregate.cli.clipboard import copy_to_clipboard  # seldom asked for

        how = copy_to_clipboard(path.read_bytes())
        if not asked.quiet:
            say(how)
    if not asked.quiet and index.warning:
        warn(index.warning)
    is_usual = index.is_used and not (asked.copies or asked.verify)
    if path and is_usual and not index.warning:
        recording.keep_prompt(path, written, project, tells=not asked.quiet)


def _compose(
    asked: AskedRun, request: Request, index: Index, context: click.Context
) -> tuple[Path | None, WrittenPrompt]:
    path = None
    root = request.written_in if asked.remote is None else Path(project_root(Path()))
    with progress("Rendering files", hidden=asked.quiet) as bar:
        counts = asked.as_json or not asked.quiet
        written = WrittenPrompt(
            request,
            index,
            counts=counts,
            bar=bar,
            is_file=not asked.to_stdout,
            edited=_edited(context.obj and context.obj.earlier, request, counts=counts),
        )
        if asked.to_stdout:
            # A line break more could be a token more than the budget.
            write_pieces(written.pieces, exactly=request.budget is not None)
        else:
            path = write_numbered(
                request.output_dir, request.namespace, written.pieces, project=root
            )
    if path and not asked.as_json:
        write_path(path)
    written.record(path)
    if counts:
        warnings = written.warnings()
        if asked.as_json:
            data = written.data(path, warnings)
            write_result(json.dumps(data, indent=2))
        if not asked.quiet:
            written.tell(warnings)
    return path, written


def _edited(earlier: Earlier | None, request: Request, *, counts: bool) -> "EditedPrompt | None":
    if earlier is None or not earlier.changed:
        return None
    from aggregate.cli.edited_prompt import edited_prompt  # of runs that were made before

    # The last prompt is gone, or another process has yet to write its records.
    with suppress(OSError, ValueError):
        return edited_prompt(earlier, request, counts=counts)
    return None


def _explain(asked: AskedRun, request: Request, index: Index) -> None:
    from aggregate.cli.explain import print_audit
    from aggregate.prompt import count_prompt
    from aggregate.prompt.audit import audit_data, audit_of

    if request.task is None and request.budget is None:
        raise click.UsageError(
            "--explain says what a task or a budget decides: add --task or --budget"
        )
    with progress("Rendering files", hidden=asked.quiet) as bar:
        composition = compose_prompt(request, index=index, on_start=bar.start, on_done=bar.advance)
    audit = audit_of(request, composition, count_prompt(composition.prompt, index=index))
    if not asked.quiet:
        warn_all(for_reader(composition.warnings), more="--json")
    if asked.as_json:
        write_result(json.dumps(audit_data(audit), indent=2))
    else:
        print_audit(audit)
