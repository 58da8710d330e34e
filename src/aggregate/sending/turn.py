"""One turn of a discussion, as it is prepared: what is shown of its plan, and how it is sent, kept and recorded."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from aggregate.base.disk.reading import confined, project_root
from aggregate.base.disk.writing import create_private
from aggregate.base.errors import OutputError, ProviderError
from aggregate.base.messages import short_list
from aggregate.project.configuration import Project, is_trusted
from aggregate.project.history import (
    DEFAULT,
    NO_DISCUSSION,
    append_turns,
    history_file,
    replace_last_turns,
)
from aggregate.prompt import Composition, Request
from aggregate.prompt.audit import record_audit
from aggregate.prompt.document import Prompt
from aggregate.prompt.numbered_output import reply_path, request_log_path, write_numbered
from aggregate.sending.cache.file_order import OrderedPrompt
from aggregate.sending.cache.fingerprint import PrefixReport, PromptFingerprint
from aggregate.sending.cache.request_plan import BlockRole, RequestPlan, role_and_words
from aggregate.sending.clients.client import LEFT_OUT, Client
from aggregate.sending.clients.own_models import age_note, cost, record_usage
from aggregate.sending.clients.protocol import ChatRequest, OnText
from aggregate.sending.model_selection import OPTION, ModelSelection
from aggregate.sending.models import (
    LONG_LIFETIME,
    NO_REPLY,
    SCRIPTED,
    FinishReason,
    Reply,
    Usage,
    dollars,
)
from aggregate.sending.request_log import LoggedRequest, write_request

USER, ASSISTANT = "User", "AI"  # who speaks, as the discussion calls them
_LOWEST_SHARE = 2 / 3  # of o200k's tokens: no vocabulary needs fewer
_WINDOW_STEP = 1024
# Windows are multiples of 1,024; a server that cut a prompt to its window reports just that, and others hit one by
# chance once in a thousand requests.
_CUT_SHARE = 0.95
_FEWEST_TO_JUDGE = 512  # below, what a server adds or leaves out of its own weighs too much


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn of a discussion, from the composed prompt to the recorded answer."""

    client: Client  # who is asked
    selection: ModelSelection  # as it was made
    asked: ChatRequest  # with its plan; without secrets
    request: Request  # what was composed; the last turn of its history is what the user says
    composition: Composition  # in the order of the configuration
    ordered: OrderedPrompt  # in the order for sending
    expected: Usage  # what the provider's cache is expected to read and write
    record: LoggedRequest  # what is recorded, once its prompt is written
    # What is kept of the prompt sent before, ``None`` for the first one
    report: PrefixReport | None
    budget: int | None  # of the whole request by the provider's count, ``None`` for no limit
    warnings: tuple[str, ...]  # what was left out or is doubtful
    # The last turns, in whose place its turns come once it is answered
    replaces: tuple[Mapping[str, Any], ...] = ()
    reply: Reply = NO_REPLY
    # ``None`` for a project that is no file, whose caller keeps the turns, and outside of all discussions
    history: Path | None = None
    answer: Path | None = None  # the file of the answer
    doubts: tuple[str, ...] = ()  # about the answer

    @property
    def plan(self) -> RequestPlan:
        return self.asked.plan

    @property
    def path(self) -> Path:
        return self.record.path

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

    @property
    def notes(self) -> Sequence[str]:
        age = age_note(self.client.provider, self.client.model, date.today())
        name = self.request.discussion
        is_first = name not in ("", NO_DISCUSSION) and len(self.request.history) == 1
        begins = f'the discussion "{name}" begins' if is_first else ""
        return tuple(filter(None, (begins, age)))

    def price(self, usage: Usage) -> Decimal | None:
        return cost(usage, self.client.model, provider=self.client.provider)

    @property
    def prompt(self) -> Prompt:
        return self.ordered.prompt.prompt

    @property
    def fingerprint(self) -> PromptFingerprint:
        return self.ordered.prompt.fingerprint

    @property
    def lines(self) -> list[str]:
        """The plan, as people read it."""
        data = self.data
        lines = [f"{'tokens':>10} {'segments':>9}  {'role':9}  block"]
        for block in data["blocks"]:
            first, last = block["sources"][0], block["sources"][-1]
            sources = first if first == last else f"{first} … {last}"
            if images := len(block["images"]):
                sources += f", with {images:,} image{'s' * (images > 1)}"
            lines.append(
                f"{block['tokens']:>10,} {block['segments']:>9,}  {block['role']:9}  {sources}"
            )
            if block["marked"]:
                lives = ", kept for an hour" if block["lifetime"] >= LONG_LIFETIME else ""
                up_to = f"{block['up_to']:,} tokens{lives}"
                lines.append(f"{'':>10} {'':>9}  {'':9}  ── breakpoint, {up_to} ──")
        client, usage, total = self.client, self.expected, self.plan.total
        model = f"{client.provider} {client.model}".strip()
        address = f" at {self.client.address}" if self.client.address else ""
        segments = f"{len(self.prompt.segments):>9,}"
        lines.append(f"{total:>10,} {segments}  {'':9}  in all, to {model}{address}")
        lines.append(_origins_sentence(self))
        if self.budget is not None or self.provider_tokens != total:  # rule B-10
            counted = (
                f"about {self.provider_tokens:,} tokens by {client.provider}'s count, {total:,} by o200k "
                f"({client.ratio.value:g} for each, {client.ratio.source})"
            )
            budget = "" if self.budget is None else f"; the budget is {self.budget:,}"
            lines.append(f"{counted}{budget}")
        lines.append(
            f"expected: {usage.cache_read:,} read from the cache, {usage.cache_write:,} written, "
            f"{usage.fresh:,} fresh; {dollars(self.price(usage))} for the input"
        )
        return [*lines, *self.news]

    @property
    def data(self) -> dict[str, Any]:
        usage = self.expected
        amount = self.price(usage)
        return {
            "provider": self.client.provider,
            "model": self.client.model,
            "address": self.client.address,
            "origins": dict(self.selection.origins),
            "discussion": self.request.discussion or DEFAULT,
            "tokens": self.plan.total,
            "provider_tokens": self.provider_tokens,
            "ratio": self.client.ratio.value,
            "ratio_source": self.client.ratio.source,
            "budget": self.budget,
            "blocks": _blocks(self),
            "expected": {
                "fresh": usage.fresh,
                "cache_write": usage.cache_write,
                "cache_read": usage.cache_read,
            },
            "cost": None if amount is None else float(amount),
            "prefix": self.report.sentence if self.report else None,
            "diffs": list(self.ordered.older),
            "warnings": list(self.warnings),
        }


def _origins_sentence(turn: Exchange) -> str:
    options, client = turn.asked, turn.client
    chosen = {
        "provider": f"provider {client.provider}",
        "model": f"model {client.model or 'its own'}",
        "max_output": f"at most {options.max_output:,} tokens of answer",
        "effort": f"effort {turn.selection.effort}",
        "temperature": f"temperature {turn.selection.temperature or 0:g}",
    }
    parts = [
        f'persona "{source}"' if name == "persona" else f"{chosen[name]} ({source})"
        for name, source in turn.selection.origins.items()
    ]
    if turn.request.discussion:
        source = "its own" if turn.request.discussion == SCRIPTED else OPTION
        parts.append(f'discussion "{turn.request.discussion}" ({source})')
    return f"chosen: {', '.join(parts)}"


def _blocks(turn: Exchange) -> list[dict[str, Any]]:
    plan, layout = turn.plan, turn.plan.layout
    blocks = []
    for start, end in pairwise((0, *layout.ends)):
        hashes = [part for part in turn.fingerprint.segments[start:end] if part.tokens]
        if not hashes:
            continue
        parts = turn.ordered.prompt.segments[max(start - 1, 0) : end - 1]
        role = role_and_words([part.segment for part in parts])[0] if parts else BlockRole.SYSTEM
        is_marked = end in layout.breakpoints
        blocks.append(
            {
                "role": role.value,
                "sources": [part.source or f"[{part.section}]" for part in hashes],
                "images": [image.path for part in parts for image in part.images],
                "segments": len(hashes),
                "tokens": sum(part.tokens for part in hashes),
                "up_to": plan.tokens[end - 1],
                "marked": is_marked,
                "lifetime": layout.lifetime(end, plan.policy.seconds) if is_marked else 0,
            }
        )
    return blocks


def send_turn(
    prepared: Exchange,
    project: Project,
    *,
    on_text: OnText | None = None,
    received: Reply | None = None,
    begun: float | None = None,
) -> Exchange:
    """Send a prepared turn and return it with its reply; keep the prompt, the answer, both turns, and what was sent.

    The prompt is written before it is sent, and the answer as it comes, each to a file of its own: whatever happens
    then, what was paid for is there, and the error has a note that names the file. Without a whole answer the
    discussion stays as it was. Where the project is a mapping and not a file, its caller keeps the turns.

    ``on_text`` is called with each piece of the answer. If it raises an ``OSError`` or an ``OutputError``, as for an
    output that was closed, the rest is still received and kept, and the error is raised at the end. An answer that was
    ``received``, to a request ``begun`` then in seconds since the epoch, is kept likewise, and nothing is sent.
    """
    request, client = prepared.request, prepared.client
    history = None
    if project.path is not None and request.discussion != NO_DISCUSSION:
        history = confined(history_file(project.path, request.discussion), request.written_in)
    path = write_numbered(
        request.output_dir, request.namespace, prepared.prompt.markdown, project=request.written_in
    )
    if request.is_audited:
        record_audit(path, request, prepared.composition, prepared.prompt)
    log = replace(prepared.record, path=path)
    write_request(log.unsent)  # until something of an answer is there
    if begun is not None:
        os.utime(request_log_path(path), (begun, begun))
    # Recorded with the first piece, so that the record is right also where the program is killed before the last one.
    with _ReplyFile(path, on_text, on_first=lambda: _record(log)) as file:
        try:
            reply = received or client.send(prepared.asked, file)
            file.finish(_text_or_refusal(reply))
        except BaseException as error:
            if not file.is_empty:
                _record(log)
            file.name_in(error, "what came of the answer")
            raise
    try:
        _check_answer(reply, client.provider)
        if history is not None:
            _add_turns(prepared, reply, history)
        problem = write_request(log)
        if file.error is not None:
            raise file.error
    except BaseException as error:
        _record(log)
        file.name_in(error, "the answer")
        raise
    sent, usage = prepared.plan.total, reply.usage
    warnings = truncation_warning(sent, usage, client.provider) or record_usage(
        client.provider, client.model, sent=sent, usage=usage
    )
    if left_out := ", ".join(reply.raw.get(LEFT_OUT, ())):
        refused = f"{client.provider} has refused the request with {left_out}"
        warnings = (f"{refused}: it was sent again without", *warnings)
    # A trusted project's own records suffice.
    if problem and not is_trusted(project_root(request.base_dir)):
        warnings += (f"the next request is planned as if this one had not been sent: {problem}",)
    if file.problem:
        warnings += (f"the answer is not whole in {file.path}: {file.problem}",)
    answer = None if file.is_empty else file.path
    return replace(
        prepared, reply=reply, record=log, history=history, answer=answer, doubts=warnings
    )


def truncation_warning(sent: int, usage: Usage, provider: str) -> tuple[str, ...]:
    """Servers on one's own machine cut what exceeds their window in silence: Ollama reads 4,096 tokens by default."""
    read = usage.input
    if not read or sent < _FEWEST_TO_JUDGE:
        return ()
    equals_a_window = read % _WINDOW_STEP == 0 and read < sent * _CUT_SHARE
    if read >= sent * _LOWEST_SHARE and not equals_a_window:
        return ()
    return (
        f"{provider} has read {read:,} tokens of about {sent:,}: it has probably cut the prompt to its context window, "
        "and the answer knows only a part of it; give the server a larger window, or send less",
    )


def _record(log: LoggedRequest) -> None:
    """Record what was sent, where something else is to be told than that this cannot be done."""
    with suppress(OutputError):
        write_request(log)


def _add_turns(prepared: Exchange, reply: Reply, history: Path) -> None:
    # Confined once more: the answer took its time, and a link may stand there now.
    path = confined(history, prepared.request.written_in)
    question = cast("Mapping[str, str]", prepared.request.history[-1])
    turns = (question, {"role": ASSISTANT, "content": reply.text})
    if not prepared.replaces:
        append_turns(path, turns)
    elif not replace_last_turns(path, prepared.replaces, turns):
        raise OutputError(
            f"somebody else has written to {path}: it stays as it is, with the earlier answer"
        )


def _check_answer(reply: Reply, provider: str) -> None:
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


class _ReplyFile:
    """Each piece is with the system before the next one comes: a kill at any moment loses nothing that is paid for."""

    def __init__(
        self, prompt: Path, on_text: OnText | None, *, on_first: Callable[[], None]
    ) -> None:
        self.path = reply_path(prompt)
        self.problem = ""  # why it does not hold all: a full disk is no reason to stop listening
        self.is_empty = True  # nothing but blanks has come
        # What ``on_text`` raised when its output broke; nothing more is passed on, but all is kept
        self.error: OSError | OutputError | None = None
        self._on_text, self._on_first = on_text, on_first
        self._pieces: list[str] = []
        try:
            self._descriptor = create_private(self.path)
        except OSError as error:
            raise OutputError(
                f"cannot write {self.path}, where the answer goes: {error.strerror or error}; nothing was sent"
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
        """Keep what of the whole ``text`` did not come in pieces; it was shown to nobody and is not shown now."""
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
