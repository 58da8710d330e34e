"""``run``: compose the prompt and write it to a numbered file."""

import json
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregate.base.disk.reading import project_root
from aggregate.base.files import Narrowing
from aggregate.base.request import AUTO, Amount, Finish, Task
from aggregate.cli.arguments import (
    UNCOMMITTED,
    Arguments,
    RunCommand,
    path_entries,
    read_arguments,
    read_paths_from,
    warn_of_revision,
)
from aggregate.cli.asking import (
    KEEP,
    OTHER_BUDGETS,
    OVERVIEW,
    SHOWN,
    budget_option,
    is_named,
    looked_at,
    number_of_tokens,
    open_asked_project,
    read_attached,
    read_task,
    say_once,
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
    verbose_option,
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
from aggregate.cli.program import HELP_ALL
from aggregate.cli.recording import Recording
from aggregate.cli.remembered import Earlier
from aggregate.cli.written_prompt import WrittenPrompt
from aggregate.project.configuration import Project
from aggregate.project.index import Index, open_index
from aggregate.prompt import (
    FOCUS_TIER,
    NO_BUDGET,
    WITHOUT_MODEL,
    Request,
    check_focus,
    compose_prompt,
    find_preset,
    for_reader,
    read_instructions,
    request_for,
    select_files,
)
from aggregate.prompt.numbered_output import write_named, write_numbered

if TYPE_CHECKING:
    from aggregate.sending import EditedPrompt


REVIEW_TOKENS = 16_000  # of a review for which no budget is set (rule T-14)


@dataclass
class AskedRun:
    arguments: tuple[str, ...]
    task: str | None
    budget: Amount | str | None
    focus: tuple[str, ...]
    symbol: tuple[str, ...]
    pick: str
    base_url: str
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
    verbose: bool
    bare: bool
    diff: str
    instructions: str | None
    attach: tuple[str, ...]
    line_numbers: bool
    remote: str | None
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    paths_from: str | None
    output: str | None
    split: int | None

    def __post_init__(self) -> None:
        if self.split is not None:
            if (
                self.budget is not None
                or self.to_stdout
                or self.output
                or self.explain
                or self.as_json
            ):
                raise click.UsageError(
                    "--split writes numbered prompts of all that is shown: leave out --budget, --stdout, -o, "
                    "--explain and --json"
                )
            self.budget = NO_BUDGET
        self.to_stdout = self.to_stdout or self.output == "-"

    @property
    def output_file(self) -> Path | None:
        return Path(self.output) if self.output and self.output != "-" else None

    @cached_property
    def typed(self) -> Arguments:
        """Paths and the task; they are read once, since standard input can be."""
        typed = read_arguments(self.arguments)
        if typed.task is not None and self.task is not None:
            raise click.UsageError(
                f"the task is named twice: leave out --task or {typed.task[:SHOWN]!r}"
            )
        listed = (
            ()
            if self.paths_from is None
            else read_paths_from(self.paths_from, tells=not self.quiet)
        )
        return typed._replace(paths=(*typed.paths, *listed))

    @cached_property
    def named_task(self) -> Task | None:
        """The task; it is read once, since standard input can be."""
        argument = self.typed.task if self.task is None else self.task
        return read_task(argument, symbols=self.symbol, since=self.diff)

    @cached_property
    def finish(self) -> Finish:
        """What is said beside the files; a command is run once."""
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
            hint="" if self.quiet else self._hint_without_configuration,
            is_verbose=self.verbose or self.no_cache,
        )

    @property
    def _hint_without_configuration(self) -> str:
        if self.typed.paths:
            return ""
        return OVERVIEW if self.named_task is None and self.budget is None else KEEP

    def _budget(self, project: Project) -> Amount | str | None:
        """Return the budget that was asked for, or the usual one of what has none of any source (rule T-3)."""
        config = project.config
        name = self.preset or config.project.active_preset
        preset = find_preset(project, name) if name else None
        tokens = config.budget.tokens
        if self.tier == FOCUS_TIER and config.budget.tier3 is not None:
            tokens = config.budget.tier3
        if self.budget is not None or tokens is not None or (preset and preset.budget is not None):
            return self.budget
        task = self.named_task
        has_text = bool((task.text if task else "") or config.task.text.strip())
        is_review = bool(self.diff) and not (has_text or self.symbol or self.focus)
        has_files = preset is not None or bool(config.files.paths)
        if not self.diff and (has_files or not (task or has_text)):
            is_overview = project.is_bare and not (preset or self.typed.paths)
            return AUTO if is_overview else None
        usual = REVIEW_TOKENS if is_review else WITHOUT_MODEL
        if not self.quiet:
            hint = f"budget: {usual:,} tokens, since none is set; {OTHER_BUDGETS}"
            say_once(hint, project, is_verbose=self.verbose or self.no_cache)
        return usual

    def _narrowing(self, base_dir: Path) -> Narrowing:
        folder = os.path.relpath(Path.cwd(), base_dir).replace(os.sep, "/")
        is_below = folder != "." and not folder.startswith("..")
        return Narrowing(
            path_entries(self.typed.paths, base_dir),
            self.include,
            self.exclude,
            f"{folder}/" if is_below else "",
        )

    def request(self, project: Project) -> Request:
        base_dir = project.folder / project.config.files.base_dir
        request = request_for(
            project,
            strategy=self.strategy,
            preset=self.preset,
            focus_files=typed_places(self.focus, base_dir),
            tier=self.tier,
            with_history=not self.no_history,
            discussion=self.discussion or None,
            generated=self.generated,
            task=self.named_task,
            budget=self._budget(project),
            redact=self.redact,
            finish=self.finish,
        )
        request = replace(
            request, narrowing=self._narrowing(base_dir), output_file=self.output_file
        )
        if request.task:
            request = replace(request, task=replace(request.task, is_strict=True))
        elif request.tier is None and request.focus_files:
            check_focus(request, select_files(request))
        if self.remote is None:
            return request
        # The prompt is the user's own: it is written where they are.
        return replace(request, output_dir=Path(project.config.output.output_dir))


@click.command(cls=RunCommand, params=[HELP_ALL])
@click.argument("arguments", metavar="[PATH]... [TASK]", nargs=-1, required=False)
@task_option
@budget_option(
    "Show what matters most in at most this many tokens, such as 32000, 32k or auto; all is no limit.",
    may_be_all=True,
)
@click.option(
    "-o", "--output", metavar="FILE|-", help="Write the prompt to this file, or print it."
)
@click.option(
    "--include",
    metavar="GLOB",
    multiple=True,
    help="Take only files that match, written as in .gitignore. Repeatable.",
)
@click.option(
    "--exclude",
    metavar="GLOB",
    multiple=True,
    help="Leave out files that match, written as in .gitignore. Repeatable.",
)
@partial(
    seed_options,
    focus="; with neither task nor budget, and with --tier 3: show this file in full in a Tier 3 context",
    has_since=False,
)
@click.option(
    "--diff",
    "--since",
    metavar="[=REV]",
    is_flag=False,
    flag_value=UNCOMMITTED,
    default="",
    help="Rank from what has changed since this git revision, and show it; by default what is not committed.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Print what would be shown of each file and why, and write no prompt.",
)
@config_option
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
    "--paths-from",
    metavar="FILE|-",
    help="Take the paths that this file or standard input lists, one a line or NUL-separated.",
)
@click.option(
    "--preset",
    metavar="NAME",
    help="Take files and screenshots from this context preset; by default from the one that is active, if any.",
)
@click.option(
    "--pick",
    metavar="PROVIDER[:MODEL]",
    default="",
    help="First ask this model which of the likeliest files matter; it sees their names and signatures.",
)
@click.option(
    "--base-url", metavar="URL", default="", help="Reach the provider of --pick at this address."
)
@click.option(
    "--split",
    metavar="N",
    callback=number_of_tokens,
    help="Write everything in as many prompts as needed, each of at most this many tokens.",
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
@verbose_option
@click.pass_context
def run(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - as click passes them
    """Compose the prompt and write it to a numbered file; print its path.

    The TASK decides which files are shown, and how much of each:

      aggregate run "fix the timeout in the retry loop"

    A PATH is a file, folder or glob; only these are used. Words behind -- are the task. Without a configuration, all
    files that git does not ignore are used, and a task has a budget of 32,000 tokens.
    """
    asked = AskedRun(**options)
    if asked.output == "":
        raise click.UsageError("--output names no file")
    if asked.output_file and asked.to_stdout:
        raise click.UsageError("--stdout and --output exclude each other: take one of them")
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
        raise click.UsageError("--diff shows what fits into a budget: leave out --budget all")
    if asked.diff and not asked.quiet:
        warn_of_revision(asked.arguments, request.base_dir)
    recording.begin(request)
    with index:  # an interrupted run keeps what it has found out
        request = looked_at(
            request, asked.pick, base_url=asked.base_url, index=index, quiet=asked.quiet
        )
        if asked.split:
            from aggregate.cli.split_prompts import write_parts  # seldom asked for

            with progress("Rendering files", hidden=asked.quiet) as bar:
                write_parts(request, asked.split, index=index, bar=bar, tells=not asked.quiet)
            return
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
    is_usual = index.is_used and not (asked.copies or asked.verify or asked.output)
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
            write_pieces(written.pieces)
        elif request.output_file:
            has_records = write_named(request.output_file, written.pieces)
            path = request.output_file if has_records else None
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
    from aggregate.prompt.document import END

    if request.task is None and request.budget is None:
        raise click.UsageError(
            "--explain says what a task or a budget decides: add --task or --budget"
        )
    with progress("Rendering files", hidden=asked.quiet) as bar:
        composition = compose_prompt(request, index=index, on_start=bar.start, on_done=bar.advance)
    tokens = count_prompt(composition.prompt, index=index, end=END)
    audit = audit_of(request, composition, tokens)
    if not asked.quiet:
        warn_all(for_reader(composition.warnings), more="--json")
    if asked.as_json:
        write_result(json.dumps(audit_data(audit), indent=2))
    else:
        print_audit(audit)
