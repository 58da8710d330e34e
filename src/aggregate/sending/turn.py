"""A turn from a message to its record: compose, plan for the cache, ask, store prompt and answer."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from aggregate.base.disk.writing import confined, create_private
from aggregate.base.errors import ConfigError, OutputError, ProviderError
from aggregate.base.task_budget import AUTO, Amount, Task
from aggregate.base.values import escape_surrogates
from aggregate.project.configuration import Project, user_config
from aggregate.project.history import NO_DISCUSSION, append_turns, history_file, replace_last_turns
from aggregate.project.index import user_index
from aggregate.prompt import AskedViews, auto_budget, compose_prompt, request_for
from aggregate.prompt.asking import Request, find_persona, find_preset
from aggregate.prompt.audit import record_audit
from aggregate.prompt.output.numbered_output import reply_path, request_log_path, write_numbered
from aggregate.sending.bills import charged, check_limits, daily_limit, keep_charge
from aggregate.sending.clients.client import TEXT_ALONE, Client
from aggregate.sending.clients.model_prices import (
    Endpoint,
    check_window,
    context_window,
    record_reply,
    truncation_warning,
)
from aggregate.sending.clients.protocol import OnText
from aggregate.sending.exchange import Exchange
from aggregate.sending.model_selection import ModelSelection, request_of, select_model
from aggregate.sending.models import SCRIPTED, SHORT_LIFETIME, FinishReason, Reply
from aggregate.sending.request_log import LoggedRequest, write_request
from aggregate.sending.turn_composition import TurnComposer

USER, ASSISTANT = "User", "AI"  # roles in a discussion's file


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
    check_window(turn.plan, client.model, turn.asked.max_output, ratio=turn.client.ratio)
    unused: tuple[str, ...] = ()
    if selection.effort and turn.asked.effort is None:
        model = f"{turn.provider} {turn.model}".strip()
        unused = (f"{model} does not support effort: {selection.effort} is ignored",)
    warnings = (*selection.warnings, *unused, *turn.warnings, *failures)
    return replace(turn, replaces=tuple(replaces), warnings=warnings, looked=picks)


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
    if received is None:
        _check_limits(prepared)
    history = _history(prepared)
    log = _write_prompt(prepared)
    if received is not None:
        os.utime(request_log_path(log.path), (prepared.begun, prepared.begun))
    problems: list[str] = []
    # Recorded with the first piece, in case the program is killed before the last one.
    with _ReplyFile(log.path, on_text, on_first=lambda: _record(log)) as file:
        content = ""
        try:
            reply = received or charged(client, folder, problems).send(prepared.asked, file)
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
    completed = replace(
        prepared,
        reply=reply,
        record=log,
        history=history,
        answer=None if file.is_empty else file.path,
    )
    if received is not None:
        problems += keep_charge(folder, client.provider, client.model, completed.bill)
    doubts = (*_learn(completed), *problems, *_doubts(completed, problem, file.problem))
    return replace(completed, doubts=doubts)


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
        window, answer = context_window(client.model), request_of(selection).max_output
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


def _check_limits(prepared: Exchange) -> None:
    most, daily = prepared.selection.most, daily_limit(prepared.project.config.send.most_per_day)
    if prepared.provider == SCRIPTED or (most is None and daily is None):
        return
    could, max_output = prepared.most_it_costs, prepared.asked.max_output
    check_limits(prepared.client, could=could, max_output=max_output, most=most, daily=daily)


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
    client, reply, pauses = completed.client, completed.reply, completed.record.pauses
    sent = completed.plan.total
    # What a server has cut says nothing about its vocabulary.
    if warnings := truncation_warning(sent, reply.usage.input, client.provider):
        return warnings
    return record_reply(
        Endpoint(client.provider, completed.model, client.address),
        reply,
        sent=sent,
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
        warnings.append(f"{completed.provider} refused the request: {retry}")
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
