"""From a message to a turn that is ready to be sent: who is asked, what is shown, and in which order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from aggregate.base.disk import is_file
from aggregate.base.errors import BudgetError, ConfigError, PromptTooLongError, ProviderError
from aggregate.base.text import short_list
from aggregate.base.tokens import count
from aggregate.base.values import (
    AUTO,
    Budget,
    Image,
    Prompt,
    Section,
    SentFile,
    Task,
    Usage,
    escape_surrogates,
    unknown_names,
)
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
    grown_files,
    read_images,
    redact_text,
    request_for,
)
from aggregate.prompt.sections import gone_segment
from aggregate.sending.cache.breakpoints import CacheLifetime
from aggregate.sending.cache.file_order import OrderedPrompt, file_digests, order_for_sending
from aggregate.sending.cache.fingerprint import (
    HashedPrompt,
    HashedSegment,
    PrefixReport,
    PromptFingerprint,
    compare_prefixes,
)
from aggregate.sending.cache.policy import NO_CACHE, SCRIPTED, CachePolicy
from aggregate.sending.cache.request_plan import RequestPlan, plan_request
from aggregate.sending.cache.simulator import SimulatedCache, expected_usage
from aggregate.sending.clients.client import Client, scripted_client
from aggregate.sending.clients.image_rules import LARGEST_FILE, accepted_images
from aggregate.sending.clients.own_models import cache_policy, check_window, context_window, cost
from aggregate.sending.clients.protocol import RequestOptions, unused_options
from aggregate.sending.clients.token_ratios import OWN_COUNT, token_ratio
from aggregate.sending.last_request import LastRequest, find_last_request
from aggregate.sending.model_selection import (
    ModelSelection,
    SelectedModel,
    select_model,
    with_default_budget,
)
from aggregate.sending.request_log import SentRecord

USER: Final = "User"  # who says the message, as the discussion calls them
_FITS = 4  # fits anew where older versions take tokens of their own; mostly the second one is right
_SPARE = 64  # tokens by which each further fit is shorter than what was too much: another fit has other versions, too


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    client: Client  # who is asked
    message: str  # what the user says; it is the last excerpt of the prompt
    request: Request  # what was composed
    composition: Composition  # in the order of the configuration
    ordered: OrderedPrompt  # in the order for sending
    plan: RequestPlan
    options: RequestOptions  # the instructions among them are not redacted; those of the plan are
    expected: Usage  # what the provider's cache is expected to read and write
    sent: SentRecord  # what will be recorded
    # What is kept of the prompt sent before, ``None`` for the first one
    report: PrefixReport | None
    budget: int | None  # of the whole request by the provider's count, ``None`` for no limit
    address: str  # ``""`` for the provider's own
    origins: Mapping[str, str]  # where provider, model and all that is no usual choice are from
    # The last turns, in whose place its turns come once it is answered
    replaces: tuple[Mapping[str, Any], ...]
    warnings: tuple[str, ...]  # what was left out or is doubtful

    @property
    def provider_tokens(self) -> int:
        """All input tokens by the provider's own count, as far as that is known (rule B-10)."""
        return self.client.ratio.provider_tokens(self.plan.total)

    @property
    def news(self) -> list[str]:
        older, extra = self.ordered.older, self.ordered.extra
        diffs = (
            f"shown as the cache holds them, with diffs ({extra:+,} tokens): {short_list(older)}"
        )
        return [*([diffs] if older else []), *([self.report.sentence] if self.report else [])]

    def price(self, usage: Usage) -> Decimal | None:
        return cost(usage, self.client.model, provider=self.client.provider)

    @property
    def prompt(self) -> Prompt:
        return self.ordered.prompt.prompt

    @property
    def fingerprint(self) -> PromptFingerprint:
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
    aside: Callable[[Request], Request] | None = None,
) -> PreparedTurn:
    """Compose and plan the turn that says ``message``; nothing is written or sent.

    ``task`` is what the user points at beside the message, which is its text; with a budget only. Once it is answered
    the turn comes in the place of those that it ``replaces``. ``aside`` makes it a question about the discussion that
    is kept in none, and may show less.
    """
    message = escape_surrogates(message)
    selected = select_model(
        project, selection, environ=environ, on_wait=on_wait, require_key=require_key
    )
    client, options = selected.client, selected.options
    client = replace(client, ratio=token_ratio(client.provider, client.model))
    request = _request(project, message, selection, selected, task, replaces, aside)
    instructions = escape_surrogates(options.system).strip()
    system, system_warnings = redact_text(instructions, "system_prompt", request.redaction)
    is_off = selected.cache is CacheLifetime.OFF
    policy = NO_CACHE if is_off else cache_policy(client.provider, client.model)
    # No older version saves anything where nothing is cached: that turns diffs off.
    ordering = policy if project.config.send.diffs else NO_CACHE
    images, image_warnings = _images(request, client)
    last = find_last_request(request, client.provider, client.model, system, ordering.seconds)
    composer = _Composer(client, ordering, system, count(system), images, last)
    turn = composer.compose(request, {"on_start": on_start, "on_done": on_done})
    hashed = turn.ordered.prompt
    plan = plan_request(
        hashed,
        policy,
        earlier=last.layout,
        replaced=turn.ordered.replaced,
        age=last.age,
        lifetime=selected.cache,
        # An entry that is never read costs more than none.
        writes=request.discussion != NO_DISCUSSION,
        pauses=last.pauses,
    )
    try:
        check_window(plan, client.model, options.max_output, ratio=client.ratio)
    except PromptTooLongError as error:
        if request.budget:
            raise  # it says how many tokens would fit
        smaller = compose_prompt(replace(turn.request, strategy=Strategy.SUMMARIZE)).prompt
        total = client.ratio.provider_tokens(count_prompt(smaller).document + plan.tokens[0])
        fits = "fits" if total + options.max_output <= error.window else "would still be too long"
        raise PromptTooLongError(
            f'{error}; with aggregation_strategy = "summarize" it has {total:,} tokens and {fits}',
            tokens=error.tokens,
            window=error.window,
        ) from None
    if client.provider == SCRIPTED:  # it begins with the cache that the last request has left
        cache = SimulatedCache.after(last.layout, age=last.age) if last.layout else None
        client = scripted_client(cache=cache, model=client.model)
    sent = SentRecord(
        client.provider,
        client.model,
        plan.layout.ends,
        plan.layout.breakpoints,
        turn.changes,
        file_digests(turn.composition.prompt),
        turn.shown if request.budget else (),
        lifetimes=plan.layout.lifetimes,
        pauses=tuple(last.pauses.seconds),
        discussion=request.discussion,
    )
    warnings = (
        *selected.warnings,
        *unused_options(client.provider, client.model, options),
        *unknown_names(turn.composition.missing),
        *turn.composition.warnings,
        *system_warnings,
        *image_warnings,
    )
    return PreparedTurn(
        client=client,
        message=message,
        request=turn.request,
        composition=turn.composition,
        ordered=turn.ordered,
        plan=plan,
        options=options,
        expected=expected_usage(plan, last.layout, age=last.age),
        sent=sent,
        report=compare_prefixes(last.fingerprint, hashed.fingerprint) if last.fingerprint else None,
        budget=request.budget.tokens if request.budget else None,
        address=selected.address,
        origins=selected.origins,
        replaces=tuple(replaces),
        warnings=warnings,
    )


def _request(
    project: Project,
    message: str,
    selection: ModelSelection,
    selected: SelectedModel,
    task: Task | None,
    replaces: Sequence[Mapping[str, Any]],
    aside: Callable[[Request], Request] | None,
) -> Request:
    """Return what to compose; with a budget, one of the whole request, the message is the task too (rule T-1)."""
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
        answer=selected.options.max_output,
        discussion=selected.discussion,
        is_new=True,
        task=task,
        sending=True,
        redact=selection.redact,
    )
    request = aside(request) if aside else request
    if task is not None and request.budget is None:
        raise ConfigError(
            "what is pointed at (focus, symbol, since) decides what a budget shows: "
            "add a budget, such as --budget 32k"
        )
    kept = request.history[: len(request.history) - len(replaces)]
    if (*kept, *replaces) != tuple(request.history):
        raise ConfigError("somebody else has written to the discussion: nothing is asked again")
    request = replace(request, history=(*kept, {"role": USER, "content": message}))
    task = replace(request.task or Task(), text=message) if request.budget else request.task
    return replace(request, task=task)


def _images(request: Request, client: Client) -> tuple[dict[Image, int], tuple[str, ...]]:
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


@dataclass(frozen=True, slots=True)
class _ComposedTurn:
    request: Request
    composition: Composition
    ordered: OrderedPrompt
    changes: dict[str, float]  # how often each file has changed

    @property
    def shown(self) -> tuple[SentFile, ...]:
        """Of a file that stands as it was sent before: what was shown then, and not what a diff behind it adds."""
        choices = {choice.path: choice for choice in self.composition.choices}
        now = file_digests(self.composition.prompt)
        earlier = {file.path: file for file in self.request.kept}
        files: list[SentFile] = []
        for part in self.ordered.prompt.segments:
            choice = choices.get(part.path) if part.section is Section.FILES else None
            if choice is None:
                continue
            sent = SentFile(part.path, choice.level, choice.lines, choice.content_hash, part.tokens)
            is_older = now[part.path] != part.hash.digest
            files.append(earlier.get(part.path, sent) if is_older else sent)
        return tuple(files)


@dataclass(frozen=True, slots=True)
class _Composer:
    """Composes a turn, with a budget so that the whole request keeps to it by the provider's count (rule B-10)."""

    client: Client
    policy: CachePolicy  # ``NO_CACHE`` where no older version of a file is to be sent
    system: str
    system_tokens: int
    images: Mapping[Image, int]
    last: LastRequest

    def compose(self, request: Request, progress: Mapping[str, Any]) -> _ComposedTurn:
        if request.budget is None:
            return self._composed(request, progress)
        ratio, whole = self.client.ratio, request.budget.tokens
        others = self.system_tokens + sum(self.images.values())
        own_tokens = max(min(ratio.own_tokens(whole), whole) - others, 1)
        budget = replace(request.budget, tokens=own_tokens)
        # Where no cache holds how files were sent any more a fit afresh costs no more.
        earlier = self.last.cached_prompt(self.policy)
        is_paid = self.policy.read < self.policy.write
        is_lost = earlier is not None and not earlier.readable()[-1] and is_paid
        kept = () if is_lost else self.last.shown
        request = replace(request, budget=budget, kept=kept)
        try:
            turn = self._composed(request, progress)
        except BudgetError as error:
            if not others and ratio.thousandths == OWN_COUNT.thousandths:
                raise
            own = error.smallest + others
            smallest = max(ratio.provider_tokens(own), own)
            beside = "instructions and images" if self.images else "instructions"
            raise BudgetError(
                f"{error.reason}; with {others:,} tokens of {beside} and by {self.client.provider}'s count "
                f"({ratio.value:g} for each of o200k, {ratio.source}), {smallest:,} would do",
                smallest=smallest,
            ) from None
        return self._within(budget, turn)

    def _within(self, budget: Budget, first: _ComposedTurn) -> _ComposedTurn:
        """Return the turn, composed anew where older versions of files with their diffs exceed the budget."""
        turn, tokens = first, budget.tokens
        for _ in range(_FITS):
            over = turn.ordered.prompt.tokens - turn.ordered.prompt.image_tokens - budget.tokens
            if over <= 0:
                return turn
            tokens -= over + _SPARE
            if tokens <= 0:
                break
            try:
                smaller = replace(first.request, budget=replace(budget, tokens=tokens))
                turn = self._composed(smaller, {})
            except BudgetError:
                break
        # Every file as it is now, in one piece: just what was fitted.
        plain = self._ordered(first.request, first.composition, first.changes, NO_CACHE)
        return replace(first, ordered=plain)

    def _composed(self, request: Request, progress: Mapping[str, Any]) -> _ComposedTurn:
        composition = compose_prompt(request, **progress)
        composition.check_scope()
        changes = self.last.changes(composition.prompt, request)
        ordered = self._ordered(request, composition, changes, self.policy)
        return _ComposedTurn(request, composition, ordered, changes)

    def _ordered(
        self,
        request: Request,
        composition: Composition,
        changes: Mapping[str, float],
        policy: CachePolicy,
    ) -> OrderedPrompt:
        prompt = composition.prompt
        earlier = self.last.cached_prompt(policy)
        if earlier:
            # What was sent and is not there; a file that is there was taken out by the user.
            sections = (Section.FILES, Section.CHANGED)
            segments = earlier.fingerprint.segments
            sent = {part.source for part in segments if part.section in sections}
            shown = {segment.source for segment in prompt.segments}
            unshown = filter(None, sorted(sent - shown))
            gone = (path for path in unshown if not is_file(request.base_dir / path))
            parts = [HashedSegment.counted(gone_segment(path), count) for path in gone]
            earlier = replace(earlier, gone=parts)
        hashed = HashedPrompt.of(
            prompt,
            count_prompt(prompt).segments,
            system=self.system,
            system_tokens=self.system_tokens,
            images=self.images,
        )
        return order_for_sending(
            hashed,
            policy,
            earlier=earlier,
            changes=changes,
            count=count,
            grown=grown_files(request.kept, composition.choices) if request.budget else None,
        )
