"""``goal``: reach a goal with tools and a model."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from aggregate.agents.goals import ChatModel, GoalResult, Model, NeuronAgent, Trace
from aggregate.agents.limits import EngineLimits
from aggregate.agents.scripted import read_script
from aggregate.agents.tools import standard_tools
from aggregate.base.disk.reading import read_text
from aggregate.base.errors import ConfigError
from aggregate.cli import options
from aggregate.cli.options import PATH, POSITIVE, flag, number, option
from aggregate.cli.output import say, warn, write_result
from aggregate.project.toml_text import parse_untrusted_toml
from aggregate.prompt.asking import redaction_for
from aggregate.sending.clients import charged, open_client, redacting

_USED = ("goal", "description")


def read_instruction(path: Path) -> str:
    """Read the goal from a YAML or TOML instruction file."""
    import yaml  # only for goals in files

    try:
        text = read_text(path)
        is_toml = path.suffix.lower() == ".toml"
        values = parse_untrusted_toml(text) if is_toml else yaml.safe_load(text)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
            reason = f"line {error.problem_mark.line + 1}: {error.problem}"
        raise ConfigError(f"it cannot be read: {reason or error}", path=str(path)) from None
    goal = values.get("goal") if isinstance(values, dict) else None
    if not isinstance(goal, str) or not goal.strip():
        example = 'the instruction has no goal: add a line such as goal: "Count the runs"'
        raise ConfigError(example, path=str(path), key="goal")
    for key in values:
        if key not in _USED:
            warn(f"{path}: {key} is not used")
    return goal.strip()


_SIGN = "⚠️  Warning: "  # start of a result's warning of failed steps (D-73)
_LIMIT_EXIT = 3  # exit code of a goal stopped by a limit
_WIDTH = 80  # characters of a step's text in the trace, besides its cost
_USUAL = EngineLimits()


@click.command()
@click.argument("goal", required=False)
@option("--instruction", "FILE", "Read the goal from this file.", type=PATH)
@options.tools_option
@option(
    "--provider",
    "NAME",
    "Ask this provider: scripted, anthropic, gemini, deepseek, minimax, openai, or compatible (your "
    "own server).",
    default="scripted",
    show_default=True,
)
@option("--model", "NAME", "Ask this model of the provider.", default="")
@options.base_url_option
@option("--script", "FILE", "Read scripted answers from this file.", type=PATH)
@options.allow_option
@option(
    "--root roots",
    "TEXT",
    "Let tools read this folder. Repeatable.  [default: .]",
    multiple=True,
    default=["."],
)
@option("--state-dir", "PATH", "State folder.", default="state", show_default=True, type=PATH)
@number(
    "--max-tokens tokens",
    "Use at most this many tokens for all questions and answers.",
    default=_USUAL.tokens,
)
@number("--max-seconds seconds", "Stop after this many seconds.", POSITIVE, default=_USUAL.seconds)
@number("--max-steps steps", "Do at most this many steps.", default=_USUAL.steps)
@options.turn_redact_option
@flag("--trace", "Print the steps, with times and tokens, on stderr.")
@options.json_option
def goal(
    goal: str | None,
    instruction: Path | None,
    folder: Path | None,
    provider: str,
    script: Path | None,
    allow: tuple[str, ...],
    roots: tuple[str, ...],
    state_dir: Path,
    trace: bool,
    as_json: bool,
    **values: Any,  # noqa: ANN401 - as click passes them
) -> None:
    """Reach GOAL step by step and print the answer.

    The exit code is 1 if no step succeeded, and 3 if a limit stopped it: the answer is then that of the steps so far.
    """
    if (goal is None) == (instruction is None):
        raise click.UsageError("give either a goal or --instruction FILE")
    text = read_instruction(instruction) if instruction else goal or ""
    if not text.strip():
        raise click.UsageError("the goal is empty: describe the result")
    if provider != "scripted":
        model, base_url = values["model"], values["base_url"]
        remote = charged(open_client(provider, model=model, base_url=base_url), Path())
        redaction = redaction_for(sending=True, wanted=values["redact"])
        if redaction.replaces:
            remote = remote.through(redacting(redaction.allow, tell=warn))
        client: Model = ChatModel(remote, model)
    elif script is not None:
        client = read_script(script)
    else:
        raise click.UsageError(
            "name a provider, such as --provider anthropic; the scripted one needs --script FILE with its answers"
        )
    tools = standard_tools(state_dir=state_dir, roots=roots, permissions=("read", *allow))
    if folder is not None:
        tools.discover(folder)
    limits = options.take(EngineLimits, values)
    agent = NeuronAgent(client, tools, state_dir=state_dir, limits=limits)
    result = agent.execute_goal(text)
    if trace:
        say(*trace_lines(result.trace))
    for warning in result.warnings:
        warn(warning.removeprefix(_SIGN))
    _print(result, as_json=as_json)


def trace_lines(trace: Trace, indent: str = "") -> Iterator[str]:
    text = " ".join(trace.text.split())
    text = f"{text[: _WIDTH - 3]}..." if len(text) > _WIDTH else text
    failed = "" if trace.ok else "failed: "
    tokens = f", {trace.tokens:,} tokens" if trace.tokens else ""
    note = f" - {trace.note}" if trace.note else ""
    name = f"{trace.label} {text}".strip()
    yield f"{indent}{failed}{name} ({trace.seconds * 1000:,.1f} ms{tokens}){note}"
    children = trace.children
    if trace.kind.value == "dendrite" and len(children) == 1:
        children = children[0].children  # the only step of a sub-task repeats it
    for child in children:
        yield from trace_lines(child, indent + "  ")


def _print(result: GoalResult, *, as_json: bool) -> None:
    if as_json:
        more = {"warnings": list(result.warnings), "tokens": result.trace.tokens}
        write_result(json.dumps(result.as_dict() | more, indent=2, ensure_ascii=False))
    elif result.has_answer:
        write_result(result.text or "\n")
    if result.stopped:
        say(f"aggregate: {result.stopped}")
        raise click.exceptions.Exit(_LIMIT_EXIT)
    if not result.success:
        say(f"aggregate: {result.text}")
        raise click.exceptions.Exit(1)
