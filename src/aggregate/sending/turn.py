"""One turn of a discussion: prepared, sent, its answer kept, and what was sent recorded."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from aggregate.base.disk import confined, project_root
from aggregate.base.errors import OutputError, ProviderError
from aggregate.base.values import FinishReason, Reply, Usage
from aggregate.project.configuration import Project, is_trusted
from aggregate.project.history import NO_DISCUSSION, append_turns, history_file, replace_last_turns
from aggregate.prompt import Request, record_audit, request_log_path, write_numbered
from aggregate.sending.clients.client import LEFT_OUT
from aggregate.sending.clients.own_models import truncation_warning
from aggregate.sending.clients.protocol import OnText, RequestOptions
from aggregate.sending.clients.token_ratios import record_usage
from aggregate.sending.reply_file import ReplyFile, StreamRecorder
from aggregate.sending.request_log import LoggedRequest, write_request
from aggregate.sending.turn_composition import USER
from aggregate.sending.turn_preparation import PreparedTurn

ASSISTANT = "AI"
"""Who answers, as the discussion calls them."""


@dataclass(frozen=True, slots=True)
class CompletedTurn:
    """A turn that was answered.

    Attributes:
        reply: The answer.
        path: The file of the prompt.
        history: The file of the discussion; ``None`` for a project that is no file, whose caller keeps the turns, and
            outside of all discussions.
        answer: The file of the answer.
        warnings: What is doubtful about the answer.
    """

    reply: Reply
    path: Path
    history: Path | None = None
    answer: Path | None = None
    warnings: tuple[str, ...] = ()


def send_turn(
    prepared: PreparedTurn, project: Project, *, on_text: OnText | None = None
) -> CompletedTurn:
    """Send a prepared turn; keep the prompt, the answer, both turns, and what was sent.

    The prompt is written before it is sent, and the answer as it comes, each to a file of its own: whatever happens
    then, what was paid for is there, and the error has a note that names the file. Without a whole answer the
    discussion stays as it was. Where the project is a mapping and not a file, its caller keeps the turns.

    Args:
        prepared: The turn.
        project: Whose discussion goes on.
        on_text: Called with each piece of the answer. If it raises an ``OSError`` or an ``OutputError``, as for an
            output that was closed, the rest is still received and kept, and the error is raised at the end.

    Raises:
        ClientError: The provider refused, failed, or answered nothing.
        OutputError: A file cannot be written, or lies outside of the project; the latter is known before anything is
            sent.
    """
    return _completed(
        prepared,
        project,
        on_text=on_text,
        ask=lambda recorder, log: _ask(prepared, recorder, log),
    )


def record_turn(
    prepared: PreparedTurn, project: Project, reply: Reply, *, begun: float
) -> CompletedTurn:
    """Keep what ``send_turn`` keeps, of a turn that a host has sent itself.

    Args:
        prepared: The turn.
        project: Whose discussion goes on.
        reply: What the model has answered.
        begun: When it was sent, in seconds since the epoch.

    Raises:
        ProviderError: The reply is a refusal or empty, which is no turn; what was sent is recorded all the same.
        OutputError: A file cannot be written, or lies outside of the project.
    """

    def given(recorder: StreamRecorder, log: LoggedRequest) -> Reply:
        os.utime(request_log_path(log.path), (begun, begun))
        recorder.finish(_text_or_refusal(reply))
        return reply

    return _completed(prepared, project, on_text=None, ask=given)


def _completed(
    prepared: PreparedTurn,
    project: Project,
    *,
    on_text: OnText | None,
    ask: Callable[[StreamRecorder, LoggedRequest], Reply],
) -> CompletedTurn:
    """Write the prompt, ask, and keep what comes of it."""
    request = prepared.request
    history = _kept_in(project, request)
    path = write_numbered(
        request.output_dir, request.namespace, prepared.prompt.markdown, project=request.written_in
    )
    if prepared.composition and request.is_audited:
        record_audit(path, request, prepared.composition, prepared.prompt)
    log = LoggedRequest(path, prepared.fingerprint, prepared.sent)
    write_request(replace(log, sent=None))  # until something of an answer is there
    with ReplyFile(path) as file:
        recorder = StreamRecorder(file, on_text)
        with file.named_in_errors("what came of the answer"):
            reply = ask(recorder, log)
    with file.named_in_errors("the answer"):
        problem = _keep(prepared, reply, history, log)
        if recorder.error is not None:
            raise recorder.error
    warnings = (
        *_left_out(prepared.client.provider, reply),
        *_usage_warnings(prepared, reply.usage),
        *_unremembered(request, problem),
        *file.warnings,
    )
    return CompletedTurn(reply, path, history, None if file.is_empty else file.path, warnings)


def _left_out(provider: str, reply: Reply) -> tuple[str, ...]:
    """Return a warning of what a provider has refused beside the text."""
    left_out = reply.raw.get(LEFT_OUT)
    if not left_out:
        return ()
    what = ", ".join(left_out)
    return (f"{provider} has refused the request with {what}: it was sent again without",)


def _kept_in(project: Project, request: Request) -> Path | None:
    """Return the file of the discussion; ``None`` where the caller keeps the turns, or nobody.

    Raises:
        OutputError: It lies outside of the project.
    """
    if project.path is None or request.discussion == NO_DISCUSSION:
        return None
    return confined(history_file(project.path, request.discussion), request.written_in)


def _usage_warnings(prepared: PreparedTurn, usage: Usage) -> tuple[str, ...]:
    """Return what is odd about the tokens that a provider reports; those that are not are kept for the next send."""
    client, sent = prepared.client, prepared.plan.total
    return truncation_warning(sent, usage, client.provider) or record_usage(
        client.provider, client.model, sent=sent, usage=usage
    )


def _ask(prepared: PreparedTurn, recorder: StreamRecorder, log: LoggedRequest) -> Reply:
    """Return the answer; where a part of it came before a failure, what was sent is recorded too."""
    options = RequestOptions(
        max_output=prepared.max_output,
        temperature=prepared.temperature,
        effort=prepared.effort,
    )
    try:
        reply = prepared.client.exchange(
            prepared.plan, on_text=_recorded_from_the_first(recorder, log), options=options
        )
        recorder.finish(_text_or_refusal(reply))
    except BaseException:
        if not recorder.file.is_empty:
            with suppress(OutputError):  # the first error says more
                write_request(log)
        raise
    return reply


def _recorded_from_the_first(recorder: StreamRecorder, log: LoggedRequest) -> OnText:
    """Return what takes the pieces of an answer; with the first one it is recorded what was sent.

    So the record is right also where the program is killed before the answer is whole.
    """

    def take(piece: str) -> None:
        is_first = recorder.file.is_empty
        recorder(piece)
        if is_first and not recorder.file.is_empty:
            with suppress(OutputError):  # recorded once more at the end, where it is told
                write_request(log)

    return take


def _keep(prepared: PreparedTurn, reply: Reply, history: Path | None, log: LoggedRequest) -> str:
    """Add both turns to the discussion's file, if there is one, and record what was sent in any case.

    Returns why that is not remembered, ``""`` if it is.

    Raises:
        ProviderError: There is no answer to keep.
    """
    try:
        _check_answer(reply, prepared.client.provider)
        if history is not None:
            _add_turns(prepared, reply, history)
    except BaseException:
        with suppress(OutputError):  # the first error says more
            write_request(log)
        raise
    return write_request(log)


def _unremembered(request: Request, problem: str) -> tuple[str, ...]:
    """Return a warning where the next request cannot go on from this one; a trusted project's own records suffice."""
    if not problem or is_trusted(project_root(request.base_dir)):
        return ()
    return (f"the next request is planned as if this one had not been sent: {problem}",)


def _add_turns(prepared: PreparedTurn, reply: Reply, history: Path) -> None:
    """Add question and answer to the discussion's file, in the place of those that are asked once more.

    Raises:
        OutputError: The file cannot be written, or another process has written to it meanwhile.
    """
    # Confined once more: the answer took its time, and a link may stand there now.
    path = confined(history, prepared.request.written_in)
    turns = [
        {"role": USER, "content": prepared.message},
        {"role": ASSISTANT, "content": reply.text},
    ]
    if not prepared.replaces:
        append_turns(path, turns)
    elif not replace_last_turns(path, prepared.replaces, turns):
        raise OutputError(
            f"somebody else has written to {path}: it stays as it is, with the earlier answer"
        )


def _check_answer(reply: Reply, provider: str) -> None:
    """Refuse a reply that is no turn of the discussion."""
    if reply.stop is FinishReason.REFUSED:
        words = _text_or_refusal(reply).split()
        reason = f" ({' '.join(words)[:200]})" if words else ""
        raise ProviderError(f"{provider} refused to answer{reason}: the discussion stays as it was")
    if not reply.text.strip():
        raise ProviderError(
            f"{provider} answered nothing ({reply.stop.value}): the discussion stays as it was"
        )


def _text_or_refusal(reply: Reply) -> str:
    return reply.text or str(reply.raw.get("refusal") or "")
