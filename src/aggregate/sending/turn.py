"""One turn of a discussion: its plan and cost; send it, and store prompt and answer."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from aggregate.base.disk.writing import confined, create_private
from aggregate.base.errors import OutputError, ProviderError
from aggregate.project.configuration import Project
from aggregate.project.history import NO_DISCUSSION, append_turns, history_file, replace_last_turns
from aggregate.prompt import Composition
from aggregate.prompt.asking import Request
from aggregate.prompt.audit import record_audit
from aggregate.prompt.document import Prompt
from aggregate.prompt.output.numbered_output import reply_path, request_log_path, write_numbered
from aggregate.sending.cache.file_order import OrderedPrompt
from aggregate.sending.cache.hashed_prompt import PrefixReport
from aggregate.sending.cache.request_plan import BlockRole, RequestPlan, role_and_words
from aggregate.sending.clients.client import TEXT_ALONE, ChatRequest, Client, OnText
from aggregate.sending.learned_models import NOTHING, Endpoint, Learned, learn_from
from aggregate.sending.model_selection import ModelSelection
from aggregate.sending.models import NO_REPLY, SCRIPTED, SHORT_LIFETIME, FinishReason, Reply, Usage
from aggregate.sending.prices import Bill, check_limits, cost, keep_charge
from aggregate.sending.request_log import LoggedRequest, write_request

USER, ASSISTANT = "User", "AI"  # roles in a discussion's file


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn of a discussion: the composed prompt, the request, and later the answer."""

    project: Project
    client: Client  # with the provider's token ratio
    selection: ModelSelection
    asked: ChatRequest  # with its plan, without secrets
    request: Request  # its history ends with the user's message
    composition: Composition  # in the order of the configuration
    ordered: OrderedPrompt  # in the order for sending
    expected: Usage  # expected cache reads and writes
    record: LoggedRequest
    prefix: PrefixReport | None  # shared with the last prompt, ``None`` for the first one
    budget: int | None  # of the whole request by the provider's count, ``None`` for no limit
    warnings: tuple[str, ...]
    replaces: tuple[Mapping[str, Any], ...] = ()  # last turns to replace after the answer
    looked: tuple[str, ...] = ()  # picks and price of a second look (T-10)
    learned: Learned = NOTHING
    begun: float = field(default_factory=time.time)  # planning time, seconds since the epoch
    reply: Reply = NO_REPLY
    # ``None`` outside of all discussions and without a project file
    history: Path | None = None
    answer: Path | None = None  # the file of the answer
    doubts: tuple[str, ...] = ()  # about the answer

    @property
    def plan(self) -> RequestPlan:
        return self.asked.plan

    @property
    def path(self) -> Path:
        """The file of the prompt."""
        return self.record.path

    @property
    def prompt(self) -> Prompt:
        return self.ordered.prompt.prompt

    @property
    def provider_tokens(self) -> int:
        """Input tokens of the request, estimated as the provider counts them (B-10)."""
        return self.client.ratio.provider_tokens(self.plan.total)

    @property
    def forecast(self) -> Usage:
        """Expected usage of the request in the provider's tokens."""
        return self.client.ratio.provider_usage(self.expected)

    @property
    def expected_price(self) -> Decimal | None:
        """Expected price of the input; part of the expected cache reads may fail."""
        forecast, lost = self.forecast, Decimal(str(self.learned.miss_share))
        price, missed = self.price(forecast), self.price(self._all_anew)
        if price is None or missed is None or not forecast.cache_read:
            return price
        return price * (1 - lost) + missed * lost

    @property
    def _all_anew(self) -> Usage:
        """Usage of the request if the cache holds nothing."""
        layout, tokens = self.plan.layout, self.forecast.input
        if not layout.breakpoints:
            return Usage(fresh=tokens)
        is_long = any(lives > self.plan.policy.seconds for lives in layout.lifetimes)
        return Usage(cache_write=tokens, cache_write_long=tokens * is_long)

    @property
    def most_it_costs(self) -> Decimal | None:
        """Price of the request if the cache holds nothing and the answer has its maximum length."""
        return self.price(replace(self._all_anew, output=self.asked.max_output))

    @property
    def stopped_bill(self) -> Bill | None:
        """Cost of the request if it failed or was stopped, ``None`` if it was free."""
        return self.client.stopped_bill(self.asked, self.forecast)

    @property
    def bill(self) -> Bill:
        return Bill.of(self.client.provider, self.asked.model, self.forecast, self.reply.usage)

    def price(self, usage: Usage) -> Decimal | None:
        return cost(usage, self.asked.model, provider=self.client.provider)

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """The planned blocks as JSON data, without the user's message after the prompt."""
        plan, layout, segments = self.plan, self.plan.layout, self.ordered.prompt.segments
        blocks = []
        for start, end in pairwise((0, *layout.ends)):
            parts = [part for part in segments[start:end] if part.tokens]
            if not parts:
                continue
            role = role_and_words([part.segment for part in segments[start:end]])[0]
            is_marked = end in layout.breakpoints
            blocks.append(
                {
                    "role": role.value if end > 1 else BlockRole.SYSTEM.value,
                    "sources": [part.source or f"[{part.section}]" for part in parts],
                    "images": [image.path for part in parts for image in part.images],
                    "segments": len(parts),
                    "tokens": sum(part.tokens for part in parts),
                    "up_to": plan.tokens[end - 1],
                    "marked": is_marked,
                    "lifetime": layout.lifetime(end, plan.policy.seconds) if is_marked else 0,
                }
            )
        return blocks


def send_turn(
    prepared: Exchange, *, on_text: OnText | None = None, received: Reply | None = None
) -> Exchange:
    """Send and store a prepared turn, and return its reply.

    The prompt is written before sending and the answer while it is received, each to its own file, so that nothing
    paid for is lost; after a failure a note on the error names the file. The discussion only changes after a whole
    answer. A project without a file leaves the turns to its caller.

    ``on_text`` is called with each piece of the answer. If it raises an ``OSError`` or ``OutputError``, such as for
    closed output, the rest is still received and the error raised at the end. With an answer ``received`` by a host
    nothing is sent.
    """
    client, folder = prepared.client, prepared.project.folder
    if received is None and client.provider != SCRIPTED:
        check_limits(
            client.model,
            lambda: prepared.most_it_costs,
            max_output=prepared.asked.max_output,
            most=prepared.selection.most,
            projects_daily=prepared.project.config.send.most_per_day,
        )
    history = _history(prepared)
    log = _write_prompt(prepared)
    if received is not None:
        os.utime(request_log_path(log.path), (prepared.begun, prepared.begun))
    # Recorded with the first piece, in case the program is killed before the last one.
    with _ReplyFile(log.path, on_text, on_first=lambda: _record(log)) as file:
        bill: Bill | None = None
        try:
            reply = received or client.send(prepared.asked, file)
            completed = replace(prepared, reply=reply, record=log, history=history)
            bill = completed.bill
            problems: tuple[str, ...] = ()
            if received is None:
                problems = keep_charge(folder, client.provider, prepared.asked.model, bill)
            file.finish(_text_or_refusal(reply))
            _check_answer(reply, client.provider)
            if history is not None:
                _add_turns(prepared, reply, history)
            problem = write_request(log)
            if file.error is not None:
                raise file.error
        except BaseException as error:
            if bill or not file.is_empty:
                _record(log)
            file.name_in(error, "the answer" if bill else "the partial answer")
            if bill is None and (stopped := prepared.stopped_bill):
                keep_charge(folder, client.provider, prepared.asked.model, stopped)
                if stopped.price is not None:
                    error.add_note(f"it cost {stopped.sentence}")
            raise
    if received is not None:  # a host may call again after a failure: only stored turns are refused
        problems = keep_charge(folder, client.provider, prepared.asked.model, bill)
    completed = replace(completed, answer=None if file.is_empty else file.path)
    doubts = (*_learn(completed), *problems, *_doubts(completed, problem, file.problem))
    return replace(completed, doubts=doubts)


def _history(prepared: Exchange) -> Path | None:
    request, config = prepared.request, prepared.project.path
    if config is None or request.discussion == NO_DISCUSSION:
        return None
    path = history_file(config, request.discussion, request.output_dir)
    return confined(path, request.written_in)


def _write_prompt(prepared: Exchange) -> LoggedRequest:
    """Write the prompt, its audit, and a record without an answer; return the record of the request."""
    request, prompt = prepared.request, prepared.prompt
    folder, name = request.output_dir, request.namespace
    path = write_numbered(folder, name, prompt.pieces(), project=request.written_in)
    if request.is_audited:
        record_audit(path, request, prepared.composition, prompt)
    log = replace(prepared.record, path=path)
    write_request(LoggedRequest(path, log.prompt))  # until the first piece of an answer
    return log


def _record(log: LoggedRequest) -> None:
    with suppress(OutputError):
        write_request(log)


def _learn(completed: Exchange) -> tuple[str, ...]:
    client, pauses = completed.client, completed.record.pauses
    return learn_from(
        Endpoint(client.provider, completed.asked.model, client.address),
        completed.reply,
        sent=completed.plan.total,
        expected_read=completed.forecast.cache_read,
        needs_hour=bool(pauses)
        and pauses[-1] > SHORT_LIFETIME
        and completed.plan.policy.long_seconds > 0,
    )


def _doubts(completed: Exchange, unrecorded: str, unwritten: str) -> list[str]:
    """Return warnings about a stored turn; the arguments are reasons of failed writes."""
    warnings = []
    if TEXT_ALONE in completed.reply.raw:
        retry = "it was sent again without images, effort or schema"
        warnings.append(f"{completed.client.provider} refused the request: {retry}")
    if unrecorded:
        warnings.append(f"the next request will be planned without this one: {unrecorded}")
    if unwritten:
        warnings.append(f"the answer in {completed.answer} is incomplete: {unwritten}")
    return warnings


def _add_turns(prepared: Exchange, reply: Reply, history: Path) -> None:
    # Confined again, because a link may have been created meanwhile.
    path = confined(history, prepared.request.written_in)
    question = cast("Mapping[str, str]", prepared.request.history[-1])
    turns = (question, {"role": ASSISTANT, "content": reply.text})
    if not prepared.replaces:
        append_turns(path, turns)
    elif not replace_last_turns(path, prepared.replaces, turns):
        raise OutputError(
            f"{path} was changed during the request: the new answer was not written to it"
        )


def _check_answer(reply: Reply, provider: str) -> None:
    if reply.stop is FinishReason.REFUSED:
        words = _text_or_refusal(reply).split()
        reason = f" ({' '.join(words)[:200]})" if words else ""
        raise ProviderError(f"{provider} refused to answer{reason}: the discussion stays unchanged")
    if not reply.text.strip():
        raise ProviderError(
            f"{provider} answered nothing ({reply.stop.value}): the discussion stays unchanged"
        )


def _text_or_refusal(reply: Reply) -> str:
    return reply.text or str(reply.raw.get("refusal") or "")


class _ReplyFile:
    """The file of a partly received answer.

    It is written with each piece, so that a kill loses nothing.
    """

    def __init__(
        self, prompt: Path, on_text: OnText | None, *, on_first: Callable[[], None]
    ) -> None:
        self.path = reply_path(prompt)
        self.problem = ""  # why it is incomplete, such as a full disk
        self.is_empty = True  # only blanks so far
        # Raised by ``on_text``, which is then not called again
        self.error: OSError | OutputError | None = None
        self._on_text, self._on_first = on_text, on_first
        self._pieces: list[str] = []
        try:
            self._descriptor = create_private(self.path)
        except OSError as error:
            raise OutputError(
                f"cannot write {self.path} for the answer: {error.strerror or error}; nothing was sent"
            ) from error

    def __enter__(self) -> "_ReplyFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        try:
            if not self.is_empty:
                os.fsync(self._descriptor)
        except OSError as failure:
            self.problem = failure.strerror or str(failure)
        finally:
            os.close(self._descriptor)
        if self.is_empty:
            self.path.unlink(missing_ok=True)

    def name_in(self, error: BaseException, content: str) -> None:
        if not self.is_empty:
            extent = f", as far as it could be written ({self.problem})" if self.problem else ""
            error.add_note(f"{content} is in {self.path}{extent}")

    def __call__(self, piece: str) -> None:
        self._pieces.append(piece)
        was_empty = self.is_empty
        self._write(piece)
        try:
            if self._on_text is not None and self.error is None:
                self._on_text(piece)
        except (OSError, OutputError) as error:
            self.error = error
        if was_empty and not self.is_empty:
            self._on_first()

    def finish(self, text: str) -> None:
        """Write the part of the answer that was not streamed, without displaying it."""
        streamed = "".join(self._pieces)
        is_whole = text.startswith(streamed)
        self._write(text.removeprefix(streamed) if is_whole else f"\n\n{text}")

    def _write(self, piece: str) -> None:
        self.is_empty = self.is_empty and not piece.strip()
        data = memoryview(piece.encode("utf-8", "backslashreplace"))
        try:
            while data and not self.problem:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            self.problem = error.strerror or str(error)
