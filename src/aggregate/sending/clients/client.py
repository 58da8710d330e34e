"""The client for all providers, with retries and cancellation, and a scripted client."""

import asyncio
import logging
import random
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from time import monotonic
from typing import Any, Final

from aggregate.base.concurrency import doubling_delay, run_async
from aggregate.base.errors import ClientSetupError, ProviderError
from aggregate.base.redaction import Redaction, redact
from aggregate.base.tokens import count
from aggregate.prompt import count_prompt
from aggregate.prompt.document import Prompt
from aggregate.sending.cache.hashed_prompt import HashedPrompt
from aggregate.sending.cache.request_plan import (
    UNPLANNED,
    SimulatedCache,
    charge,
    messages_of,
    plan_request,
)
from aggregate.sending.clients.model_prices import (
    OWN_COUNT,
    TokenRatio,
    cache_policy,
    check_window,
    cost,
)
from aggregate.sending.clients.protocol import (
    Ask,
    ChatRequest,
    Middleware,
    OnText,
    Transport,
    loop_texts,
)
from aggregate.sending.known_models import ResponseFormat, known_model
from aggregate.sending.models import SCRIPTED, LoopTurn, Reply

# Joins surrogate pairs: JSON may hold half of one (``"\\ud83d"``), and streams are cut anywhere. A single half becomes
# U+FFFD, because no file can hold it.
_new_joiner: Final = partial(getincrementaldecoder("utf-16-le"), "replace")


def _join(joiner: IncrementalDecoder, piece: str, *, is_last: bool = False) -> str:
    return joiner.decode(piece.encode("utf-16-le", "surrogatepass"), is_last)


class StreamCallbackError(Exception):
    """An error of the caller's ``on_text``.

    It is wrapped so that adapters do not treat it as their own.
    """


@dataclass(slots=True)
class StreamForwarder:
    """Passes on the pieces of an answer as valid Unicode.

    A piece may end within a character.
    """

    on_text: OnText
    first: float | None = None  # when the first piece came
    joiner: IncrementalDecoder = field(default_factory=_new_joiner)

    def __call__(self, piece: str) -> None:
        if not isinstance(piece, str):  # the server's fault, not the caller's
            raise TypeError("the answer contains a non-text part")
        self.first = self.first or monotonic()
        try:
            self.on_text(_join(self.joiner, piece))
        except Exception as error:  # noqa: BLE001 - it reaches the caller as it is
            raise StreamCallbackError(error) from None


@dataclass(frozen=True, slots=True)
class Retry:
    attempts: int = 5  # including the first
    first: float = 1.0  # seconds before the second attempt; doubled each time
    longest: float = 30.0  # seconds before any attempt
    patience: float = 120.0  # seconds; a provider that asks for a longer delay is an error

    def wait(self, failed: int, error: ProviderError, left: float | None = None) -> float:
        """Return how many seconds to wait before the next attempt, or raise the error."""
        delay = error.retry_after
        limit = self.patience if left is None else min(self.patience, left)
        if error.retryable and delay is not None and delay > limit:
            later = f"{datetime.now().astimezone() + timedelta(seconds=delay):%Y-%m-%d %H:%M:%S}"
            raise ProviderError(
                f"{error}; it asks to wait {delay:,.0f} s, longer than the limit of {limit:,.0f} s: "
                f"try again after {later}",
                status=error.status,
                retry_after=delay,
            ) from None
        if not error.retryable or failed >= self.attempts:
            raise error
        if delay is not None:
            return delay
        # Callers that failed together should not retry together.
        jitter = random.uniform(0.75, 1.0)  # noqa: S311 - no secret
        return doubling_delay(failed, self.first, self.longest) * jitter


logger: Final = logging.getLogger(__name__)
MALFORMED: Final = frozenset({400, 422})  # statuses of a request rejected by the provider
NO_IMAGES: Final = 500  # llama.cpp's status for images if its model supports none
TEXT_ALONE: Final = (
    "text_alone"  # key in ``raw`` of a reply whose request was repeated as text only
)


@dataclass(frozen=True, slots=True)
class Client:
    """A client of one provider."""

    provider: str
    transport: Transport = field(repr=False)
    model: str = ""  # the default
    retry: Retry = field(default_factory=Retry)
    # Called before each wait with its seconds and the error
    on_wait: Callable[[float, ProviderError], None] | None = field(default=None, repr=False)
    ratio: TokenRatio = OWN_COUNT  # for the check against the model's window
    layers: tuple[Middleware, ...] = field(default=(), repr=False)  # outermost first
    address: str = ""  # ``""``: the provider's default

    def supported(self, request: ChatRequest) -> ChatRequest:
        """Return the request with its model and only supported options."""
        model = request.model or self.model
        takes = known_model(self.provider, model)
        has_form = takes.response_format is not ResponseFormat.TEXT
        return replace(
            request,
            model=model,
            temperature=takes.temperature(request.temperature),
            schema=request.schema if has_form else None,
            effort=request.effort if takes.takes_effort else None,
            tools=request.tools if takes.takes_tools else (),
        )

    def planned(self, request: ChatRequest) -> ChatRequest:
        """Return the request with its plan and only supported options."""
        request = self.supported(request)
        if request.plan is not UNPLANNED:
            return request
        tokens, system = count_prompt(request.prompt).segments, request.system
        plan = plan_request(
            HashedPrompt.of(request.prompt, tokens, system=system, system_tokens=count(system)),
            cache_policy(self.provider, request.model),
            message=request.message,
            message_tokens=count(request.message) + sum(map(count, loop_texts(request))),
            turns=request.turns,
        )
        return replace(request, plan=plan)

    def send(self, request: ChatRequest, on_text: OnText | None = None) -> Reply:
        """Send a request and return the answer.

        ``on_text`` is called with each piece of the answer; without it the answer is not streamed.

        Raises:
            ClientSetupError: The model is missing, or the request is empty.
            PromptTooLongError: The request exceeds the model's context window.
            ProviderError: The provider refused, failed after all retries, or timed out.
        """

        def log_unclosed(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            logger.debug("left over by a request: %s", context.get("message"))

        async def in_own_loop() -> Reply:
            # By default a loop prints a traceback for resources left open by an SDK.
            asyncio.get_running_loop().set_exception_handler(log_unclosed)
            return await self.exchange(request, on_text)

        return run_async(in_own_loop())

    async def exchange(self, request: ChatRequest, on_text: OnText | None = None) -> Reply:
        """Send a request and return the answer, as a coroutine; cancelling its task stops the request."""
        ask: Ask = self._exchange
        for layer in reversed(self.layers):
            ask = partial(layer, ask)
        return await ask(request, on_text)

    def through(self, layer: Middleware) -> "Client":
        """Return a client whose requests pass through another function, ``layer``, before all others."""
        return replace(self, layers=(layer, *self.layers))

    async def _exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply:
        request = self.planned(request)
        plan, model, seconds = request.plan, request.model, request.seconds
        if not model:
            raise ClientSetupError(
                f"{self.provider}: no model is set: add --model, or model in the persona"
            )
        if not messages_of(plan):
            raise ClientSetupError("there is nothing to send: the prompt and the message are empty")
        check_window(plan, model, request.max_output, ratio=self.ratio)
        forwarder, meter = StreamForwarder(on_text) if on_text else None, request.meter
        meter.is_open = False
        begun = monotonic()
        try:
            async with asyncio.timeout(seconds) as limit:
                deadline = None if seconds is None else begun + seconds
                reply = await self._ask(request, forwarder, deadline)
        except TimeoutError:
            if not limit.expired():
                raise
            raise ProviderError(f"{self.provider} did not answer within {seconds:g} s") from None
        except StreamCallbackError as failure:
            raise failure.args[0] from None
        meter.report(reply.usage)
        is_paid = self.provider != SCRIPTED
        return replace(
            reply,
            text=_join(_new_joiner(), reply.text, is_last=True),
            price=cost(reply.usage, model, provider=self.provider) if is_paid else Decimal(0),
            first_piece=forwarder.first - begun if forwarder and forwarder.first else None,
        )

    async def _ask(
        self, request: ChatRequest, forwarder: StreamForwarder | None, deadline: float | None
    ) -> Reply:
        """Return the answer to a request.

        If the provider rejects it, try once more with texts only.
        """
        failed = 0
        while True:
            try:
                return await self.transport.exchange(request, forwarder)
            except ProviderError as error:
                # The SDK's error holds the request with its headers and open streams.
                error.__context__ = None
                failed += 1
                request.meter.end()
                if forwarder and forwarder.first:
                    raise
                is_sure = failed >= self.retry.attempts or not error.retryable
                has_refused_images = error.status == NO_IMAGES and request.plan.has_images
                is_refused = error.status in MALFORMED or (has_refused_images and is_sure)
                if is_refused and request != request.text_only:
                    reply = await self._ask(request.text_only, forwarder, deadline)
                    return replace(reply, raw={**reply.raw, TEXT_ALONE: True})
                seconds_left = None if deadline is None else deadline - monotonic()
                seconds = self.retry.wait(failed, error, seconds_left)
                if self.on_wait:
                    self.on_wait(seconds, error)
            await asyncio.sleep(seconds)


def redacting(
    allow: Collection[str] = (), *, tell: Callable[[str], None] | None = None
) -> Middleware:
    """Return a client layer that replaces secrets in requests.

    It is passed to ``Client.through``. Tools and other workers add texts after the prompt is redacted. ``allow`` are
    hashes of harmless values; ``tell`` is called once for each secret.
    """
    redaction, sentences = Redaction(frozenset(allow)), set[str]()

    def without_secrets(source: str, text: str) -> str:
        result = redact(text, redaction)
        for finding in result.findings:
            sentence = f"{source}:{finding.line}: {finding.sentence}"
            if tell and sentence not in sentences:
                sentences.add(sentence)
                tell(sentence)
        return result.text

    async def redacted(ask: Ask, request: ChatRequest, on_text: OnText | None) -> Reply:
        def redacted_turn(turn: LoopTurn) -> LoopTurn:
            results = tuple(
                replace(result, text=without_secrets(result.call.name, result.text))
                for result in turn.results
            )
            return replace(turn, results=results, note=without_secrets("message", turn.note))

        segments = (
            replace(part, text=without_secrets(part.source or part.section.value, part.text))
            for part in request.prompt.segments
        )
        safe = replace(
            request,
            prompt=Prompt(tuple(segments)),
            system=without_secrets("instructions", request.system),
            message=without_secrets("message", request.message),
            turns=request.turns and tuple(map(redacted_turn, request.turns)),
        )
        return await ask(safe, on_text)

    return redacted


_MODEL = "claude-sonnet-5"
# Answers in order, errors among them raised; or a function called with each request.
Script = Iterable[str | Reply | ProviderError] | Callable[[ChatRequest], str | Reply]


@dataclass(slots=True)
class ScriptedTransport:
    """An adapter with scripted answers for tests, which records requests and simulates a cache."""

    answers: Iterator[str | Reply | ProviderError] | Callable[[ChatRequest], str | Reply]
    cache: SimulatedCache = field(default_factory=SimulatedCache)
    requests: list[ChatRequest] = field(default_factory=list)

    async def exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply:
        self.requests.append(request)
        answer = self.answers(request) if callable(self.answers) else next(self.answers, None)
        if answer is None:
            raise ProviderError(
                f"the script has no answer to request {len(self.requests)}: add one"
            )
        if isinstance(answer, ProviderError):
            raise answer
        usage, self.cache = charge(request.plan, self.cache)
        if isinstance(answer, str):
            answer = Reply(answer, replace(usage, output=count(answer)), model=request.model)
        if on_text:
            for line in answer.text.splitlines(keepends=True):
                on_text(line)
        return answer


def scripted_client(
    script: Script | None = None, *, cache: SimulatedCache | None = None, model: str = _MODEL
) -> Client:
    script = _describe if script is None else script
    answers = script if callable(script) else iter(script)
    return Client("scripted", ScriptedTransport(answers, cache or SimulatedCache()), model)


def _describe(request: ChatRequest) -> str:
    plan = request.plan
    blocks = f"{len(plan.blocks):,} block{'s' * (len(plan.blocks) != 1)}"
    return f"No model was asked; {plan.total:,} tokens in {blocks} arrived at the scripted client."
