"""``run``: compose the prompt and write it to a numbered file."""

import os
from dataclasses import dataclass, replace
from itertools import combinations, compress
from pathlib import Path
from typing import Any

import click

from aggregate.base.disk.reading import project_root
from aggregate.base.files import Narrowing
from aggregate.base.task_budget import AUTO, Amount, Finish, Task
from aggregate.cli import arguments, options
from aggregate.cli.arguments import UNCOMMITTED, RunCommand
from aggregate.cli.options import AskedProject, flag, option
from aggregate.cli.output import progress, say, warn_all, write_json
from aggregate.cli.program import HELP_ALL
from aggregate.cli.replay_recording import Recording
from aggregate.cli.written_prompt import write_parts, write_prompt
from aggregate.project.configuration import Project, user_config
from aggregate.project.index import Index, open_index
from aggregate.prompt import (
    NO_BUDGET,
    AskedViews,
    compose_prompt,
    default_budget,
    read_instructions,
    request_for,
)
from aggregate.prompt.asking import Request, for_reader
from aggregate.prompt.files import select_files

_OTHER_BUDGETS = "--budget N sets another one, --budget all shows everything"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRun(AskedProject):
    """The options of ``run``, with the task and paths that were typed."""

    # the files to use, and the seeds of their ranking
    arguments: tuple[str, ...]
    paths_from: str | None
    remote: str | None
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    preset: str | None
    generated: str | None
    strategy: str | None
    tier: int | None
    focus: tuple[str, ...]
    symbols: tuple[str, ...]
    diff: str
    budget: Amount | str | None
    pick: str
    base_url: str
    # the other parts of the prompt, and its form
    discussion: str
    no_history: bool
    redact: bool | None
    bare: bool
    instructions: str | None
    attach: tuple[str, ...]
    line_numbers: bool
    form: str
    # its destination, and the reports about it
    output: str | None
    to_stdout: bool
    copies: bool
    explain: bool
    split: int | None
    as_json: bool
    quiet: bool
    verbose: bool
    no_cache: bool
    verify: bool
    paths: tuple[str, ...] = ()
    task: Task | None = None

    @classmethod
    def of(cls, values: dict[str, Any]) -> "AskedRun":
        """Check the options, and read paths and task: once, since they may be on standard input."""
        argument = values.pop("task")
        asked = cls(**values)
        asked._check()
        paths, task = arguments.read_arguments(
            asked.arguments,
            argument,
            paths_from=asked.paths_from,
            symbols=asked.symbols,
            since=asked.diff,
            quiet=asked.quiet,
        )
        budget = asked.budget if asked.split is None else NO_BUDGET
        return replace(asked, paths=paths, task=task, budget=budget)

    def _check(self) -> None:
        """Raise an error for options that exclude each other."""
        numbered = (self.is_printed, self.output, self.explain, self.as_json, self.form == "xml")
        if self.split is not None and (self.budget is not None or any(numbered)):
            raise click.UsageError(
                "--split writes numbered prompts: leave out --budget, --stdout, -o, --explain, --json and --format"
            )
        if self.output == "":
            raise click.UsageError("--output is empty: give it a file name")
        if self.file and self.is_printed:
            raise click.UsageError("--stdout and --output exclude each other: use one of them")
        names = ("--stdout", "--explain", "--json", "--copy")
        chosen = compress(names, (self.is_printed, self.explain, self.as_json, self.copies))
        for pair in combinations(chosen, 2):
            if "--stdout" in pair or ("--explain" in pair and "--json" not in pair):
                raise click.UsageError(f"{' and '.join(pair)} exclude each other: use one of them")
        if self.remote is not None and (self.allow_outside or arguments.is_named("config")):
            raise click.UsageError("--remote excludes --config and --allow-outside: leave them out")

    @property
    def is_printed(self) -> bool:
        return self.to_stdout or self.output == "-"

    @property
    def file(self) -> Path | None:
        return Path(self.output) if self.output and self.output != "-" else None

    @property
    def repeats_hints(self) -> bool:
        return self.verbose or self.no_cache

    def open(self) -> Project:
        if self.remote is not None:
            return arguments.open_remote(
                self.remote, allow_secrets=self.allow_secrets, quiet=self.quiet
            )
        hint = arguments.OVERVIEW if self.task is None and self.budget is None else arguments.KEEP
        hint = "" if self.quiet or self.paths else hint
        return arguments.open_asked_project(self, hint=hint, is_verbose=self.repeats_hints)

    def budget_in(self, project: Project, views: AskedViews) -> Amount | str | None:
        """Return the budget by option or default (rule T-3), ``None`` for the configured one."""
        if self.budget is not None:
            return self.budget
        usual = default_budget(
            project, views, self.task, has_focus=bool(self.focus), has_paths=bool(self.paths)
        )
        if isinstance(usual, int) and not self.quiet:
            hint = f"budget: {usual:,} tokens by default; {_OTHER_BUDGETS}"
            arguments.say_once(hint, project, is_verbose=self.repeats_hints)
        return usual

    def request(self, project: Project) -> Request:
        base_dir = project.folder / project.config.files.base_dir
        folder = os.path.relpath(Path.cwd(), base_dir).replace(os.sep, "/")
        is_below = folder != "." and not folder.startswith("..")
        entries = arguments.path_entries(self.paths, base_dir)
        prefix = f"{folder}/" if is_below else ""
        finish = Finish(
            has_frame=not self.bare,
            changes=self.diff,
            instructions=(read_instructions(self.instructions),) if self.instructions else (),
            attached=tuple(arguments.read_attached(name, quiet=self.quiet) for name in self.attach),
            line_numbers=self.line_numbers,
            is_xml=self.form == "xml",
        )
        views = AskedViews(self.strategy, self.preset, self.generated, self.tier)
        request = request_for(
            project,
            views=views,
            focus_files=arguments.typed_places(self.focus, base_dir),
            with_history=not self.no_history,
            discussion=self.discussion or None,
            task=self.task,
            budget=self.budget_in(project, views),
            redact=self.redact,
            finish=finish,
        )
        narrowing = Narrowing(entries, self.include, self.exclude, prefix)
        request = replace(request, narrowing=narrowing, output_file=self.file)
        if request.task:
            request = replace(request, task=replace(request.task, is_strict=True))
        elif request.tier is None and request.focus_files:
            select_files(request).check_focus(request)
        if self.remote is None:
            return request
        # A remote project's prompt is written to the user's own folder.
        return replace(request, output_dir=Path(project.config.output.output_dir))


@click.command(cls=RunCommand, params=[HELP_ALL])
@click.argument("arguments", metavar="[PATH]... [TASK]", nargs=-1, required=False)
@options.task_option
@options.run_budget_option
@option("-o --output", "FILE|-", "Write the prompt to this file; - prints it.")
@option("--include", "GLOB", "Use only files that match. Repeatable.", multiple=True)
@option("--exclude", "GLOB", "Skip files that match. Repeatable.", multiple=True)
@options.run_seed_options
@option(
    "--diff --since",
    "[=REV]",
    "Show the changes since this git revision and rank from them; by default uncommitted changes.",
    is_flag=False,
    flag_value=UNCOMMITTED,
    default="",
)
@flag("--explain", "Print how much of each file is chosen, and why.")
@options.config_option
@option(
    "--remote",
    "OWNER/NAME[@REF]|URL",
    "Fetch this repository, from GitHub or a URL, and use its files.",
)
@flag("--stdout to_stdout", "Print the prompt; write no file.")
@flag("--copy copies", "Also copy the prompt to the clipboard.")
@option(
    "--paths-from",
    "FILE|-",
    "Read paths from this file or standard input, one a line or NUL-separated.",
)
@options.preset_option
@option(
    "--pick",
    "auto|PROVIDER[:MODEL]",
    "Let this model pick files first; auto asks your own model only if the ranking is unsure.",
    default="",
)
@options.base_url_option
@option(
    "--split",
    "N",
    "Write all files, in several prompts of at most this many tokens.",
    callback=options.number_of_tokens,
)
@option("--instructions", "FILE|TEXT", "Add these instructions to the prompt.")
@option(
    "--attach",
    "COMMAND|-",
    "Add the output of this shell command, or standard input. Repeatable.",
    multiple=True,
)
@flag("--line-numbers", "Number the lines of files.")
@option(
    "--format form",
    "",
    "Write Markdown, or XML documents as Anthropic's guide shows.",
    type=click.Choice(["markdown", "xml"]),
    default="markdown",
)
@flag("--bare", "Leave out the project line and the task section.")
@options.scope_options
@option(
    "--strategy",
    "",
    "Render files by this strategy; by default as configured, else auto.",
    type=click.Choice(["auto", "summarize", "full"]),
)
@option("--tier", "", "Compose for this tier (only 3 changes anything).", type=click.IntRange(1, 3))
@options.run_discussion_option
@flag("--no-history", "Leave the discussion out.")
@options.generated_option
@options.run_redact_option
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
    recording = Recording(context.obj)
    asked = AskedRun.of(values)
    index = open_index(use=not asked.no_cache, verify=asked.verify)
    project = asked.open()
    request = asked.request(project)
    if asked.diff and not (request.task and request.budget):
        raise click.UsageError("--diff needs a budget: leave out --budget all")
    if asked.diff and not asked.quiet:
        arguments.warn_of_revision(asked.arguments, request.base_dir)
    # A remote project's prompt is written to the user's own folder.
    within = request.written_in if asked.remote is None else Path(project_root(Path()))
    edited = recording.begin(request, counts=asked.as_json or not asked.quiet)
    try:
        request = _looked_at(asked, request, index)
        if asked.split is not None:
            write_parts(request, asked.split, index, within=within, quiet=asked.quiet)
            return
        if asked.explain:
            _explain(asked, request, index)
            return
        path, stream = write_prompt(
            request,
            index,
            edited,
            within=within,
            is_printed=asked.is_printed,
            as_json=asked.as_json,
            quiet=asked.quiet,
            verbose=asked.verbose,
        )
    finally:  # saves the results of an interrupted run too
        index.flush()
    if path and asked.copies:
        from aggregate.cli.clipboard import copy_to_clipboard  # seldom needed

        report = copy_to_clipboard(path.read_bytes())
        if not asked.quiet:
            say(report)
    if not asked.quiet and index.warning:
        warn_all([index.warning])
    is_unusual = asked.copies or asked.output or asked.verbose or request.is_xml
    if path and index.is_used and not (is_unusual or asked.verify or index.warning):
        recording.keep_prompt(path, stream, project)


def _looked_at(asked: AskedRun, request: Request, index: Index) -> Request:
    """Let a model pick files if an option or the configuration requests it (rules T-10, T-17)."""
    has_both = request.budget is not None and request.task is not None
    if asked.pick and not has_both:
        raise click.UsageError("--pick chooses files for a task and a budget: add both")
    name = asked.pick or (has_both and user_config().task.pick)
    if not name:
        return request
    from aggregate.sending import look_again  # seldom needed

    is_auto = name == AUTO
    model = "" if is_auto else name
    looked = look_again(request, model, base_url=asked.base_url, index=index, is_auto=is_auto)
    if not asked.quiet:
        say(*looked.notes)
        warn_all(looked.warnings)
    return looked.request


def _explain(asked: AskedRun, request: Request, index: Index) -> None:
    from aggregate.cli.explain_and_locate import print_audit
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
