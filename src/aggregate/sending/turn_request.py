"""What a turn composes: the project as the persona wants it, with the message as the last excerpt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from aggregate.base.errors import ConfigError
from aggregate.base.values import AUTO, Task
from aggregate.project.configuration import Project
from aggregate.project.history import NO_DISCUSSION
from aggregate.prompt import Request, request_for
from aggregate.sending.clients.context_window import context_window
from aggregate.sending.model_selection import ModelSelection, SelectedModel
from aggregate.sending.send_settings import with_default_budget
from aggregate.sending.turn_composition import task_of

USER: Final = "User"
"""Who says the message, as the discussion calls them."""

_NO_BUDGET: Final = (
    "what is pointed at (focus, symbol, since) decides what a budget shows: "
    "add a budget, such as --budget 32k"
)


@dataclass(frozen=True, slots=True)
class AsideScope:
    """What a question about a discussion is shown; it is kept in none.

    Attributes:
        turns: The turns that are shown without files and all else; ``None`` for the prompt as it is.
    """

    turns: tuple[object, ...] | None = None

    def applied(self, request: Request) -> Request:
        """Return the request that shows this alone."""
        request = replace(request, discussion=NO_DISCUSSION)
        if self.turns is None:
            return request
        return replace(
            request,
            entries=(),
            screenshots=(),
            results=(),
            beads=False,
            budget=None,
            task=None,
            doubts=(),
            history=self.turns,
        )


def turn_request(
    project: Project,
    message: str,
    selection: ModelSelection,
    selected: SelectedModel,
    task: Task | None,
    replaces: Sequence[Mapping[str, Any]] = (),
    aside: AsideScope | None = None,
) -> Request:
    """Return what to compose: the project as the persona wants it, with the message as the last excerpt.

    With a budget the message is the task too (rule T-1).

    Raises:
        ConfigError: The configuration or the history cannot be used, a task has no budget, or the discussion does not
            end with the turns that this one replaces.
    """
    project = with_default_budget(project)
    persona, config = selected.persona, project.config
    budget = persona.budget if selection.budget is None else selection.budget
    presets = (preset.budget for preset in config.context_presets.values())
    is_auto = AUTO in ((config.budget.tokens, *presets) if budget is None else (budget,))
    request = request_for(
        project,
        strategy=persona.aggregation_strategy or None,
        preset=persona.preset or None,
        budget=budget,
        window=context_window(selected.client.model) if is_auto else None,
        answer=selected.max_output,
        discussion=selected.discussion,
        is_new=True,
        task=task,
        sending=True,
        redact=selection.redact,
    )
    if aside is not None:
        request = aside.applied(request)
    if task is not None and request.budget is None:
        raise ConfigError(_NO_BUDGET)
    turns = (*_without(request.history, replaces), {"role": USER, "content": message})
    request = replace(request, history=turns)
    return replace(request, task=task_of(request, message)) if request.budget else request


def _without(
    history: tuple[object, ...], replaced: Sequence[Mapping[str, Any]]
) -> tuple[object, ...]:
    """Return the turns of a discussion without its last ones.

    Raises:
        ConfigError: Its last ones are others.
    """
    if not replaced:
        return history
    if history[-len(replaced) :] != tuple(replaced):
        raise ConfigError("somebody else has written to the discussion: nothing is asked again")
    return history[: -len(replaced)]
