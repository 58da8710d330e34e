"""The client of every provider, which asks again and can be stopped; one without secrets, and one by a script."""

import asyncio
import logging
import random
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any, Final, TypeVar, Unpack

from aggregate.base.concurrency import doubling_delay, run_async
from aggregate.base.errors import ClientSetupError, ProviderError
from aggregate.base.redaction import Redaction, redact
from aggregate.base.tokens import count
from aggregate.prompt import count_prompt
from aggregate.prompt.document import Prompt
from aggregate.sending.cache.breakpoints import EarlierRequest
from aggregate.sending.cache.fingerprint import HashedPrompt
from aggregate.sending.cache.request_plan import RequestPlan, SimulatedCache, charge, plan_request
from aggregate.sending.calls import LoopTurn
from aggregate.sending.clients.own_models import OWN_COUNT, TokenRatio, cache_policy, check_window
from aggregate.sending.clients.protocol import (
    DEFAULT_OPTIONS,
    ChatClient,
    ModelRequest,
    OnText,
    RequestOptions,
    ResponseFormat,
    SendOptions,
    Transport,
    capabilities_of,
    loop_texts,
)
from aggregate.sending.models import Reply


@dataclass(slots=True)
class SurrogateJoiner:
    r"""Puts the halves of characters together, also of those that were cut between two pieces of a text.

    JSON may hold half a character (``"\ud83d"``), and streams are cut anywhere. A half whose other half does not come
    is shown as U+FFFD: no file could hold it.
    """

    decoder: IncrementalDecoder = field(
        default_factory=lambda: getincrementaldecoder("utf-16-le")("replace")
    )

    def add(self, piece: str, *, last: bool = False) -> str:
        """Return what can be said of the text with this piece; ``last`` lets nothing wait for another half."""
        return self.decoder.decode(piece.encode("utf-16-le", "surrogatepass"), last)


_T = TypeVar("_T")


class StreamCallbackError(Exception):
    """What the caller's function has raised, on its way past an adapter that would take it for the provider's."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(slots=True)
class StreamForwarder:
    """Passes the pieces of an answer on as text that a file can hold, and knows whether there was one."""

    on_text: OnText
    has_begun: bool = False
    unicode: SurrogateJoiner = field(default_factory=SurrogateJoiner)

    def __call__(self, piece: str) -> None:
        if not isinstance(piece, str):  # the server's fault, not the caller's
            raise TypeError("a piece of the answer is no text")
        self.has_begun = True
        try:
            self.on_text(self.unicode.add(piece))
        except Exception as error:  # noqa: BLE001 - it reaches the caller as it is
            raise StreamCallbackError(error) from None


@dataclass(frozen=True, slots=True)
class Retry:
    attempts: int = 5  # exchanges in all
    first: float = 1.0  # before the second one; doubled each time
    longest: float = 30.0  # before any
    # that a provider's own delay is followed; beyond, the error is raised at once
    patience: float = 120.0

    def wait(self, failed: int, error: ProviderError) -> float | None:
        if not error.retryable or failed >= self.attempts:
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.patience else None
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

    async def guard(self, request: Coroutine[Any, Any, _T]) -> _T:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(request)
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
LEFT_OUT: Final = "left_out"  # in a reply's ``raw``: what the provider has refused beside the text


@dataclass(frozen=True, slots=True)
class Client:
    """Sends prompts to one provider.

    Attributes:
        provider: Its name.
        transport: The adapter.
        model: The model to ask where the caller names none.
        retry: How often failures are tried again.
        on_wait: Called with the seconds before each wait and its reason.
        ratio: How many tokens the provider counts for each of o200k's, for the check against the model's window.
        stop: What ends a request of ``exchange`` from another thread.
    """

    provider: str
    transport: Transport = field(repr=False)
    model: str = ""
    retry: Retry = field(default_factory=Retry)
    on_wait: Callable[[float, ProviderError], None] | None = field(default=None, repr=False)
    ratio: TokenRatio = OWN_COUNT
    stop: RequestStop | None = field(default=None, repr=False)

    def plan(
        self,
        prompt: Prompt,
        message: str,
        *,
        model: str = "",
        options: RequestOptions = DEFAULT_OPTIONS,
    ) -> RequestPlan:
        """Return the request that ``send`` would send."""
        tokens, system = count_prompt(prompt).segments, options.system
        return plan_request(
            HashedPrompt.of(prompt, tokens, system=system, system_tokens=count(system)),
            cache_policy(self.provider, model or self.model),
            message=message,
            message_tokens=count(message) + sum(map(count, loop_texts(options))),
            before=EarlierRequest(options.earlier),
            turns=options.turns,
        )

    def send(
        self,
        prompt: Prompt,
        message: str,
        *,
        model: str = "",
        on_text: OnText | None = None,
        options: RequestOptions = DEFAULT_OPTIONS,
    ) -> Reply:
        """Send ``prompt`` and then ``message``, and return the answer.

        Args:
            prompt: The segments; their markdown is sent byte for byte.
            message: What to say behind it, ``""`` if the prompt ends with the question.
            model: Which model; by default the client's.
            on_text: Called with each piece of the answer as it comes; with none the answer is not streamed.
            options: Instructions, limits, the form of the answer, and the last request's layout.

        Raises:
            ClientSetupError: There is no model to ask, or nothing to send.
            PromptTooLongError: The request exceeds the model's context window.
            ProviderError: The provider refused or failed, after all retries, or the time is over.
        """
        plan = self.plan(prompt, message, model=model, options=options)
        return self.exchange(self.request(plan, model=model, options=options), on_text)

    async def asend(
        self,
        prompt: Prompt,
        message: str,
        *,
        model: str = "",
        on_text: OnText | None = None,
        options: RequestOptions = DEFAULT_OPTIONS,
    ) -> Reply:
        """Do what ``send`` does without blocking; cancelling the task ends the request."""
        plan = self.plan(prompt, message, model=model, options=options)
        return await self._exchange(self.request(plan, model=model, options=options), on_text)

    def exchange(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Send a request and return the answer; the errors are those of ``send``."""

        def log_unclosed(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            logger.debug("left over by a request: %s", context.get("message"))

        async def in_own_loop() -> Reply:
            # By default a loop prints a traceback of what an SDK could not close.
            asyncio.get_running_loop().set_exception_handler(log_unclosed)
            exchange = self._exchange(request, on_text)
            return await (self.stop.guard(exchange) if self.stop else exchange)

        return run_async(in_own_loop())

    def stoppable(
        self, on_wait: Callable[[float, ProviderError], None]
    ) -> tuple["Client", Callable[[], None]]:
        """Return this client for one request, and what ends that from any thread."""
        stop = RequestStop()
        return replace(self, stop=stop, on_wait=on_wait), stop.set

    def request(
        self, plan: RequestPlan, *, model: str = "", options: RequestOptions = DEFAULT_OPTIONS
    ) -> ModelRequest:
        model = model or self.model
        capabilities = capabilities_of(self.provider, model)
        form = capabilities.response_format if options.schema else ResponseFormat.TEXT
        return ModelRequest(
            plan,
            model,
            options.max_output,
            capabilities.temperature(options.temperature),
            options.schema if form is not ResponseFormat.TEXT else None,
            form,
            options.effort if capabilities.takes_effort else None,
            options.seconds,
            options.tools if capabilities.takes_tools else (),
        )

    async def _exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        plan, model, seconds = request.plan, request.model, request.seconds
        if not model and self.provider != "gemini-cli":
            raise ClientSetupError(
                f"{self.provider}: no model is named: add --model, or model in the persona"
            )
        if not plan.blocks:
            raise ClientSetupError("there is nothing to send: the prompt and the message are empty")
        check_window(plan, model, request.max_output, ratio=self.ratio)
        forwarder = StreamForwarder(on_text) if on_text else None
        try:
            async with asyncio.timeout(seconds) as limit:
                reply = await self._ask(request, forwarder)
            return replace(reply, text=SurrogateJoiner().add(reply.text, last=True))
        except TimeoutError:
            if not limit.expired():
                raise
            raise ProviderError(f"{self.provider} did not answer within {seconds:g} s") from None
        except StreamCallbackError as failure:
            raise failure.error from None

    async def _ask(self, request: ModelRequest, forwarder: StreamForwarder | None) -> Reply:
        """Return the answer; a request that is refused as malformed is made once more with its text alone."""
        try:
            return await self._ask_repeatedly(request, forwarder)
        except ProviderError as error:
            # The SDK's error, which holds the request with its headers and open streams.
            error.__context__ = None
            has_refused_images = error.status == NO_IMAGES and request.plan.has_images
            is_refused = error.status in MALFORMED or has_refused_images
            if (
                not is_refused
                or request == request.text_only
                or (forwarder and forwarder.has_begun)
            ):
                raise
            reply = await self._ask(request.text_only, forwarder)
            return replace(reply, raw={**reply.raw, LEFT_OUT: request.beside_text})

    async def _ask_repeatedly(
        self, request: ModelRequest, forwarder: StreamForwarder | None
    ) -> Reply:
        failed = 0
        while True:
            try:
                return await self.transport.exchange(request, forwarder)
            except ProviderError as error:
                failed += 1
                if forwarder and forwarder.has_begun:
                    raise
                seconds, asked = self.retry.wait(failed, error), error.retry_after
                if seconds is None and error.retryable and (asked or 0) > self.retry.patience:
                    limit = f"longer than the limit of {self.retry.patience:,.0f} s"
                    raise ProviderError(
                        f"{error}; it asks to wait {asked:,.0f} s, {limit}: try again later",
                        status=error.status,
                        retry_after=asked,
                        retryable=True,
                    ) from None
                if seconds is None:
                    raise
                if self.on_wait:
                    self.on_wait(seconds, error)
                await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class RedactingClient:
    """Replaces the secrets in everything that it passes on, for texts that tools and other workers make on the way."""

    client: ChatClient
    allow: Collection[str] = ()  # hashes of values that are no secrets
    tell: Callable[[str], None] | None = field(default=None, repr=False)  # once for each secret
    _told: set[str] = field(default_factory=set, repr=False, compare=False)

    def send(self, prompt: Prompt, message: str, **asked: Unpack[SendOptions]) -> Reply:
        segments = tuple(
            replace(part, text=self._redacted(part.source or part.section.value, part.text))
            for part in prompt.segments
        )
        options = asked.get("options", DEFAULT_OPTIONS)
        system = self._redacted("instructions", options.system)
        turns = options.turns and tuple(map(self._redacted_turn, options.turns))
        asked["options"] = replace(options, system=system, turns=turns)
        return self.client.send(Prompt(segments), self._redacted("message", message), **asked)

    def _redacted_turn(self, turn: LoopTurn) -> LoopTurn:
        results = tuple(
            replace(one, text=self._redacted(one.call.name, one.text)) for one in turn.results
        )
        return replace(turn, results=results, note=self._redacted("message", turn.note))

    def _redacted(self, place: str, text: str) -> str:
        result = redact(text, Redaction(frozenset(self.allow)))
        for finding in result.findings:
            sentence = f"{place}:{finding.line}: {finding.sentence}"
            if self.tell and sentence not in self._told:
                self._told.add(sentence)
                self.tell(sentence)
        return result.text


_MODEL = "claude-sonnet-5"
# Answers in order, an error among them is raised; or a function that answers each request.
Script = Iterable[str | Reply | ProviderError] | Callable[[ModelRequest], str | Reply]


@dataclass(slots=True)
class ScriptedTransport:
    """The adapter: it keeps every request, and a cache that lives as long as it does."""

    answers: Iterator[str | Reply | ProviderError] | Callable[[ModelRequest], str | Reply]
    cache: SimulatedCache = field(default_factory=SimulatedCache)
    requests: list[ModelRequest] = field(default_factory=list)

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
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


def _describe(request: ModelRequest) -> str:
    plan = request.plan
    blocks = f"{len(plan.blocks):,} block{'s' * (len(plan.blocks) != 1)}"
    return f"No model was asked; {plan.total:,} tokens in {blocks} arrived at the scripted client."
