"""From a message to a turn that is ready to be sent: who is asked, what is shown, and how it is laid out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aggregate.base.errors import PromptTooLongError, ProviderError
from aggregate.base.tokens import count
from aggregate.base.values import Image, Prompt, Task, Usage, escape_surrogates, unknown_names
from aggregate.project.configuration import Project
from aggregate.project.files import FolderListing
from aggregate.project.history import NO_DISCUSSION
from aggregate.prompt import (
    Composition,
    Request,
    Strategy,
    compose_prompt,
    count_prompt,
    find_screenshots,
    read_images,
    redact_text,
)
from aggregate.sending.cache.breakpoints import BlockLayout, CacheLifetime
from aggregate.sending.cache.file_order import OrderedPrompt, file_digests
from aggregate.sending.cache.fingerprint import PrefixReport, PromptFingerprint, compare_prefixes
from aggregate.sending.cache.policy import NO_CACHE, SCRIPTED, CachePolicy
from aggregate.sending.cache.request_plan import RequestPlan, plan_request
from aggregate.sending.cache.simulator import SimulatedCache, expected_usage
from aggregate.sending.clients.client import Client
from aggregate.sending.clients.image_rules import LARGEST_FILE, accepted_images
from aggregate.sending.clients.own_models import cache_policy, check_window
from aggregate.sending.clients.protocol import Effort, RequestOptions, unused_options
from aggregate.sending.clients.scripted_client import scripted_client
from aggregate.sending.clients.token_ratios import token_ratio
from aggregate.sending.last_request import LastRequest
from aggregate.sending.model_selection import ModelSelection, SelectedModel, select_model
from aggregate.sending.request_log import SentRecord
from aggregate.sending.send_settings import CacheSettings, cache_settings
from aggregate.sending.turn_composition import (
    AsideScope,
    ComposedTurn,
    TurnRecipient,
    compose_turn,
    turn_request,
)


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
        effort: How long the model thinks, ``None`` for its own choice.
        temperature: How freely it chooses its words, ``None`` for its own choice.
        origins: Where provider, model, persona and the length of the answer were chosen.
        replaces: The last turns of the discussion, in whose place its turns come once it is answered.
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
    effort: Effort | None = None
    temperature: float | None = None
    origins: Mapping[str, str] = field(default_factory=dict)
    replaces: tuple[Mapping[str, Any], ...] = ()

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
    aside: AsideScope | None = None,
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
        task: What the user points at beside the message, which is its text; with a budget only.
        replaces: The last turns of the discussion, in whose place this one comes once it is answered.
        aside: Makes it a question about the discussion, kept in none.

    Raises:
        ConfigError: The configuration or the history cannot be used, there is no such persona, or a task has no budget.
        ScopeError: A file of the project asks for one that may not be read.
        ClientSetupError: A key or a name is missing.
        PromptTooLongError: The prompt exceeds the model's context window.
        BudgetError: What must be shown exceeds the budget.
    """
    message = escape_surrogates(message)
    selected = select_model(
        project, selection, environ=environ, on_wait=on_wait, require_key=require_key
    )
    client = replace(
        selected.client, ratio=token_ratio(selected.client.provider, selected.client.model)
    )
    request = turn_request(
        project, message, selection, replace(selected, client=client), task, replaces, aside
    )
    instructions = escape_surrogates(selection.system or selected.persona.system_prompt).strip()
    system, system_warnings = redact_text(instructions, "system_prompt", request.redaction)
    caching = cache_settings(
        project, wanted=selection.cache, once=request.discussion == NO_DISCUSSION
    )
    is_off = caching.lifetime is CacheLifetime.OFF
    policy = NO_CACHE if is_off else cache_policy(client.provider, client.model)
    # No older version saves anything where nothing is cached: that turns diffs off.
    ordering_policy = policy if project.config.send.diffs else NO_CACHE
    images, image_warnings = _images(request, client)
    recipient = TurnRecipient(
        client.provider, client.model, ordering_policy, system, count(system), client.ratio, images
    )
    turn = compose_turn(request, recipient, on_start=on_start, on_done=on_done)
    ordered, last = turn.ordered, turn.last
    plan = _plan(turn, policy, caching)
    _check_length(plan, client, selected.max_output, turn.request)
    return PreparedTurn(
        client=_with_cache_of(last, client),
        message=message,
        request=turn.request,
        ordered=ordered,
        plan=plan,
        expected=expected_usage(plan, last.layout, age=last.age),
        sent=_sent_record(client, plan.layout, turn),
        report=_report(turn),
        warnings=(
            *selected.warnings,
            *caching.notes,
            *_unused(selected, client),
            *unknown_names(turn.composition.missing),
            *turn.composition.warnings,
            *system_warnings,
            *image_warnings,
        ),
        max_output=selected.max_output,
        address=selected.address,
        composition=turn.composition,
        budget=request.budget.tokens if request.budget else None,
        effort=selected.effort,
        temperature=selected.temperature,
        origins=selected.origins,
        replaces=tuple(replaces),
    )


def _plan(turn: ComposedTurn, policy: CachePolicy, caching: CacheSettings) -> RequestPlan:
    """Return how the prompt is cut into blocks, beside what the last request left in the provider's cache."""
    last = turn.last
    return plan_request(
        turn.ordered.prompt,
        policy,
        earlier=last.layout,
        replaced=turn.ordered.replaced,
        age=last.age,
        lifetime=caching.lifetime,
        writes=caching.writes,
        pauses=last.pauses,
    )


def _unused(selected: SelectedModel, client: Client) -> tuple[str, ...]:
    """Return a warning of each option that the model does not take."""
    options = RequestOptions(effort=selected.effort, temperature=selected.temperature)
    return unused_options(client.provider, client.model, options)


def _report(turn: ComposedTurn) -> PrefixReport | None:
    """Return what is kept of the prompt sent before, ``None`` for the first one."""
    earlier = turn.last.fingerprint
    return compare_prefixes(earlier, turn.ordered.prompt.fingerprint) if earlier else None


def _sent_record(client: Client, layout: BlockLayout, turn: ComposedTurn) -> SentRecord:
    return SentRecord(
        client.provider,
        client.model,
        layout.ends,
        layout.breakpoints,
        turn.changes,
        file_digests(turn.composition.prompt),
        turn.shown if turn.request.budget else (),
        lifetimes=layout.lifetimes,
        pauses=tuple(turn.last.pauses.seconds),
        discussion=turn.request.discussion,
    )


def _images(request: Request, client: Client) -> tuple[dict[Image, int], tuple[str, ...]]:
    """Return the images of the request's screenshots that the model takes, with their tokens by our count.

    What the prompt itself tells of screenshots, such as that one is missing, is among the prompt's warnings.
    """
    if not request.screenshots:
        return {}, ()
    screenshots = find_screenshots(
        request.screenshot_dir,
        request.screenshots,
        shown_from=request.shown_from,
        listing=FolderListing(request.scope),
    )
    images, unread = read_images(screenshots, limit=LARGEST_FILE)
    accepted, refused = accepted_images(images, client.provider, client.model)
    tokens = {image: client.ratio.own_tokens(size) for image, size in accepted.items()}
    return tokens, (*unread, *refused)


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
