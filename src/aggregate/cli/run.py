"""``run``: compose the prompt and write it to a numbered file."""

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregate.base.disk.reading import project_root
from aggregate.base.files import Narrowing
from aggregate.base.task import AUTO, Amount, Finish, Task
from aggregate.cli import asking, options
from aggregate.cli.arguments import (
    UNCOMMITTED,
    Arguments,
    RunCommand,
    path_entries,
    read_arguments,
    read_paths_from,
    warn_of_revision,
)
from aggregate.cli.output import progress, say, warn_all, write_json, write_path, write_pieces
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
from aggregate.prompt.output.numbered_output import write_named, write_numbered

if TYPE_CHECKING:
    from aggregate.cli.edited_prompt import EditedPrompt


REVIEW_TOKENS = 16_000  # default budget of a review (rule T-14)


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
    form: str

    def __post_init__(self) -> None:
        if self.split is not None:
            others = (self.to_stdout, self.output, self.explain, self.as_json, self.form == "xml")
            if self.budget is not None or any(others):
                raise click.UsageError(
                    "--split writes numbered prompts: leave out --budget, --stdout, -o, --explain, --json and --format"
                )
            self.budget = NO_BUDGET
        self.to_stdout = self.to_stdout or self.output == "-"

    @property
    def output_file(self) -> Path | None:
        return Path(self.output) if self.output and self.output != "-" else None

    @cached_property
    def typed(self) -> Arguments:
        """Paths and task from the arguments, read once because of standard input."""
        typed = read_arguments(self.arguments)
        if typed.task is not None and self.task is not None:
            words = typed.task[: asking.SHOWN]
            raise click.UsageError(f"the task is stated twice: leave out --task or {words!r}")
        if self.paths_from is None:
            return typed
        listed = read_paths_from(self.paths_from, tells=not self.quiet)
        return typed._replace(paths=(*typed.paths, *listed))

    @cached_property
    def named_task(self) -> Task | None:
        argument = self.typed.task if self.task is None else self.task
        return asking.read_task_argument(argument, symbols=self.symbol, since=self.diff)

    @cached_property
    def finish(self) -> Finish:
        """Additions to the prompt by options, whose commands run only once."""
        reports = not self.quiet
        return Finish(
            has_frame=not self.bare,
            changes=self.diff,
            instructions=(read_instructions(self.instructions),) if self.instructions else (),
            attached=tuple(asking.read_attached(name, tells=reports) for name in self.attach),
            line_numbers=self.line_numbers,
            is_xml=self.form == "xml",
        )

    def open(self) -> Project:
        if self.remote is not None:
            from aggregate.cli.remote import open_remote  # seldom needed

            return open_remote(self.remote, allow_secrets=self.allow_secrets, tells=not self.quiet)
        return asking.open_asked_project(
            self.config,
            allow_outside=self.allow_outside,
            allow_secrets=self.allow_secrets,
            hint="" if self.quiet or self.typed.paths else self._hint_without_configuration,
            is_verbose=self.verbose or self.no_cache,
        )

    @property
    def _hint_without_configuration(self) -> str:
        return asking.OVERVIEW if self.named_task is None and self.budget is None else asking.KEEP

    def _budget(self, project: Project) -> Amount | str | None:
        """Return the budget by option, configuration or default (rule T-3)."""
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
            hint = f"budget: {usual:,} tokens by default; {asking.OTHER_BUDGETS}"
            asking.say_once(hint, project, is_verbose=self.verbose or self.no_cache)
        return usual

    def _narrowing(self, base_dir: Path) -> Narrowing:
        folder = os.path.relpath(Path.cwd(), base_dir).replace(os.sep, "/")
        is_below = folder != "." and not folder.startswith("..")
        paths, prefix = path_entries(self.typed.paths, base_dir), f"{folder}/" if is_below else ""
        return Narrowing(paths, self.include, self.exclude, prefix)

    def request(self, project: Project) -> Request:
        base_dir = project.folder / project.config.files.base_dir
        request = request_for(
            project,
            strategy=self.strategy,
            preset=self.preset,
            focus_files=asking.typed_places(self.focus, base_dir),
            tier=self.tier,
            with_history=not self.no_history,
            discussion=self.discussion or None,
            generated=self.generated,
            task=self.named_task,
            budget=self._budget(project),
            redact=self.redact,
            finish=self.finish,
        )
        narrowing = self._narrowing(base_dir)
        request = replace(request, narrowing=narrowing, output_file=self.output_file)
        if request.task:
            request = replace(request, task=replace(request.task, is_strict=True))
        elif request.tier is None and request.focus_files:
            check_focus(request, select_files(request))
        if self.remote is None:
            return request
        # A remote project's prompt is written to the user's own folder.
        return replace(request, output_dir=Path(project.config.output.output_dir))


@click.command(cls=RunCommand, params=[HELP_ALL])
@click.argument("arguments", metavar="[PATH]... [TASK]", nargs=-1, required=False)
@asking.task_option
@asking.budget_option(
    "Limit the prompt's tokens: 32000, 32k, auto, or all for no limit.", may_be_all=True
)
@click.option(
    "-o", "--output", metavar="FILE|-", help="Write the prompt to this file; - prints it."
)
@click.option(
    "--include", metavar="GLOB", multiple=True, help="Use only files that match. Repeatable."
)
@click.option("--exclude", metavar="GLOB", multiple=True, help="Skip files that match. Repeatable.")
@partial(
    asking.seed_options,
    focus="; without task and budget, or with --tier 3, make a Tier 3 context with this file in full",
    has_since=False,
)
@click.option(
    "--diff",
    "--since",
    metavar="[=REV]",
    is_flag=False,
    flag_value=UNCOMMITTED,
    default="",
    help="Show the changes since this git revision and rank from them; by default uncommitted changes.",
)
@click.option("--explain", is_flag=True, help="Print how much of each file is chosen, and why.")
@options.config_option
@click.option(
    "--remote",
    metavar="OWNER/NAME[@REF]|URL",
    help="Fetch this repository, from GitHub or a URL, and use its files.",
)
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the prompt; write no file.")
@click.option("--copy", "copies", is_flag=True, help="Also copy the prompt to the clipboard.")
@click.option(
    "--paths-from",
    metavar="FILE|-",
    help="Read paths from this file or standard input, one a line or NUL-separated.",
)
@options.preset_option
@click.option(
    "--pick",
    metavar="auto|PROVIDER[:MODEL]",
    default="",
    help="Let this model pick files first; auto asks your own model only if the ranking is unsure.",
)
@options.base_url_option
@click.option(
    "--split",
    metavar="N",
    callback=asking.number_of_tokens,
    help="Write all files, in several prompts of at most this many tokens.",
)
@click.option("--instructions", metavar="FILE|TEXT", help="Add these instructions to the prompt.")
@click.option(
    "--attach",
    metavar="COMMAND|-",
    multiple=True,
    help="Add the output of this shell command, or standard input. Repeatable.",
)
@click.option("--line-numbers", is_flag=True, help="Number the lines of files.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "xml"]),
    default="markdown",
    help="Write Markdown, or XML documents as Anthropic's guide shows.",
)
@click.option("--bare", is_flag=True, help="Leave out the project line and the task section.")
@options.scope_options
@click.option(
    "--strategy",
    type=click.Choice(["auto", "summarize", "full"]),
    help="Render files by this strategy; by default as configured, else auto.",
)
@click.option(
    "--tier", type=click.IntRange(1, 3), help="Compose for this tier (only 3 changes anything)."
)
@options.discussion_option("Show the turns", "the configured one")
@click.option("--no-history", is_flag=True, help="Leave the discussion out.")
@options.generated_option
@options.redact_option(sending=False)
@options.cache_options
@options.json_option
@options.quiet_option
@options.verbose_option
@click.pass_context
def run(context: click.Context, /, **values: Any) -> None:  # noqa: ANN401 - as click passes them
    """Compose the prompt and write it to a numbered file; print its path.

    The TASK selects files and how much of each is shown:

      aggregate run "fix the timeout in the retry loop"

    A PATH is a file, folder or glob; only these are used. Words after -- are the task. Without a configuration, all
    files that git does not ignore are used, within 32,000 tokens: for the TASK, or for an overview of the project.
    """
    asked = AskedRun(**values)
    if asked.output == "":
        raise click.UsageError("--output is empty: give it a file name")
    if asked.output_file and asked.to_stdout:
        raise click.UsageError("--stdout and --output exclude each other: use one of them")
    names = ("--stdout", "--explain", "--json", "--copy")
    chosen = compress(names, (asked.to_stdout, asked.explain, asked.as_json, asked.copies))
    for pair in combinations(chosen, 2):
        if "--stdout" in pair or ("--explain" in pair and "--json" not in pair):
            raise click.UsageError(f"{' and '.join(pair)} exclude each other: use one of them")
    if asked.remote is not None and (asked.allow_outside or asking.is_named("config")):
        raise click.UsageError("--remote excludes --config and --allow-outside: leave them out")
    recording = Recording(context.obj)
    asked.named_task  # noqa: B018 - report its mistakes before those of the configuration
    index = open_index(use=not asked.no_cache, verify=asked.verify)
    project = asked.open()
    request = asked.request(project)
    if asked.diff and not (request.task and request.budget):
        raise click.UsageError("--diff needs a budget: leave out --budget all")
    if asked.diff and not asked.quiet:
        warn_of_revision(asked.arguments, request.base_dir)
    recording.begin(request)
    with index:  # to save the results of an interrupted run
        pick, url = asked.pick, asked.base_url
        request = asking.looked_at(request, pick, base_url=url, index=index, quiet=asked.quiet)
        if asked.split:
            from aggregate.cli.split_prompts import write_parts  # seldom needed

            with progress("Rendering files", hidden=asked.quiet) as bar:
                write_parts(request, asked.split, index=index, bar=bar, tells=not asked.quiet)
            return
        if asked.explain:
            _explain(asked, request, index)
            return
        path, written = _compose(asked, request, index, context)
    if path and asked.copies:
        from aggregate.cli.clipboard import copy_to_clipboard  # seldom needed

        report = copy_to_clipboard(path.read_bytes())
        if not asked.quiet:
            say(report)
    if not asked.quiet and index.warning:
        warn_all([index.warning])
    unusual = (asked.copies, asked.verify, asked.output, asked.verbose, asked.form == "xml")
    is_usual = index.is_used and not any(unusual)
    if path and is_usual and not index.warning:
        recording.keep_prompt(path, written, project)


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
            folder, name = request.output_dir, request.namespace
            suffix = ".xml" if asked.form == "xml" else ".md"
            path = write_numbered(folder, name, written.pieces, project=root, suffix=suffix)
    if path and not asked.as_json:
        write_path(path)
    written.record(path)
    if counts:
        warnings = written.warnings()
        if asked.as_json:
            write_json(written.data(path, warnings))
        if not asked.quiet:
            written.tell(warnings, is_verbose=asked.verbose)
    return path, written


def _edited(earlier: Earlier | None, request: Request, *, counts: bool) -> "EditedPrompt | None":
    if earlier is None or not earlier.changed:
        return None
    from aggregate.cli.edited_prompt import edited_prompt  # seldom needed

    # The last prompt may be deleted, or another process is still writing its records.
    with suppress(OSError, ValueError):
        return edited_prompt(earlier, request, counts=counts)
    return None


def _explain(asked: AskedRun, request: Request, index: Index) -> None:
    from aggregate.cli.explain import print_audit
    from aggregate.prompt import count_prompt
    from aggregate.prompt.audit import audit_data, audit_of
    from aggregate.prompt.document import END

    if request.task is None and request.budget is None:
        raise click.UsageError("--explain needs a task or a budget: add --task or --budget")
    with progress("Rendering files", hidden=asked.quiet) as bar:
        composition = compose_prompt(request, index=index, on_start=bar.start, on_done=bar.advance)
    tokens = count_prompt(composition.prompt, index=index, end=END)
    audit = audit_of(request, composition, tokens)
    if not asked.quiet:
        warn_all(for_reader(composition.warnings), more="--json")
    if asked.as_json:
        write_json(audit_data(audit))
    else:
        print_audit(audit)
