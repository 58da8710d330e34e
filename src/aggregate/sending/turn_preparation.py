"""From a message to a turn that is ready to be sent: who is asked, what is shown, and in which order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from aggregate.base.errors import ConfigError, ProviderError
from aggregate.base.request import AUTO, Task
from aggregate.base.values import escape_surrogates
from aggregate.project.configuration import Project, user_config
from aggregate.project.index import user_index
from aggregate.prompt import Request, find_persona, request_for
from aggregate.sending.clients.client import Client
from aggregate.sending.clients.own_models import check_window, context_window
from aggregate.sending.exchange import Exchange
from aggregate.sending.model_selection import ModelSelection, request_of, select_model
from aggregate.sending.turn import USER
from aggregate.sending.turn_composition import TurnComposer


def prepare_turn(
    project: Project,
    message: str,
    selection: ModelSelection,
    *,
    environ: Mapping[str, str] | None = None,
    on_wait: Callable[[float, ProviderError], None] | None = None,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
    require_key: bool = True,
    task: Task | None = None,
    replaces: Sequence[Mapping[str, Any]] = (),
    aside: Callable[[Request], Request] | None = None,
) -> Exchange:
    """Compose and plan the turn that says ``message``; nothing is written or sent.

    ``task`` is what the user points at beside the message, which is its text; with a budget only. Once it is answered
    the turn comes in the place of those that it ``replaces``. ``aside`` makes it a question about the discussion that
    is kept in none, and may show less.
    """
    message = escape_surrogates(message)
    client, selection = select_model(
        project, selection, environ=environ, on_wait=on_wait, require_key=require_key
    )
    request = _request(_with_default_budget(project), client, selection, aside, task=task)
    request = _with_message(request, message, replaces)
    told: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    if selection.pick:
        from aggregate.sending.second_look import look_again  # most turns do without

        request, told, failed = look_again(request, client, index=user_index(), asks=require_key)
    composer, doubts = TurnComposer.behind_last(project, client, selection, request)
    turn = composer.compose(request, on_start=on_start, on_done=on_done)
    check_window(turn.plan, client.model, turn.asked.max_output, ratio=turn.client.ratio)
    unused: tuple[str, ...] = ()
    if selection.effort and turn.asked.effort is None:
        asked = f"{turn.provider} {turn.model}".strip()
        unused = (f"{asked} takes no effort: {selection.effort} is left out",)
    warnings = (*selection.warnings, *unused, *turn.warnings, *doubts, *failed)
    return replace(turn, replaces=tuple(replaces), warnings=warnings, looked=told)


def _with_default_budget(project: Project) -> Project:
    """Make the budget of ``[send]`` the usual one; the project's own ``[budget]`` goes before the user's ``[send]``."""
    config = project.config
    users = user_config().send.budget or (AUTO if project.is_bare else None)
    table = replace(config.budget, tokens=config.send.budget or config.budget.tokens or users)
    return replace(project, config=replace(config, budget=table))


def _request(
    project: Project,
    client: Client,
    selection: ModelSelection,
    aside: Callable[[Request], Request] | None,
    *,
    task: Task | None,
) -> Request:
    persona, budget = find_persona(project, selection.persona), selection.budget
    presets = (preset.budget for preset in project.config.context_presets.values())
    is_auto = AUTO in ((project.config.budget.tokens, *presets) if budget is None else (budget,))
    request = request_for(
        project,
        strategy=persona.aggregation_strategy or None,
        preset=persona.preset or None,
        budget=budget,
        window=context_window(client.model) if is_auto else None,
        answer=request_of(selection).max_output,
        discussion=selection.discussion,
        is_new=True,
        task=task,
        sending=True,
        redact=selection.redact,
    )
    request = selection.attached.of(request)
    request = aside(request) if aside else request
    if task is not None and request.budget is None:
        raise ConfigError(
            "what is pointed at (focus, symbol, since) decides what a budget shows: "
            "add a budget, such as --budget 32k"
        )
    return request


def _with_message(request: Request, message: str, replaces: Sequence[Mapping[str, Any]]) -> Request:
    """Return the request with the message as the last turn; with a budget it is the task too (rule T-1)."""
    kept = request.history[: len(request.history) - len(replaces)]
    if (*kept, *replaces) != tuple(request.history):
        raise ConfigError("somebody else has written to the discussion: nothing is asked again")
    request = replace(request, history=(*kept, {"role": USER, "content": message}))
    task = replace(request.task or Task(), text=message) if request.budget else request.task
    return replace(request, task=task)
