"""From a message to a turn that is ready to be sent: who is asked, what is shown, and how it is laid out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from aggregate.chat.cache_settings import cache_settings
from aggregate.chat.last_request import LastRequest
from aggregate.chat.model_selection import (
    ModelSelection as ModelSelection,
)  # part of this module's interface
from aggregate.chat.model_selection import SelectedModel, select_model
from aggregate.chat.request_log import SentRecord
from aggregate.chat.turn_composition import ComposedTurn, Recipient, compose_turn, task_of
from aggregate.clients.client import Client
from aggregate.clients.context_window import check_window, context_window
from aggregate.clients.ratio_store import token_ratio
from aggregate.clients.scripted_client import scripted_client
from aggregate.compose.api import compose_prompt
from aggregate.compose.assemble import Composition
from aggregate.compose.layout import Strategy
from aggregate.compose.project import redaction_for, request_for
from aggregate.compose.redact_prompt import redact_text
from aggregate.compose.request import Request
from aggregate.config.load import Project
from aggregate.deprecation import renamed_keywords
from aggregate.errors import PromptTooLongError, ProviderError
from aggregate.models.amounts import AUTO
from aggregate.models.prompt import Prompt
from aggregate.models.usage import Usage
from aggregate.prompt_cache.file_order import OrderedPrompt, file_digests
from aggregate.prompt_cache.fingerprint import PromptFingerprint
from aggregate.prompt_cache.lifetimes import CacheLifetime
from aggregate.prompt_cache.policy import NO_CACHE, SCRIPTED, policy_for
from aggregate.prompt_cache.prefix_diff import PrefixReport, compare_prefixes
from aggregate.prompt_cache.request_plan import BlockLayout, RequestPlan, plan_request
from aggregate.prompt_cache.simulator import SimulatedCache, expected_usage
from aggregate.tokens.count import count, count_prompt

USER = "User"
"""Who says the message, as the discussion calls them."""


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """A turn that is ready to be sent.

    Attributes:
        client: Who is asked.
        message: What the user says; it is the last excerpt of the prompt.
        request: What was composed.
        ordered: The prompt in the order for sending.
        plan: The request.
        expected: What the provider's cache is expected to read and write.
        sent: What will be recorded.
        report: What is kept of the prompt sent before, ``None`` for the first one.
        warnings: What was left out or is doubtful.
        max_output: The most tokens that the model may write.
        address: Where it is sent, ``""`` for the provider's own address.
        composition: The prompt in the order of the configuration, and what was decided about its files.
        budget: The most tokens of the whole request by the provider's count, ``None`` for no limit.
    """

    client: Client
    message: str
    request: Request
    ordered: OrderedPrompt
    plan: RequestPlan
    expected: Usage
    sent: SentRecord
    report: PrefixReport | None
    warnings: tuple[str, ...]
    max_output: int
    address: str = ""
    composition: Composition | None = None
    budget: int | None = None

    @property
    def provider_tokens(self) -> int:
        """All input tokens by the provider's own count, as far as that is known (rule B-10)."""
        return self.client.ratio.provider_tokens(self.plan.total)

    @property
    def prompt(self) -> Prompt:
        """The prompt in the order for sending."""
        return self.ordered.prompt.prompt

    @property
    def fingerprint(self) -> PromptFingerprint:
        """Its hashes."""
        return self.ordered.prompt.fingerprint


@renamed_keywords(choice="selection")
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
) -> PreparedTurn:
    """Compose and plan the turn that says ``message``; nothing is written or sent.

    Args:
        project: Its files and its discussion.
        message: What the user says.
        selection: Who is asked.
        environ: Where keys are read from, by default the process's environment.
        on_wait: Called with the seconds before each wait for the provider and its reason.
        on_start: Called once with the number of files.
        on_done: Called with the number of views that have become ready.
        require_key: Off for a plan that will not be delivered.

    Raises:
        ConfigError: The configuration or the history cannot be used, or there is no such persona.
        ScopeError: A file of the project asks for one that may not be read.
        ClientSetupError: A key or a name is missing.
        PromptTooLongError: The prompt exceeds the model's context window.
        BudgetError: What must be shown exceeds the budget.
    """
    selected = select_model(
        project, selection, environ=environ, on_wait=on_wait, require_key=require_key
    )
    client = replace(
        selected.client, ratio=token_ratio(selected.client.provider, selected.client.model)
    )
    request = _turn_request(project, message, selection, replace(selected, client=client))
    instructions = selected.persona.system_prompt.strip()
    system, system_warnings = redact_text(instructions, "system_prompt", request.redaction)
    caching = cache_settings(project, wanted=selection.cache, once=selection.once)
    policy = policy_for(client.provider, client.model)
    if caching.lifetime is CacheLifetime.OFF:
        policy = NO_CACHE
    # No older version saves anything where nothing is cached: that turns diffs off.
    ordering_policy = policy if project.config.send.diffs else NO_CACHE
    recipient = Recipient(
        client.provider, client.model, ordering_policy, system, count(system), client.ratio
    )
    turn = compose_turn(request, recipient, on_start=on_start, on_done=on_done)
    ordered, last = turn.ordered, turn.last
    plan = plan_request(
        ordered.prompt,
        policy,
        earlier=last.layout,
        weights=ordered.weights,
        age=last.age,
        lifetime=caching.lifetime,
        pauses=last.pauses,
    )
    _check_length(plan, client, selection.max_output, turn.request)
    report = None
    if last.fingerprint:
        report = compare_prefixes(last.fingerprint, ordered.prompt.fingerprint)
    return PreparedTurn(
        client=_with_cache_of(last, client),
        message=message,
        request=turn.request,
        ordered=ordered,
        plan=plan,
        expected=expected_usage(plan, last.layout, age=last.age),
        sent=_sent_record(client, plan.layout, turn),
        report=report,
        warnings=(*selected.warnings, *caching.notes, *turn.composition.warnings, *system_warnings),
        max_output=selection.max_output,
        address=selected.address,
        composition=turn.composition,
        budget=request.budget.tokens if request.budget else None,
    )


def _sent_record(client: Client, layout: BlockLayout, turn: ComposedTurn) -> SentRecord:
    return SentRecord(
        client.provider,
        client.model,
        layout.ends,
        layout.breakpoints,
        turn.changes,
        file_digests(turn.composition.prompt),
        turn.shown if turn.request.budget else (),
        layout.lifetimes,
        tuple(turn.last.pauses.seconds),
    )


def _turn_request(
    project: Project, message: str, selection: ModelSelection, selected: SelectedModel
) -> Request:
    """Return what to compose: the project as the persona wants it, with the message as the last excerpt.

    With a budget the message is the task too (rule T-1).
    """
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
        answer=selection.max_output,
    )
    request = replace(
        request,
        history=(*request.history, {"role": USER, "content": message}),
        redaction=redaction_for(project, sending=True, wanted=selection.redact),
    )
    return replace(request, task=task_of(request, message)) if request.budget else request


def _with_cache_of(last: LastRequest, client: Client) -> Client:
    """Return the client; a scripted one begins with the cache that the last request has left."""
    if client.provider != SCRIPTED:
        return client
    return scripted_client(
        cache=SimulatedCache.after(last.layout, age=last.age) if last.layout else None,
        model=client.model,
    )


def _check_length(plan: RequestPlan, client: Client, max_output: int, request: Request) -> None:
    """Refuse a prompt that is too long, saying what the project could send instead."""
    try:
        check_window(plan, client.model, max_output, ratio=client.ratio)
    except PromptTooLongError as error:
        if request.budget:
            raise  # it says how many tokens would fit
        smaller = compose_prompt(replace(request, strategy=Strategy.SUMMARIZE)).prompt
        total = client.ratio.provider_tokens(count_prompt(smaller).document + plan.tokens[0])
        fits = "fits" if total + max_output <= error.window else "would still be too long"
        raise PromptTooLongError(
            f'{error}; with aggregation_strategy = "summarize" it has {total:,} tokens and {fits}',
            tokens=error.tokens,
            window=error.window,
        ) from None
