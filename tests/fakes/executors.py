"""Executors without threads."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any


class InlineExecutor(Executor):
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - as an executor does
            future.set_exception(error)
        return future


class ManualExecutor(Executor):
    def __init__(self) -> None:
        self.tasks: deque[tuple[Callable[..., Any], Future[Any]]] = deque()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        self.tasks.append((partial(fn, *args, **kwargs), future))
        return future

    def run_next(self) -> None:
        fn, future = self.tasks.popleft()
        if future.set_running_or_notify_cancel():
            future.set_result(fn())


class RefusingExecutor(Executor):
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        raise RuntimeError("cannot schedule new futures after shutdown")
