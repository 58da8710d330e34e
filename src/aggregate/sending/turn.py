"""Send a turn and store its prompt, answer and record, even after failures."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import cast

from aggregate.base.disk.reading import confined
from aggregate.base.disk.writing import create_private
from aggregate.base.errors import ClientSetupError, OutputError, ProviderError
from aggregate.project.configuration import user_config
from aggregate.project.history import NO_DISCUSSION, append_turns, history_file, replace_last_turns
from aggregate.prompt.audit import record_audit
from aggregate.prompt.output.numbered_output import reply_path, request_log_path, write_numbered
from aggregate.sending.bills import charged, keep_charge, spent_today
from aggregate.sending.clients.client import TEXT_ALONE
from aggregate.sending.clients.learned import Learned, record_usage
from aggregate.sending.clients.protocol import OnText
from aggregate.sending.exchange import Exchange
from aggregate.sending.models import SCRIPTED, SHORT_LIFETIME, FinishReason, Reply, Usage, dollars
from aggregate.sending.request_log import LoggedRequest, write_request

USER, ASSISTANT = "User", "AI"  # roles in a discussion's file
_LOWEST_SHARE = 2 / 3  # of o200k's tokens: no vocabulary needs fewer
# Windows are multiples of 1,024: a server reports exactly its window after cutting a prompt to it.
_WINDOW_STEP = 1024
_CUT_SHARE = 0.95
_FEWEST_TO_JUDGE = 512  # shorter prompts vary too much with a server's own wrapping


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
    request, client, project = prepared.request, prepared.client, prepared.project
    if received is None:
        check_limit(prepared)
    history = None
    if project.path is not None and request.discussion != NO_DISCUSSION:
        history = confined(
            history_file(project.path, request.discussion, request.output_dir), request.written_in
        )
    path = write_numbered(
        request.output_dir, request.namespace, prepared.prompt.pieces(), project=request.written_in
    )
    if request.is_audited:
        record_audit(path, request, prepared.composition, prepared.prompt)
    log = replace(prepared.record, path=path)
    write_request(log.unsent)  # until the first piece of an answer
    if received is not None:
        os.utime(request_log_path(path), (prepared.begun, prepared.begun))
    # Recorded with the first piece, in case the program is killed before the last one.
    with _ReplyFile(path, on_text, on_first=lambda: _record(log)) as file:
        content, problems = "", list[str]()
        try:
            reply = received or charged(client, project.folder, problems).send(prepared.asked, file)
            content = "the answer"
            file.finish(_text_or_refusal(reply))
            _check_answer(reply, client.provider)
            if history is not None:
                _add_turns(prepared, reply, history)
            problem = write_request(log)
            if file.error is not None:
                raise file.error
        except BaseException as error:
            if content or not file.is_empty:
                _record(log)
            file.name_in(error, content or "the partial answer")
            bill = None if content else prepared.stopped_bill
            if bill and bill.price is not None:
                error.add_note(f"it cost {bill.sentence}")
            raise
    sent, usage = prepared.plan.total, reply.usage
    warnings = truncation_warning(sent, usage, client.provider) or record_usage(
        prepared.endpoint, prepared.kinds, usage, learn=partial(_learn, prepared, reply)
    )
    if received is not None:
        problems += keep_charge(
            project.folder, client.provider, client.model, replace(prepared, reply=reply).bill
        )
    warnings += tuple(problems)
    if TEXT_ALONE in reply.raw:
        retry = "it was sent again without images, effort or schema"
        warnings += (f"{client.provider} refused the request: {retry}",)
    if problem:
        warnings += (f"the next request will be planned without this one: {problem}",)
    if file.problem:
        warnings += (f"the answer in {file.path} is incomplete: {file.problem}",)
    answer = None if file.is_empty else file.path
    return replace(
        prepared, reply=reply, record=log, history=history, answer=answer, doubts=warnings
    )


def check_limit(prepared: Exchange) -> None:
    """Raise an error if a request could cost more than a limit allows."""
    client, most_dollars = prepared.client, prepared.selection.most
    tables = (prepared.project.config.send.most_per_day, user_config().send.most_per_day)
    daily = min((most for most in tables if most is not None), default=None)
    if client.provider == SCRIPTED or (most_dollars is None and daily is None):
        return
    could = prepared.most_it_costs
    if could is None:
        raise ClientSetupError(
            f"cannot apply a limit in dollars: the price of {client.model} is unknown: set it under "
            f'[models."{client.model}"] in your own configuration'
        )
    spent = spent_today() if daily is not None else Decimal(0)
    for limit, so_far, name in (
        (most_dollars, Decimal(0), "--most"),
        (daily, spent, "most_per_day"),
    ):
        if limit is not None and so_far + could > Decimal(str(limit)):
            today = f", and {dollars(so_far)} were spent today" if so_far else ""
            raise ClientSetupError(
                f"it could cost {dollars(could)}, with nothing read from a cache and {prepared.asked.max_output:,} "
                f"tokens of answer{today}; {name} is ${limit:g}: lower --max-output or --budget, or raise the limit"
            )


def _learn(prepared: Exchange, reply: Reply, learned: Learned) -> Learned:
    forecast, pauses = prepared.forecast, prepared.record.pauses
    if forecast.cache_read:
        age = pauses[-1] if pauses else 0.0
        learned = learned.after_read(
            expected=forecast.cache_read,
            read=reply.usage.cache_read,
            needs_hour=age > SHORT_LIFETIME and prepared.plan.policy.long_seconds > 0,
        )
    return learned if reply.first_piece is None else learned.after_piece(reply.first_piece)


def truncation_warning(sent: int, usage: Usage, provider: str) -> tuple[str, ...]:
    """Return a warning if the server probably cut the prompt.

    Local servers do so silently, Ollama at 4,096 tokens.
    """
    read = usage.input
    if not read or sent < _FEWEST_TO_JUDGE:
        return ()
    equals_a_window = read % _WINDOW_STEP == 0 and read < sent * _CUT_SHARE
    if read >= sent * _LOWEST_SHARE and not equals_a_window:
        return ()
    return (
        f"{provider} has read {read:,} tokens of about {sent:,}: it has probably cut the prompt to its context window; "
        "give the server a larger window, or send less",
    )


def _record(log: LoggedRequest) -> None:
    with suppress(OutputError):
        write_request(log)


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
        self.error: OSError | OutputError | None = (
            None  # raised by ``on_text``, then not called again
        )
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
