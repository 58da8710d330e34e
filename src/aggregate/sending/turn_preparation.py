"""Prepare a turn from a message: client, request, composition and plan."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from aggregate.base.errors import ConfigError, ProviderError
from aggregate.base.task import AUTO, Task
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
    """Compose and plan a turn; write and send nothing.

    ``task`` adds focus, symbols and changes to the message and needs a budget. The answered turn ``replaces`` the last
    ones. ``aside`` changes the request of a question outside of the discussion.
    """
    message = escape_surrogates(message)
    client, selection = select_model(
        project, selection, environ=environ, on_wait=on_wait, require_key=require_key
    )
    request = _request(_with_default_budget(project), client, selection, aside, task=task)
    request = _with_message(request, message, replaces)
    picks: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    # A later question would move the files kept by the discussion (rule B-9).
    is_first = len(request.history) == 1
    is_auto = selection.pick is None and is_first and user_config().task.pick == AUTO
    if selection.pick or is_auto:
        from aggregate.sending.second_look import look_again  # loaded only if needed

        request, picks, failures = look_again(
            request,
            client,
            index=user_index(),
            asks=require_key,
            is_auto=is_auto,
            daily=project.config.send.most_per_day,
        )
    composer, doubts = TurnComposer.behind_last(project, client, selection, request)
    turn = composer.compose(request, on_start=on_start, on_done=on_done)
    check_window(turn.plan, client.model, turn.asked.max_output, ratio=turn.client.ratio)
    unused: tuple[str, ...] = ()
    if selection.effort and turn.asked.effort is None:
        model = f"{turn.provider} {turn.model}".strip()
        unused = (f"{model} does not support effort: {selection.effort} is ignored",)
    warnings = (*selection.warnings, *unused, *turn.warnings, *doubts, *failures)
    return replace(turn, replaces=tuple(replaces), warnings=warnings, looked=picks)


def _with_default_budget(project: Project) -> Project:
    """Return a project with the first budget of its ``[send]``, its ``[budget]``, and the user's ``[send]``."""
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
        raise ConfigError("focus, symbol and since need a budget: add one, such as --budget 32k")
    return request


def _with_message(request: Request, message: str, replaces: Sequence[Mapping[str, Any]]) -> Request:
    """Add the user's message to a request, as last turn.

    With a budget the message is also the task (T-1).
    """
    earlier = request.history[: len(request.history) - len(replaces)]
    if (*earlier, *replaces) != tuple(request.history):
        raise ConfigError("the discussion was changed meanwhile: nothing is asked again")
    request = replace(request, history=(*earlier, {"role": USER, "content": message}))
    task = replace(request.task or Task(), text=message) if request.budget else request.task
    return replace(request, task=task)
