"""Compose a turn for the best use of the cache.

Files keep the order of the last request. With a budget they are fitted until the whole request is within it.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from aggregate.base.disk.reading import is_file
from aggregate.base.errors import BudgetError
from aggregate.base.redaction import Redaction, redact
from aggregate.base.task_budget import Budget, SentFile, doubts
from aggregate.base.tokens import count
from aggregate.base.values import escape_surrogates
from aggregate.project.configuration import Project
from aggregate.project.files import FolderListing
from aggregate.project.history import NO_DISCUSSION
from aggregate.prompt import (
    Composition,
    compose_prompt,
    count_prompt,
    find_screenshots,
    read_images,
    redact_text,
)
from aggregate.prompt.asking import Request
from aggregate.prompt.document import Image, Section
from aggregate.prompt.fit import grown_files
from aggregate.prompt.output.numbered_output import request_log_path
from aggregate.sending.cache.breakpoints import EarlierRequest, with_pause
from aggregate.sending.cache.cache_diffs import gone_segment
from aggregate.sending.cache.file_order import UNSENT, CachedPrompt, FileOrder, OrderedPrompt
from aggregate.sending.cache.hashed_prompt import (
    HashedPrompt,
    HashedSegment,
    compare_prefixes,
    digest,
)
from aggregate.sending.cache.request_plan import SimulatedCache, charge, plan_request
from aggregate.sending.clients.client import Client, scripted_client
from aggregate.sending.clients.model_prices import (
    OWN_COUNT,
    Endpoint,
    Learned,
    cache_policy,
    learned_of,
)
from aggregate.sending.clients.protocol import ChatRequest
from aggregate.sending.exchange import Exchange
from aggregate.sending.known_models import LARGEST_IMAGE, accepted_images
from aggregate.sending.model_selection import ModelSelection, request_of
from aggregate.sending.models import NO_CACHE, SCRIPTED, CacheLookup, CachePolicy
from aggregate.sending.request_log import LoggedRequest, read_segment, recent_requests

_FITS = 4  # attempts to fit files with older versions; mostly the second succeeds
_NO_HOURS: Final = (
    "the cache lost entries that it should hold: one-hour entries are off until it keeps them again"
)
_SPARE = 64  # extra tokens saved by each further fit, which may have other older versions
_Compose = Callable[[Request], Composition]
_LONGEST_PAUSE = 7 * 86_400  # seconds; longer pauses do not predict the next ones


@dataclass(frozen=True, slots=True)
class LastRequest:
    """The last request that this turn may continue, so that its cache is used."""

    before: EarlierRequest = EarlierRequest(takes_hours=True)  # noqa: RUF009 - an immutable value
    cached: CachedPrompt = UNSENT
    shown: tuple[SentFile, ...] = ()  # with a budget, within the same discussion
    rank: tuple[bool, ...] = ()  # the smallest is continued


def _find_last_request(
    request: Request, client: Client, asked: ChatRequest, *, policy: CachePolicy
) -> LastRequest:
    """Return the earlier request that this turn continues.

    A request alive in the cache comes first, then one of this discussion, then one to this model.
    """
    recipient = (client.provider, client.model, digest(asked.system))
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
    is_pause = is_own and age <= _LONGEST_PAUSE
    pauses = with_pause(logged.pauses, age) if is_pause else logged.pauses
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
        asked = client.supported(replace(request_of(selection), system=system))
        last = _find_last_request(request, client, asked, policy=policy)
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
        is_lost = not self.last.cached.readable()[-1] and is_paid
        request = replace(request, budget=budget, kept=() if is_lost else self.last.shown)
        try:
            turn = self._ordered_turn(request, compose)
        except BudgetError as error:
            if not other_tokens and ratio.thousandths == OWN_COUNT.thousandths:
                raise
            raise self._in_whole_requests(error, other_tokens) from None
        return self._within(budget, turn)

    def _in_whole_requests(self, error: BudgetError, others: int) -> BudgetError:
        """Convert a budget error of the files.

        The new error is about the budget of the whole request.
        """
        ratio, own_tokens = self.client.ratio, error.smallest + others
        smallest = max(ratio.provider_tokens(own_tokens), own_tokens)
        beside = "instructions and images" if self.images else "instructions"
        return BudgetError(
            f"{error.reason}; with {others:,} tokens of {beside} and by {self.client.provider}'s count "
            f"({ratio.value:g} for each of o200k, {ratio.source}), {smallest:,} would be enough",
            smallest=smallest,
        )

    def _within(self, budget: Budget, first: FittedTurn) -> FittedTurn:
        """Compose the turn within a budget.

        If diffs of older file versions exceed it, compose again with a smaller budget.
        """
        turn, tokens = first, budget.tokens
        for _ in range(_FITS):
            prompt = turn.ordered.prompt
            over = prompt.tokens - prompt.image_tokens - budget.tokens
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
