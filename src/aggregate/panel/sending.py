"""Send from the page: first plan a request with its cost, then send that plan."""

import asyncio
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from aggregate.base.errors import ClientSetupError, NoProviderError, ProviderError, ToolError
from aggregate.base.task_budget import Task
from aggregate.panel.page_session import Session
from aggregate.prompt.asking import for_reader
from aggregate.sending import (
    Charge,
    Exchange,
    ModelSelection,
    context_window,
    prepare_turn,
    send_turn,
)
from aggregate.sending.clients import NAMES, Ask, ChatRequest, OnText
from aggregate.sending.models import Reply

_MOST_PLANS: Final = 4  # unsent plans; a page shows one
_MOST_MESSAGE: Final = 200_000  # characters
_NO_MODEL: Final = (
    "no model is chosen: choose one here, or set one under [send] in the configuration"
)


class RequestStop:
    """Stops one request from any thread, also while it waits before a retry."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a second Ctrl-C may interrupt the first one's handler
        self._is_set = False
        self._cancel: Callable[[], object] | None = None

    def set(self) -> None:
        """End the request or prevent its start.

        It may be called from any thread and more than once.
        """
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


class Sender:
    def __init__(
        self, session: Session, *, prepare: Callable[..., Exchange] = prepare_turn
    ) -> None:
        self._session = session
        self._prepare = prepare
        self._plans: OrderedDict[str, Exchange] = OrderedDict()
        self._sent: dict[str, Callable[[], None]] = {}
        self._lock = threading.Lock()
        self._all_ended = threading.Condition(self._lock)
        self._has_ended = False
        self._spent = Charge()

    def plan(self, message: str, *, model: str = "", persona: str = "") -> dict[str, Any]:
        """Plan a request, with its cost, without writing or sending anything."""
        if not message.strip() or len(message) > _MOST_MESSAGE:
            raise ToolError("the message is empty or far too long: change it")
        edited = self._session.now().edited
        draft, project = edited.current, edited.project
        selection = replace(_selection(model), persona=persona, discussion=draft.discussion)
        task = None
        if draft.focus or draft.symbols or draft.since:
            task = Task(focus=draft.places(project), symbols=draft.symbols, since=draft.since)
        has_key = True
        try:
            turn = self._prepare(project, message, selection, task=task)
        except NoProviderError:
            raise ToolError(_NO_MODEL) from None
        except ClientSetupError:
            turn = self._prepare(project, message, selection, task=task, require_key=False)
            has_key = False
        warnings = for_reader(turn.warnings)
        if draft.turns_out or not draft.has_history:
            warnings.append(
                "turns that are switched off here are sent too: a discussion is always sent as a whole"
            )
        plan = secrets.token_urlsafe(16)
        if has_key:
            with self._lock:
                self._plans[plan] = turn
                while len(self._plans) > _MOST_PLANS:
                    self._plans.popitem(last=False)
        cost = turn.expected_price
        return {
            "provider": turn.client.provider,
            "model": turn.asked.model,
            "address": turn.client.address,
            "tokens": turn.plan.total,
            "provider_tokens": turn.provider_tokens,
            "origins": {name: choice.source for name, choice in turn.selection.chosen.items()},
            "prefix": turn.prefix.sentence if turn.prefix else None,
            "blocks": turn.blocks,
            "cost": None if cost is None else float(cost),
            "plan": plan if has_key else "",  # needed to send, valid once
            "cached": turn.expected.cache_read,
            "window": context_window(turn.client.model),
            "key": has_key,
            "warnings": warnings,
        }

    def end(self) -> None:
        """Stop all requests, and refuse new ones.

        Partial answers are stored. Takes no lock, since the handler of Ctrl-C calls it.
        """
        self._has_ended = True
        for stop in tuple(self._sent.values()):
            stop()

    def send(
        self, plan: str, on_text: Callable[[str], None], on_notice: Callable[[str], None]
    ) -> str:
        """Send a plan once; return a summary. ``on_notice`` gets a sentence before each wait."""

        def report_wait(seconds: float, error: ProviderError) -> None:
            on_notice(f"{error}; trying again in {seconds:.0f} s")

        with self._lock:
            turn = self._plans.pop(plan, None)
            if turn is None:
                raise ToolError("this plan was already sent or dropped: plan again")
            stop = RequestStop()
            client = replace(turn.client, on_wait=report_wait).through(stop.guarded)
            self._sent[plan] = stop.set
            if self._has_ended:
                stop.set()
        try:
            completed = send_turn(replace(turn, client=client), on_text=on_text)
        except BaseException:
            if bill := turn.stopped_bill:
                with self._lock:
                    self._spent = self._spent.with_one(bill)
            raise
        finally:
            with self._lock:
                del self._sent[plan]
                self._all_ended.notify_all()
        usage = completed.reply.usage
        with self._lock:
            spent = self._spent = self._spent.with_one(completed.bill)
        parts = [
            f"{usage.input:,} tokens in, {usage.cache_read:,} of them from the cache; {usage.output:,} out; "
            f"{completed.bill.sentence}",
            *([f"{spent.price} in all"] if spent.requests > 1 else []),
            f"the prompt is in {completed.path}",
            *completed.doubts,
        ]
        if completed.reply.stop.value != "end":
            parts.append(f"the answer is incomplete ({completed.reply.stop.value})")
        return "; ".join(parts)

    def wait(self, seconds: float) -> bool:
        with self._all_ended:
            return self._all_ended.wait_for(lambda: not self._sent, seconds)

    def stop(self, plan: str) -> None:
        """Stop the request of a plan and store its partial answer, or drop an unsent plan."""
        with self._lock:
            self._plans.pop(plan, None)
            if plan in self._sent:
                self._sent[plan]()


def _selection(model: str) -> ModelSelection:
    """Parse a model's name: MODEL, PROVIDER or PROVIDER/MODEL."""
    provider, slash, name = model.partition("/")
    if slash and provider in NAMES:
        return ModelSelection(provider=provider, model=name)
    if model in NAMES:
        return ModelSelection(provider=model)
    return ModelSelection(model=model)
