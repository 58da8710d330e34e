"""Compose and plan a turn for the best use of the cache; nothing is written or sent.

Files keep the order of the last request. With a budget they are fitted until the whole request is within it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from aggregate.base.disk.reading import is_file
from aggregate.base.errors import BudgetError, ConfigError, ProviderError
from aggregate.base.redaction import Redaction, redact
from aggregate.base.task_budget import AUTO, Amount, Budget, SentFile, Task, doubts
from aggregate.base.tokens import count
from aggregate.base.values import escape_surrogates
from aggregate.project.configuration import Project, user_config
from aggregate.project.files import FolderListing
from aggregate.project.history import NO_DISCUSSION
from aggregate.project.index import user_index
from aggregate.prompt import (
    AskedViews,
    Composition,
    auto_budget,
    compose_prompt,
    count_prompt,
    find_screenshots,
    read_images,
    redact_text,
    request_for,
)
from aggregate.prompt.asking import Request, find_persona, find_preset
from aggregate.prompt.document import Image, Section
from aggregate.prompt.fit import grown_files
from aggregate.prompt.output.numbered_output import request_log_path
from aggregate.sending.cache.breakpoints import REMEMBERED_PAUSES, EarlierRequest
from aggregate.sending.cache.cache_diffs import gone_segment
from aggregate.sending.cache.file_order import UNSENT, CachedPrompt, FileOrder, OrderedPrompt
from aggregate.sending.cache.hashed_prompt import (
    HashedPrompt,
    HashedSegment,
    compare_prefixes,
    digest,
)
from aggregate.sending.cache.request_plan import SimulatedCache, charge, plan_request
from aggregate.sending.clients.client import (
    DEFAULT_REQUEST,
    ChatRequest,
    Client,
    Effort,
    scripted_client,
)
from aggregate.sending.known_models import accepted_images
from aggregate.sending.learned_models import Endpoint, Learned, learned_of
from aggregate.sending.model_selection import ModelSelection, select_model
from aggregate.sending.models import LARGEST_IMAGE, NO_CACHE, SCRIPTED, CacheLookup, CachePolicy
from aggregate.sending.prices import OWN_COUNT, cache_policy, check_window, context_window
from aggregate.sending.request_log import LoggedRequest, read_segment, recent_requests
from aggregate.sending.turn import USER, Exchange

_FITS = 4  # attempts to fit files with older versions; mostly the second succeeds
_SPARE = 64  # extra tokens saved by each further fit, which may have other older versions
_NO_HOURS: Final = (
    "the cache lost entries that it should hold: one-hour entries are off until it keeps them again"
)
_Compose = Callable[[Request], Composition]
_LONGEST_PAUSE = 7 * 86_400  # seconds; longer pauses do not predict the next ones


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
    ones. ``aside`` changes the composed request, such as its files.
    """
    client, selection = select_model(
        project, selection, environ=environ, on_wait=on_wait, require_key=require_key
    )
    request = _request(project, client, selection, aside, task=task)
    request = _with_message(request, escape_surrogates(message), replaces)
    picks: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    # A later question would move the files kept by the discussion (rule B-9).
    is_first = len(request.history) == 1
    is_auto = selection.pick is None and is_first and user_config().task.pick == AUTO
    if selection.pick or is_auto:
        from aggregate.sending.second_look import look_again  # loaded only if needed

        daily = project.config.send.most_per_day
        request, picks, failures = look_again(
            request, client, index=user_index(), asks=require_key, is_auto=is_auto, daily=daily
        )
    composer = TurnComposer.behind_last(client, selection, request)
    compose = partial(compose_prompt, on_start=on_start, on_done=on_done)
    fitted = composer.compose(request, compose)
    turn = composer.planned(fitted, project, selection, request.budget)
    check_window(
        turn.asked.plan.total, client.model, turn.asked.max_output, ratio=turn.client.ratio
    )
    unused: tuple[str, ...] = ()
    if selection.effort and turn.asked.effort is None:
        model = f"{client.provider} {client.model}".strip()
        unused = (f"{model} does not support effort: {selection.effort} is ignored",)
    warnings = (*selection.warnings, *unused, *turn.warnings, *failures)
    return replace(turn, replaces=tuple(replaces), warnings=warnings, looked=picks)


def _request(
    project: Project,
    client: Client,
    selection: ModelSelection,
    aside: Callable[[Request], Request] | None,
    *,
    task: Task | None,
) -> Request:
    persona = find_persona(project, selection.persona)
    preset = persona.preset or project.config.project.active_preset
    budget = _budget(project, selection, preset)
    if budget == AUTO:
        window, answer = context_window(client.model), _request_of(selection).max_output
        budget = auto_budget(window, answer, most=project.config.budget.most)
    request = request_for(
        project,
        views=AskedViews(persona.aggregation_strategy or None, preset or None),
        budget=budget,
        discussion=selection.discussion,
        task=task,
        sending=True,
        redact=selection.redact,
    )
    request = aside(request) if aside else request
    if task is not None and request.budget is None:
        raise ConfigError("focus, symbol and since need a budget: add one, such as --budget 32k")
    return request


def _budget(project: Project, selection: ModelSelection, preset: str | None) -> Amount | str | None:
    """Return the first budget: option or persona, preset, project, user (S-1)."""
    config = project.config
    limits = (
        selection.budget,
        find_preset(project, preset).budget if preset else None,
        config.send.budget,
        config.budget.tokens,
        user_config().send.budget,
        AUTO if project.is_bare else None,
    )
    return next((limit for limit in limits if limit is not None), None)


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


@dataclass(frozen=True, slots=True)
class LastRequest:
    """The last request that this turn may continue, so that its cache is used."""

    before: EarlierRequest = EarlierRequest(takes_hours=True)  # noqa: RUF009 - an immutable value
    cached: CachedPrompt = UNSENT
    shown: tuple[SentFile, ...] = ()  # with a budget, within the same discussion
    rank: tuple[bool, ...] = ()  # the smallest is continued


def _find_last_request(
    request: Request, provider: str, asked: ChatRequest, policy: CachePolicy
) -> LastRequest:
    """Return the earlier request that this turn continues.

    A request alive in the cache comes first, then one of this discussion, then one to this model.
    """
    recipient = (provider, asked.model, digest(asked.system))
    candidates: list[LastRequest] = []
    for logged in recent_requests(request.output_dir, request.namespace, is_own=True):
        if logged.layout is None:
            continue
        logged_recipient = (logged.provider, logged.model, logged.prompt.digests[0])
        was_written = logged.layout.breakpoints or policy.lookup is not CacheLookup.BREAKPOINTS
        # Anthropic's cache compares the effort too.
        is_other_effort = logged.provider == "anthropic" and logged.effort != (asked.effort or "")
        is_same = logged_recipient == recipient and not is_other_effort
        may_be_cached = is_same and bool(was_written)
        is_own = logged.discussion in (request.discussion, request.continues)
        candidates.append(
            _last_request(logged, request, policy, may_be_cached=may_be_cached, is_own=is_own)
        )
        if may_be_cached and is_own:
            break  # older ones have left the cache before
    return min(candidates, key=lambda last: last.rank, default=LastRequest())


def _last_request(
    logged: LoggedRequest,
    request: Request,
    policy: CachePolicy,
    *,
    may_be_cached: bool,
    is_own: bool,
) -> LastRequest:
    try:
        age = max(time.time() - request_log_path(logged.path).stat().st_mtime, 0.0)
    except OSError:
        age = float("inf")
    pauses = logged.pauses
    if is_own and age <= _LONGEST_PAUSE:
        pauses = (*pauses, age)[-REMEMBERED_PAUSES:]
    layout = logged.layout if may_be_cached else None
    readable: tuple[int, ...] | None = ()
    if policy.lookup is CacheLookup.BREAKPOINTS and layout:
        readable = layout.alive(age, policy.seconds)
    elif may_be_cached and age <= policy.seconds:
        readable = None
    lifetime = max(layout.lifetimes if layout else (), default=policy.seconds)
    is_alive = may_be_cached and age <= lifetime
    return LastRequest(
        EarlierRequest(layout, age, takes_hours=True, pauses=pauses),
        CachedPrompt(
            logged.prompt, partial(_read_unless_secret, logged, request.redaction), readable
        ),
        logged.shown if is_own else (),
        (not is_alive, not is_own, is_own and not may_be_cached),
    )


def _read_unless_secret(logged: LoggedRequest, redaction: Redaction, number: int) -> str | None:
    """Return the text of a segment of a recorded prompt, ``None`` if it contains a secret."""
    text = read_segment(logged, number)
    if text is None or not redaction.replaces:
        return text
    return None if redact(text, redaction).findings else text


def _request_of(selection: ModelSelection) -> ChatRequest:
    """Return a request with the instructions and options of a selection, still without a prompt."""
    return ChatRequest(
        system=selection.system,
        max_output=selection.max_output or DEFAULT_REQUEST.max_output,
        effort=Effort(selection.effort) if selection.effort else None,
    )


def _images(request: Request, client: Client) -> tuple[dict[Image, int], tuple[str, ...]]:
    if not request.screenshots:
        return {}, ()
    screenshots = find_screenshots(
        request.screenshot_dir,
        request.screenshots,
        shown_from=request.shown_from,
        listing=FolderListing(request.scope),
    )
    images, unread = read_images(screenshots, limit=LARGEST_IMAGE)
    accepted, refused = accepted_images(images, client.provider, client.model)
    tokens = {image: client.ratio.own_tokens(size) for image, size in accepted.items()}
    return tokens, (*unread, *refused)


@dataclass(frozen=True, slots=True)
class FittedTurn:
    request: Request
    composition: Composition
    ordered: OrderedPrompt

    @property
    def shown(self) -> tuple[SentFile, ...]:
        """The prompt's files, for the record of this turn.

        A file kept in an older version is recorded as it was sent, without the diff after it.
        """
        choices = {choice.path: choice for choice in self.composition.choices}
        earlier = {file.path: file for file in self.request.kept}
        files: list[SentFile] = []
        for part in self.ordered.prompt.parts:
            path = part.source
            choice = choices.get(path) if part.section == Section.FILES else None
            if choice is None:
                continue
            sent = SentFile(path, choice.level, choice.lines, choice.content_hash, part.tokens)
            files.append(earlier.get(path, sent) if path in self.ordered.older else sent)
        return tuple(files)


@dataclass(frozen=True, slots=True)
class TurnComposer:
    """Composes and plans a turn after the last request.

    A budget limits the whole request, in the provider's tokens (B-10).
    """

    client: Client  # with the provider's token ratio
    learned: Learned
    policy: CachePolicy
    asked: ChatRequest  # without secrets in its instructions
    images: Mapping[Image, int]  # with their tokens
    last: LastRequest
    warnings: tuple[str, ...]

    @classmethod
    def behind_last(
        cls, client: Client, selection: ModelSelection, request: Request
    ) -> "TurnComposer":
        """Return a composer for a turn after the last request."""
        endpoint = Endpoint(client.provider, client.model, client.address)
        learned = learned_of(endpoint)
        client = replace(client, ratio=learned.ratio(endpoint))
        instructions = escape_surrogates(selection.system).strip()
        system, secrets = redact_text(instructions, "system_prompt", request.redaction)
        images, refused = _images(request, client)
        policy = cache_policy(client.provider, client.model)
        warnings = (*secrets, *refused)
        if policy.long_seconds and learned.distrusts_hours:
            policy = replace(policy, long_seconds=0)
            warnings += (_NO_HOURS,)
        asked = client.supported(replace(_request_of(selection), system=system))
        last = _find_last_request(request, client.provider, asked, policy)
        return cls(client, learned, policy, asked, images, last, warnings)

    def compose(self, request: Request, compose: _Compose) -> FittedTurn:
        """Return the prompt in the order of the last one, within the request's budget."""
        whole = request.budget
        if whole is None:
            return self._ordered_turn(request, compose)
        ratio = self.client.ratio
        other_tokens = count(self.asked.system) + sum(self.images.values())
        own_tokens = max(min(ratio.own_tokens(whole.tokens), whole.tokens) - other_tokens, 1)
        budget = replace(whole, tokens=own_tokens)
        # Without a cached prompt a new fit costs nothing extra.
        is_paid = self.policy.read < self.policy.write
        is_lost = self.last.cached.breakpoints == () and is_paid
        request = replace(request, budget=budget, kept=() if is_lost else self.last.shown)
        try:
            turn = self._ordered_turn(request, compose)
        except BudgetError as error:
            if not other_tokens and ratio.thousandths == OWN_COUNT.thousandths:
                raise
            # The error is to name the budget of the whole request, not of its files.
            own_tokens = error.smallest + other_tokens
            smallest = max(ratio.provider_tokens(own_tokens), own_tokens)
            beside = "instructions and images" if self.images else "instructions"
            raise BudgetError(
                f"{error.reason}; with {other_tokens:,} tokens of {beside} and by {self.client.provider}'s "
                f"count ({ratio.value:g} for each of o200k, {ratio.source}), {smallest:,} would be enough",
                smallest=smallest,
            ) from None
        return self._within(budget, turn)

    def _within(self, budget: Budget, first: FittedTurn) -> FittedTurn:
        """Compose the turn within a budget.

        If diffs of older file versions exceed it, compose again with a smaller budget.
        """
        turn, tokens, image_tokens = first, budget.tokens, sum(self.images.values())
        for _ in range(_FITS):
            over = turn.ordered.prompt.tokens - image_tokens - budget.tokens
            if over <= 0:
                return turn
            tokens -= over + _SPARE
            if tokens <= 0:
                break
            try:
                smaller = replace(first.request, budget=replace(budget, tokens=tokens))
                turn = self._ordered_turn(smaller, compose_prompt)
            except BudgetError:
                break
        # Every file in its current version, exactly as fitted.
        plain = self._ordered(first.request, first.composition, NO_CACHE)
        return replace(first, ordered=plain)

    def _ordered_turn(self, request: Request, compose: _Compose) -> FittedTurn:
        composition = compose(request)
        composition.check_scope()
        ordered = self._ordered(request, composition, self.policy)
        return FittedTurn(request, composition, ordered)

    def _ordered(
        self, request: Request, composition: Composition, policy: CachePolicy
    ) -> OrderedPrompt:
        prompt, earlier = composition.prompt, self.last.cached
        # Report deleted files only; the user removed the others from the prompt.
        sections = (Section.FILES, Section.CHANGED)
        sent = {part.source for part in earlier.prompt.segments if part.section in sections}
        paths = {segment.source for segment in prompt.segments}
        unshown = filter(None, sorted(sent - paths))
        deleted = (path for path in unshown if not is_file(request.base_dir / path))
        gone = [HashedSegment.counted(gone_segment(path), count) for path in deleted]
        hashed = HashedPrompt.of(
            prompt,
            count_prompt(prompt).segments,
            system=self.asked.system,
            system_tokens=count(self.asked.system),
            images=self.images,
        )
        grown = grown_files(request.kept, composition.choices) if request.budget else None
        return FileOrder(hashed, policy, replace(earlier, gone=gone), count, grown).ordered()

    def planned(
        self, turn: FittedTurn, project: Project, selection: ModelSelection, budget: Budget | None
    ) -> Exchange:
        """Plan a composed turn for the provider's cache, within the ``budget`` of the request."""
        request, composition, prompt = turn.request, turn.composition, turn.ordered.prompt
        # Writing an entry costs more and pays only if it is read.
        writes = request.discussion != NO_DISCUSSION
        before = replace(self.last.before, writes=writes, replaced=turn.ordered.replaced)
        plan = plan_request(prompt, self.policy, before=before)
        client, earlier, layout = self.client, self.last.cached.prompt, before.layout
        cache = SimulatedCache.after(layout, age=before.age) if layout else SimulatedCache()
        if client.provider == SCRIPTED:  # it starts with the last request's cache
            client = scripted_client(cache=cache, model=client.model)
        record = LoggedRequest(
            Path(),
            prompt,
            client.provider,
            client.model,
            plan.layout,
            turn.shown if request.budget else (),
            before.pauses,
            request.discussion,
            self.asked.effort or "",
        )
        unsure = doubts(composition.missing, composition.guess)
        return Exchange(
            project,
            client,
            selection,
            replace(self.asked, plan=plan),
            request,
            composition,
            turn.ordered,
            charge(plan, cache)[0],
            record,
            compare_prefixes(earlier, prompt) if earlier.segments else None,
            budget.tokens if budget else None,
            (*unsure, *composition.warnings, *self.warnings),
            learned=self.learned,
        )
