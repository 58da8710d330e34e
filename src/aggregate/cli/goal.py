"""``goal``: reach a goal with tools and a model; print the answer alone."""

import json
from dataclasses import replace
from pathlib import Path

import click

from aggregate.agents.goals import ChatModel, GoalResult, Limit, Model, NeuronAgent, read_script
from aggregate.agents.tools import ToolRegistry, standard_tools
from aggregate.cli import lazy
from aggregate.cli.goal_limits import LIMIT_EXIT, goal_limits, limit_options
from aggregate.cli.goal_resumption import begin_record, resume_record, resumption_options
from aggregate.cli.instruction_file import read_instruction
from aggregate.cli.options import config_option, json_option, redact_option
from aggregate.cli.output import say, warn, write_result
from aggregate.prompt import redaction_for
from aggregate.sending.clients import cache_policy, open_client, with_redaction

_SIGN = "⚠️  Warning: "
"""How a result begins its warning of failed steps (D-73); the command says by itself that it is one."""


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
    tools = _open_tools(folder, allow=allow, roots=root, state_dir=state_dir)
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
        lazy.draw_trace(result.trace)
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
    """Return the goal, from the command line or a file.

    Raises:
        UsageError: There is none, or there are two.
        ConfigError: The file cannot be used.
    """
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
    """Return what answers the agent's questions; secrets in these are replaced as the user's configuration says.

    Raises:
        UsageError: The scripted provider has no script.
        ClientSetupError: There is no such provider, or a key or an address is missing.
    """
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


def _open_tools(
    folder: Path | None, *, allow: tuple[str, ...], roots: tuple[str, ...], state_dir: Path
) -> ToolRegistry:
    """Return the tools that come with the package and those in ``folder``."""
    registry = standard_tools(state_dir=state_dir, roots=roots, permissions=("read", *allow))
    if folder is not None:
        registry.discover(folder)
    return registry


def _print(result: GoalResult, *, as_json: bool, resume: int) -> None:
    """Print the answer and how the goal ended; ``resume`` is its number where more of what ran out lets it go on."""
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
