"""What one turn of a discussion is made of: the prompt in the order for sending, within the budget if there is one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from aggregate.base.disk import is_file
from aggregate.base.errors import BudgetError, ConfigError
from aggregate.base.tokens import count
from aggregate.base.values import AUTO, Budget, Image, Prompt, Section, SentFile, Task
from aggregate.project.configuration import Project
from aggregate.project.history import NO_DISCUSSION
from aggregate.prompt import (
    Composition,
    Request,
    compose_prompt,
    count_prompt,
    grown_files,
    request_for,
)
from aggregate.prompt.sections import gone_segment
from aggregate.sending.cache.file_order import OrderedPrompt, file_digests, order_for_sending
from aggregate.sending.cache.hashed_prompt import HashedPrompt, HashedSegment
from aggregate.sending.cache.policy import NO_CACHE, CachePolicy
from aggregate.sending.cache.retention import CachedPrompt
from aggregate.sending.clients.own_models import context_window
from aggregate.sending.clients.token_ratios import OWN_COUNT, TokenRatio
from aggregate.sending.last_request import LastRequest, find_last_request
from aggregate.sending.model_selection import ModelSelection, SelectedModel
from aggregate.sending.send_settings import with_default_budget

_FITS = 4
"""How often a prompt is fitted anew where older versions of changed files take tokens of their own: each fit is a
little shorter, and mostly the second one is right."""
_SPARE = 64
"""Tokens by which each further fit is shorter than what was too much: another fit has other versions, too."""


@dataclass(frozen=True, slots=True)
class TurnRecipient:
    """Who is sent the prompt, as far as it matters for its composition.

    Attributes:
        provider: The name.
        model: Which model.
        policy: Its cache; ``NO_CACHE`` where no older version of a file is to be sent.
        system: The instructions that go before the prompt.
        system_tokens: Their tokens, by o200k.
        ratio: How many tokens the provider counts for each of o200k's.
        images: The images that go with the prompt, each with its tokens, converted to o200k's.
    """

    provider: str
    model: str
    policy: CachePolicy
    system: str = ""
    system_tokens: int = 0
    ratio: TokenRatio = OWN_COUNT
    images: Mapping[Image, int] = field(default_factory=dict)

    @property
    def other_tokens(self) -> int:
        """The tokens of what is sent beside the prompt's text."""
        return self.system_tokens + sum(self.images.values())

    def own_budget(self, budget: Budget) -> Budget:
        """Return the budget of the markdown by our count, for one of the whole request by both counts."""
        whole = min(self.ratio.own_tokens(budget.tokens), budget.tokens)
        return replace(budget, tokens=max(whole - self.other_tokens, 1))

    def budget_error(self, error: BudgetError) -> BudgetError:
        """Return the error of a fit in the provider's tokens, with those of the instructions."""
        if not self.other_tokens and self.ratio.thousandths == OWN_COUNT.thousandths:
            return error
        own = error.smallest + self.other_tokens
        smallest = max(self.ratio.provider_tokens(own), own)
        beside = "instructions and images" if self.images else "instructions"
        return BudgetError(
            f"{error.reason}; with {self.other_tokens:,} tokens of {beside} and by {self.provider}'s count "
            f"({self.ratio.value:g} for each of o200k, {self.ratio.source}), {smallest:,} would do",
            smallest=smallest,
        )


@dataclass(frozen=True, slots=True)
class ComposedTurn:
    """A turn before it is planned.

    Attributes:
        request: What was composed.
        composition: The prompt in the order of the configuration.
        ordered: The prompt in the order for sending.
        last: What is known of the last send.
        changes: How often each file has changed.
    """

    request: Request
    composition: Composition
    ordered: OrderedPrompt
    last: LastRequest
    changes: dict[str, float]

    @property
    def shown(self) -> tuple[SentFile, ...]:
        """How much of each file stands before the discussion of a prompt with a budget, in the order of the files.

        Of a file that stands as it was sent before that is what was shown then, and not what a diff behind it adds.
        """
        choices = {choice.path: choice for choice in self.composition.choices}
        now = file_digests(self.composition.prompt)
        earlier = {file.path: file for file in self.request.kept}
        files: list[SentFile] = []
        for part in self.ordered.prompt.segments:
            choice = choices.get(part.path) if part.section is Section.FILES else None
            if choice is None:
                continue
            if now[part.path] != part.hash.digest and part.path in earlier:
                files.append(earlier[part.path])
                continue
            files.append(
                SentFile(part.path, choice.level, choice.lines, choice.content_hash, part.tokens)
            )
        return tuple(files)


def compose_turn(
    request: Request,
    recipient: TurnRecipient,
    *,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> ComposedTurn:
    """Compose a turn, with a budget so that the whole request keeps to it by the provider's count (rule B-10).

    Args:
        request: What to compose; its budget is one of the whole request, in the provider's tokens.
        recipient: Who is sent it.
        on_start: Called once with the number of files.
        on_done: Called with the number of views that have become ready.

    Raises:
        BudgetError: What must be shown exceeds the budget.
        ScopeError: A file of the project asks for one that may not be read.
    """
    last = find_last_request(
        request,
        provider=recipient.provider,
        model=recipient.model,
        system=recipient.system,
        lifetime=recipient.policy.seconds,
    )
    if request.budget is None:
        return _composed(request, recipient, last, on_start=on_start, on_done=on_done)
    budget = recipient.own_budget(request.budget)
    request = replace(request, budget=budget, kept=_kept(last, recipient.policy))
    try:
        turn = _composed(request, recipient, last, on_start=on_start, on_done=on_done)
    except BudgetError as error:
        raise recipient.budget_error(error) from None
    return _within(budget, turn, recipient)


def task_of(request: Request, message: str) -> Task:
    """Return the task that a message is, with what the request's own task points at (rule T-1)."""
    return replace(request.task or Task(), text=message)


def _kept(last: LastRequest, policy: CachePolicy) -> tuple[SentFile, ...]:
    """Return how the files were sent, none where no cache holds them any more: a fit afresh then costs no more."""
    earlier = last.cached_prompt(policy)
    is_lost = earlier is not None and not earlier.readable()[-1] and policy.read < policy.write
    return () if is_lost else last.shown


def _within(budget: Budget, turn: ComposedTurn, recipient: TurnRecipient) -> ComposedTurn:
    """Return the turn, composed anew where older versions of files with their diffs exceed the budget."""
    first, tokens = turn, budget.tokens
    for _ in range(_FITS):
        over = turn.ordered.prompt.tokens - turn.ordered.prompt.image_tokens - budget.tokens
        if over <= 0:
            return turn
        tokens -= over + _SPARE
        if tokens <= 0:
            break
        smaller = replace(first.request, budget=replace(budget, tokens=tokens))
        try:
            turn = _composed(smaller, recipient, first.last)
        except BudgetError:
            break
    # Every file as it is now, in one piece: just what was fitted.
    plain = _ordered(
        first.request,
        first.composition,
        replace(recipient, policy=NO_CACHE),
        first.last,
        first.changes,
    )
    return replace(first, ordered=plain)


def _composed(
    request: Request,
    recipient: TurnRecipient,
    last: LastRequest,
    *,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> ComposedTurn:
    composition = compose_prompt(request, on_start=on_start, on_done=on_done)
    composition.check_scope()
    changes = last.changes(composition.prompt, request)
    ordered = _ordered(request, composition, recipient, last, changes)
    return ComposedTurn(request, composition, ordered, last, changes)


def _ordered(
    request: Request,
    composition: Composition,
    recipient: TurnRecipient,
    last: LastRequest,
    changes: dict[str, float],
) -> OrderedPrompt:
    prompt = composition.prompt
    earlier = last.cached_prompt(recipient.policy)
    if earlier:
        earlier = replace(earlier, gone=_gone(earlier, prompt, request.base_dir))
    hashed = HashedPrompt.of(
        prompt,
        count_prompt(prompt).segments,
        system=recipient.system,
        system_tokens=recipient.system_tokens,
    ).with_images(recipient.images)
    return order_for_sending(
        hashed,
        recipient.policy,
        earlier=earlier,
        changes=changes,
        count=count,
        grown=grown_files(request.kept, composition.choices) if request.budget else None,
    )


def _gone(earlier: CachedPrompt, prompt: Prompt, folder: Path) -> list[HashedSegment]:
    """Return what is told of files that were sent and are not there; one that is there was taken out by the user."""
    sections = (Section.FILES, Section.CHANGED)
    sent = {part.source for part in earlier.fingerprint.segments if part.section in sections}
    shown = {segment.source for segment in prompt.segments}
    gone = (path for path in sorted(sent - shown) if path and not is_file(folder / path))
    return [HashedSegment.counted(gone_segment(path), count) for path in gone]


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
