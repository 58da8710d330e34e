"""The client of every provider, which asks again and can be stopped, and one by a script."""

import asyncio
import logging
import random
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from threading import RLock
from time import monotonic
from typing import Any, Final

from aggregate.base.concurrency import doubling_delay, run_async
from aggregate.base.errors import ClientSetupError, ProviderError
from aggregate.base.redaction import Redaction, redact
from aggregate.base.tokens import count
from aggregate.prompt import count_prompt
from aggregate.prompt.document import Prompt
from aggregate.sending.cache.fingerprint import HashedPrompt
from aggregate.sending.cache.request_plan import (
    RequestPlan,
    SimulatedCache,
    charge,
    messages_of,
    plan_request,
)
from aggregate.sending.clients.own_models import (
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

# Puts the halves of characters together: JSON may hold one alone (``"\\ud83d"``), and streams are cut anywhere. A half
# whose other half does not come is shown as U+FFFD: no file could hold it.
_new_joiner: Final = partial(getincrementaldecoder("utf-16-le"), "replace")


def _join(joiner: IncrementalDecoder, piece: str, *, is_last: bool = False) -> str:
    return joiner.decode(piece.encode("utf-16-le", "surrogatepass"), is_last)


class StreamCallbackError(Exception):
    """What the caller's function has raised, on its way past an adapter that would take it for the provider's."""


@dataclass(slots=True)
class StreamForwarder:
    """Passes the pieces of an answer on as text that a file can hold, and knows whether there was one."""

    on_text: OnText
    first: float | None = None  # when the first piece came
    joiner: IncrementalDecoder = field(default_factory=_new_joiner)

    def __call__(self, piece: str) -> None:
        if not isinstance(piece, str):  # the server's fault, not the caller's
            raise TypeError("a piece of the answer is no text")
        self.first = self.first or monotonic()
        try:
            self.on_text(_join(self.joiner, piece))
        except Exception as error:  # noqa: BLE001 - it reaches the caller as it is
            raise StreamCallbackError(error) from None


@dataclass(frozen=True, slots=True)
class Retry:
    attempts: int = 5  # exchanges in all
    first: float = 1.0  # before the second one; doubled each time
    longest: float = 30.0  # before any
    # that a provider's own delay is followed; beyond, the error is raised at once
    patience: float = 120.0

    def wait(self, failed: int, error: ProviderError, left: float | None = None) -> float:
        """Return the seconds until the next attempt.

        Args:
            failed: Attempts so far.
            error: The last one's failure, which is raised where no attempt follows.
            left: Seconds until the request's time is over, ``None`` for no limit.
        """
        asked = error.retry_after
        limit = self.patience if left is None else min(self.patience, left)
        if error.retryable and asked is not None and asked > limit:
            later = f"{datetime.now().astimezone() + timedelta(seconds=asked):%Y-%m-%d %H:%M:%S}"
            raise ProviderError(
                f"{error}; it asks to wait {asked:,.0f} s, longer than the limit of {limit:,.0f} s: "
                f"try again after {later}",
                status=error.status,
                retry_after=asked,
            ) from None
        if not error.retryable or failed >= self.attempts:
            raise error
        if asked is not None:
            return asked
        # Callers that failed together should not come back together.
        jitter = random.uniform(0.75, 1.0)  # noqa: S311 - no secret
        return doubling_delay(failed, self.first, self.longest) * jitter


class RequestStop:
    """Ends one request as soon as it is asked to, also while it waits to be repeated."""

    def __init__(self) -> None:
        self._lock = RLock()  # a second Ctrl-C may come in the middle of the first one's handler
        self._is_set = False
        self._cancel: Callable[[], object] | None = None

    def set(self) -> None:
        """End the request, or keep it from beginning; may be called from any thread, and more than once."""
        with self._lock:
            self._is_set = True
            if self._cancel:
                self._cancel()

    async def guarded(self, ask: Ask, request: ChatRequest, on_text: OnText | None) -> Reply:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(ask(request, on_text))
        with self._lock:
            self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
            if self._is_set:
                task.cancel()
        try:
            return await task
        except asyncio.CancelledError:
            if not self._is_set:
                raise
            raise ProviderError("the request was stopped") from None
        finally:
            with self._lock:
                self._cancel = None  # the loop ends with the request


logger: Final = logging.getLogger(__name__)
MALFORMED: Final = frozenset({400, 422})  # a request that a provider does not understand
NO_IMAGES: Final = 500  # the status of llama.cpp's server for images where its model takes none
TEXT_ALONE: Final = "text_alone"  # in a reply's ``raw``: what stood beside the text was refused


@dataclass(frozen=True, slots=True)
class Client:
    """Sends prompts to one provider."""

    provider: str
    transport: Transport = field(repr=False)
    model: str = ""  # the one to ask where the caller names none
    retry: Retry = field(default_factory=Retry)
    # Called with the seconds before each wait and its reason
    on_wait: Callable[[float, ProviderError], None] | None = field(default=None, repr=False)
    # How the provider counts, for the check against the model's window
    ratio: TokenRatio = OWN_COUNT
    layers: tuple[Middleware, ...] = field(default=(), repr=False)  # the outermost first
    address: str = ""  # where the provider is reached, ``""`` for its own

    def planned(self, request: ChatRequest) -> ChatRequest:
        """Return the request as the provider takes it, with the blocks that are sent; planned once, it stays so."""
        model = request.model or self.model
        takes = known_model(self.provider, model).takes
        has_form = takes.response_format is not ResponseFormat.TEXT
        return replace(
            request,
            model=model,
            temperature=takes.temperature(request.temperature),
            schema=request.schema if has_form else None,
            effort=request.effort if takes.takes_effort else None,
            tools=request.tools if takes.takes_tools else (),
            plan=request.plan if request.is_planned else self._plan(request, model),
        )

    def _plan(self, request: ChatRequest, model: str) -> RequestPlan:
        tokens, system = count_prompt(request.prompt).segments, request.system
        return plan_request(
            HashedPrompt.of(request.prompt, tokens, system=system, system_tokens=count(system)),
            cache_policy(self.provider, model),
            message=request.message,
            message_tokens=count(request.message) + sum(map(count, loop_texts(request))),
            turns=request.turns,
        )

    def send(self, request: ChatRequest, on_text: OnText | None = None) -> Reply:
        """Send a request and return the answer.

        ``on_text`` is called with each piece of the answer as it comes; with none the answer is not streamed.

        Raises:
            ClientSetupError: There is no model to ask, or nothing to send.
            PromptTooLongError: The request exceeds the model's context window.
            ProviderError: The provider refused or failed, after all retries, or the time is over.
        """

        def log_unclosed(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            logger.debug("left over by a request: %s", context.get("message"))

        async def in_own_loop() -> Reply:
            # By default a loop prints a traceback of what an SDK could not close.
            asyncio.get_running_loop().set_exception_handler(log_unclosed)
            return await self.exchange(request, on_text)

        return run_async(in_own_loop())

    async def exchange(self, request: ChatRequest, on_text: OnText | None = None) -> Reply:
        """Do what ``send`` does without blocking; cancelling the task ends the request."""
        ask: Ask = self._exchange
        for layer in reversed(self.layers):
            ask = partial(layer, ask)
        return await ask(request, on_text)

    def through(self, layer: Middleware) -> "Client":
        """Return this client with one more layer around each exchange, the outermost."""
        return replace(self, layers=(layer, *self.layers))

    def stoppable(
        self, on_wait: Callable[[float, ProviderError], None]
    ) -> tuple["Client", Callable[[], None]]:
        """Return this client for one request, and what ends that from any thread."""
        stop = RequestStop()
        return replace(self, on_wait=on_wait).through(stop.guarded), stop.set

    async def _exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply:
        request = self.planned(request)
        plan, model, seconds = request.plan, request.model, request.seconds
        if not model:
            raise ClientSetupError(
                f"{self.provider}: no model is named: add --model, or model in the persona"
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
        is_known = self.provider != SCRIPTED  # where nobody was asked nothing was paid
        return replace(
            reply,
            text=_join(_new_joiner(), reply.text, is_last=True),
            price=cost(reply.usage, model, provider=self.provider) if is_known else Decimal(0),
            first_piece=forwarder.first - begun if forwarder and forwarder.first else None,
        )

    async def _ask(
        self, request: ChatRequest, forwarder: StreamForwarder | None, deadline: float | None
    ) -> Reply:
        """Return the answer; a request that is refused as malformed is made once more with its text alone."""
        failed = 0
        while True:
            try:
                return await self.transport.exchange(request, forwarder)
            except ProviderError as error:
                # The SDK's error, which holds the request with its headers and open streams.
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
                left = None if deadline is None else deadline - monotonic()
                seconds = self.retry.wait(failed, error, left)
                if self.on_wait:
                    self.on_wait(seconds, error)
            await asyncio.sleep(seconds)


def redacting(
    allow: Collection[str] = (), *, tell: Callable[[str], None] | None = None
) -> Middleware:
    """Return what replaces the secrets in each request, for texts that tools and other workers make on the way.

    ``allow`` are hashes of values that are no secrets; ``tell`` hears of each secret once.
    """
    redaction, told = Redaction(frozenset(allow)), set[str]()

    def without_secrets(place: str, text: str) -> str:
        result = redact(text, redaction)
        for finding in result.findings:
            sentence = f"{place}:{finding.line}: {finding.sentence}"
            if tell and sentence not in told:
                told.add(sentence)
                tell(sentence)
        return result.text

    async def redacted(ask: Ask, request: ChatRequest, on_text: OnText | None) -> Reply:
        def redacted_turn(turn: LoopTurn) -> LoopTurn:
            results = tuple(
                replace(one, text=without_secrets(one.call.name, one.text)) for one in turn.results
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
# Answers in order, an error among them is raised; or a function that answers each request.
Script = Iterable[str | Reply | ProviderError] | Callable[[ChatRequest], str | Reply]


@dataclass(slots=True)
class ScriptedTransport:
    """The adapter: it keeps every request, and a cache that lives as long as it does."""

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
    answers = script if callable(script) else iter(script) if script is not None else _describe
    return Client("scripted", ScriptedTransport(answers, cache or SimulatedCache()), model)


def _describe(request: ChatRequest) -> str:
    plan = request.plan
    blocks = f"{len(plan.blocks):,} block{'s' * (len(plan.blocks) != 1)}"
    return f"No model was asked; {plan.total:,} tokens in {blocks} arrived at the scripted client."
