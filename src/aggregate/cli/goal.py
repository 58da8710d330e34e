"""``goal``: reach a goal with tools and a model; print the answer alone."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from aggregate.agents.goals import (
    ChatModel,
    EngineLimits,
    GoalResult,
    Limit,
    Model,
    NeuronAgent,
    RecordedGoal,
    new_record,
    read_script,
    recorded,
    records_folder,
    unfinished_goals,
)
from aggregate.agents.tools import standard_tools
from aggregate.base.errors import StateError
from aggregate.cli.instruction_file import read_instruction
from aggregate.cli.options import FiniteRange, config_option, json_option, redact_option
from aggregate.cli.output import say, warn, write_result
from aggregate.project.configuration import GoalTable, load_config, nearest_config, user_config
from aggregate.prompt import redaction_for
from aggregate.sending.clients import cache_policy, open_client, with_redaction

_SIGN = "⚠️  Warning: "
"""How a result begins its warning of failed steps (D-73); the command says by itself that it is one."""


LIMIT_EXIT: Final = 3
"""The exit code of a goal that ended at a limit."""


Number = int | float


REPEAT: Final = "repeat"


def limit_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``max_tokens``, ``max_seconds`` and ``max_steps``."""
    usual = EngineLimits()
    tokens = click.option(
        "--max-tokens",
        metavar="N",
        type=click.IntRange(min=1),
        help="Use at most this many tokens; what is read from a cache counts at its price."
        f"  [default: {usual.tokens}]",
    )
    seconds = click.option(
        "--max-seconds",
        metavar="S",
        type=FiniteRange(min=0, min_open=True),
        help=f"Take at most this many seconds.  [default: {usual.seconds:g}]",
    )
    steps = click.option(
        "--max-steps",
        metavar="N",
        type=click.IntRange(min=1),
        help=f"Do at most this many steps.  [default: {usual.steps}]",
    )
    return tokens(seconds(steps(command)))


def resumption_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``resume`` and ``interrupted``."""
    resume = click.option(
        "--resume",
        metavar="N",
        type=click.IntRange(min=1),
        help="Go on with goal N, which was interrupted; give the other options as before.",
    )
    interrupted = click.option(
        "--interrupted",
        type=click.Choice([REPEAT, "skip"]),
        help="With --resume: make a call that was running once more, or take it as failed. Only calls that may do "
        "something twice need this.",
    )
    return resume(interrupted(command))


@click.command()
@click.argument("goal", required=False)
@click.option(
    "--instruction",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Read the goal from this file.",
)
@click.option(
    "--tools",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Take more tools from the Python files in this folder; they are run.",
)
@click.option(
    "--provider",
    metavar="NAME",
    default="scripted",
    show_default=True,
    help="Ask this provider: scripted, anthropic, gemini, gemini-cli, deepseek, minimax, openai, compatible (your own "
    "server), azure, bedrock or vertex.",
)
@click.option(
    "--model",
    metavar="NAME",
    default="",
    help="Ask this model, by the provider's name of it; by default its usual one.",
)
@click.option("--base-url", metavar="URL", default="", help="Reach the provider at this address.")
@click.option(
    "--script",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Read the answers of the scripted provider from this file.",
)
@click.option(
    "--allow",
    multiple=True,
    type=click.Choice(["write", "network"]),
    help="Let tools do this besides reading. Repeatable.",
)
@click.option(
    "--root",
    multiple=True,
    default=["."],
    help="Let tools read this folder. Repeatable.  [default: .]",
)
@click.option(
    "--state-dir",
    default="state",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Keep saved state and large values in this folder.",
)
@config_option
@limit_options
@resumption_options
@redact_option(sending=True)
@click.option(
    "--trace", is_flag=True, help="Draw what happened, with times and tokens, on standard error."
)
@json_option
def goal(
    goal: str | None,
    instruction: Path | None,
    folder: Path | None,
    provider: str,
    model: str,
    base_url: str,
    script: Path | None,
    allow: tuple[str, ...],
    root: tuple[str, ...],
    state_dir: Path,
    config: Path,
    max_tokens: int | None,
    max_seconds: float | None,
    max_steps: int | None,
    resume: int | None,
    interrupted: str | None,
    redact: bool | None,
    trace: bool,
    as_json: bool,
) -> None:
    """Reach GOAL step by step and print the answer.

    The exit code is 1 where no step gave something usable, and 3 where a limit ended it: what is printed is then what
    there was by that time.
    """
    if resume is not None and (goal, instruction, max_steps) != (None, None, None):
        raise click.UsageError(
            "--resume takes the goal and its steps from its record: leave them out"
        )
    text = "" if resume is not None else _read_goal(goal, instruction)
    client = _open_model(provider, model=model, base_url=base_url, script=script, redact=redact)
    tools = standard_tools(state_dir=state_dir, roots=root, permissions=("read", *allow))
    if folder is not None:
        tools.discover(folder)
    limits = goal_limits(
        config, max_tokens=max_tokens, max_seconds=max_seconds, max_steps=max_steps
    )
    number, record = resume or 0, None
    if resume is not None:
        record = resume_record(config, resume, interrupted)
        text, limits = record.goal, replace(limits, steps=record.steps)
    else:
        number, record = begin_record(config, text, steps=limits.steps)
    agent = NeuronAgent(client, tools, state_dir=state_dir, limits=limits)
    result = agent.execute_goal(text, record=record)
    if trace:
        from aggregate.cli.trace_tree import draw_trace

        draw_trace(result.trace)
    for warning in result.warnings:
        warn(warning.removeprefix(_SIGN))
    may_go_on = record is not None and result.limit in (Limit.TOKENS, Limit.SECONDS)
    try:
        _print(result, as_json=as_json, resume=number if may_go_on else 0)
    finally:
        if record is not None and may_go_on:
            record.close()
        elif record is not None:
            record.end()


def _read_goal(goal: str | None, instruction: Path | None) -> str:
    if (goal is None) == (instruction is None):
        raise click.UsageError("give a goal or --instruction FILE, one of them")
    if instruction is not None:
        contents = read_instruction(instruction)
        for key in contents.ignored:
            warn(f"{instruction}: {key} is not used")
        goal = contents.goal
    if not goal or not goal.strip():
        raise click.UsageError("the goal is empty: say what is wanted")
    return goal


def _open_model(
    provider: str, *, model: str, base_url: str, script: Path | None, redact: bool | None
) -> Model:
    """Return what answers the agent's questions; secrets in these are replaced as the user's configuration says."""
    if provider == "scripted":
        if script is None:
            raise click.UsageError(
                "name who is asked, such as --provider anthropic; the scripted provider needs --script FILE "
                "with its answers"
            )
        return read_script(script)
    client = open_client(provider, model=model, base_url=base_url)
    read_price = cache_policy(provider, model or client.model).read
    redaction = redaction_for(sending=True, wanted=redact)
    if not redaction.replaces:
        return ChatModel(client, model, read_price=read_price)
    hiding = with_redaction(client, allow=redaction.allow, tell=warn)
    return ChatModel(hiding, model, read_price=read_price)


def _print(result: GoalResult, *, as_json: bool, resume: int) -> None:
    if as_json:
        data = {
            **result.as_dict(),
            "warnings": list(result.warnings),
            "tokens": result.trace.tokens,
        }
        write_result(json.dumps(data, indent=2, ensure_ascii=False))
    elif result.success:
        write_result(result.text or "\n")
    if result.stopped:
        hint = f" (to go on with more: --resume {resume} --max-{result.limit} N)" if resume else ""
        say(f"aggregate: {result.stopped}{hint}")
        raise click.exceptions.Exit(LIMIT_EXIT)
    if not result.success:
        say(f"aggregate: {result.text}")
        raise click.exceptions.Exit(1)


def goal_limits(
    config: Path, *, max_tokens: int | None, max_seconds: float | None, max_steps: int | None
) -> EngineLimits:
    """Return the limits of a goal: each from its option, else as the configurations say, the user's and ``config``."""
    usual = EngineLimits()
    options = GoalTable(max_tokens=max_tokens, max_seconds=max_seconds, max_steps=max_steps)
    own, theirs = user_config().goal, _projects_table(config)

    def limit(name: str, default: Number) -> Number:
        option: Number | None = getattr(options, name)
        if option is not None:
            return option
        own_limit: Number = getattr(own, name) or default
        project_limit: Number | None = getattr(theirs, name)
        if project_limit is not None and project_limit > own_limit:
            warn(
                f"goal.{name}: the project allows {project_limit:g}, you allow {own_limit:g}, which counts: "
                f"raise it with --{name.replace('_', '-')} or in your own configuration"
            )
        return min(own_limit, project_limit or own_limit)

    return EngineLimits(
        tokens=int(limit("max_tokens", usual.tokens)),
        seconds=float(limit("max_seconds", usual.seconds)),
        steps=int(limit("max_steps", usual.steps)),
    )


def _projects_table(path: Path) -> GoalTable:
    """Return the table ``goal`` of a configuration, an empty one where there is none and none was named."""
    if not path.exists() and path == nearest_config():
        return GoalTable()
    return load_config(path).config.goal


_SHOWN: Final = 200
"""Characters of a call's arguments in a message."""


def begin_record(config: Path, goal: str, *, steps: int) -> tuple[int, RecordedGoal | None]:
    """Return the number and the record of a project's new goal; where it cannot be recorded, a warning says so.

    A goal of the same text that was interrupted is named: it may be what the user wants to go on with.
    """
    folder = records_folder(config.parent)
    for note in unfinished_goals(folder):
        if note.goal == goal:
            say(
                f"aggregate: goal {note.number}, the same, was interrupted: "
                f"go on with it by aggregate goal --resume {note.number}"
            )
            break
    try:
        return new_record(folder, goal, steps=steps)
    except StateError as error:
        warn(f"the goal is not recorded and cannot be resumed: {error}")
        return 0, None


def resume_record(config: Path, number: int, interrupted: str | None) -> RecordedGoal:
    """Return the record of the goal to go on with, one of the project with this configuration."""
    folder = records_folder(config.parent)
    record = recorded(folder, number, repeat=interrupted == REPEAT)
    calls = record.unfinished()
    if calls and interrupted is None:
        record.close()
        named = "; ".join(f"{call.tool}({call.arguments[:_SHOWN]})" for call in calls)
        raise click.UsageError(
            f"when goal {number} was interrupted this was running, and may have been done: {named}: look whether it "
            "was, then add --interrupted skip, or --interrupted repeat to have it done once more"
        )
    return record
